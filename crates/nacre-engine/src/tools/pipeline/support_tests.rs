//! A workspace and a pipeline for tests. Calls are passed as JSON, and the output is what the model
//! would receive.

#![expect(clippy::disallowed_methods, reason = "the tests play the person at the keyboard")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;

use crate::model::{Arguments, Cancel, ToolCall};
use crate::record::{Events, Heard, TaskId};
use crate::tools::approval::Approval;
use crate::tools::footprint::{Area, Permissions};
use crate::tools::pipeline::{Batch, EffectRunner, Pipeline, PipelineParts, StepContext};
use crate::tools::tool::AnyTool;
use crate::tools::toolkits;
use crate::tools::workspace::Workspace;

/// An agent with its own workspace directory.
pub(crate) struct Bay {
    pub(crate) root: TempDir,
    _spill: TempDir,
    pub(crate) heard: Arc<Heard>,
    pub(crate) pipeline: Pipeline,
}

pub(crate) struct Plan {
    pub(crate) permissions: Permissions,
    pub(crate) tool_calls: u32,
    pub(crate) effects: Option<Arc<dyn EffectRunner>>,
    pub(crate) approval: Approval,
    /// Tools to offer in addition to the file tools.
    pub(crate) tools: Vec<Arc<dyn AnyTool>>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            permissions: full_access(),
            tool_calls: 10_000,
            effects: None,
            approval: Approval::not_needed(),
            tools: Vec::new(),
        }
    }
}

/// Returns permissions for everything that tools can do to the workspace.
pub(crate) fn full_access() -> Permissions {
    Permissions { writes: vec![Area::Tree(None)], ..Permissions::read_only() }
}

impl Bay {
    pub(crate) fn new() -> Self {
        Self::with(Plan::default())
    }

    pub(crate) fn with(plan: Plan) -> Self {
        Self::at(tempfile::tempdir().unwrap(), plan)
    }

    pub(crate) fn at(root: TempDir, plan: Plan) -> Self {
        let spill = tempfile::tempdir().unwrap();
        let workspace = Arc::new(Workspace::open(root.path(), &plan.permissions.denied).unwrap());
        let mut tools = toolkits::file::tools(&workspace);
        tools.extend(plan.tools);
        let heard = Arc::new(Heard::default());
        let events = Events::new(task(), Arc::new(|| Timestamp::UNIX_EPOCH), vec![heard.clone()]);
        let names: Vec<&str> = tools.iter().map(|tool| tool.spec().name).collect();
        let (permissions, tool_calls) = (plan.permissions, plan.tool_calls);
        let parts = PipelineParts {
            tools,
            workspace,
            spill: spill.path().to_owned(),
            effects: plan.effects,
            approval: plan.approval,
            events,
        };
        let pipeline = Pipeline::new(&names, &permissions, tool_calls, parts).unwrap();
        Self { root, _spill: spill, heard, pipeline }
    }

    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        write(self.path(), path, text);
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).unwrap_or_else(|error| format!("{error}"))
    }

    /// Makes one call and returns the text that the model receives.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> String {
        let batch = self.call_all(&[(tool, arguments)]).await;
        batch.results[0].text.clone()
    }

    pub(crate) async fn call_all(&mut self, calls: &[(&str, Value)]) -> Batch {
        self.call_at(calls, now(), Cancel::new()).await
    }

    pub(crate) async fn call_at(
        &mut self,
        calls: &[(&str, Value)],
        now: Timestamp,
        cancel: Cancel,
    ) -> Batch {
        let numbered = calls.iter().enumerate();
        let calls: Vec<ToolCall> =
            numbered.map(|(idx, (tool, arguments))| tool_call(idx, tool, arguments)).collect();
        self.pipeline.call_all(&calls, &StepContext { number: 1, cancel, now }).await
    }

    pub(crate) fn tools(&self) -> String {
        let names: Vec<String> = self.pipeline.tools().into_iter().map(|tool| tool.name).collect();
        names.join(" ")
    }
}

pub(crate) fn tool_call(idx: usize, tool: &str, arguments: &Value) -> ToolCall {
    let arguments = Arguments::Object(arguments.clone());
    ToolCall { id: format!("call-{idx}"), name: tool.to_owned(), arguments }
}

pub(crate) fn write(root: &Path, path: &str, text: &str) {
    let full = root.join(path);
    fs::create_dir_all(full.parent().unwrap()).unwrap();
    fs::write(full, text).unwrap();
}

pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

fn task() -> TaskId {
    TaskId::from_random(7)
}
