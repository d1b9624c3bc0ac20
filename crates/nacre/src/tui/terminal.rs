//! The terminal: taken over, drawn on, and given back as it was, also after a panic.
//!
//! What is written is bounded by ratatui's comparison of two frames. Frames go out between the marks of synchronized output, which
//! terminals that know them use to show a frame at once, and which others ignore.

use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, KeyboardEnhancementFlags,
    PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::style::{
    Attribute, Color as TerminalColor, Print, ResetColor, SetAttribute, SetBackgroundColor,
    SetForegroundColor,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType as TerminalClear, EndSynchronizedUpdate,
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui_core::backend::{Backend, ClearType, WindowSize};
use ratatui_core::buffer::Cell;
use ratatui_core::layout::{Position, Size};
use ratatui_core::style::{Color, Modifier};

/// Whether the terminal is ours at the moment.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// A panic is printed on a terminal that is given back first.
static PANIC_HOOK: Once = Once::new();

/// The terminal while it is ours; dropped, it is given back.
#[derive(Debug)]
pub(super) struct TakenTerminal(());

impl TakenTerminal {
    pub(super) fn take() -> io::Result<Self> {
        PANIC_HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                give_back();
                before(panic);
            }));
        });
        enable_raw_mode()?;
        IS_TAKEN.store(true, Ordering::SeqCst);
        let taken = Self(());
        // Terminals that cannot tell more keys apart ignore the question.
        let keys = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES;
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            EnableBracketedPaste,
            PushKeyboardEnhancementFlags(keys),
            Clear(TerminalClear::All)
        )?;
        Ok(taken)
    }
}

impl Drop for TakenTerminal {
    fn drop(&mut self) {
        give_back();
    }
}

/// Puts the terminal back, once.
fn give_back() {
    if !IS_TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    // Whatever fails, the rest is tried: there is nobody to tell.
    let mut out = io::stdout();
    let _ = execute!(out, EndSynchronizedUpdate, PopKeyboardEnhancementFlags);
    let _ = execute!(out, DisableBracketedPaste, ResetColor, SetAttribute(Attribute::Reset));
    let _ = execute!(out, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

/// Draws the cells that changed.
pub(super) struct Screen<W: Write> {
    out: W,
}

impl<W: Write> Screen<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out }
    }

    pub(super) fn begin_frame(&mut self) -> io::Result<()> {
        queue!(self.out, BeginSynchronizedUpdate)
    }

    pub(super) fn end_frame(&mut self) -> io::Result<()> {
        queue!(self.out, EndSynchronizedUpdate)?;
        self.out.flush()
    }
}

impl<W: Write> Backend for Screen<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut style = (Color::Reset, Color::Reset, Modifier::empty());
        let mut expected: Option<(u16, u16)> = None;
        for (x, y, cell) in content {
            if expected != Some((x, y)) {
                queue!(self.out, MoveTo(x, y))?;
            }
            let wanted = (cell.fg, cell.bg, cell.modifier);
            if wanted != style {
                self.set_style(style, wanted)?;
                style = wanted;
            }
            queue!(self.out, Print(cell.symbol()))?;
            // After a wide character the terminal is asked where it is, by moving there.
            expected = (cell.symbol().len() == 1).then_some((x + 1, y));
        }
        queue!(self.out, SetAttribute(Attribute::Reset), ResetColor)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        queue!(self.out, Hide)
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        queue!(self.out, Show)
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        // Only a terminal that shares its screen with others is asked for it.
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let Position { x, y } = position.into();
        queue!(self.out, MoveTo(x, y))
    }

    fn clear(&mut self) -> io::Result<()> {
        queue!(self.out, Clear(TerminalClear::All))
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        let what = match clear_type {
            ClearType::All => TerminalClear::All,
            ClearType::AfterCursor => TerminalClear::FromCursorDown,
            ClearType::BeforeCursor => TerminalClear::FromCursorUp,
            ClearType::CurrentLine => TerminalClear::CurrentLine,
            ClearType::UntilNewLine => TerminalClear::UntilNewLine,
        };
        queue!(self.out, Clear(what))
    }

    fn size(&self) -> io::Result<Size> {
        let (columns, rows) = crossterm::terminal::size()?;
        Ok(Size::new(columns, rows))
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size()?, pixels: Size::ZERO })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Screen<W> {
    fn set_style(
        &mut self,
        from: (Color, Color, Modifier),
        to: (Color, Color, Modifier),
    ) -> io::Result<()> {
        const ATTRIBUTES: [(Modifier, Attribute); 6] = [
            (Modifier::BOLD, Attribute::Bold),
            (Modifier::DIM, Attribute::Dim),
            (Modifier::ITALIC, Attribute::Italic),
            (Modifier::UNDERLINED, Attribute::Underlined),
            (Modifier::REVERSED, Attribute::Reverse),
            (Modifier::CROSSED_OUT, Attribute::CrossedOut),
        ];
        let (mut foreground, mut background, mut modifiers) = from;
        // What is to go goes by starting again: bold and dim end by the same code.
        if !to.2.contains(modifiers) {
            queue!(self.out, SetAttribute(Attribute::Reset))?;
            (foreground, background, modifiers) = (Color::Reset, Color::Reset, Modifier::empty());
        }
        for (modifier, attribute) in ATTRIBUTES {
            if to.2.contains(modifier) && !modifiers.contains(modifier) {
                queue!(self.out, SetAttribute(attribute))?;
            }
        }
        if to.0 != foreground {
            queue!(self.out, SetForegroundColor(terminal_color(to.0)))?;
        }
        if to.1 != background {
            queue!(self.out, SetBackgroundColor(terminal_color(to.1)))?;
        }
        Ok(())
    }
}

fn terminal_color(color: Color) -> TerminalColor {
    match color {
        Color::Reset => TerminalColor::Reset,
        Color::Black => TerminalColor::Black,
        Color::Red => TerminalColor::DarkRed,
        Color::Green => TerminalColor::DarkGreen,
        Color::Yellow => TerminalColor::DarkYellow,
        Color::Blue => TerminalColor::DarkBlue,
        Color::Magenta => TerminalColor::DarkMagenta,
        Color::Cyan => TerminalColor::DarkCyan,
        Color::Gray => TerminalColor::Grey,
        Color::DarkGray => TerminalColor::DarkGrey,
        Color::LightRed => TerminalColor::Red,
        Color::LightGreen => TerminalColor::Green,
        Color::LightYellow => TerminalColor::Yellow,
        Color::LightBlue => TerminalColor::Blue,
        Color::LightMagenta => TerminalColor::Magenta,
        Color::LightCyan => TerminalColor::Cyan,
        Color::White => TerminalColor::White,
        Color::Rgb(r, g, b) => TerminalColor::Rgb { r, g, b },
        Color::Indexed(idx) => TerminalColor::AnsiValue(idx),
    }
}
