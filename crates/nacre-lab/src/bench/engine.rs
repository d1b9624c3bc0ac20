//! Measures the engine's overhead for a step without tools and for the events emitted by 1,000 tool
//! calls.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_engine::lifecycle::{
    self, AgentSpec, Completion, Conversation, Engine, Job, RunControl, RunHandle,
};
use nacre_engine::model::{
    Limits, ModelRef, ModelSettings, Models, ProviderSettings, RetryPolicy, Role, RoleSettings,
    Scripted,
};
use nacre_engine::record::state::{Recorder, State, TaskStore as _};
use nacre_engine::record::{
    CancelledBy, Clock, Event, Events, Listener, NewTask, Record, Runner, SessionId, TaskClass,
    TaskId,
};
use nacre_engine::tools::{
    Approval, Budgets, Permissions, Pipeline, PipelineParts, Workspace, toolkits,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::Outcome;

const N_CALLS: usize = 1000;
const CALLS_A_STEP: usize = 10;

/// Measure the engine's overhead for a step without tools and for the events emitted by 1,000 tool
/// calls
#[derive(Debug, clap::Args)]
pub(crate) struct EngineArgs {
    #[arg(default_value_t = 7)]
    rounds: usize,
}

pub(super) async fn run(args: &EngineArgs) -> Outcome {
    let rounds = args.rounds;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for name in ["home", "spill", "work"] {
        fs::create_dir(root.join(name)).unwrap();
    }
    let line = "a line in a file that an agent reads\n";
    fs::write(root.join("work/file.txt"), line.repeat(N_CALLS + 10)).unwrap();
    step_overhead(&root, rounds).await;
    event_overhead(&root, rounds).await;
    measure_stream_cancellation(&root, rounds).await;
    Ok(true)
}

/// Measures the time from a cancellation until the run ends, and until the server's connection
/// closes.
async fn measure_stream_cancellation(root: &Path, rounds: usize) {
    let (mut ended, mut closed) = (Vec::new(), Vec::new());
    for number in 0..rounds {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = Some(format!("http://{}/v1", listener.local_addr().unwrap()));
        let server = tokio::spawn(stall(listener));
        let provider = ProviderSettings { base_url, ..ProviderSettings::default() };
        let settings = ModelSettings {
            providers: BTreeMap::from([("llamacpp".to_owned(), provider)]),
            default: Some(RoleSettings::of_model("llamacpp/m".parse().unwrap())),
            ..ModelSettings::default()
        };
        let handle = Arc::new(RunHandle::new());
        let control = handle.control();
        let canceller = Arc::new(Canceller { handle, at: OnceLock::new() });
        let events = Events::new(
            TaskId::from_random(2_000_000 + number as u64),
            Arc::new(Timestamp::now),
            vec![canceller.clone()],
        );
        let (spec, mut tools) = (spec(), pipeline(root, &spec(), &events));
        let (models, clock): (_, Clock) = (Models::new(settings), Arc::new(Timestamp::now));
        let (policy, limits) = (RetryPolicy::default(), Limits::default());
        let engine = Engine { models: &models, policy: &policy, limits: &limits, clock: &clock };
        let outcome = lifecycle::run(engine, job(&spec, events), &mut tools, &control).await;
        let wished = *canceller.at.get().unwrap();
        ended.push(wished.elapsed());
        assert_eq!(outcome.ending.state().to_string(), "cancelled(person)");
        closed.push(server.await.unwrap().saturating_duration_since(wished));
    }
    println!(
        "cancelled in a stream:   done after {:?}, closed after {:?}",
        median(ended),
        median(closed)
    );
}

/// Sends one word and then stalls. Returns when the client disconnects.
async fn stall(listener: TcpListener) -> Instant {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut buffer = [0; 16 << 10];
    let _ = stream.read(&mut buffer).await.unwrap();
    let word = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Well\"}}]}\n\n";
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let text = format!("{head}{:x}\r\n{word}\r\n", word.len());
    stream.write_all(text.as_bytes()).await.unwrap();
    while stream.read(&mut buffer).await.is_ok_and(|n_read| n_read != 0) {}
    Instant::now()
}

struct Canceller {
    handle: Arc<RunHandle>,
    at: OnceLock<Instant>,
}

impl Listener for Canceller {
    fn hear(&self, record: &Arc<Record>) {
        if matches!(record.event, Event::ModelDelta { .. }) {
            self.at.get_or_init(Instant::now);
            self.handle.cancel(CancelledBy::Person);
        }
    }
}

fn pipeline(root: &Path, spec: &AgentSpec, events: &Events) -> Pipeline {
    let workspace = Arc::new(Workspace::open(&root.join("work"), &[]).unwrap());
    let parts = PipelineParts {
        tools: toolkits::file::tools(&workspace),
        workspace,
        spill: root.join("spill"),
        effects: None,
        approval: Approval::not_needed(),
        events: events.clone(),
    };
    spec.pipeline(parts).unwrap()
}

fn job(spec: &AgentSpec, events: Events) -> Job<'_> {
    Job {
        spec,
        history: Conversation::default(),
        asked: "Read it all.",
        attachments: Vec::new(),
        checkpoint: None,
        events,
        skills: None,
        children: Arc::default(),
        seed: 1,
    }
}

/// Compares one-step runs with two-step runs. The difference is the overhead per step.
async fn step_overhead(root: &Path, rounds: usize) {
    let one = "{\"turns\":[{\"say\":\"Done.\"}]}".to_owned();
    // The engine calls the model again after an empty response, which adds a second step without a
    // tool.
    let two = "{\"turns\":[{\"say\":\" \"},{\"say\":\"Done.\"}]}".to_owned();
    let (mut ones, mut twos) = (Vec::new(), Vec::new());
    for number in 0..rounds * 50 {
        let number = number as u64 * 2;
        ones.push(time_run(root, &one, &Voice::Recorded, number).await);
        twos.push(time_run(root, &two, &Voice::Recorded, number + 1).await);
    }
    let (one, two) = (median(ones), median(twos));
    println!("one step:          {one:?}");
    println!("one more step:   {:?}", two.saturating_sub(one));
}

async fn event_overhead(root: &Path, rounds: usize) {
    let script = thousand_calls();
    let (mut silent, mut recorded) = (Vec::new(), Vec::new());
    for number in 0..rounds {
        let number = 1_000_000 + number as u64;
        silent.push(time_run(root, &script, &Voice::Silent, number).await);
        recorded.push(time_run(root, &script, &Voice::Recorded, number).await);
    }
    let (silent, recorded) = (median(silent), median(recorded));
    let more = recorded.as_secs_f64() / silent.as_secs_f64() * 100.0 - 100.0;
    println!("{N_CALLS} calls, no listener: {silent:?}");
    println!("{N_CALLS} calls, recorded:    {recorded:?} ({more:+.1} %)");
}

fn thousand_calls() -> String {
    let mut turns = Vec::new();
    for step in 0..N_CALLS / CALLS_A_STEP {
        let calls: Vec<String> = (0..CALLS_A_STEP)
            .map(|call| {
                let first = step * CALLS_A_STEP + call + 1;
                format!("{{\"name\":\"file_read\",\"arguments\":{{\"path\":\"file.txt\",\"first_line\":{first},\"n_lines\":5}}}}")
            })
            .collect();
        turns.push(format!("{{\"calls\":[{}]}}", calls.join(",")));
    }
    turns.push("{\"say\":\"Done.\"}".to_owned());
    format!("{{\"turns\":[{}]}}", turns.join(","))
}

enum Voice {
    Silent,
    Recorded,
}

async fn time_run(root: &Path, script: &str, voice: &Voice, number: u64) -> Duration {
    let task = TaskId::from_random(number);
    let clock: Clock = Arc::new(Timestamp::now);
    let recorder = match voice {
        Voice::Silent => None,
        Voice::Recorded => Some(Arc::new(recorder(root, &task))),
    };
    let listeners: Vec<Arc<dyn Listener>> = match &recorder {
        Some(recorder) => vec![recorder.clone()],
        None => Vec::new(),
    };
    let events = Events::new(task, Arc::clone(&clock), listeners);
    let spec = spec();
    let mut tools = pipeline(root, &spec, &events);
    let settings = ModelSettings {
        default: Some(RoleSettings::of_model(ModelRef::for_script())),
        script: Some(Arc::new(Scripted::parse(script).unwrap())),
        ..ModelSettings::default()
    };
    let models = Models::new(settings);
    let (policy, limits) = (RetryPolicy::default(), Limits::default());
    let engine = Engine { models: &models, policy: &policy, limits: &limits, clock: &clock };
    let begun = Instant::now();
    let outcome =
        lifecycle::run(engine, job(&spec, events), &mut tools, &RunControl::without_handle()).await;
    let took = begun.elapsed();
    assert_eq!(outcome.ending.state().to_string(), "completed(done)", "{:?}", outcome.ending);
    if let Some(recorder) = recorder {
        let report = recorder.close();
        assert!(report.error.is_none() && report.n_lost == 0, "{report:?}");
    }
    took
}

fn recorder(root: &Path, task: &TaskId) -> Recorder {
    let home = WriteScope::open(&root.join("home"), Access::Private).unwrap();
    let owner =
        Owner { pid: std::process::id(), command: "overhead".to_owned(), since: String::new() };
    let mut state = State::open(&home, &owner, Duration::from_secs(5)).unwrap();
    let runner = Runner::here(std::process::id());
    let new = NewTask {
        id: task.clone(),
        session: SessionId::from_random(1),
        parent: None,
        project: None,
        agent: "reader".to_owned(),
        class: TaskClass::Interactive,
        title: "Read it all.".to_owned(),
    };
    state.accept(&new, &runner, Timestamp::now()).unwrap();
    state.start(task, &runner, Timestamp::now()).unwrap();
    Recorder::start(state, None)
}

fn spec() -> AgentSpec {
    AgentSpec {
        name: "reader",
        role: Role::Chat,
        prompt: "You read.".to_owned(),
        tools: vec!["file_read"],
        permissions: Permissions::read_only(),
        budgets: Budgets {
            steps: 200,
            tool_calls: 2000,
            wall: Duration::from_secs(600),
            context_tokens: 1_000_000,
            answer_tokens: 1000,
            total_tokens: None,
        },
        completion: Completion::EndTurn { signals: false },
        sums_up: false,
    }
}

fn median(mut durations: Vec<Duration>) -> Duration {
    durations.sort();
    durations[durations.len() / 2]
}
