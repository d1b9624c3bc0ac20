//! Starts and stops the server with systemd or launchd, or as a detached process.

use std::process::{Child, Command, Stdio};

use nacre_base::config::NACRE_HOME;
use nacre_types::ServiceManager;

use super::definition::{LAUNCHD_LABEL, ServiceDefinition};
use crate::prelude::*;

const SERVICE_FOLDER: &str = "service";
const DOCKER_FOLDER: &str = "docker";

const UNIT: &str = "nacre.service";
const COMPOSE: &str = "compose.yaml";

/// Absolute paths, so that `PATH` cannot select another program.
const SYSTEMCTL: &[&str] = &["/usr/bin/systemctl", "/bin/systemctl"];
const LAUNCHCTL: &[&str] = &["/bin/launchctl"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manager {
    pub kind: ServiceManager,
    program: PathBuf,
}

/// Returns the service manager, or `None` if `NACRE_HOME` is set, because the service would use the
/// default home.
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
    fn call(&self, host: &Host, args: &[&str]) -> Result<()> {
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
        if output.status.success() {
            return Ok(());
        }
        Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())
            .hint("Start the server without it: nacre up --no-unit"))
    }
}

/// Installs and starts the service. Returns the path of the service file.
pub fn enable(host: &Host, manager: &Manager, definition: &ServiceDefinition) -> Result<PathBuf> {
    if manager.kind == ServiceManager::Systemd {
        let file = write(host, SERVICE_FOLDER, UNIT, &definition.systemd())?;
        let path = file.display().to_string();
        manager.call(host, &["--user", "enable", &path])?;
        manager.call(host, &["--user", "daemon-reload"])?;
        manager.call(host, &["--user", "restart", UNIT])?;
        return Ok(file);
    }
    let file = agent_file(&definition.home);
    let folder = file.parent().unwrap_or(&definition.home);
    let scope = WriteScope::create(folder, Access::Private)?;
    let name = RelPath::new(&format!("{LAUNCHD_LABEL}.plist"))?;
    scope.put_output(&name, definition.launchd().as_bytes(), &host.owner("up"))?;
    let domain = format!("gui/{}", definition.user);
    let target = format!("{domain}/{LAUNCHD_LABEL}");
    // Unload the old definition if the service is already loaded.
    let _ = manager.call(host, &["bootout", &target]);
    manager.call(host, &["enable", &target])?;
    manager.call(host, &["bootstrap", &domain, &file.display().to_string()])?;
    Ok(file)
}

pub fn is_current(host: &Host, manager: &Manager, definition: &ServiceDefinition) -> bool {
    let (file, text) = match manager.kind == ServiceManager::Systemd {
        true => (unit_file(host), definition.systemd()),
        false => (agent_file(&definition.home), definition.launchd()),
    };
    std::fs::read_to_string(file).is_ok_and(|written| written == text)
}

pub fn is_enabled(host: &Host, manager: &Manager) -> bool {
    if manager.kind == ServiceManager::Systemd {
        return unit_file(host).is_file()
            && manager.call(host, &["--user", "--quiet", "is-enabled", UNIT]).is_ok();
    }
    host.environment.home.as_ref().is_some_and(|home| agent_file(home).is_file())
}

pub fn disable(host: &Host, manager: &Manager, user: u32) -> Result<()> {
    if manager.kind == ServiceManager::Systemd {
        return manager.call(host, &["--user", "disable", "--now", UNIT]);
    }
    let target = format!("gui/{user}/{LAUNCHD_LABEL}");
    let stopped = manager.call(host, &["bootout", &target]);
    manager.call(host, &["disable", &target])?;
    stopped
}

fn unit_file(host: &Host) -> PathBuf {
    let home = host.home().map(Path::to_owned).unwrap_or_default();
    home.join(SERVICE_FOLDER).join(UNIT)
}

fn agent_file(home: &Path) -> PathBuf {
    home.join(format!("Library/LaunchAgents/{LAUNCHD_LABEL}.plist"))
}

/// Starts the server as a detached process, which prints one JSON object with its address or an
/// error.
pub fn start_process(host: &Host, definition: &ServiceDefinition) -> Result<Child> {
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
        .map_err(|error| {
            OpError::failed(format!("Cannot start `{}`", definition.program.display()))
                .because(error)
        })
}

pub fn write_compose(host: &Host, definition: &ServiceDefinition, image: &str) -> Result<PathBuf> {
    write(host, DOCKER_FOLDER, COMPOSE, &definition.compose(image))
}

fn write(host: &Host, folder: &str, name: &str, text: &str) -> Result<PathBuf> {
    let scope = host.home_folder(folder)?;
    scope.put_output(&RelPath::new(name)?, text.as_bytes(), &host.owner("up"))?;
    Ok(scope.path().join(name))
}
