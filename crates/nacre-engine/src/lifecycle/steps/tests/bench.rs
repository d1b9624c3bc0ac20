//! A workspace, three tools and a script for tests, with the checks that apply to every run.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::RelPath;
use schemars::JsonSchema;
use serde::Deserialize;
use tempfile::TempDir;

use crate::lifecycle::steps::*;
use crate::lifecycle::{Attachment, Completion, Item};
use crate::model::{ModelRef, ModelSettings, Role, RoleSettings, Scripted};
use crate::record::{Category, ChangeKind, FileChange, Heard, Record, TaskId};
use crate::tools::{
    AnyTool, Approval, Area, Budgets, Footprint, Output, Permissions, PipelineParts, Tool,
    ToolContext, ToolError, ToolSpec, Workspace, tool,
};

const SPEC: ToolSpec = ToolSpec {
    name: "echo",
    category: Category::Meta,
    description: "Says it again.",
    time_limit: Duration::from_secs(60),
    shown_bytes: 2000,
};

/// Repeats a word; `long` returns a megabyte.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Echo {
    word: String,
}

impl Tool for Echo {
    type With = ();
    const SPEC: ToolSpec = SPEC;

    fn footprint(&self, (): &()) -> Result<Footprint, ToolError> {
        Ok(Footprint::default())
    }

    async fn run(self, (): &(), _: &ToolContext) -> Result<Output, ToolError> {
        let text = if self.word == "long" { "long line\n".repeat(100_000) } else { self.word };
        Ok(Output { text, ..Output::default() })
    }
}

/// Reports a change to the named file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Touch {
    word: String,
}

impl Tool for Touch {
    type With = ();
    const SPEC: ToolSpec = ToolSpec { name: "touch", category: Category::Write, ..SPEC };

    fn footprint(&self, (): &()) -> Result<Footprint, ToolError> {
        Ok(Footprint::changing([Area::File(RelPath::new(&self.word).unwrap())]))
    }

    async fn run(self, (): &(), _: &ToolContext) -> Result<Output, ToolError> {
        let path = RelPath::new(&self.word).unwrap();
        let changed = vec![FileChange::new(&path, ChangeKind::Edited)];
        Ok(Output { text: "touched".to_owned(), changed })
    }
}

/// Never returns.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Hang {
    word: String,
}

impl Tool for Hang {
    type With = ();
    const SPEC: ToolSpec = ToolSpec { name: "hang", ..SPEC };

    fn footprint(&self, (): &()) -> Result<Footprint, ToolError> {
        Ok(Footprint::default())
    }

    async fn run(self, (): &(), _: &ToolContext) -> Result<Output, ToolError> {
        drop(self.word);
        std::future::pending().await
    }
}

fn budgets() -> Budgets {
    Budgets {
        steps: 8,
        tool_calls: 10,
        wall: Duration::from_secs(600),
        context_tokens: 30_000,
        answer_tokens: 1000,
        total_tokens: None,
    }
}

/// Returns an agent that is permitted to do everything that the test's tools can do.
pub(super) fn chat() -> AgentSpec {
    let everywhere = vec![Area::Tree(None)];
    AgentSpec {
        name: "chat",
        role: Role::Chat,
        prompt: "You help.".to_owned(),
        tools: vec!["echo", "touch", "hang"],
        permissions: Permissions {
            reads: everywhere.clone(),
            writes: everywhere,
            ..Permissions::default()
        },
        budgets: budgets(),
        completion: Completion::EndTurn { signals: true },
        sums_up: false,
    }
}

pub(super) struct Bench {
    workspace: TempDir,
    spill: TempDir,
    models: Models,
    script: Arc<Scripted>,
    heard: Arc<Heard>,
    pub(super) events: Events,
    pub(super) skills: Option<Arc<ActiveSkills>>,
    pub(super) attachments: Vec<Attachment>,
    /// The items that were passed to the checkpoint.
    saved: Mutex<Vec<Item>>,
    /// The checkpoint fails after this many items.
    pub(super) saves_at_most: usize,
}

/// The outcome of a run.
pub(super) struct Played {
    pub(super) outcome: Outcome,
    pub(super) records: Vec<Arc<Record>>,
    /// Number of script turns that were not played.
    pub(super) left: usize,
}

impl Bench {
    pub(super) fn new(script: &str) -> Self {
        let script = Arc::new(Scripted::parse(script).unwrap());
        let settings = ModelSettings {
            default: Some(RoleSettings::of_model(ModelRef::for_script())),
            script: Some(Arc::clone(&script)),
            ..ModelSettings::default()
        };
        let heard = Arc::new(Heard::default());
        let listener: Arc<dyn crate::record::Listener> = heard.clone();
        let clock: Clock = Arc::new(|| Timestamp::UNIX_EPOCH);
        Self {
            workspace: tempfile::tempdir().unwrap(),
            spill: tempfile::tempdir().unwrap(),
            models: Models::new(settings),
            script,
            heard,
            events: Events::new(TaskId::from_random(7), clock, vec![listener]),
            skills: None,
            attachments: Vec::new(),
            saved: Mutex::default(),
            saves_at_most: usize::MAX,
        }
    }

    fn save(&self, items: &[Item]) -> Result<(), CheckpointError> {
        let mut saved = self.saved.lock().unwrap();
        if self.saves_at_most < saved.len() + items.len() {
            return Err("the disk is full".into());
        }
        saved.extend(items.iter().cloned());
        Ok(())
    }

    pub(super) fn saved(&self) -> Vec<Item> {
        self.saved.lock().unwrap().clone()
    }

    pub(super) fn with_window(mut self, context_tokens: Option<usize>) -> Self {
        let default =
            RoleSettings { context_tokens, ..RoleSettings::of_model(ModelRef::for_script()) };
        self.models = Models::new(ModelSettings {
            default: Some(default),
            script: Some(Arc::clone(&self.script)),
            ..ModelSettings::default()
        });
        self
    }

    pub(super) fn without_models(mut self) -> Self {
        self.models = Models::new(ModelSettings::default());
        self
    }

    pub(super) fn pipeline(&self, spec: &AgentSpec) -> Pipeline {
        let tools: Vec<Arc<dyn AnyTool>> =
            vec![tool::<Echo>(()), tool::<Touch>(()), tool::<Hang>(())];
        let root = self.workspace.path().canonicalize().unwrap();
        let parts = PipelineParts {
            tools,
            workspace: Arc::new(Workspace::open(&root, &[]).unwrap()),
            spill: self.spill.path().canonicalize().unwrap(),
            effects: None,
            approval: Approval::not_needed(),
            events: self.events.clone(),
        };
        spec.pipeline(parts).unwrap()
    }

    pub(super) async fn run(&self, spec: &AgentSpec, control: &RunControl) -> Outcome {
        self.run_after(Conversation::default(), spec, control).await
    }

    pub(super) async fn run_after(
        &self,
        history: Conversation,
        spec: &AgentSpec,
        control: &RunControl,
    ) -> Outcome {
        let (policy, limits) = (RetryPolicy::default(), Limits::default());
        let clock: Clock = Arc::new(|| Timestamp::UNIX_EPOCH);
        let engine =
            Engine { models: &self.models, policy: &policy, limits: &limits, clock: &clock };
        let events = self.events.clone();
        let job = Job {
            spec,
            history,
            asked: "Do it.",
            attachments: self.attachments.clone(),
            checkpoint: Some(&|items: &[Item]| self.save(items)),
            events,
            skills: self.skills.clone(),
            children: Arc::default(),
            seed: 1,
        };
        run(engine, job, &mut self.pipeline(spec), control).await
    }

    /// Ends the run and checks that it ended exactly once and correctly.
    pub(super) fn close(&self, outcome: Outcome) -> Played {
        let records = self.heard.records();
        let state = TaskEnd::only_one(&records);
        assert_eq!(state, outcome.ending.state());
        self.check_saved(&outcome, &records);
        Played { outcome, records, left: self.script.n_left() }
    }

    /// Checks that the saved items are those that the run added, unless the conversation was
    /// shortened.
    fn check_saved(&self, outcome: &Outcome, records: &[Arc<Record>]) {
        let was_cut = records.iter().any(|record| {
            matches!(record.event, Event::ContextPlan { shortened, dropped, .. } if shortened + dropped != 0)
        });
        let has_failed = matches!(outcome.ending, Ending::Failed(RunError::Checkpoint(_)));
        // A summary covers history turns, which were not saved here.
        let is_summed_up = self.saved().iter().any(|item| matches!(item, Item::Summary(_)));
        if !was_cut && !has_failed && !is_summed_up {
            let saved = Conversation::from_items(self.saved());
            assert_eq!(saved.turns.last(), outcome.conversation.turns.last());
        }
    }

    pub(super) fn records(&self) -> Vec<Arc<Record>> {
        self.heard.records()
    }
}

pub(super) struct TaskEnd;

impl TaskEnd {
    pub(super) fn only_one(records: &[Arc<Record>]) -> TaskState {
        let mut ends = Vec::new();
        for record in records {
            if let Event::TaskState(state) = &record.event
                && state.is_terminal()
            {
                ends.push(*state);
            }
        }
        assert_eq!(ends.len(), 1, "exactly one end: {records:#?}");
        assert!(records.last().unwrap().event.is_terminal(), "and it comes last");
        let stored: Vec<u64> = records
            .iter()
            .filter(|record| record.event.is_stored())
            .map(|record| record.sequence)
            .collect();
        assert_eq!(stored, (1..=stored.len() as u64).collect::<Vec<_>>(), "numbers have no gaps");
        ends[0]
    }
}

impl Played {
    pub(super) fn state(&self) -> String {
        self.outcome.ending.state().to_string()
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.records.iter().map(|record| record.event.name().to_owned()).collect()
    }
}

pub(super) async fn play(spec: &AgentSpec, script: &str) -> Played {
    let bench = Bench::new(script);
    let outcome = bench.run(spec, &RunControl::without_handle()).await;
    bench.close(outcome)
}
