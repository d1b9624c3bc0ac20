//! Tests for programs that exit, and for programs that resist being stopped.

use std::fs;
use std::path::Path;
use std::time::Duration;

use nacre_engine::confine::{
    LiveOutput, OutputCaps, ProcessError, Program, ProgramEnding as Ending, Quotas,
};
use nacre_engine::model::Cancel;

use crate::workshop::Workshop;

/// Returns whether the process exists and is not a zombie.
fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

fn numbers_in(workshop: &Workshop) -> Vec<String> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(workshop.path("workspace")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "pid") {
            numbers.push(fs::read_to_string(path).unwrap().trim().to_owned());
        }
    }
    numbers
}

/// Waits until the program has created the file.
async fn until_exists(path: &Path) {
    while !path.exists() {
        tokio::task::yield_now().await;
    }
}

/// Scripts that write the ID of each of their processes to a `.pid` file, then create `ready`.
const STUBBORN: &[(&str, &str)] = &[
    ("a plain sleep", "echo $$ > a.pid; touch ready; exec sleep 60"),
    ("a child in the background", "sleep 60 & echo $! > a.pid; touch ready; wait"),
    (
        "a grandchild that ignores the polite signals",
        "sh -c 'trap \"\" TERM INT HUP; echo $$ > a.pid; touch ready; while :; do sleep 60; done' & wait",
    ),
    (
        "one in a session of its own",
        "setsid sh -c 'echo $$ > a.pid; touch ready; exec sleep 60' & wait",
    ),
    (
        "a daemon that forked twice and lost its parents",
        "(setsid sh -c '(echo $$ > a.pid; setsid sh -c \"echo \\$\\$ > b.pid; touch ready; exec sleep 60\" &) ; exec sleep 60' &) ; wait; exec sleep 60",
    ),
];

#[tokio::test]
async fn a_program_that_ends_tells_how() {
    let Some(workshop) = Workshop::new() else { return };
    for (script, ending, stdout, stderr) in [
        ("echo out; echo err >&2", Ending::Exited(0), "out\n", "err\n"),
        ("exit 7", Ending::Exited(7), "", ""),
        ("kill -SEGV $$", Ending::Signalled(11), "", ""),
        ("cat; echo end of input", Ending::Exited(0), "end of input\n", ""),
    ] {
        let finished = workshop.run(&workshop.script(script)).await.unwrap();
        assert_eq!(finished.ending, ending, "{script}");
        assert_eq!(finished.stdout.text(), stdout, "{script}");
        assert_eq!(finished.stderr.text(), stderr, "{script}");
    }
}

#[tokio::test]
async fn arguments_are_not_read_by_a_shell() {
    let Some(workshop) = Workshop::new() else { return };
    let arguments = vec!["$(touch hacked)".to_owned(), "; touch hacked".to_owned()];
    let order = workshop.order(Program::Argv { name: "echo".to_owned(), arguments });
    let finished = workshop.run(&order).await.unwrap();
    assert_eq!(finished.stdout.text(), "$(touch hacked) ; touch hacked\n");
    assert!(!workshop.path("workspace/hacked").exists());
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let Some(workshop) = Workshop::new() else { return };
    let order =
        workshop.order(Program::Argv { name: "no-such-program".to_owned(), arguments: vec![] });
    let error = workshop.run(&order).await.unwrap_err();
    assert!(
        matches!(&error, ProcessError::NotFound { name, .. } if name == "no-such-program"),
        "{error}"
    );
}

#[tokio::test]
async fn cancelled_programs_are_gone_when_the_call_returns() {
    for (name, script) in STUBBORN {
        let Some(workshop) = Workshop::new() else { return };
        let order = workshop.script(script);
        let source = Cancel::new();
        let (launcher, token) = (Workshop::launcher(), source.clone());
        let stdout = LiveOutput::default();
        let cancelling = async {
            until_exists(&workshop.path("workspace/ready")).await;
            source.cancel();
        };
        let (finished, ()) = tokio::join!(launcher.run(&order, &token, &stdout), cancelling);
        assert_eq!(finished.unwrap().ending, Ending::Cancelled, "{name}");
        let numbers = numbers_in(&workshop);
        assert!(!numbers.is_empty(), "{name}");
        assert!(!numbers.iter().any(|pid| is_alive(pid)), "{name} outlived its call");
    }
}

// Acolyte defect 3.
#[tokio::test]
async fn a_program_whose_time_is_over_is_gone_when_the_call_returns() {
    for (name, script) in STUBBORN {
        let Some(workshop) = Workshop::new() else { return };
        let mut order = workshop.script(script);
        order.time_limit = Duration::from_millis(400);
        let finished = workshop.run(&order).await.unwrap();
        assert_eq!(finished.ending, Ending::TimedOut, "{name}");
        assert!(!numbers_in(&workshop).iter().any(|pid| is_alive(pid)), "{name}");
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_takes_its_programs_along() {
    for (name, script) in STUBBORN {
        let Some(workshop) = Workshop::new() else { return };
        let order = workshop.script(script);
        let (launcher, never) = (Workshop::launcher(), Cancel::new());
        let stdout = LiveOutput::default();
        let ready = workshop.path("workspace/ready");
        tokio::select! {
            ended = launcher.run(&order, &never, &stdout) => panic!("{name}: {ended:?}"),
            () = until_exists(&ready) => {}
        }
        let numbers = numbers_in(&workshop);
        assert!(!numbers.is_empty(), "{name}");
        // If a process survives, this loops until the test runner's timeout.
        while numbers.iter().any(|pid| is_alive(pid)) {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn what_a_program_leaves_in_the_background_ends_with_it() {
    let Some(workshop) = Workshop::new() else { return };
    let script = "setsid sleep 60 & echo $! > a.pid; sleep 60 & echo $! > b.pid; echo done";
    let finished = workshop.run(&workshop.script(script)).await.unwrap();
    assert_eq!((finished.ending, finished.left_behind), (Ending::Exited(0), 2));
    assert_eq!(finished.stdout.text(), "done\n");
    assert!(!numbers_in(&workshop).iter().any(|pid| is_alive(pid)));
}

/// A chain of processes, each of which starts the next one in a new session and exits, so that only
/// a few run at the same time. The chain ends after 3,000 processes. Without this bound, it could
/// halt a machine on which tests run as root, because process limits do not apply to root.
const RELAY: &str = r#"
RUN='n=$((n + 1)); echo $n > runner; [ $n -lt 3000 ] && setsid sh -c "$RUN" &'
export RUN n=0
sh -c "$RUN"
touch ready
exec sleep 60
"#;

#[tokio::test]
async fn runners_who_hand_over_to_each_other_are_caught() {
    let Some(workshop) = Workshop::new() else { return };
    let order = workshop.script(RELAY);
    let source = Cancel::new();
    let (launcher, token) = (Workshop::launcher(), source.clone());
    let stdout = LiveOutput::default();
    let cancelling = async {
        until_exists(&workshop.path("workspace/ready")).await;
        source.cancel();
    };
    let (finished, ()) = tokio::join!(launcher.run(&order, &token, &stdout), cancelling);
    assert_eq!(finished.unwrap().ending, Ending::Cancelled);
    let runner = fs::read_to_string(workshop.path("workspace/runner")).unwrap();
    assert_ne!(runner.trim(), "3000", "the relay came to its own end");
}

#[tokio::test]
async fn a_flood_of_output_is_counted_and_not_kept() {
    let Some(workshop) = Workshop::new() else { return };
    let mut order = workshop.script("head -c 20000000 /dev/zero | tr '\\0' x; echo the end");
    order.output = OutputCaps { head: 100, tail: 100 };
    let finished = workshop.run(&order).await.unwrap();
    assert_eq!(finished.stdout.total, 20_000_008);
    assert_eq!(finished.stdout.left_out(), 20_000_008 - 200);
    assert!(finished.stdout.text().ends_with("xthe end\n"));
}

#[tokio::test]
async fn memory_and_files_are_limited() {
    let Some(workshop) = Workshop::new() else { return };
    let mut order = workshop.script(
        "head -c 3000000 /dev/zero > big; wc -c < big; head -c 90000000 /dev/zero | tail -c 80000000 | wc -c",
    );
    order.quotas = Quotas { memory: 32 << 20, file_bytes: 1 << 20, ..Quotas::default() };
    let finished = workshop.run(&order).await.unwrap();
    let text = finished.stdout.text();
    assert_eq!(text.split_whitespace().next(), Some("1048576"), "{text}");
    assert!(!text.contains("80000000"), "{text}");
}

#[tokio::test]
async fn a_program_finds_only_the_environment_it_was_given() {
    let Some(workshop) = Workshop::new() else { return };
    let finished =
        workshop.run(&workshop.script("env | cut -d= -f1 | sort | tr '\\n' ' '")).await.unwrap();
    assert_eq!(
        finished.stdout.text(),
        "CI DEBIAN_FRONTEND GIT_CONFIG_NOSYSTEM GIT_PAGER GIT_TERMINAL_PROMPT HOME NO_COLOR PAGER PATH PWD TERM TMPDIR "
    );
}
