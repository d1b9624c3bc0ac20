//! Measures the overhead of running a sandboxed program, and the time from a cancellation until all
//! of its processes have exited.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use nacre_engine::confine::{
    Confinement, LaunchRequest, Launcher, LiveOutput, OutputCaps, Program, Quotas, secrets_of_home,
};
use nacre_engine::model::Cancel;

use crate::Outcome;

const STUBBORN: &[(&str, &str)] = &[
    ("sleep 60", "touch ready; exec sleep 60"),
    ("ignores signals", "trap '' TERM INT HUP; touch ready; while :; do sleep 60; done"),
    (
        "separate session, nested",
        "(setsid sh -c '(setsid sleep 60 &); touch ready; exec sleep 60' &); exec sleep 60",
    ),
    (
        "200 children",
        "i=0; while [ $i -lt 200 ]; do sleep 60 & i=$((i + 1)); done; touch ready; wait",
    ),
];

/// Measure the overhead of running a sandboxed program, and the time from a cancellation until all
/// of its processes have exited
#[derive(Debug, clap::Args)]
pub(crate) struct ProgramsArgs {
    #[arg(default_value_t = 20)]
    rounds: usize,
}

pub(super) async fn run(args: &ProgramsArgs) -> Outcome {
    let rounds = args.rounds;
    let launcher = Launcher::new(std::env::current_exe().unwrap());
    let temp = tempfile::tempdir().unwrap();
    for folder in ["workspace", "spill", "spill/tmp"] {
        std::fs::create_dir(temp.path().join(folder)).unwrap();
    }
    let mut times = Vec::new();
    for _ in 0..rounds {
        let order = order(temp.path(), "true");
        let start = Instant::now();
        launcher.run(&order, &Cancel::new(), &LiveOutput::default()).await.unwrap();
        times.push(start.elapsed());
    }
    show("one `true`", &mut times);
    for (name, script) in STUBBORN {
        let mut times = Vec::new();
        for _ in 0..rounds {
            times.push(measure_cancellation(&launcher, temp.path(), script).await);
        }
        show(&format!("cancel: {name}"), &mut times);
    }
    Ok(true)
}

/// Returns the time from the cancellation to the result, which arrives after all processes have
/// exited.
async fn measure_cancellation(launcher: &Launcher, root: &Path, script: &str) -> Duration {
    let ready = root.join("workspace/ready");
    let _ = std::fs::remove_file(&ready);
    let (source, order) = (Cancel::new(), order(root, script));
    let token = source.clone();
    let cancelling = async {
        while !ready.exists() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        source.cancel();
        Instant::now()
    };
    let stdout = LiveOutput::default();
    let (finished, start) = tokio::join!(launcher.run(&order, &token, &stdout), cancelling);
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
        },
    }
}

fn show(name: &str, times: &mut [Duration]) {
    times.sort();
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    println!("{name:28} median {median:9.1?}  worst {worst:9.1?}  of {}", times.len());
}
