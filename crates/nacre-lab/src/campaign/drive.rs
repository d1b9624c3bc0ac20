//! Runs the calls and checks their effects: nothing outside the permitted area changes, no limit is
//! exceeded, and every denial is counted.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::RelPath;
use nacre_base::git::GitProgram;
use nacre_engine::confine::{Launcher, OutputCaps, Quotas};
use nacre_engine::lifecycle::{AgentSpec, Completion};
use nacre_engine::model::{Cancel, Role, ToolCall};
use nacre_engine::record::{Events, Fault, Heard, TaskId};
use nacre_engine::tools::{
    AnyTool, Approval, Area, Batch, Budgets, Exec, Permissions, Pipeline, PipelineParts, Programs,
    ShellRun, StepContext, Workspace, tool, toolkits,
};

use super::calls::call;
use super::site::{INNER_SECRET, OPEN_TO_LEAD, SECRET, Site};
use crate::rng::Rng;

/// Tolerance for time limits, because threads do not wake up immediately.
const SLACK: Duration = Duration::from_secs(2);

const MAX_GROWTH_KIB: u64 = 512 << 10;

/// Tolerance for text that the pipeline adds to a tool's output.
const MAX_EXTRA_BYTES: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    Lead,
    Explorer,
    /// May change the entire workspace and run programs in it.
    Worker,
}

impl Agent {
    pub(crate) const ALL: [Self; 3] = [Self::Lead, Self::Explorer, Self::Worker];

    fn permissions(self) -> Permissions {
        let tree = |name: &str| Area::Tree(Some(RelPath::new(name).unwrap()));
        match self {
            Self::Lead => {
                let writes = OPEN_TO_LEAD.iter().copied().map(tree).collect();
                Permissions { writes, ..Permissions::read_only() }
            }
            Self::Explorer => Permissions::read_only(),
            Self::Worker => {
                let (writes, exec) = (vec![Area::Tree(None)], Exec::Anything);
                Permissions { writes, exec, ..Permissions::read_only() }
            }
        }
    }

    fn secrets(self) -> &'static [&'static str] {
        match self {
            Self::Lead | Self::Explorer => &[SECRET, INNER_SECRET],
            Self::Worker => &[SECRET],
        }
    }

    fn may_change(self, name: &str) -> bool {
        match self {
            Self::Lead => OPEN_TO_LEAD.contains(&name),
            Self::Explorer => false,
            Self::Worker => true,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Report {
    agent: String,
    n_calls: u32,
    n_swaps: u64,
    denied: u32,
    faults: BTreeMap<String, u32>,
    slowest: Duration,
    growth_kib: u64,
    /// Descriptions of the violated guarantees.
    pub(crate) broken: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { agent, n_calls, n_swaps, denied, faults, slowest, growth_kib, broken } = self;
        write!(
            f,
            "{agent}: {n_calls} calls during {n_swaps} swaps, {denied} denied, slowest {slowest:?}, \
             grew {growth_kib} KiB, faults {faults:?}, violated guarantees: {broken:#?}"
        )
    }
}

/// Runs a campaign in a new directory.
///
/// `helper` is the binary that supervises sandboxed programs.
pub(crate) fn campaign(agent: Agent, n_calls: u64, seed: u64, helper: &Path) -> Report {
    let site = Site::new();
    let before = site.untouchable(&|name| agent.may_change(name));
    let memory_before = peak_kib();
    let heard = Arc::new(Heard::default());
    let mut pipeline = pipeline(agent, &site, &heard, helper);
    let swapper = site.swapper();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut report = Report { agent: format!("{agent:?}"), ..Report::default() };
    let mut rng = Rng::new(seed);
    let mut made = 0;
    while made < n_calls {
        let n_together = 1 + rng.below(4);
        let calls: Vec<ToolCall> = (0..n_together).map(|idx| call(&mut rng, made + idx)).collect();
        made += n_together;
        let step = StepContext { number: 1, cancel: Cancel::new(), now: Timestamp::now() };
        let batch = runtime.block_on(pipeline.call_all(&calls, &step));
        look_at(&mut report, agent, &pipeline, &calls, &batch);
    }
    report.n_swaps = swapper.finish();
    report.growth_kib = peak_kib().saturating_sub(memory_before);
    if MAX_GROWTH_KIB < report.growth_kib {
        report.broken.push(format!("the process grew by {} KiB", report.growth_kib));
    }
    let after = site.untouchable(&|name| agent.may_change(name));
    if after != before {
        let changed = after.iter().find(|(path, seen)| before.get(*path) != Some(seen));
        let gone = before.keys().find(|path| !after.contains_key(*path));
        report
            .broken
            .push(format!("outside the scope, {changed:?} changed or {gone:?} disappeared"));
    }
    check_counts(&mut report, &pipeline, &heard);
    report
}

fn pipeline(agent: Agent, site: &Site, heard: &Arc<Heard>, helper: &Path) -> Pipeline {
    let permissions = agent.permissions();
    let workspace = Arc::new(Workspace::open(&site.workspace(), &permissions.denied).unwrap());
    let environment: BTreeMap<String, String> =
        std::env::vars().filter(|(key, _)| key == "PATH").collect();
    let mut tools: Vec<Arc<dyn AnyTool>> = toolkits::file::tools(&workspace);
    tools.extend(toolkits::code::tools(&workspace));
    let path = environment.get("PATH").cloned().unwrap_or_default();
    tools.extend(toolkits::git::tools(&workspace, GitProgram::new(path)));
    let programs = Programs {
        launcher: Launcher::new(helper),
        environment,
        home: site.path("nacre").canonicalize().unwrap(),
        random: |bytes| std::fs::File::open("/dev/urandom")?.read_exact(bytes),
        quotas: Quotas { file_bytes: 64 << 20, ..Quotas::default() },
        output: OutputCaps::default(),
    };
    tools.push(tool::<ShellRun>(Arc::new(programs)));
    let spec = AgentSpec {
        name: "campaign",
        role: Role::Explorer,
        prompt: String::new(),
        tools: tools.iter().map(|tool| tool.spec().name).collect(),
        permissions,
        budgets: Budgets {
            steps: u32::MAX,
            tool_calls: u32::MAX,
            wall: Duration::from_secs(86_400),
            context_tokens: 100_000,
            answer_tokens: 1_000,
            total_tokens: None,
        },
        completion: Completion::EndTurn { signals: false },
        sums_up: false,
    };
    let clock = Arc::new(|| Timestamp::UNIX_EPOCH);
    let events = Events::new(TaskId::from_random(1), clock, vec![heard.clone()]);
    let spill = site.path("spill");
    let parts = PipelineParts {
        tools,
        workspace,
        spill,
        effects: None,
        approval: Approval::not_needed(),
        events,
    };
    spec.pipeline(parts).unwrap()
}

fn look_at(
    report: &mut Report,
    agent: Agent,
    pipeline: &Pipeline,
    calls: &[ToolCall],
    batch: &Batch,
) {
    for ((call, result), record) in calls.iter().zip(&batch.results).zip(&batch.records) {
        let facts = &record.facts;
        let took = Duration::from_micros(facts.duration_us);
        report.n_calls += 1;
        let fault = facts.fault.map_or("none", Fault::as_str);
        *report.faults.entry(fault.to_owned()).or_default() += 1;
        let is_denied = matches!(facts.fault, Some(Fault::Denied | Fault::Unconfined));
        report.denied += u32::from(is_denied);
        report.slowest = report.slowest.max(took);
        let mut broken = |what: String| {
            let arguments: String =
                call.arguments.as_object().to_string().chars().take(300).collect();
            report.broken.push(format!("{}: {what}: {arguments}", facts.tool));
        };
        if agent.secrets().iter().any(|secret| result.text.contains(secret)) {
            broken("a result contains a secret".to_owned());
        }
        let limit = pipeline.limits_of(facts.tool.as_str());
        if let Some((time_limit, shown_bytes)) = limit {
            if time_limit + SLACK < took {
                broken(format!("took {took:?}"));
            }
            if shown_bytes + MAX_EXTRA_BYTES < result.text.len() {
                broken(format!("showed {} bytes", result.text.len()));
            }
        }
        if facts.fault == Some(Fault::Io) && result.text.contains("Internal error of") {
            broken("internal error in the tool".to_owned());
        }
    }
}

fn check_counts(report: &mut Report, pipeline: &Pipeline, heard: &Heard) {
    let records = heard.records();
    let n_told = |name: &str| records.iter().filter(|record| record.event.name() == name).count();
    let effects = pipeline.tally().clone();
    for (what, counted, expected) in [
        ("calls", effects.tool_calls as usize, report.n_calls as usize),
        ("denials", effects.denied_calls as usize, report.denied as usize),
        ("denial events", n_told("tool.denied"), report.denied as usize),
        ("result events", n_told("tool.result"), report.n_calls as usize),
    ] {
        if counted != expected {
            report.broken.push(format!("{counted} {what} counted, expected {expected}"));
        }
    }
}

/// Returns the peak memory of this process, or 0 if it is unknown.
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}
