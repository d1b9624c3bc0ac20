//! Plays a user and an agent: applies events to a state, and renders its frames.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use nacre_types::{
    ApprovalPolicy, ChatSession, RpcAnswer, RpcCall, RpcMessage, RpcRequest, TaskMessage,
    TaskUpdate,
};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use serde_json::{Value, json};

use crate::tui::event::{Effect, ScreenEvent};
use crate::tui::state::{ScreenOptions, ScreenState};
use crate::tui::update::{open, update};
use crate::tui::view::view;

/// A screen without a terminal.
pub(super) struct Play {
    pub(super) state: ScreenState,
    pub(super) now: u64,
    pub(super) sent: Vec<RpcRequest>,
    pub(super) effects: Vec<Effect>,
    task: String,
    sequence: u64,
}

pub(super) fn session() -> ChatSession {
    ChatSession {
        id: "s1".to_owned(),
        title: "Mend the parser".to_owned(),
        workspace: "/w".to_owned(),
        model: Some("model-a".to_owned()),
        policy: ApprovalPolicy::Ask,
        parent: None,
        created: "2026-01-01T00:00:00Z".to_owned(),
        updated: "2026-01-01T00:00:00Z".to_owned(),
        items: 0,
        running: None,
        waiting: 0,
    }
}

impl Play {
    /// Opens a screen with an empty session.
    pub(super) fn new(columns: u16, rows: u16) -> Self {
        let mut play = Self::new_unopened(ScreenOptions::default(), columns, rows);
        play.answer(json!({"version": 1, "nacre": "0", "methods": []}));
        play.answer(json!({"session": session()}));
        play
    }

    pub(super) fn new_unopened(options: ScreenOptions, columns: u16, rows: u16) -> Self {
        let mut state = ScreenState::new(options, columns, rows);
        let effects = open(&mut state);
        let mut play = Self {
            state,
            now: 0,
            sent: Vec::new(),
            effects: Vec::new(),
            task: String::new(),
            sequence: 0,
        };
        play.keep(effects);
        play
    }

    fn keep(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Send(request) => self.sent.push(*request),
                effect @ (Effect::Outside(_) | Effect::Redraw | Effect::Quit) => {
                    self.effects.push(effect);
                }
            }
        }
    }

    pub(super) fn take(&mut self, event: ScreenEvent) {
        let effects = update(&mut self.state, self.now, event);
        self.keep(effects);
    }

    /// Draws a frame and advances the clock.
    pub(super) fn wait(&mut self, ms: u64) {
        self.draw();
        self.now += ms;
        self.take(ScreenEvent::Tick);
    }

    /// Types text; key names are in angle brackets.
    pub(super) fn keys(&mut self, keys: &str) {
        let mut rest = keys;
        while let Some(c) = rest.chars().next() {
            let named = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
            let key = match named {
                Some((name, after)) => {
                    rest = after;
                    named_key(name)
                }
                None => {
                    rest = &rest[c.len_utf8()..];
                    KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)
                }
            };
            self.take(ScreenEvent::Key(key));
        }
    }

    /// Responds to the last request.
    pub(super) fn answer(&mut self, result: Value) {
        let id = self.sent.last().map(|request| request.id);
        self.answer_to(id, result);
    }

    pub(super) fn answer_to(&mut self, id: Option<u64>, result: Value) {
        let answer = RpcAnswer { id, result: Some(result), error: None };
        self.take(ScreenEvent::Message(Box::new(RpcMessage::Answer(answer))));
    }

    pub(super) fn refuse(&mut self, message: &str) {
        let id = self.sent.last().map(|request| request.id);
        let error =
            json!({"code": "usage", "message": message, "causes": [], "hints": ["Try it again"]});
        let answer =
            RpcAnswer { id, result: None, error: Some(serde_json::from_value(error).unwrap()) };
        self.take(ScreenEvent::Message(Box::new(RpcMessage::Answer(answer))));
    }

    /// Sets the task of the messages that follow.
    pub(super) fn begin_task(&mut self, task: &str) {
        self.task = task.to_owned();
        self.sequence = 0;
    }

    /// Sends an update of the task from the agent.
    pub(super) fn say(&mut self, update: Value) {
        let update: TaskUpdate = serde_json::from_value(update).unwrap();
        self.sequence += 1;
        self.message(self.sequence, update);
    }

    pub(super) fn message(&mut self, sequence: u64, update: TaskUpdate) {
        let message = TaskMessage {
            task: self.task.clone(),
            session: "s1".to_owned(),
            sequence,
            at: String::new(),
            update,
        };
        self.take(ScreenEvent::Message(Box::new(RpcMessage::Task(message))));
    }

    /// Sends a prompt from the user, and starts the agent's turn.
    pub(super) fn work(&mut self, prompt: &str) {
        self.keys(prompt);
        self.keys("<Enter>");
        self.answer(json!({"task": "t1", "session": "s1"}));
        self.begin_task("t1");
        self.say(json!({"type": "task.accepted", "text": prompt}));
        self.say(json!({"type": "task.running", "model": "model-a"}));
        self.say(json!({"type": "step", "step": 1}));
    }

    pub(super) fn calls(&self) -> Vec<Value> {
        let call = |request: &RpcRequest| serde_json::to_value(&request.call).unwrap();
        self.sent.iter().map(call).collect()
    }

    /// Returns the last request that the screen sent.
    pub(super) fn last_call(&self) -> Value {
        self.calls().pop().unwrap_or_default()
    }

    pub(super) fn is_sent(&self, is_it: impl Fn(&RpcCall) -> bool) -> bool {
        self.sent.iter().any(|request| is_it(&request.call))
    }

    pub(super) fn draw(&mut self) -> (Buffer, Option<Position>) {
        let areas = self.state.settle();
        let mut buffer = Buffer::empty(Rect::new(0, 0, self.state.columns, self.state.rows));
        let cursor = view(&self.state, &areas, &mut buffer);
        (buffer, cursor)
    }

    /// Returns the frame as text, with the cursor as `█`.
    pub(super) fn frame(&mut self) -> String {
        let (mut buffer, cursor) = self.draw();
        if let Some(cursor) = cursor {
            buffer[cursor].set_symbol("█");
        }
        text_of(&buffer)
    }
}

/// Returns the rows of a buffer. The cell after a wide character is skipped.
pub(super) fn text_of(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut skip = 0;
        for x in 0..buffer.area.width {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let symbol = buffer[(x, y)].symbol();
            skip = crate::tui::text::width(symbol).saturating_sub(1);
            line.push_str(symbol);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn named_key(name: &str) -> KeyEvent {
    let (name, modifiers) = match name.split_once('-') {
        Some(("C", rest)) => (rest, KeyModifiers::CONTROL),
        Some(("A", rest)) => (rest, KeyModifiers::ALT),
        Some(("S", rest)) => (rest, KeyModifiers::SHIFT),
        _ => (name, KeyModifiers::NONE),
    };
    let code = match name {
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "BackTab" => KeyCode::BackTab,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "PageUp" => KeyCode::PageUp,
        "PageDown" => KeyCode::PageDown,
        "Backspace" => KeyCode::Backspace,
        "F1" => KeyCode::F(1),
        name => KeyCode::Char(name.chars().next().unwrap()),
    };
    KeyEvent::new(code, modifiers)
}
