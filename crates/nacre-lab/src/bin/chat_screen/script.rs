//! An agent that follows a script of JSON lines.
//!
//! `{"wait": "chat.start"}` waits for a request, `{"answer": {…}}` answers it, and `{"refuse":
//! {…}}` refuses it. `{"task": "t1"}` sets the task for later messages, and `{"say": {…}}` sends a
//! numbered `TaskUpdate`. `{"repeat": 100, "every_ms": 5, "say": {…}}` sends the update repeatedly
//! and replaces `{n}` with the repetition number. `{"sleep_ms": 50}` pauses, `{"files": […]}` lists
//! the files of the workspace, and `{"close": true}` closes the connection. Requests to open a
//! session are answered automatically.

use std::collections::VecDeque;
use std::io::Write as _;
use std::time::{Duration, Instant};

use nacre_types::{RpcAnswer, RpcCall, RpcMessage, RpcRequest, TaskMessage, TaskUpdate};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::{Sender, UnboundedReceiver};

/// One line of a script, with exactly one action.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Step {
    wait: Option<String>,
    answer: Option<Value>,
    refuse: Option<Value>,
    task: Option<String>,
    say: Option<Value>,
    repeat: Option<u64>,
    every_ms: Option<u64>,
    sleep_ms: Option<u64>,
    files: Option<Vec<String>>,
    /// Fields that override the default session.
    session: Option<Value>,
    close: Option<bool>,
}

pub(crate) fn read(path: &str) -> Result<Vec<Step>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let step = |(idx, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| format!("line {}: {error}", idx + 1))
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(step).collect()
}

pub(crate) fn files(steps: &[Step]) -> Vec<String> {
    steps.iter().filter_map(|step| step.files.clone()).flatten().collect()
}

struct Agent<'a> {
    asked: UnboundedReceiver<RpcRequest>,
    told: &'a Sender<RpcMessage>,
    log: Option<std::fs::File>,
    begun: Instant,
    waiting: VecDeque<RpcRequest>,
    current: Option<u64>,
    task: String,
    sequence: u64,
    session: Value,
}

/// Runs the steps until the script or the connection ends. The connection stays open after the last
/// step.
pub(crate) fn play(
    steps: Vec<Step>,
    asked: UnboundedReceiver<RpcRequest>,
    told: &Sender<RpcMessage>,
    log: Option<&str>,
) {
    let mut session = json!({
        "id": "s1", "title": "A scripted session", "workspace": "/w", "model": "scripted", "policy": "ask", "parent": null,
        "created": "2026-01-01T00:00:00Z", "updated": "2026-01-01T00:00:00Z", "items": 0, "running": null, "waiting": 0,
    });
    for part in steps.iter().filter_map(|step| step.session.as_ref()) {
        if let (Some(session), Some(part)) = (session.as_object_mut(), part.as_object()) {
            session.extend(part.clone());
        }
    }
    let mut agent = Agent {
        asked,
        told,
        log: log.and_then(|path| std::fs::File::create(path).ok()),
        begun: Instant::now(),
        waiting: VecDeque::new(),
        current: None,
        task: "t1".to_owned(),
        sequence: 0,
        session,
    };
    for step in steps {
        if step.close == Some(true) {
            return;
        }
        if agent.carry_out(step).is_none() {
            return;
        }
    }
    while let Some(request) = agent.asked.blocking_recv() {
        agent.take(request);
    }
}

impl Agent<'_> {
    fn carry_out(&mut self, step: Step) -> Option<()> {
        if let Some(method) = step.wait {
            self.wait_for(&method)?;
        }
        if let Some(ms) = step.sleep_ms {
            self.sleep(ms)?;
        }
        if let Some(task) = step.task {
            self.task = task;
            self.sequence = 0;
        }
        if let Some(result) = step.answer {
            self.send(RpcMessage::Answer(RpcAnswer {
                id: self.current,
                result: Some(result),
                error: None,
            }))?;
        }
        if let Some(error) = step.refuse {
            let error = serde_json::from_value(error).ok();
            self.send(RpcMessage::Answer(RpcAnswer { id: self.current, result: None, error }))?;
        }
        if let Some(update) = step.say {
            for n in 1..=step.repeat.unwrap_or(1) {
                let text = update.to_string().replace("{n}", &n.to_string());
                let update: TaskUpdate = serde_json::from_str(&text).ok()?;
                self.sequence += 1;
                self.send(RpcMessage::Task(TaskMessage {
                    task: self.task.clone(),
                    session: "s1".to_owned(),
                    sequence: self.sequence,
                    at: String::new(),
                    update,
                }))?;
                self.sleep(step.every_ms.unwrap_or(0))?;
            }
        }
        Some(())
    }

    fn send(&self, message: RpcMessage) -> Option<()> {
        self.told.blocking_send(message).ok()
    }

    /// Pauses, and logs requests that arrive in the meantime.
    fn sleep(&mut self, ms: u64) -> Option<()> {
        let until = Instant::now() + Duration::from_millis(ms);
        loop {
            while let Ok(request) = self.asked.try_recv() {
                self.take(request);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Some(());
            }
            std::thread::sleep(left.min(Duration::from_millis(2)));
        }
    }

    fn wait_for(&mut self, method: &str) -> Option<()> {
        loop {
            let found = self.waiting.iter().position(|request| method_of(&request.call) == method);
            if let Some(request) = found.and_then(|idx| self.waiting.remove(idx)) {
                self.current = Some(request.id);
                return Some(());
            }
            let request = self.asked.blocking_recv()?;
            self.take(request);
        }
    }

    /// Logs a request, and answers it if it opens a session.
    fn take(&mut self, request: RpcRequest) {
        let ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(0);
        if let Some(log) = &mut self.log {
            let _ = writeln!(log, "{}", json!({"ms": ms, "call": request.call}));
        }
        let method = method_of(&request.call);
        let result = match method.as_str() {
            "hello" => json!({"version": 1, "nacre": "script", "methods": []}),
            "session.create" | "session.get" => json!({"session": self.session}),
            _ => {
                self.waiting.push_back(request);
                return;
            }
        };
        let _ = self.send(RpcMessage::Answer(RpcAnswer {
            id: Some(request.id),
            result: Some(result),
            error: None,
        }));
    }
}

fn method_of(call: &RpcCall) -> String {
    let value = serde_json::to_value(call).unwrap_or_default();
    value["method"].as_str().unwrap_or_default().to_owned()
}
