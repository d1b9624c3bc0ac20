//! A small Python without files, network or clock, for code that a model wrote.
//!
//! Every call of a function that is not Python's own stops the code and comes here. Time, recursion, output and calls
//! are bounded by count. Memory is bounded by what the process grew since the interpreter began: somebody looks every
//! few milliseconds, and the interpreter stops at its next step. Code cannot catch any of these ends.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use monty::{MontyRepl, ReplProgress, ReplStartError};
use monty_types::{
    BASELINE_MEMORY, CompileOptions, ExcType, ExtFunctionResult, LIVE_MEMORY, MontyException,
    MontyObject, NameLookupResult, PrintWriter, PrintWriterCallback, ResourceLimits,
    ResourceTracker,
};
use serde_json::{Map, Value};

const MAX_MEMORY: usize = 256 << 20;
const MAX_RECURSION: usize = 100;
/// Calls of the host by all code of one session.
const MAX_CALLS: usize = 400;
/// What one piece of code may print; more is dropped.
const MAX_OUTPUT: usize = 6000;
/// Larger code is no code.
const MAX_CODE: usize = 32 << 10;
/// How deep a value may be that code hands to the host.
const MAX_DEPTH: usize = 16;
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A function of the host, and what its parameters are called.
pub(super) struct HostFunction {
    pub(super) name: &'static str,
    pub(super) parameters: &'static [&'static str],
}

/// What the host says to a call.
pub(super) enum Reply {
    Value(Value),
    /// An error that the code may catch.
    Refused(String),
    /// The code ends here.
    Over,
}

/// How a piece of code ended.
pub(super) enum Ran {
    /// It can go on; what it printed, with its error where it failed.
    Told(String),
    /// The host ended it.
    Over,
    /// A bound was reached.
    OutOf(String),
}

/// A session of the interpreter: what one piece of code defines, the next can use.
pub(super) struct Interpreter {
    repl: Option<MontyRepl>,
    functions: &'static [HostFunction],
    n_calls: usize,
    _watch: MemoryWatch,
}

impl Interpreter {
    /// An interpreter whose code may run for `time`, without the time that it waits for answers.
    pub(super) fn new(functions: &'static [HostFunction], time: Duration) -> Self {
        let limits = ResourceLimits::default()
            .max_duration(time)
            .max_memory(MAX_MEMORY)
            .max_recursion_depth(MAX_RECURSION);
        let tracker = ResourceTracker::new(limits);
        let repl = MontyRepl::new("session.py", tracker, CompileOptions::default());
        Self { repl: Some(repl), functions, n_calls: 0, _watch: MemoryWatch::start() }
    }

    /// Sets a variable.
    pub(super) fn define(&mut self, name: &str, value: &Value) -> Ran {
        self.feed("None", vec![(name.to_owned(), object(value))], &mut |_, _| Reply::Over)
    }

    /// Runs a piece of code.
    pub(super) fn run(
        &mut self,
        code: &str,
        host: &mut dyn FnMut(&str, &Map<String, Value>) -> Reply,
    ) -> Ran {
        if MAX_CODE < code.len() {
            return Ran::Told(format!("The code is longer than {MAX_CODE} bytes."));
        }
        self.feed(code, Vec::new(), host)
    }

    fn feed(
        &mut self,
        code: &str,
        inputs: Vec<(String, MontyObject)>,
        host: &mut dyn FnMut(&str, &Map<String, Value>) -> Reply,
    ) -> Ran {
        let Some(repl) = self.repl.take() else { return Ran::OutOf("it was ended".to_owned()) };
        let mut output = Output::default();
        let mut progress = repl.feed_start(code, inputs, PrintWriter::Callback(&mut output));
        loop {
            progress = match progress {
                Ok(ReplProgress::Complete { repl, value }) => {
                    self.repl = Some(repl);
                    return Ran::Told(output.with_value(&value));
                }
                Err(failed) => return self.failed(*failed, output),
                Ok(going) => match self.served(going, host, &mut output) {
                    Some(progress) => progress,
                    None => return Ran::Over,
                },
            };
        }
    }

    /// Answers what stopped the code; nothing when it ends.
    fn served(
        &mut self,
        stopped: ReplProgress,
        host: &mut dyn FnMut(&str, &Map<String, Value>) -> Reply,
        output: &mut Output,
    ) -> Option<Result<ReplProgress, Box<ReplStartError>>> {
        let print = PrintWriter::Callback(output);
        Some(match stopped {
            ReplProgress::FunctionCall(call) => {
                self.n_calls += 1;
                if MAX_CALLS < self.n_calls {
                    return Some(call.abort(exhausted("calls"), print));
                }
                if !self.functions.iter().any(|known| known.name == call.function_name) {
                    let name = call.function_name.clone();
                    return Some(call.resume(ExtFunctionResult::NotFound(name), print));
                }
                let arguments = self.arguments(&call.function_name, &call.args, &call.kwargs);
                match arguments.map_or_else(Reply::Refused, |args| host(&call.function_name, &args))
                {
                    Reply::Value(value) => call.resume(object(&value), print),
                    Reply::Refused(why) => call.resume(error(why), print),
                    Reply::Over => return None,
                }
            }
            ReplProgress::NameLookup(lookup) => {
                let is_ours = self.functions.iter().any(|known| known.name == lookup.name);
                let function =
                    || MontyObject::Function { name: lookup.name.clone(), docstring: None };
                let found = match is_ours {
                    true => NameLookupResult::Value(function()),
                    false => NameLookupResult::Undefined,
                };
                lookup.resume(found, print)
            }
            ReplProgress::OsCall(call) => call.resume(
                error("There are no files, no clock and no network here".to_owned()),
                print,
            ),
            ReplProgress::ResolveFutures(waiting) => {
                waiting.abort(error("Nothing can be awaited here".to_owned()), print)
            }
            ReplProgress::Complete { repl, value } => Ok(ReplProgress::Complete { repl, value }),
        })
    }

    fn failed(&mut self, failed: ReplStartError, mut output: Output) -> Ran {
        let ReplStartError { repl, error } = failed;
        if matches!(error.exc_type(), ExcType::MemoryError | ExcType::TimeoutError) {
            return Ran::OutOf(error.summary());
        }
        self.repl = Some(repl);
        output.add(&error.summary());
        Ran::Told(output.text)
    }

    /// The arguments of a call by name.
    fn arguments(
        &self,
        function: &str,
        args: &[MontyObject],
        kwargs: &[(MontyObject, MontyObject)],
    ) -> Result<Map<String, Value>, String> {
        let known = self.functions.iter().find(|known| known.name == function);
        let parameters = known.map_or(&[][..], |known| known.parameters);
        if parameters.len() < args.len() {
            return Err(format!("{function} takes {}", parameters.join(", ")));
        }
        let mut named = Map::new();
        for (name, value) in parameters.iter().zip(args) {
            named.insert((*name).to_owned(), json(value, 0)?);
        }
        for (name, value) in kwargs {
            let name = name.to_string();
            if !parameters.contains(&name.as_str()) {
                return Err(format!("{function} takes {}", parameters.join(", ")));
            }
            named.insert(name, json(value, 0)?);
        }
        Ok(named)
    }
}

fn error(why: String) -> MontyException {
    MontyException::new(ExcType::ValueError, Some(why))
}

fn exhausted(what: &str) -> MontyException {
    MontyException::new(ExcType::TimeoutError, Some(format!("no more {what} are left")))
}

/// What code printed, up to a bound.
#[derive(Default)]
struct Output {
    text: String,
    n_dropped: usize,
}

impl Output {
    fn add(&mut self, text: &str) {
        let room = MAX_OUTPUT.saturating_sub(self.text.len());
        let kept = &text[..text.floor_char_boundary(room)];
        self.text.push_str(kept);
        self.n_dropped += text.len() - kept.len();
    }

    /// With the value of the last expression, as a person at a prompt would see it.
    fn with_value(mut self, value: &MontyObject) -> String {
        if !matches!(value, MontyObject::None) {
            self.add(&value.to_string());
        }
        match self.n_dropped {
            0 => self.text,
            n_dropped => format!("{}\n({n_dropped} more bytes were not shown)", self.text),
        }
    }
}

impl PrintWriterCallback for Output {
    fn stdout_write(&mut self, output: Cow<'_, str>) -> Result<(), MontyException> {
        self.add(&output);
        Ok(())
    }

    fn stdout_push(&mut self, end: char) -> Result<(), MontyException> {
        self.add(end.encode_utf8(&mut [0; 4]));
        Ok(())
    }
}

/// A value of ours as one of Python's.
fn object(value: &Value) -> MontyObject {
    match value {
        Value::Null => MontyObject::None,
        Value::Bool(is) => MontyObject::Bool(*is),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => MontyObject::Int(whole),
            None => MontyObject::Float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => MontyObject::String(text.clone()),
        Value::Array(items) => MontyObject::List(items.iter().map(object).collect()),
        Value::Object(members) => {
            let pairs: Vec<(MontyObject, MontyObject)> = members
                .iter()
                .map(|(name, value)| (MontyObject::String(name.clone()), object(value)))
                .collect();
            MontyObject::dict(pairs)
        }
    }
}

/// A value of Python's as one of ours; what JSON does not know is refused.
fn json(object: &MontyObject, depth: usize) -> Result<Value, String> {
    let list = |items: &[MontyObject]| {
        items.iter().map(|item| json(item, depth + 1)).collect::<Result<Vec<_>, _>>()
    };
    #[expect(clippy::wildcard_enum_match_arm, reason = "everything else is no JSON")]
    match object {
        _ if MAX_DEPTH < depth => Err("the value is nested too deeply".to_owned()),
        MontyObject::None => Ok(Value::Null),
        MontyObject::Bool(is) => Ok(Value::Bool(*is)),
        MontyObject::Int(number) => Ok(Value::from(*number)),
        MontyObject::Float(number) => Ok(Value::from(*number)),
        MontyObject::String(text) => Ok(Value::String(text.clone())),
        MontyObject::List(items) | MontyObject::Tuple(items) => Ok(Value::Array(list(items)?)),
        MontyObject::Dict(pairs) => {
            let mut members = Map::new();
            for (name, value) in pairs {
                members.insert(name.to_string(), json(value, depth + 1)?);
            }
            Ok(Value::Object(members))
        }
        other => Err(format!("a {} cannot be handed over", other.type_name())),
    }
}

/// Tells the interpreter what the process grew by. Where the system does not say, only time bounds what code takes.
struct MemoryWatch {
    is_over: Arc<AtomicBool>,
    watcher: Option<JoinHandle<()>>,
}

impl MemoryWatch {
    fn start() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let Some(before) = resident_bytes() else { return Self { is_over, watcher: None } };
        BASELINE_MEMORY.store(0, Ordering::Relaxed);
        LIVE_MEMORY.store(0, Ordering::Relaxed);
        let over = Arc::clone(&is_over);
        let watcher = thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                let now = resident_bytes().unwrap_or(before);
                LIVE_MEMORY.store(now.saturating_sub(before), Ordering::Relaxed);
                thread::park_timeout(LOOK_EVERY);
            }
        });
        Self { is_over, watcher: Some(watcher) }
    }
}

impl Drop for MemoryWatch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(watcher) = self.watcher.take() {
            watcher.thread().unpark();
            let _ = watcher.join();
        }
    }
}

/// What the process holds in memory now.
fn resident_bytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: usize = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests;
