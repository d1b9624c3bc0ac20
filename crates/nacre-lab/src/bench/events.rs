//! Measures the cost of events during tool calls, with and without recording them in the state and
//! the log. Each round reads 1,000 small files through the whole pipeline, ten at a time. Recorded
//! and unrecorded rounds alternate, so that a temporary slowdown of the machine affects both
//! equally. Both kinds of rounds open the state and the log, because a process pays that cost only
//! once. Both kinds of rounds open the state and the log, because a process pays that cost only
//! once.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_base::redact::ExtraWords;
use nacre_engine::lifecycle::{AgentSpec, Completion};
use nacre_engine::model::{Arguments, Cancel, Role, ToolCall};
use nacre_engine::record::state::{Recorder, State, TaskStore as _};
use nacre_engine::record::{
    Clock, Event, Events, Listener, NewTask, Runner, SessionId, Signal, TaskClass, TaskId,
    TaskState, Telemetry,
};
use nacre_engine::tools::toolkits::file;
use nacre_engine::tools::{Approval, Budgets, Permissions, PipelineParts, StepContext, Workspace};
use serde_json::json;

use crate::Outcome;

const N_CALLS: usize = 1000;
const N_ROUNDS: u64 = 40;
const PATIENCE: Duration = Duration::from_secs(5);

type Res<T> = Result<T, Box<dyn Error>>;

pub(super) fn run() -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let work = tempfile::tempdir()?;
    for n in 0..N_CALLS {
        fs::write(work.path().join(format!("f{n}.txt")), format!("line {n}\n").repeat(100))?;
    }
    let mut silent = Vec::new();
    let mut recorded = Vec::new();
    for round in 0..N_ROUNDS {
        let is_heard_first = round % 2 == 0;
        for is_heard in [is_heard_first, !is_heard_first] {
            let took = runtime.block_on(round_of(work.path(), round, is_heard))?;
            if is_heard { recorded.push(took) } else { silent.push(took) }
        }
    }
    // Compare the two rounds of each pair instead of overall medians, because the machine's speed
    // changes over minutes.
    let added = |took: fn(&(Duration, Duration)) -> Duration| {
        let pairs = silent.iter().zip(&recorded);
        let ratio =
            |(silent, heard): (&_, &_)| took(heard).as_secs_f64() / took(silent).as_secs_f64();
        let mut ratios: Vec<f64> = pairs.map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        (ratios[ratios.len() / 2] - 1.0) * 100.0
    };
    let ((silent_run, silent_whole), (run, whole)) = (medians(&silent), medians(&recorded));
    println!("{N_CALLS} calls, medians of {N_ROUNDS} rounds");
    println!("no listener       {silent_run:>10.2?}");
    println!("state and log     {run:>10.2?}  {:+.1} %", added(|took| took.0));
    println!("and closed        {silent_whole:>10.2?}");
    println!("  and written     {whole:>10.2?}  {:+.1} %", added(|took| took.1));
    Ok(true)
}

/// Returns the time that the calls took, and the time until the last event was on disk.
async fn round_of(work: &Path, round: u64, is_heard: bool) -> Res<(Duration, Duration)> {
    let home = tempfile::tempdir()?;
    let scope = WriteScope::open(home.path(), Access::Private)?;
    let owner =
        Owner { pid: std::process::id(), command: "bench".to_owned(), since: String::new() };
    let recording =
        Recorder::open(&scope, &owner, PATIENCE, ExtraWords::default(), Telemetry::default())?;
    let mut state = State::open(&scope, &owner, PATIENCE)?;
    let clock: Clock = Arc::new(Timestamp::now);
    let task = NewTask {
        id: TaskId::from_random(round),
        session: SessionId::from_random(round),
        parent: None,
        project: None,
        agent: "bench".to_owned(),
        class: TaskClass::Interactive,
        title: "A thousand calls".to_owned(),
    };
    let runner = Runner::here(std::process::id());
    let listeners =
        if is_heard { vec![recording.clone() as Arc<dyn Listener>] } else { Vec::new() };
    let events = Events::new(task.id.clone(), clock, listeners);
    state.accept(&task, &runner, Timestamp::now())?;
    state.start(&task.id, &runner, Timestamp::now())?;
    let start = Instant::now();
    calls(work, &events).await?;
    events.emit(Event::TaskState(TaskState::Completed { signal: Signal::Done }));
    let run = start.elapsed();
    let report = recording.close();
    let whole = start.elapsed();
    if report.n_lost > 0 || report.error.is_some() {
        return Err(format!("{report:?}").into());
    }
    Ok((run, whole))
}

async fn calls(work: &Path, events: &Events) -> Res<()> {
    let spill = tempfile::tempdir()?;
    let workspace = Arc::new(Workspace::open(work, &[])?);
    let parts = PipelineParts {
        tools: file::tools(&workspace),
        workspace,
        spill: spill.path().to_owned(),
        effects: None,
        approval: Approval::not_needed(),
        events: events.clone(),
    };
    let mut pipeline = spec().pipeline(parts)?;
    let call = |n: usize| ToolCall {
        id: format!("call_{n}"),
        name: "file_read".to_owned(),
        arguments: Arguments::Object(json!({ "path": format!("f{n}.txt") })),
    };
    for batch in 0..N_CALLS / 10 {
        let calls: Vec<ToolCall> = (batch * 10..batch * 10 + 10).map(call).collect();
        let number = u32::try_from(batch)?;
        let step = StepContext { number, cancel: Cancel::new(), now: Timestamp::now() };
        events.emit(Event::StepStart { step: number });
        let done = pipeline.call_all(&calls, &step).await;
        assert_eq!(done.results.len(), calls.len());
        events.emit(Event::StepEnd { step: number, n_calls: calls.len(), duration_us: 0 });
    }
    Ok(())
}

fn spec() -> AgentSpec {
    let minute = Duration::from_secs(60);
    AgentSpec {
        name: "bench",
        role: Role::Explorer,
        prompt: String::new(),
        tools: vec!["file_read"],
        permissions: Permissions::read_only(),
        budgets: Budgets {
            steps: 1000,
            tool_calls: 2000,
            wall: minute,
            context_tokens: 1000,
            answer_tokens: 1000,
            total_tokens: None,
        },
        completion: Completion::EndTurn { signals: false },
        sums_up: false,
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn medians(times: &[(Duration, Duration)]) -> (Duration, Duration) {
    let (runs, wholes) = times.iter().copied().unzip();
    (median(runs), median(wholes))
}
