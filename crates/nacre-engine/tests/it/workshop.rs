//! A workspace, a directory outside it and a home directory with secrets, for tests that start real
//! programs.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
};
use nacre_engine::confine::{
    Confinement, Finished, LaunchRequest, Launcher, LiveOutput, OutputCaps, ProcessError, Program,
    Quotas, own_folders, own_home, program_environment, secrets_of_home,
};
use nacre_engine::model::Cancel;
use tempfile::TempDir;

pub(crate) struct Workshop {
    _temp: TempDir,
    pub(crate) root: PathBuf,
}

impl Workshop {
    /// Returns `None` and prints a message if the system has no sandbox, because programs may not
    /// run without one.
    #[expect(clippy::print_stderr, reason = "a test that does not run must say so")]
    pub(crate) fn new() -> Option<Self> {
        if !has_walls() {
            eprintln!("LEFT OUT: this system cannot confine programs (no Landlock)");
            return None;
        }
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        for folder in ["workspace", "spill", "spill/tmp", "home", "home/.ssh", "home/src"] {
            fs::create_dir(root.join(folder)).unwrap();
        }
        fs::write(root.join("home/.ssh/id"), "the key").unwrap();
        fs::write(root.join("home/notes"), "a note").unwrap();
        Some(Self { _temp: temp, root })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn launcher() -> Launcher {
        Launcher::new(env!("CARGO_BIN_EXE_nacre-test-helper"))
    }

    pub(crate) fn environment(&self) -> BTreeMap<String, String> {
        let path = std::env::var("PATH").unwrap();
        let home = self.path("home");
        let person = [("PATH", path.as_str()), ("HOME", home.to_str().unwrap())];
        program_environment(person, &self.path("spill/tmp"))
    }

    pub(crate) fn order(&self, program: Program) -> LaunchRequest {
        LaunchRequest {
            program,
            folder: self.path("workspace"),
            environment: self.environment(),
            time_limit: Duration::from_secs(120),
            quotas: Quotas::default(),
            output: OutputCaps::default(),
            confinement: Confinement {
                workspace: self.path("workspace"),
                scratch: self.path("spill/tmp"),
                outside: self.path("spill"),
                home: own_home(&self.environment()),
                own: own_folders(&self.environment()),
                secrets: secrets_of_home(Some(&self.path("home")), None),
            },
        }
    }

    pub(crate) fn script(&self, text: &str) -> LaunchRequest {
        self.order(Program::Script(text.to_owned()))
    }

    pub(crate) async fn run(&self, order: &LaunchRequest) -> Result<Finished, ProcessError> {
        Self::launcher().run(order, &Cancel::new(), &LiveOutput::default()).await
    }
}

/// Returns whether the kernel supports the sandbox for programs.
fn has_walls() -> bool {
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let rules = rules.handle_access(AccessFs::from_all(ABI::V3));
    rules.and_then(Ruleset::create).is_ok()
}
