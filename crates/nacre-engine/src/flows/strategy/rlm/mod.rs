//! A model explores a session by code: the transcript is a variable, and questions about parts of it are a function.
//!
//! What a long session costs is then what the model looks at, not how long it is. The code runs in an interpreter that
//! reaches nothing but the functions below. When steps, time, memory or calls are used up, or the answers are of no use,
//! the session is read in windows instead.

mod host;
mod interpreter;

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use self::host::{FUNCTIONS, Host};
use self::interpreter::{Interpreter, Ran};
use super::answer::{exploring, fenced};
use super::pages::Pages;
use super::windows::{Job, ModelRead};
use crate::flows::models::{AskError, ModelClient, Question};
use crate::model::{OutputSchema, Usage};

/// How long all code of one session may run.
const MAX_TIME: Duration = Duration::from_secs(10);
/// How often the model may write code.
const MAX_STEPS: usize = 12;
/// What of the earlier steps the model is shown.
const MAX_HISTORY: usize = 24 << 10;
/// How much of the two ends of the session it is shown at first.
const FIRST_LOOK: usize = 1500;
/// The code of a deep expression is walked by recursion.
const STACK: usize = 64 << 20;
/// What exploring usually takes; each question is counted as it comes.
const USUAL: Usage = Usage {
    input: 60_000,
    output: 6000,
    cache_read: 0,
    cache_write: 0,
    reasoning: 0,
    reported: None,
};

/// How an exploration ended.
pub(super) enum Explored {
    Read(Box<ModelRead>),
    /// It came to nothing, and why.
    GaveUp(String),
}

/// What exploring a session takes, about.
pub(super) fn usage() -> Usage {
    USUAL
}

/// One step of an exploration.
#[derive(Deserialize)]
struct StepAnswer {
    code: String,
}

/// Explores a session, on a thread with room for deep code.
pub(super) fn explore(asker: &ModelClient<'_>, job: Job<'_>) -> Result<Explored, AskError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        match thread.spawn_scoped(scope, || steps(asker, job)) {
            Ok(thread) => thread.join().unwrap_or(Err(AskError::Lost)),
            Err(error) => Ok(Explored::GaveUp(error.to_string())),
        }
    })
}

fn steps(asker: &ModelClient<'_>, job: Job<'_>) -> Result<Explored, AskError> {
    let mut interpreter = Interpreter::new(FUNCTIONS, MAX_TIME);
    if let Ran::OutOf(why) = interpreter.define("transcript", &lines(job.pages)) {
        return Ok(Explored::GaveUp(why));
    }
    let mut host = Host::new(asker, job);
    let mut history = String::new();
    for step in 1..=MAX_STEPS {
        let question = question(job, step, &history);
        let StepAnswer { code } = match asker.ask(&question) {
            Ok(answer) => answer,
            Err(AskError::Answer(_)) => {
                return Ok(Explored::GaveUp("the model wrote no code".to_owned()));
            }
            Err(error) => return Err(error),
        };
        let ran = interpreter.run(&code, &mut |name, arguments| host.call(name, arguments));
        if let Some(error) = host.failed.take() {
            return Err(error);
        }
        if let Some(answer) = host.answer.take() {
            let mut read =
                ModelRead { summary: Some(answer.summary), n_steps: step, ..ModelRead::default() };
            read.proven.take(&answer.candidates, job.pages);
            return Ok(Explored::Read(Box::new(read)));
        }
        match ran {
            Ran::Told(output) => remember(&mut history, step, &code, &output),
            Ran::Over => return Ok(Explored::GaveUp("the code was ended".to_owned())),
            Ran::OutOf(why) => return Ok(Explored::GaveUp(why)),
        }
    }
    Ok(Explored::GaveUp(format!("no answer came in {MAX_STEPS} steps")))
}

/// The transcript as the code sees it.
fn lines(pages: &Pages) -> Value {
    let lines = pages
        .lines()
        .map(|line| json!({ "n": line.sequence, "who": line.label(), "text": line.whole() }));
    Value::Array(lines.collect())
}

fn question(job: Job<'_>, step: usize, history: &str) -> Question {
    let (first, last) = job.pages.ends(FIRST_LOOK);
    let n_lines = job.pages.lines().count();
    let mut material = format!(
        "The session has {n_lines} entries and about {} tokens. It begins:\n{}and ends:\n{}",
        job.pages.tokens(),
        fenced("transcript", &first),
        fenced("transcript", &last)
    );
    if let Some(earlier) = job.earlier {
        material += &format!("What was known before it went on:\n{}", fenced("summary", earlier));
    }
    if !history.is_empty() {
        material += &format!("What your code did so far:\n{}", fenced("steps", history));
    }
    material +=
        &format!("This is step {step} of at most {MAX_STEPS}. Write the next piece of code.");
    Question {
        role: job.role,
        instructions: exploring(job.wanted),
        material,
        output: OutputSchema {
            name: "next_step".to_owned(),
            description: "The next piece of Python".to_owned(),
            schema: json!({ "type": "object", "properties": { "code": { "type": "string" } },
                "required": ["code"], "additionalProperties": false }),
        },
    }
}

/// Adds a step; of a long history the beginning is let go.
fn remember(history: &mut String, step: usize, code: &str, output: &str) {
    history.push_str(&format!("Step {step}:\n{}\nprinted:\n{}\n\n", code.trim(), output.trim()));
    if MAX_HISTORY < history.len() {
        let start = history.ceil_char_boundary(history.len() - MAX_HISTORY);
        history.replace_range(..start, "…");
    }
}

#[cfg(test)]
mod tests;
