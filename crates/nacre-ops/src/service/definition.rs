//! Generates service definitions for systemd, launchd and Docker Compose, and finds a running
//! server.

use std::fmt::Write as _;

use super::{ADDRESS, LOCK_FOLDER, MAX_BYTES, RUN_FOLDER, TOKEN};
use crate::host::{Environment, STORE_FOLDER, connections, key_variable, provider_names};
use crate::prelude::*;

pub(super) const LAUNCHD_LABEL: &str = "dev.nacre.server";

/// The name of an optional environment file, which can contain API keys.
const VARIABLES_FILE: &str = "server.env";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceDefinition {
    pub program: PathBuf,
    pub home: PathBuf,
    pub data: PathBuf,
    pub port: u16,
    pub projects: Vec<PathBuf>,
    pub traces: Vec<PathBuf>,
    /// Names of environment variables that may contain keys. Nacre never writes their values.
    pub key_variables: Vec<String>,
    /// The value of `PATH`.
    pub search_path: Option<String>,
    pub user: u32,
    pub group: u32,
}

pub fn definition(host: &Host, port: u16) -> Result<ServiceDefinition> {
    let environment = &host.environment;
    let program = environment.program.clone().ok_or_else(|| {
        OpError::failed("Cannot find the path of the running program")
            .hint("Start it yourself: nacre serve")
    })?;
    let data = host.home_scope()?.path().to_owned();
    let roots = connections(host, &[])?.into_iter().flat_map(|connection| connection.roots);
    let traces: BTreeSet<PathBuf> = roots.filter(|root| root.exists()).collect();
    let keys = provider_names(host).into_iter().filter_map(|name| key_variable(host, &name));
    let key_variables: BTreeSet<String> = keys.collect();
    let (user, group) = ids(&data);
    let definition = ServiceDefinition {
        program,
        home: environment.home.clone().unwrap_or_else(|| data.clone()),
        data,
        port,
        projects: host.projects.iter().map(|project| project.path.clone()).collect(),
        traces: traces.into_iter().collect(),
        key_variables: key_variables.into_iter().collect(),
        search_path: environment.var("PATH").map(str::to_owned),
        user,
        group,
    };
    definition.check()?;
    Ok(definition)
}

#[cfg(unix)]
fn ids(folder: &Path) -> (u32, u32) {
    use std::os::unix::fs::MetadataExt as _;

    folder.metadata().map_or((0, 0), |facts| (facts.uid(), facts.gid()))
}

#[cfg(not(unix))]
fn ids(_folder: &Path) -> (u32, u32) {
    (0, 0)
}

impl ServiceDefinition {
    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let Self { program, home, data, projects, traces, .. } = self;
        [program, home, data].into_iter().chain(projects).chain(traces)
    }

    fn check(&self) -> Result<()> {
        let is_bad =
            |path: &&PathBuf| path.to_str().is_none_or(|text| text.contains(char::is_control));
        match self.paths().find(is_bad) {
            None => Ok(()),
            Some(path) => {
                let message = format!("`{}` cannot be used in a service file", path.display());
                Err(OpError::failed(message).hint("Start it yourself: nacre serve"))
            }
        }
    }

    /// Generates a systemd unit. Everything except the home directory is read-only. The home
    /// directory is writable because agents used as models write to it, and because projects can be
    /// registered there later.
    pub fn systemd(&self) -> String {
        let quoted = |path: &Path| unit_text(&path.display().to_string());
        let mut unit = String::from("[Unit]\nDescription=Nacre, memory for coding agents\n\n");
        let _ = write!(
            unit,
            "[Service]\nType=exec\nExecStart={} serve --port {}\nWorkingDirectory=%h\n",
            quoted(&self.program),
            self.port
        );
        if let Some(path) = &self.search_path {
            let _ = writeln!(unit, "Environment={}", unit_text(&format!("PATH={path}")));
        }
        let variables = self.data.join(VARIABLES_FILE).display().to_string().replace('%', "%%");
        let _ = writeln!(unit, "EnvironmentFile=-{variables}");
        unit.push_str("Restart=on-failure\nRestartSec=5\nTimeoutStopSec=30\n\n");
        unit.push_str("UMask=0077\nLimitCORE=0\nNoNewPrivileges=yes\nRestrictSUIDSGID=yes\n");
        let is_temp =
            |path: &PathBuf| ["/tmp", "/var/tmp"].iter().any(|temp| path.starts_with(temp));
        // `PrivateTmp` would hide these directories.
        if !self.paths().any(is_temp) {
            unit.push_str("PrivateTmp=yes\n");
        }
        unit.push_str("ProtectSystem=strict\nReadWritePaths=%h\n");
        for root in self.projects.iter().filter(|root| !root.starts_with(&self.home)) {
            let store = root.join(STORE_FOLDER).display().to_string();
            let _ = writeln!(unit, "ReadWritePaths={}", unit_text(&format!("-{store}")));
        }
        unit.push_str("InaccessiblePaths=-%h/.ssh -%h/.gnupg\n\n");
        unit.push_str("[Install]\nWantedBy=default.target\n");
        unit
    }

    pub fn launchd(&self) -> String {
        let text = |text: &str| format!("<string>{}</string>", xml_text(text));
        let port = self.port.to_string();
        let program = self.program.display().to_string();
        let words = [program.as_str(), "serve", "--port", &port].map(text).join("");
        let home = text(&self.home.display().to_string());
        let path = text(self.search_path.as_deref().unwrap_or("/usr/bin:/bin"));
        let label = text(LAUNCHD_LABEL);
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
             <plist version=\"1.0\"><dict>\n\
             <key>Label</key>{label}\n\
             <key>ProgramArguments</key><array>{words}</array>\n\
             <key>WorkingDirectory</key>{home}\n\
             <key>EnvironmentVariables</key><dict><key>PATH</key>{path}</dict>\n\
             <key>RunAtLoad</key><true/>\n\
             <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>\n\
             <key>ProcessType</key><string>Background</string>\n\
             <key>Umask</key><integer>63</integer>\n\
             <key>HardResourceLimits</key><dict><key>Core</key><integer>0</integer></dict>\n\
             </dict></plist>\n"
        )
    }

    /// Generates a Docker Compose file. Only each project's `.nacre` directory is writable.
    ///
    /// The container uses the host network, so that the server can listen only on the host's
    /// loopback interface.
    pub fn compose(&self, image: &str) -> String {
        let mut volumes: Vec<String> = vec![volume(&self.data, false)];
        for root in &self.projects {
            volumes.push(volume(root, true));
            volumes.push(volume(&root.join(STORE_FOLDER), false));
        }
        let inside = |path: &Path| path.starts_with(&self.data);
        volumes
            .extend(self.traces.iter().filter(|path| !inside(path)).map(|path| volume(path, true)));
        let home = yaml_text(&format!("HOME={}", self.home.display()));
        let data = yaml_text(&format!("NACRE_HOME={}", self.data.display()));
        let keys = self.key_variables.iter().map(|name| yaml_text(name));
        let environment: Vec<String> = [home, data].into_iter().chain(keys).collect();
        let list = |items: &[String]| {
            items.iter().map(|item| format!("      - {item}\n")).collect::<String>()
        };
        format!(
            "services:\n  nacre:\n    image: {image}\n    command: [\"serve\", \"--port\", \"{port}\"]\n    \
             user: \"{user}:{group}\"\n    network_mode: host\n    read_only: true\n    \
             cap_drop: [\"ALL\"]\n    security_opt: [\"no-new-privileges:true\"]\n    \
             pids_limit: 256\n    mem_limit: 4g\n    tmpfs: [\"/tmp:size=100m,mode=1777\"]\n    \
             restart: unless-stopped\n    stop_grace_period: 30s\n    environment:\n{environment}    volumes:\n{volumes}    \
             healthcheck:\n      test: [\"CMD\", \"/nacre\", \"serve\", \"--check\"]\n      \
             interval: 30s\n      timeout: 5s\n      retries: 3\n",
            image = yaml_text(image),
            port = self.port,
            user = self.user,
            group = self.group,
            environment = list(&environment),
            volumes = list(&volumes),
        )
    }
}

fn unit_text(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('%', "%%").replace('$', "$$"))
}

fn xml_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Quotes a YAML string. JSON strings are valid YAML, but Compose expands `$`.
fn yaml_text(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default().replace('$', "$$")
}

/// Mounts a directory at the same path inside the container. Uses the long syntax, because the path
/// may contain colons.
fn volume(path: &Path, is_read_only: bool) -> String {
    let path = yaml_text(&path.display().to_string());
    format!("{{ type: bind, source: {path}, target: {path}, read_only: {is_read_only} }}")
}

#[derive(Clone, PartialEq, Eq)]
pub struct FoundService {
    /// In the form `host:port`.
    pub address: String,
    pub door: ServerAddress,
}

#[derive(Clone, PartialEq, Eq)]
pub enum ServerAddress {
    /// The path of a socket. No token is needed, because only the user can access the socket's
    /// directory.
    #[cfg(unix)]
    Socket(PathBuf),
    Port {
        token: String,
    },
}

nacre_base::debug_only!(FoundService { address });

/// Finds the socket of a running server. Reads no settings, which makes it fast enough for hooks.
#[cfg(unix)]
pub fn find_socket(environment: &Environment) -> Option<FoundService> {
    let home = environment.nacre_home()?;
    let run = WriteScope::open_inside(&home, RUN_FOLDER, Access::Private).ok()?;
    let socket = run.path().join(super::SOCKET);
    let is_there = socket.exists();
    let door = ServerAddress::Socket(socket);
    is_there.then(|| FoundService { address: "localhost".to_owned(), door })
}

#[cfg(not(unix))]
pub fn find_socket(_environment: &Environment) -> Option<FoundService> {
    None
}

/// Returns the address that the server published. The address can be stale.
pub fn find(host: &Host) -> Result<Option<FoundService>> {
    let Some(run) = host.existing_home_folder(RUN_FOLDER)? else { return Ok(None) };
    let read = |name: &str| -> Result<Option<String>> {
        let bytes = run.read_optional(&RelPath::new(name)?, MAX_BYTES)?;
        Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
    };
    // A server that is starting removes the old address before it writes its token. Reading the
    // token before the address therefore ensures that a new token is never sent to an old address.
    let (Some(token), Some(address)) = (read(TOKEN)?, read(ADDRESS)?) else { return Ok(None) };
    if let Some(found) = find_socket(&host.environment) {
        return Ok(Some(FoundService { address, ..found }));
    }
    let held = is_held(host)?;
    Ok(held.then_some(FoundService { address, door: ServerAddress::Port { token } }))
}

/// Returns whether the lock is held. Returns `false` if the lock cannot be checked.
pub(super) fn is_held(host: &Host) -> Result<bool> {
    let run = host.home()?.join(RUN_FOLDER);
    let lock = WriteScope::open_inside(&run, LOCK_FOLDER, Access::Private)
        .and_then(|place| place.lock(&host.owner("status"), Duration::ZERO).map(drop));
    Ok(matches!(lock, Err(FsError::Busy { .. })))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn service() -> ServiceDefinition {
        ServiceDefinition {
            program: "/opt/my tools/nacre".into(),
            home: "/home/ada".into(),
            data: "/home/ada/.nacre".into(),
            port: 8765,
            projects: vec!["/home/ada/app".into(), "/srv/100% mine".into()],
            traces: vec!["/home/ada/.claude/projects".into()],
            key_variables: vec!["ANTHROPIC_API_KEY".to_owned()],
            search_path: Some("/usr/bin:/bin".to_owned()),
            user: 1000,
            group: 100,
        }
    }

    #[test]
    fn the_unit_lets_it_write_where_it_has_to() {
        assert_snapshot!(service().systemd(), @r#"
        [Unit]
        Description=Nacre, memory for coding agents

        [Service]
        Type=exec
        ExecStart="/opt/my tools/nacre" serve --port 8765
        WorkingDirectory=%h
        Environment="PATH=/usr/bin:/bin"
        EnvironmentFile=-/home/ada/.nacre/server.env
        Restart=on-failure
        RestartSec=5
        TimeoutStopSec=30

        UMask=0077
        LimitCORE=0
        NoNewPrivileges=yes
        RestrictSUIDSGID=yes
        PrivateTmp=yes
        ProtectSystem=strict
        ReadWritePaths=%h
        ReadWritePaths="-/srv/100%% mine/.nacre"
        InaccessiblePaths=-%h/.ssh -%h/.gnupg

        [Install]
        WantedBy=default.target
        "#);
        let in_temp = ServiceDefinition { projects: vec!["/tmp/try".into()], ..service() };
        assert!(!in_temp.systemd().contains("PrivateTmp"));
    }

    #[test]
    fn a_container_writes_only_into_the_stores() {
        assert_snapshot!(service().compose("nacre:0.1.0"), @r#"
        services:
          nacre:
            image: "nacre:0.1.0"
            command: ["serve", "--port", "8765"]
            user: "1000:100"
            network_mode: host
            read_only: true
            cap_drop: ["ALL"]
            security_opt: ["no-new-privileges:true"]
            pids_limit: 256
            mem_limit: 4g
            tmpfs: ["/tmp:size=100m,mode=1777"]
            restart: unless-stopped
            stop_grace_period: 30s
            environment:
              - "HOME=/home/ada"
              - "NACRE_HOME=/home/ada/.nacre"
              - "ANTHROPIC_API_KEY"
            volumes:
              - { type: bind, source: "/home/ada/.nacre", target: "/home/ada/.nacre", read_only: false }
              - { type: bind, source: "/home/ada/app", target: "/home/ada/app", read_only: true }
              - { type: bind, source: "/home/ada/app/.nacre", target: "/home/ada/app/.nacre", read_only: false }
              - { type: bind, source: "/srv/100% mine", target: "/srv/100% mine", read_only: true }
              - { type: bind, source: "/srv/100% mine/.nacre", target: "/srv/100% mine/.nacre", read_only: false }
              - { type: bind, source: "/home/ada/.claude/projects", target: "/home/ada/.claude/projects", read_only: true }
            healthcheck:
              test: ["CMD", "/nacre", "serve", "--check"]
              interval: 30s
              timeout: 5s
              retries: 3
        "#);
    }

    #[test]
    fn no_path_ends_its_word() {
        assert_eq!(unit_text("a\" $HOME %h \\"), r#""a\" $$HOME %%h \\""#);
        assert_eq!(xml_text("<&>"), "&lt;&amp;&gt;");
        assert_eq!(yaml_text("a\" ${HOME}: #"), r#""a\" $${HOME}: #""#);
        let odd = ServiceDefinition { home: "/home/a\nExecStart=x".into(), ..service() };
        assert!(odd.check().is_err());
    }
}
