//! The lead inside Claude Code with a script in its place: what ends it, and what of it is counted.

#![expect(clippy::disallowed_methods, reason = "the tests play the person who installs agents")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Mutex;

use jiff::Timestamp;

use super::*;
use crate::agents::lead::tests::Bench;
use crate::agents::{Lead, LeadReport, LeadRunner, LeadTask};
use crate::lifecycle::RunHandle;
use crate::model::{
    Allowance, Amount, LimitScope, ModelSettings, ProgramSettings, SpendingBudget, Spent,
};
use crate::record::{CancelledBy, Failure, TaskId};

/// Says that it has used something, and hangs with a child.
const HANGS: &str = r#"cat > /dev/null
echo '{"type":"assistant","message":{"id":"m1","usage":{"input_tokens":900,"output_tokens":90},"content":[]}}'
sleep 1000 & echo $! > "$WORLD/child.new"
mv "$WORLD/child.new" "$WORLD/child"
wait"#;

/// A lead whose program is a script, and what was paid for it.
struct Scene {
    bench: Bench,
    lead: Lead,
    paid: Arc<Mutex<Vec<Spent>>>,
}

impl Scene {
    fn new(script: &str, wall: Duration) -> Self {
        let bench = Bench::new();
        let root = bench.folder.path().canonicalize().unwrap();
        let bin = root.join("bin");
        fs::create_dir_all(&bin).unwrap();
        fs::write(bin.join("claude"), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let mut programs = ProgramSettings::new(path, &[]);
        programs.variables = vec![("WORLD".to_owned(), root.display().to_string())];
        programs.data = Some(root.join("data"));
        let paid = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&paid);
        let limit = Amount { tokens: 1_000_000, cost: Cost::from_nano_dollars(5_000_000_000) };
        let allowance = Allowance { scope: LimitScope::Day, limit, used: Amount::default() };
        let keep = move |spent: &Spent| {
            kept.lock().unwrap().push(spent.clone());
            Ok(())
        };
        let budget = Arc::new(SpendingBudget::new(vec![allowance], Default::default(), keep));
        let models = Models::new(ModelSettings { programs, ..ModelSettings::default() });
        let claude = ClaudeLead {
            models: Arc::new(models.paid_from(&budget)),
            model: "claude-code/haiku".parse().unwrap(),
            effort: Effort::Unset,
            limits: Limits::default(),
            clock: Arc::new(|| Timestamp::UNIX_EPOCH),
            seed: 1,
            wall,
            cost: budget.money_left(),
            folder: root.join(".nacre/memory"),
            denied: vec!["summaries".to_owned()],
            guard: "true".to_owned(),
            keeps_session: false,
        };
        let lead =
            Lead { runner: LeadRunner::Claude(Box::new(claude)), memories: bench.memories() };
        Self { bench, lead, paid }
    }

    async fn settle(&self, control: &RunControl) -> LeadReport {
        let task = LeadTask { id: TaskId::from_random(1), listeners: Vec::new() };
        self.lead.settle(&self.bench.order(1), task, control, &mut |_| {}).await
    }

    fn seen(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.bench.folder.path().join(name)).ok()
    }

    /// Waits until the process of the script's child is gone, which it is at once.
    fn wait_until_gone(&self) {
        let child = self.seen("child").unwrap();
        let status = format!("/proc/{}/stat", child.trim());
        // A process that nobody waits for any more is as good as gone.
        while fs::read_to_string(&status).is_ok_and(|stat| !stat.contains(") Z ")) {
            std::thread::yield_now();
        }
    }
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn cancelling_ends_the_program_with_its_children() {
    let scene = Scene::new(HANGS, ClaudeLead::WALL);
    let handle = RunHandle::new();
    let control = handle.control();
    let started = async {
        while scene.seen("child").is_none() {
            tokio::task::yield_now().await;
        }
        handle.cancel(CancelledBy::Person);
    };
    let (report, ()) = tokio::join!(scene.settle(&control), started);
    assert_eq!(report.state, TaskState::Cancelled { by: CancelledBy::Person });
    assert_eq!(report.error.as_deref(), Some("it was cancelled by the person"));
    scene.wait_until_gone();
    let left = fs::read_dir(scene.bench.folder.path().join("data/scratch")).unwrap().count();
    assert_eq!(left, 0, "its folder is removed");
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn one_that_hangs_ends_with_its_time_and_what_it_used_is_paid_for() {
    let scene = Scene::new(HANGS, Duration::from_secs(2));
    let report = scene.settle(&RunControl::unattended()).await;
    assert_eq!(report.state, TaskState::Failed { why: Failure::Model });
    assert!(report.error.unwrap().contains("took too long"));
    scene.wait_until_gone();
    let paid = scene.paid.lock().unwrap();
    let tokens: Vec<(u64, u64)> =
        paid.iter().map(|spent| (spent.usage.input, spent.usage.output)).collect();
    assert_eq!(tokens, [(900, 90)]);
    assert_eq!((report.facts.usage.input, report.facts.usage.output), (900, 90));
}

#[tokio::test]
async fn what_the_limits_leave_is_the_most_that_it_may_cost() {
    let script = r#"for word; do echo "$word"; done > "$WORLD/words"; cat > /dev/null; exit 1"#;
    let scene = Scene::new(script, ClaudeLead::WALL);
    let report = scene.settle(&RunControl::unattended()).await;
    assert!(report.rulings.is_empty() && report.error.is_some());
    let words = scene.seen("words").unwrap();
    assert!(words.contains("--max-budget-usd\n5.0000\n--"), "{words}");
    assert!(scene.paid.lock().unwrap().is_empty(), "it said nothing");
}
