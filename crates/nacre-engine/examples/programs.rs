//! Measures programs within walls: what one costs, and how long after a cancel all of its processes are gone.
//!
//! Usage: `programs [ROUNDS]`. Prints the median and the worst of each.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a tool for developers"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use nacre_engine::confine::{
    Confinement, LaunchRequest, Launcher, Metadata, OutputCaps, Program, Quotas, Reach,
    secrets_of_home,
};
use nacre_engine::model::{Cancel, CancelSource};

const STUBBORN: &[(&str, &str)] = &[
    ("sleep 60", "touch ready; exec sleep 60"),
    ("ignores signals", "trap '' TERM INT HUP; touch ready; while :; do sleep 60; done"),
    (
        "own session, twice",
        "(setsid sh -c '(setsid sleep 60 &); touch ready; exec sleep 60' &); exec sleep 60",
    ),
    (
        "200 children",
        "i=0; while [ $i -lt 200 ]; do sleep 60 & i=$((i + 1)); done; touch ready; wait",
    ),
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    #[cfg(target_os = "linux")]
    if let Some(code) = nacre_engine::confine::helper(&arguments) {
        return code;
    }
    let rounds = arguments.get(1).and_then(|text| text.to_str()?.parse().ok()).unwrap_or(20);
    let launcher = Launcher::new(std::env::current_exe().unwrap());
    let temp = tempfile::tempdir().unwrap();
    for folder in ["workspace", "spill", "spill/tmp"] {
        std::fs::create_dir(temp.path().join(folder)).unwrap();
    }
    let mut times = Vec::new();
    for _ in 0..rounds {
        let order = order(temp.path(), "true");
        let start = Instant::now();
        launcher.run(&order, &Cancel::never()).await.unwrap();
        times.push(start.elapsed());
    }
    show("one `true`", &mut times);
    for (name, script) in STUBBORN {
        let mut times = Vec::new();
        for _ in 0..rounds {
            times.push(cancelled(&launcher, temp.path(), script).await);
        }
        show(&format!("cancel: {name}"), &mut times);
    }
    ExitCode::SUCCESS
}

/// The time from the cancel to the answer, which comes when nobody is left.
async fn cancelled(launcher: &Launcher, root: &Path, script: &str) -> Duration {
    let ready = root.join("workspace/ready");
    let _ = std::fs::remove_file(&ready);
    let (source, order) = (CancelSource::new(), order(root, script));
    let token = source.token();
    let cancelling = async {
        while !ready.exists() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        source.cancel();
        Instant::now()
    };
    let (finished, start) = tokio::join!(launcher.run(&order, &token), cancelling);
    finished.unwrap();
    start.elapsed()
}

fn order(root: &Path, script: &str) -> LaunchRequest {
    let root = root.canonicalize().unwrap();
    let home = std::env::var("HOME").unwrap();
    let path = std::env::var("PATH").unwrap();
    LaunchRequest {
        program: Program::Script(script.to_owned()),
        folder: root.join("workspace"),
        environment: BTreeMap::from([("PATH".to_owned(), path)]),
        time_limit: Duration::from_secs(60),
        quotas: Quotas::default(),
        output: OutputCaps::default(),
        confinement: Confinement {
            workspace: root.join("workspace"),
            scratch: root.join("spill/tmp"),
            outside: root.join("spill"),
            own: vec![home.clone().into()],
            home: Some(home.clone().into()),
            secrets: secrets_of_home(Some(Path::new(&home)), None),
            reach: Reach::Nothing,
            metadata: Metadata::Kept,
        },
    }
}

fn show(name: &str, times: &mut [Duration]) {
    times.sort();
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    println!("{name:28} median {median:9.1?}  worst {worst:9.1?}  of {}", times.len());
}
