//! Sets up the terminal, draws frames, and restores the terminal, even after a panic.
//!
//! ratatui writes only changed cells. Frames use synchronized output, which is ignored by terminals
//! that do not support it.

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

static IS_TAKEN: AtomicBool = AtomicBool::new(false);

static PANIC_HOOK: Once = Once::new();

/// Puts the terminal into raw mode, and restores it on drop.
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
        // Terminals without this protocol ignore the sequence.
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

/// Restores the terminal. Repeated calls have no effect.
fn give_back() {
    if !IS_TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    // Every step is attempted, even if an earlier one fails.
    let mut out = io::stdout();
    let _ = execute!(out, EndSynchronizedUpdate, PopKeyboardEnhancementFlags);
    let _ = execute!(out, DisableBracketedPaste, ResetColor, SetAttribute(Attribute::Reset));
    let _ = execute!(out, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

pub(super) struct TerminalBackend<W: Write> {
    out: W,
}

impl<W: Write> TerminalBackend<W> {
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

impl<W: Write> Backend for TerminalBackend<W> {
    type Error = io::Error;

    fn draw<'a, I: Iterator<Item = (u16, u16, &'a Cell)>>(&mut self, content: I) -> io::Result<()> {
        let mut last = &Cell::EMPTY;
        let mut expected: Option<(u16, u16)> = None;
        for (x, y, cell) in content {
            if expected != Some((x, y)) {
                queue!(self.out, MoveTo(x, y))?;
            }
            self.set_style(last, cell)?;
            last = cell;
            queue!(self.out, Print(cell.symbol()))?;
            // Terminals disagree about the width of non-ASCII characters, so the cursor is
            // positioned explicitly after each of them.
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
        // ratatui needs the position only for inline viewports.
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let Position { x, y } = position.into();
        queue!(self.out, MoveTo(x, y))
    }

    fn clear(&mut self) -> io::Result<()> {
        queue!(self.out, Clear(TerminalClear::All))
    }

    /// The viewport is the whole terminal, so ratatui only ever clears everything.
    fn clear_region(&mut self, _: ClearType) -> io::Result<()> {
        self.clear()
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

impl<W: Write> TerminalBackend<W> {
    fn set_style(&mut self, from: &Cell, to: &Cell) -> io::Result<()> {
        const ATTRIBUTES: [(Modifier, Attribute); 6] = [
            (Modifier::BOLD, Attribute::Bold),
            (Modifier::DIM, Attribute::Dim),
            (Modifier::ITALIC, Attribute::Italic),
            (Modifier::UNDERLINED, Attribute::Underlined),
            (Modifier::REVERSED, Attribute::Reverse),
            (Modifier::CROSSED_OUT, Attribute::CrossedOut),
        ];
        let (mut foreground, mut background, mut modifiers) = (from.fg, from.bg, from.modifier);
        // The same code resets both bold and dim, so if any modifier is removed, all of them are
        // reset.
        if !to.modifier.contains(modifiers) {
            queue!(self.out, SetAttribute(Attribute::Reset))?;
            (foreground, background, modifiers) = (Color::Reset, Color::Reset, Modifier::empty());
        }
        for (modifier, attribute) in ATTRIBUTES {
            if to.modifier.contains(modifier) && !modifiers.contains(modifier) {
                queue!(self.out, SetAttribute(attribute))?;
            }
        }
        if to.fg != foreground {
            queue!(self.out, SetForegroundColor(terminal_color(to.fg)))?;
        }
        if to.bg != background {
            queue!(self.out, SetBackgroundColor(terminal_color(to.bg)))?;
        }
        Ok(())
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the themes use no other colors")]
fn terminal_color(color: Color) -> TerminalColor {
    match color {
        Color::Red => TerminalColor::DarkRed,
        Color::Green => TerminalColor::DarkGreen,
        Color::Yellow => TerminalColor::DarkYellow,
        Color::Blue => TerminalColor::DarkBlue,
        Color::Magenta => TerminalColor::DarkMagenta,
        Color::Cyan => TerminalColor::DarkCyan,
        Color::Rgb(r, g, b) => TerminalColor::Rgb { r, g, b },
        _ => TerminalColor::Reset,
    }
}
