//! The loop: what happens goes into the state, frames go out, at most sixty a second,
//! and at once after a key. Nothing is asked for while nothing happens.
//!
//! A thread of its own reads keys. It reads the next one only when the last was taken in, so that whoever gets the terminal for a
//! while, such as an editor, gets its keys too.

use std::io;
use std::time::{Duration, Instant};

use crossterm::event::Event as TerminalEvent;
use ratatui_core::terminal::Terminal;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::event::{Effect, Event, Outside, Told};
use super::link::ChatLink;
use super::state::{ScreenOptions, State};
use super::terminal::{Screen, TakenTerminal};
use super::update::{open, update};
use super::view::view;

/// Between two frames.
const FRAME: Duration = Duration::from_micros(16_600);

/// Between two frames where a key was pressed: a person sees it before the next one is due.
const KEY_FRAME: Duration = Duration::from_millis(4);

/// Messages that are taken in before the next frame is looked at.
const MAX_BATCH: usize = 512;

/// What is done for the screen by whoever opened it. The terminal is given back where the action needs it.
pub(crate) type DoOutside<'o> = dyn FnMut(Outside) -> Result<Told, String> + 'o;

/// How the person left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Left {
    /// The session that was shown last.
    pub(crate) session: Option<String>,
    /// Whether the agent was at work in it.
    pub(crate) is_working: bool,
}

/// What the loop works with.
struct Running<'o> {
    state: State,
    link: ChatLink,
    files: Option<Receiver<Vec<String>>>,
    outside: &'o mut DoOutside<'o>,
    terminal: Terminal<Screen<io::BufWriter<io::Stdout>>>,
    taken: Option<TakenTerminal>,
    begun: Instant,
    /// When the last frame was drawn.
    drawn: Option<Instant>,
    is_dirty: bool,
    /// A key was taken in since then.
    has_key: bool,
    is_over: bool,
}

/// Shows the chat until the person leaves.
pub(crate) async fn run(
    link: ChatLink,
    options: ScreenOptions,
    files: Option<Receiver<Vec<String>>>,
    outside: &mut DoOutside<'_>,
) -> io::Result<Left> {
    let taken = TakenTerminal::take()?;
    let terminal = Terminal::new(Screen::new(io::BufWriter::with_capacity(1 << 16, io::stdout())))?;
    let size = terminal.size()?;
    let mut outside = |action| outside(action);
    let mut running = Running {
        state: State::new(options, size.width, size.height),
        link,
        files,
        outside: &mut outside,
        terminal,
        taken: Some(taken),
        begun: now(),
        drawn: None,
        is_dirty: true,
        has_key: false,
        is_over: false,
    };
    let effects = open(&mut running.state);
    running.carry_out(effects)?;
    let (mut keys, go_on) = read_keys();
    while !running.is_over {
        running.step(&mut keys, &go_on).await?;
    }
    let State { turn, .. } = &running.state;
    Ok(Left { session: running.state.session_id(), is_working: turn.is_some() })
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one clock of the screen; times go into the state as events"
)]
fn now() -> Instant {
    Instant::now()
}

/// Starts the thread that reads keys: what it reads, and how it is told to go on.
fn read_keys() -> (Receiver<io::Result<TerminalEvent>>, Sender<()>) {
    let (found, keys) = channel(1);
    let (go_on, mut may_go_on) = channel(1);
    std::thread::spawn(move || {
        loop {
            let event = crossterm::event::read();
            let is_broken = event.is_err();
            if found.blocking_send(event).is_err() || is_broken {
                return;
            }
            if may_go_on.blocking_recv().is_none() {
                return;
            }
        }
    });
    (keys, go_on)
}

impl Running<'_> {
    /// Waits for what happens next, takes it in, and draws when it is time.
    async fn step(
        &mut self,
        keys: &mut Receiver<io::Result<TerminalEvent>>,
        go_on: &Sender<()>,
    ) -> io::Result<()> {
        let wake = self.next_wake();
        let is_open = !self.state.is_closed;
        tokio::select! {
            biased;
            key = keys.recv() => {
                let Some(key) = key else {
                    self.is_over = true;
                    return Ok(());
                };
                if let Some(event) = event_of(key?) {
                    self.has_key = true;
                    self.take(event)?;
                }
                // The thread waits for it, and ends with us.
                let _ = go_on.try_send(());
            }
            () = sleep_until(wake) => self.take_time()?,
            message = self.link.messages.recv(), if is_open => {
                let event = message.map_or(Event::Closed, |message| Event::Message(Box::new(message)));
                self.take(event)?;
                self.take_waiting()?;
            }
            files = next_files(&mut self.files) => {
                match files {
                    Some(files) => self.take(Event::Files(files))?,
                    None => self.files = None,
                }
            }
        }
        self.draw_if_due()
    }

    /// Messages that came meanwhile are taken in before anything is drawn.
    fn take_waiting(&mut self) -> io::Result<()> {
        for _ in 0..MAX_BATCH {
            let Ok(message) = self.link.messages.try_recv() else { return Ok(()) };
            self.take(Event::Message(Box::new(message)))?;
        }
        Ok(())
    }

    fn milliseconds(&self) -> u64 {
        u64::try_from(now().duration_since(self.begun).as_millis()).unwrap_or(u64::MAX)
    }

    fn take(&mut self, event: Event) -> io::Result<()> {
        self.is_dirty = true;
        let at = self.milliseconds();
        let effects = update(&mut self.state, at, event);
        self.carry_out(effects)
    }

    fn take_time(&mut self) -> io::Result<()> {
        let is_due = self.state.next_change().is_some();
        if is_due && !self.is_dirty {
            return self.take(Event::Tick);
        }
        Ok(())
    }

    fn carry_out(&mut self, effects: Vec<Effect>) -> io::Result<()> {
        for effect in effects {
            match effect {
                Effect::Send(request) => {
                    if self.link.requests.send(*request).is_err() {
                        let at = self.milliseconds();
                        let effects = update(&mut self.state, at, Event::Closed);
                        self.carry_out(effects)?;
                    }
                }
                Effect::Outside(action) => self.act_outside(action)?,
                Effect::Redraw => self.terminal.clear()?,
                Effect::Quit => self.is_over = true,
            }
        }
        Ok(())
    }

    fn act_outside(&mut self, action: Outside) -> io::Result<()> {
        let takes_terminal = action.takes_terminal();
        if takes_terminal {
            self.taken = None;
        }
        let result = (self.outside)(action);
        if takes_terminal {
            self.taken = Some(TakenTerminal::take()?);
            self.terminal.clear()?;
            let size = self.terminal.size()?;
            self.take(Event::Resize { columns: size.width, rows: size.height })?;
        }
        self.take(Event::Outside(result))
    }

    /// When there is something to do though nothing happens.
    fn next_wake(&self) -> Option<Instant> {
        if self.is_dirty {
            return Some(self.drawn.map_or_else(now, |drawn| drawn + self.pause()));
        }
        let change = self.state.next_change()?;
        Some(self.begun + Duration::from_millis(change))
    }

    /// The least time to the next frame.
    fn pause(&self) -> Duration {
        if self.has_key { KEY_FRAME } else { FRAME }
    }

    fn draw_if_due(&mut self) -> io::Result<()> {
        let is_due = self.drawn.is_none_or(|drawn| now().duration_since(drawn) >= self.pause());
        if self.is_dirty && is_due && !self.is_over {
            self.draw()?;
        }
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        (self.state.columns, self.state.rows) = (size.width, size.height);
        let areas = self.state.settle();
        let state = &self.state;
        self.terminal.backend_mut().begin_frame()?;
        self.terminal.draw(|frame| {
            let cursor = view(state, &areas, frame.buffer_mut());
            if let Some(cursor) = cursor {
                frame.set_cursor_position(cursor);
            }
        })?;
        self.terminal.backend_mut().end_frame()?;
        self.drawn = Some(now());
        self.is_dirty = false;
        self.has_key = false;
        Ok(())
    }
}

/// What the terminal tells, in our words.
fn event_of(event: TerminalEvent) -> Option<Event> {
    match event {
        TerminalEvent::Key(key) => Some(Event::Key(key)),
        TerminalEvent::Paste(text) => Some(Event::Paste(text)),
        TerminalEvent::Resize(columns, rows) => Some(Event::Resize { columns, rows }),
        TerminalEvent::Mouse(_) | TerminalEvent::FocusGained | TerminalEvent::FocusLost => None,
    }
}

async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake.into()).await,
        None => std::future::pending().await,
    }
}

async fn next_files(files: &mut Option<Receiver<Vec<String>>>) -> Option<Vec<String>> {
    match files {
        Some(files) => files.recv().await,
        None => std::future::pending().await,
    }
}
