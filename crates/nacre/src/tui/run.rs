//! The event loop. It draws only when something has changed: at most sixty frames per second, but
//! sooner after a key press.
//!
//! The input thread reads a key only after the previous one has been handled. This way, an external
//! editor gets every key while it uses the terminal.

use std::io;
use std::time::{Duration, Instant};

use crossterm::event::Event as TerminalEvent;
use nacre_types::Failure;
use ratatui_core::terminal::Terminal;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::event::{ChatLink, Effect, Outside, OutsideResult, ScreenEvent};
use super::state::{ScreenOptions, ScreenState};
use super::terminal::{TakenTerminal, TerminalBackend};
use super::update::{open, update};
use super::view::view;

const FRAME: Duration = Duration::from_micros(16_600);

/// Minimum time before the next frame after a key press. Short, for low latency.
const KEY_FRAME: Duration = Duration::from_millis(4);

const MAX_BATCH: usize = 512;

/// Executes an action on the screen's behalf. If the action needs the terminal, the screen releases
/// it first.
pub(crate) type DoOutside<'o> = dyn FnMut(Outside) -> Result<OutsideResult, Failure> + 'o;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExitState {
    pub(crate) session: Option<String>,
    /// Whether the agent was still working when the screen was closed.
    pub(crate) is_working: bool,
}

struct ChatLoop<'o> {
    state: ScreenState,
    link: ChatLink,
    files: Option<Receiver<Vec<String>>>,
    outside: &'o mut DoOutside<'o>,
    terminal: Terminal<TerminalBackend<io::BufWriter<io::Stdout>>>,
    taken: Option<TakenTerminal>,
    begun: Instant,
    drawn: Option<Instant>,
    is_dirty: bool,
    has_key: bool,
    is_over: bool,
}

pub(crate) async fn run(
    link: ChatLink,
    options: ScreenOptions,
    files: Option<Receiver<Vec<String>>>,
    outside: &mut DoOutside<'_>,
) -> io::Result<ExitState> {
    let taken = TakenTerminal::take()?;
    let terminal =
        Terminal::new(TerminalBackend::new(io::BufWriter::with_capacity(1 << 16, io::stdout())))?;
    let size = terminal.size()?;
    let mut outside = |action| outside(action);
    let mut running = ChatLoop {
        state: ScreenState::new(options, size.width, size.height),
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
    let ScreenState { turn, .. } = &running.state;
    Ok(ExitState { session: running.state.session_id(), is_working: turn.is_some() })
}

#[expect(
    clippy::disallowed_methods,
    reason = "the only clock of the screen; the state receives times as events"
)]
fn now() -> Instant {
    Instant::now()
}

/// Starts the input thread, which reads one key for each message sent through the returned sender.
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

impl ChatLoop<'_> {
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
                // If the channel is full, the thread is already allowed to read the next key.
                let _ = go_on.try_send(());
            }
            () = tokio::time::sleep_until(wake.unwrap_or_else(now).into()), if wake.is_some() => {
                if self.state.next_change().is_some() && !self.is_dirty {
                    self.take(ScreenEvent::Tick)?;
                }
            }
            message = self.link.messages.recv(), if is_open => {
                let event = message.map_or(ScreenEvent::Closed, |message| ScreenEvent::Message(Box::new(message)));
                self.take(event)?;
                // Messages that are already waiting are drawn in the same frame.
                for _ in 0..MAX_BATCH {
                    let Ok(message) = self.link.messages.try_recv() else { break };
                    self.take(ScreenEvent::Message(Box::new(message)))?;
                }
            }
            files = async { self.files.as_mut()?.recv().await }, if self.files.is_some() => {
                match files {
                    Some(files) => self.take(ScreenEvent::Files(files))?,
                    None => self.files = None,
                }
            }
        }
        let is_due = self.drawn.is_none_or(|drawn| now().duration_since(drawn) >= self.pause());
        if self.is_dirty && is_due && !self.is_over {
            self.draw()?;
        }
        Ok(())
    }

    fn milliseconds(&self) -> u64 {
        u64::try_from(now().duration_since(self.begun).as_millis()).unwrap_or(u64::MAX)
    }

    fn take(&mut self, event: ScreenEvent) -> io::Result<()> {
        self.is_dirty = true;
        let at = self.milliseconds();
        let effects = update(&mut self.state, at, event);
        self.carry_out(effects)
    }

    fn carry_out(&mut self, effects: Vec<Effect>) -> io::Result<()> {
        for effect in effects {
            match effect {
                Effect::Send(request) => {
                    if self.link.requests.send(*request).is_err() {
                        let at = self.milliseconds();
                        let effects = update(&mut self.state, at, ScreenEvent::Closed);
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
        // The editor uses the terminal, so the screen must release it.
        let takes_terminal = matches!(action, Outside::EditMemory { .. });
        if takes_terminal {
            self.taken = None;
        }
        let result = (self.outside)(action);
        if takes_terminal {
            self.taken = Some(TakenTerminal::take()?);
            self.terminal.clear()?;
            let size = self.terminal.size()?;
            self.take(ScreenEvent::Resize { columns: size.width, rows: size.height })?;
        }
        self.take(ScreenEvent::Outside(result))
    }

    fn next_wake(&self) -> Option<Instant> {
        if self.is_dirty {
            return Some(self.drawn.map_or_else(now, |drawn| drawn + self.pause()));
        }
        let change = self.state.next_change()?;
        Some(self.begun + Duration::from_millis(change))
    }

    fn pause(&self) -> Duration {
        if self.has_key { KEY_FRAME } else { FRAME }
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

fn event_of(event: TerminalEvent) -> Option<ScreenEvent> {
    match event {
        TerminalEvent::Key(key) => Some(ScreenEvent::Key(key)),
        TerminalEvent::Paste(text) => Some(ScreenEvent::Paste(text)),
        TerminalEvent::Resize(columns, rows) => Some(ScreenEvent::Resize { columns, rows }),
        TerminalEvent::Mouse(_) | TerminalEvent::FocusGained | TerminalEvent::FocusLost => None,
    }
}
