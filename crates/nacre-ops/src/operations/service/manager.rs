//! Who keeps the server running: the person's systemd or launchd, or nobody but the process itself.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nacre_api::wire::{ErrorCode, ServiceManager};
use nacre_core::config::NACRE_HOME;
use nacre_core::safefs::{Access, RelPath, WriteScope};

use super::definition::{LAUNCHD_LABEL, ServiceDefinition};
use crate::error::OpError;
use crate::host::Host;

/// Where the files of services lie in the global folder.
const SERVICE_FOLDER: &str = "service";
const DOCKER_FOLDER: &str = "docker";

const UNIT: &str = "nacre.service";
const COMPOSE: &str = "compose.yaml";

/// Where the programs of the system lie; a `PATH` has no say in it.
const SYSTEMCTL: &[&str] = &["/usr/bin/systemctl", "/bin/systemctl"];
const LAUNCHCTL: &[&str] = &["/bin/launchctl"];

/// A service manager that answers, with its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manager {
    pub kind: ServiceManager,
    program: PathBuf,
}

/// The service manager of this person, where one answers. A home that a variable names is not what it would start.
pub fn manager(host: &Host) -> Option<Manager> {
    if host.environment.var(NACRE_HOME).is_some() {
        return None;
    }
    let found = |paths: &[&str]| paths.iter().map(PathBuf::from).find(|path| path.is_file());
    if let Some(program) = found(SYSTEMCTL).filter(|_| cfg!(target_os = "linux")) {
        let manager = Manager { kind: ServiceManager::Systemd, program };
        return manager.call(host, &["--user", "show-environment"]).is_ok().then_some(manager);
    }
    let program = found(LAUNCHCTL).filter(|_| cfg!(target_os = "macos"))?;
    Some(Manager { kind: ServiceManager::Launchd, program })
}

impl Manager {
    /// Runs its program; what it says on standard error is the cause of a failure.
    fn call(&self, host: &Host, args: &[&str]) -> Result<(), OpError> {
        let failed = |cause: String| OpError {
            code: ErrorCode::Unavailable,
            causes: vec![cause],
            ..OpError::failed(format!("`{} {}` failed", self.program.display(), args.join(" ")))
        };
        let output = Command::new(&self.program)
            .args(args)
            .env_clear()
            .envs(host.environment.vars.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .output()
            .map_err(|error| failed(error.to_string()))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())
                .hint("Start it without: nacre up --no-unit")),
        }
    }
}

/// Writes the file of the service, and has it started now and with each login. Returns the file.
pub fn enable(
    host: &Host,
    manager: &Manager,
    definition: &ServiceDefinition,
) -> Result<PathBuf, OpError> {
    match manager.kind {
        ServiceManager::Systemd => {
            let text = definition.systemd();
            let file = write(host, (SERVICE_FOLDER, UNIT), &text)?;
            let path = file.display().to_string();
            manager.call(host, &["--user", "enable", &path])?;
            manager.call(host, &["--user", "daemon-reload"])?;
            manager.call(host, &["--user", "restart", UNIT])?;
            Ok(file)
        }
        ServiceManager::Launchd => {
            let folder = agents_folder(definition);
            let scope = WriteScope::create(&folder, Access::Private)?;
            let name = format!("{LAUNCHD_LABEL}.plist");
            let text = definition.launchd();
            scope.put_output(&RelPath::new(&name)?, text.as_bytes(), &host.owner("up"))?;
            let file = folder.join(&name);
            let domain = format!("gui/{}", definition.user);
            let target = format!("{domain}/{LAUNCHD_LABEL}");
            // One that is loaded has its old definition.
            let _ = manager.call(host, &["bootout", &target]);
            manager.call(host, &["enable", &target])?;
            manager.call(host, &["bootstrap", &domain, &file.display().to_string()])?;
            Ok(file)
        }
        ServiceManager::Process | ServiceManager::Docker => {
            Err(OpError::failed("There is no service manager"))
        }
    }
}

/// Whether the file of the service is there and says the same.
pub fn is_current(host: &Host, manager: &Manager, definition: &ServiceDefinition) -> bool {
    let (file, text) = match manager.kind {
        ServiceManager::Systemd => {
            let home = host.home().map(Path::to_owned).unwrap_or_default();
            (home.join(SERVICE_FOLDER).join(UNIT), definition.systemd())
        }
        ServiceManager::Launchd => {
            (agents_folder(definition).join(format!("{LAUNCHD_LABEL}.plist")), definition.launchd())
        }
        ServiceManager::Process | ServiceManager::Docker => return true,
    };
    std::fs::read_to_string(file).is_ok_and(|written| written == text)
}

/// Whether `enable` was ever called in this home.
pub fn is_enabled(host: &Host, manager: &Manager) -> bool {
    match manager.kind {
        ServiceManager::Systemd => {
            let has_file =
                host.home().is_ok_and(|home| home.join(SERVICE_FOLDER).join(UNIT).is_file());
            has_file && manager.call(host, &["--user", "--quiet", "is-enabled", UNIT]).is_ok()
        }
        ServiceManager::Launchd => host.environment.home.as_ref().is_some_and(|home| {
            home.join(format!("Library/LaunchAgents/{LAUNCHD_LABEL}.plist")).is_file()
        }),
        ServiceManager::Process | ServiceManager::Docker => false,
    }
}

/// Stops the service, and has it started no more.
pub fn disable(host: &Host, manager: &Manager, user: u32) -> Result<(), OpError> {
    match manager.kind {
        ServiceManager::Systemd => manager.call(host, &["--user", "disable", "--now", UNIT]),
        ServiceManager::Launchd => {
            let target = format!("gui/{user}/{LAUNCHD_LABEL}");
            let stopped = manager.call(host, &["bootout", &target]);
            manager.call(host, &["disable", &target])?;
            stopped
        }
        ServiceManager::Process | ServiceManager::Docker => Ok(()),
    }
}

fn agents_folder(definition: &ServiceDefinition) -> PathBuf {
    definition.home.join("Library/LaunchAgents")
}

/// Starts a process that outlives this one. It prints one JSON object: where it serves, or why not.
pub fn start_process(host: &Host, definition: &ServiceDefinition) -> Result<Child, OpError> {
    let port = definition.port.to_string();
    Command::new(&definition.program)
        .args(["--json", "serve", "--detached", "--port", &port])
        .env_clear()
        .envs(host.environment.vars.iter().map(|(name, value)| (name, value)))
        .current_dir(&definition.data)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| OpError {
            causes: vec![error.to_string()],
            ..OpError::failed(format!("Cannot start `{}`", definition.program.display()))
        })
}

/// Writes the compose file, for the person alone.
pub fn write_compose(
    host: &Host,
    definition: &ServiceDefinition,
    image: &str,
) -> Result<PathBuf, OpError> {
    write(host, (DOCKER_FOLDER, COMPOSE), &definition.compose(image))
}

fn write(host: &Host, (folder, name): (&str, &str), text: &str) -> Result<PathBuf, OpError> {
    host.home_scope()?;
    let scope = WriteScope::create_inside(host.home()?, folder, Access::Private)?;
    scope.put_output(&RelPath::new(name)?, text.as_bytes(), &host.owner("up"))?;
    Ok(scope.path().join(name))
}
