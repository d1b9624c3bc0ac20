//! The effects of one agent, run one after another within their time.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nacre_core::base::ContentHash;
use tokio::time::{Instant, timeout};

use super::super::pipeline::{EffectDone, EffectReport, EffectRun, EffectRunner};
use super::super::tool::{ToolContext, ToolError};
use super::breaker::{Breaker, BreakerVerdict};
use super::commands::{Planned, RepositoryTrust, plan};
use crate::confine::ProgramEnding as Ending;
use crate::confine::{Finished, Program};
use crate::record::EffectOutcome;
use crate::record::{Change, ChangeKind, Fault};
use crate::tools::Programs;
use crate::tools::{EffectKind, Effects, Permissions};

/// What one tool may take.
const TOOL_LIMIT: Duration = Duration::from_secs(10);

/// What all effects of a call may say.
const MAX_REPORT_BYTES: usize = 2_000;

/// Larger files are not formatted by hand-written rules; whether one changed is not looked at.
const MAX_HASHED_BYTES: u64 = 16 << 20;

/// More changed files at once, as after a large move, are not looked after one by one.
const MAX_FILES: usize = 20;

/// Formats and lints what changed, as far as the agent's spec asks for it.
pub struct ProjectEffects {
    programs: Arc<Programs>,
    kinds: Vec<EffectKind>,
    time_limit: Duration,
    trust: RepositoryTrust,
    breaker: Breaker,
}

impl ProjectEffects {
    /// `None` for an agent that changes nothing, or asks for no effects.
    pub fn new(
        programs: Arc<Programs>,
        permissions: &Permissions,
        effects: &Effects,
        trust: RepositoryTrust,
    ) -> Option<Self> {
        if permissions.is_read_only() || effects.kinds.is_empty() {
            return None;
        }
        Some(Self {
            programs,
            kinds: effects.kinds.clone(),
            time_limit: effects.time_limit,
            trust,
            breaker: Breaker::default(),
        })
    }

    async fn look_after(&self, changed: &[Change], ctx: &ToolContext) -> EffectReport {
        let deadline = Instant::now() + self.time_limit;
        let mut report = EffectReport::default();
        let mut paths: Vec<&str> = changed
            .iter()
            .filter(|change| change.kind != ChangeKind::Deleted)
            .map(|change| change.path.as_str())
            .collect();
        paths.sort_unstable();
        paths.dedup();
        for path in paths.into_iter().take(MAX_FILES) {
            for planned in plan(&ctx.workspace, path, &self.kinds, self.trust) {
                self.run_tool(&planned, path, deadline, ctx, &mut report).await;
            }
        }
        report.text = cut(&report.text);
        report
    }

    async fn run_tool(
        &self,
        planned: &Planned,
        path: &str,
        deadline: Instant,
        ctx: &ToolContext,
        report: &mut EffectReport,
    ) {
        if self.breaker.is_open(planned.name) || ctx.cancel.is_cancelled() {
            return;
        }
        let left = deadline.saturating_duration_since(Instant::now()).min(TOOL_LIMIT);
        if left.is_zero() {
            return;
        }
        let (before, begin) = (hash(&ctx.workspace, path), Instant::now());
        let result = self.start(planned, left, ctx).await;
        let is_changed = hash(&ctx.workspace, path) != before;
        if is_changed {
            let name = planned.name;
            add_line(
                report,
                &format!("{path} was formatted by {name}; read it again before editing."),
            );
            report.changed.push(Change { path: path.to_owned(), kind: ChangeKind::Edited });
        }
        let outcome = match result {
            Ok(finished) => {
                finished.notes.iter().for_each(|note| add_line(report, note));
                self.judge(planned, path, &finished, report)
            }
            // A tool that is not installed has nothing to say.
            Err(error) if error.fault == Fault::NotFound => return,
            Err(error) => self.count_failure(planned, &error.what, report),
        };
        let is_quiet = outcome == EffectOutcome::Clean;
        let outcome = if is_quiet && is_changed { EffectOutcome::Changed } else { outcome };
        report.done.push(EffectDone { effect: planned.name, outcome, took: begin.elapsed() });
    }

    async fn start(
        &self,
        planned: &Planned,
        limit: Duration,
        ctx: &ToolContext,
    ) -> Result<Finished, ToolError> {
        let program =
            Program::Argv { name: planned.program.clone(), arguments: planned.arguments.clone() };
        let folder = ctx.workspace.join(&planned.folder);
        // The watcher keeps the time; this only holds should it not.
        let running = self.programs.run(program, &folder, limit, ctx);
        timeout(limit + Duration::from_secs(2), running)
            .await
            .unwrap_or_else(|_| Err(ToolError::new(Fault::TimedOut, "it did not end", "")))
    }

    fn judge(
        &self,
        planned: &Planned,
        path: &str,
        finished: &Finished,
        report: &mut EffectReport,
    ) -> EffectOutcome {
        match finished.ending {
            // 127 is the shell's word for a tool that is not installed, 126 for one that may not be started here.
            Ending::Exited(0 | 126 | 127) | Ending::Cancelled => {
                self.breaker.worked(planned.name);
                EffectOutcome::Clean
            }
            Ending::Exited(_) => {
                // A finding is no failure of the tool.
                self.breaker.worked(planned.name);
                let said = [finished.stdout.text(), finished.stderr.text()].join("\n");
                add_line(report, &format!("{} about {path}:\n{}", planned.name, said.trim()));
                EffectOutcome::Complained
            }
            Ending::TimedOut => {
                self.count_failure(planned, "it took too long", report);
                EffectOutcome::TimedOut
            }
            Ending::Signalled(signal) => {
                self.count_failure(planned, &format!("it was ended by signal {signal}"), report)
            }
        }
    }

    fn count_failure(
        &self,
        planned: &Planned,
        why: &str,
        report: &mut EffectReport,
    ) -> EffectOutcome {
        let name = planned.name;
        let line = match self.breaker.failed(name) {
            BreakerVerdict::Again => format!("{name} did not work: {why}"),
            BreakerVerdict::GivenUp => {
                format!("{name} did not work three times ({why}) and is not run any more.")
            }
        };
        add_line(report, &line);
        EffectOutcome::Failed
    }
}

impl EffectRunner for ProjectEffects {
    fn starts_programs(&self, changed: &[Change], ctx: &ToolContext) -> bool {
        let present = changed.iter().filter(|change| change.kind != ChangeKind::Deleted);
        let mut plans = present
            .take(MAX_FILES)
            .flat_map(|change| plan(&ctx.workspace, &change.path, &self.kinds, self.trust));
        plans.any(|planned| !self.breaker.is_open(planned.name))
    }

    fn after<'a>(&'a self, changed: &'a [Change], ctx: &'a ToolContext) -> EffectRun<'a> {
        Box::pin(self.look_after(changed, ctx))
    }
}

fn add_line(report: &mut EffectReport, line: &str) {
    if !report.text.is_empty() {
        report.text.push('\n');
    }
    report.text.push_str(line);
}

/// What a file holds, as far as it matters whether that changed.
fn hash(workspace: &Path, path: &str) -> Option<ContentHash> {
    let path = workspace.join(path);
    let is_plain = fs::symlink_metadata(&path)
        .is_ok_and(|found| found.is_file() && found.len() <= MAX_HASHED_BYTES);
    is_plain.then(|| fs::read(&path).ok().map(|bytes| ContentHash::of(&bytes)))?
}

fn cut(text: &str) -> String {
    const NOTE: &str = "\n[… more was said …]";
    if text.len() <= MAX_REPORT_BYTES {
        return text.to_owned();
    }
    let most = MAX_REPORT_BYTES - NOTE.len();
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}{NOTE}", &text[..end])
}
