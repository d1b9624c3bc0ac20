//! Tests for escapes from the workspace, each attempted by a real program.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;

use nacre_engine::confine::{ProcessError, ProgramEnding as Ending};

use crate::workshop::Workshop;

/// Returns the contents, modes and times of everything outside the workspace that a program could
/// have changed.
fn outside(workshop: &Workshop) -> BTreeMap<String, String> {
    let mut seen = BTreeMap::new();
    for folder in ["", "home", "home/.ssh", "home/src", "spill"] {
        for entry in fs::read_dir(workshop.path(folder)).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let text =
                if metadata.is_file() { fs::read_to_string(&path).unwrap() } else { String::new() };
            // The timestamps of the directories that contain the workspace and its temporary files
            // do change.
            let time = if metadata.is_file() { metadata.mtime_nsec() } else { 0 };
            let shown = format!("{:o} {} {time} {text}", metadata.mode(), metadata.nlink().min(2));
            let is_ours = path.ends_with("workspace") || path.ends_with("tmp");
            if !is_ours {
                seen.insert(path.display().to_string(), shown);
            }
        }
    }
    seen
}

/// Commands that try to change something outside. `OUT` is the home directory, and `H` is a link to
/// it in the workspace.
const WAYS_OUT: &[&str] = &[
    "echo x > OUT/a",
    "echo x > ../home/b",
    "echo x > H/c",
    "ln -s OUT z && echo x > z/d",
    "ln OUT/notes h && echo x > h",
    "echo x > t && mv t OUT/e",
    "mv OUT/notes .",
    "mv OUT/src .",
    "rm OUT/notes",
    "rmdir OUT/src",
    "truncate -s 0 OUT/notes",
    ": > OUT/notes",
    "chmod 777 OUT/notes",
    "chmod 000 OUT/.ssh",
    "touch OUT/notes",
    "touch -d 2001-01-01 OUT/notes",
    "mkdir OUT/dd",
    "mkfifo OUT/ff",
    "mknod OUT/nn c 1 3",
    "ln -s x OUT/ll",
    "echo x > /proc/self/root/OUT/f",
    "echo x > /proc/self/cwd/../home/g",
    "cp -p OUT/notes OUT/copy",
    "python3 -c \"import os; fd=os.open('OUT',os.O_RDONLY); os.open('h',os.O_CREAT|os.O_WRONLY,dir_fd=fd)\"",
    "python3 -c \"import os; os.setxattr('OUT/notes','user.x',b'y')\"",
    "unshare -rm sh -c 'mount -t tmpfs x OUT; echo x > OUT/i'",
    "sudo -n touch OUT/j",
    "dd if=/dev/zero of=OUT/notes count=1 conv=notrunc",
    "sh -c 'trap \"\" TERM; (sleep 0.05; echo x > OUT/k) &'",
];

#[tokio::test]
async fn no_way_out_changes_anything() {
    let Some(workshop) = Workshop::new() else { return };
    let home = workshop.path("home");
    symlink(&home, workshop.path("workspace/H")).unwrap();
    let before = outside(&workshop);
    for way in WAYS_OUT {
        let script = way.replace("OUT", home.to_str().unwrap());
        workshop.run(&workshop.script(&script)).await.unwrap();
        assert_eq!(outside(&workshop), before, "{way}");
    }
}

#[tokio::test]
async fn the_workspace_and_the_own_folder_can_be_changed() {
    let Some(workshop) = Workshop::new() else { return };
    let script = "mkdir -p a/b && echo x > a/b/c && mv a/b/c d && ln d e && rm d && mktemp && cat e && echo y > /dev/null";
    let finished = workshop.run(&workshop.script(script)).await.unwrap();
    assert_eq!(finished.ending, Ending::Exited(0), "{}", finished.stderr.text());
    assert!(workshop.path("workspace/e").exists());
}

#[tokio::test]
async fn secrets_are_not_read_and_their_neighbours_are() {
    let Some(workshop) = Workshop::new() else { return };
    symlink(workshop.path("home/.ssh"), workshop.path("home/keys")).unwrap();
    for (path, is_readable) in [
        ("home/notes", true),
        ("home/.ssh/id", false),
        ("home/keys/id", false),
        ("home/src/../.ssh/id", false),
    ] {
        let script = format!("cat {}", workshop.path(path).display());
        let finished = workshop.run(&workshop.script(&script)).await.unwrap();
        assert_eq!(finished.ending == Ending::Exited(0), is_readable, "{path}");
        assert_eq!(finished.stdout.total != 0, is_readable, "{path}");
    }
    let list = format!("ls {}", workshop.path("home/.ssh").display());
    assert_eq!(workshop.run(&workshop.script(&list)).await.unwrap().stdout.total, 0);
}

/// Common locations of credentials, sessions and histories in a home directory, taken from the
/// third audit and the programs' manuals. None is copied from the list that hides them.
const CREDENTIALS: &str = "
    .gemini/oauth_creds.json .gemini/google_accounts.json .qwen/oauth_creds.json .copilot/config.json
    .config/github-copilot/hosts.json .config/github-copilot/apps.json .factory/auth.json
    .pi/agent/auth.json .claude.json .claude/.credentials.json .codex/auth.json .codex/config.toml
    .local/share/opencode/auth.json .cursor/mcp.json .config/Cursor/User/globalStorage/state.vscdb
    .continue/config.json .aider.conf.yml .cline/data/secrets.json .augment/session.json
    .config/goose/secrets.yaml .config/io.datasette.llm/keys.json .kiro/settings/mcp.json
    .cache/huggingface/token .cache/huggingface/stored_tokens .huggingface/token .kaggle/kaggle.json
    .config/wandb/settings .ollama/id_ed25519 .terraform.d/credentials.tfrc.json .terraformrc
    .config/rclone/rclone.conf .config/sops/age/keys.txt .config/age/keys.txt .m2/settings.xml
    .m2/settings-security.xml .gradle/gradle.properties .gradle/init.gradle .gem/credentials
    .config/glab-cli/config.yml .config/gh/hosts.yml .config/hub .config/tea/config.yml
    .config/git/credentials .git-credentials .netrc .authinfo .npmrc .yarnrc.yml .pypirc
    .config/pip/pip.conf .pip/pip.conf .config/pypoetry/auth.toml .cargo/credentials
    .cargo/credentials.toml .nuget/NuGet/NuGet.Config .composer/auth.json .config/composer/auth.json
    .hex/hex.config .pub-cache/credentials.json .config/dart/pub-credentials.json .ivy2/.credentials
    .sbt/.credentials .sbt/1.0/credentials.sbt .conan/.conan.db .condarc .bundle/config
    .docker/config.json .config/containers/auth.json .kube/config .config/helm/registry/config.json
    .aws/credentials .aws/sso/cache/x.json .azure/msal_token_cache.json .config/gcloud/credentials.db
    .oci/config .aliyun/config.json .bluemix/config.json .config/doctl/config.yaml
    .config/hcloud/cli.toml .config/scw/config.yaml .config/linode-cli .fly/config.yml
    .config/heroku/credentials .railway/config.json .supabase/access-token .config/netlify/config.json
    .local/share/com.vercel.cli/auth.json .config/.wrangler/config/default.toml
    .config/configstore/firebase-tools.json .config/stripe/config.toml .pulumi/credentials.json
    .vault-token .boto .s3cfg .mc/config.json .passwd-s3fs .databrickscfg .snowsql/config
    .dbt/profiles.yml .pgpass .pg_service.conf .my.cnf .mylogin.cnf .mongorc.js .env .envrc
    .ssh/id_ed25519 .ssh/config .gnupg/private-keys-v1.d/x.key .password-store/x.gpg .pki/nssdb/key4.db
    .config/BraveSoftware/Brave-Browser/Default/Cookies .config/microsoft-edge/Default/Cookies
    .config/vivaldi/Default/Cookies .config/opera/Cookies .config/google-chrome/Default/Cookies
    .config/chromium/Default/Cookies .mozilla/firefox/x/logins.json
    snap/firefox/common/.mozilla/firefox/x/logins.json snap/chromium/common/chromium/Default/Cookies
    .var/app/org.mozilla.firefox/.mozilla/firefox/x/logins.json .thunderbird/x/logins.json
    snap/thunderbird/common/.thunderbird/x/logins.json .librewolf/x/logins.json
    .config/Slack/Cookies .config/discord/Cookies .config/Signal/config.json .config/Element/x
    .local/share/TelegramDesktop/tdata/key_datas .local/share/keyrings/login.keyring
    .local/share/kwalletd/kdewallet.kwl .kde/share/apps/kwallet/kdewallet.kwl .config/op/config
    .config/Bitwarden/data.json .config/keepassxc/keepassxc.ini passwords.kdbx server.pem deploy.key
    wallet.dat .bitcoin/wallet.dat .electrum/wallets/default_wallet .ethereum/keystore/x .monero/x
    .config/solana/id.json .near-credentials/x.json .foundry/keystores/x .bash_history .zsh_history
    .python_history .node_repl_history .psql_history .mysql_history .sqlite_history .rediscli_history
    .local/share/fish/fish_history .lesshst .viminfo .config/argocd/config .ansible/vault_pass
    .msmtprc .fetchmailrc .smbcredentials .davfs2/secrets .Xauthority .nacre/keys .jupyter/x.json
    .config/unknown-tool/token .unknown-tool/token
";

#[tokio::test]
async fn no_credential_of_a_home_is_read_and_toolchains_are() {
    let Some(workshop) = Workshop::new() else { return };
    let write = |place: &str| {
        let path = workshop.path("home").join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("content of {place}")).unwrap();
    };
    let toolchains = [
        ".cargo/bin/tool",
        ".cargo/registry/index",
        ".cargo/config.toml",
        ".rustup/settings.toml",
        ".npm/_cacache/x",
        ".nvm/nvm.sh",
        ".pyenv/shims/python",
        ".local/bin/tool",
        ".local/share/pnpm/x",
        ".cache/pip/x",
        ".gradle/caches/x",
        ".m2/repository/x",
        ".deno/bin/deno",
        ".bun/bin/bun",
        ".gitconfig",
        "go/pkg/mod/x",
        "src/.env.example",
    ];
    let places: Vec<&str> = CREDENTIALS.split_ascii_whitespace().collect();
    assert!(places.len() >= 136, "{}", places.len());
    places.iter().chain(&toolchains).for_each(|place| write(place));
    let all: Vec<String> = places.iter().chain(&toolchains).map(|p| (*p).to_owned()).collect();
    let script = format!("cd {}; cat {}", workshop.path("home").display(), all.join(" "));
    let finished = workshop.run(&workshop.script(&script)).await.unwrap();
    let text = finished.stdout.text();
    let read: Vec<&str> = text.split("content of ").skip(1).collect();
    assert_eq!(read, toolchains);
}

#[tokio::test]
async fn temporary_files_and_settings_with_credentials_are_not_read() {
    let Some(workshop) = Workshop::new() else { return };
    let write = |place: &str, text: &str| {
        let path = workshop.path(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        format!("cat {}; ", path.display())
    };
    // The workshop is a directory in `/tmp`, where Kerberos stores tickets such as `krb5cc_1000`.
    let mut script = write("krb5cc_1000", "content of a ticket");
    script += &write("home/.cargo/config.toml", "[registry]\ntoken = \"content of a token\"");
    script += &write("home/.gitconfig", "[http]\nextraHeader = Authorization: content of a header");
    let finished = workshop.run(&workshop.script(&script)).await.unwrap();
    assert_eq!(finished.stdout.text(), "");
    let clean = write("home/.gitconfig", "[user]\nname = Ada");
    let finished = workshop.run(&workshop.script(&clean)).await.unwrap();
    assert_eq!(finished.stdout.text(), "[user]\nname = Ada");
}

/// Commands that print `open` if they succeed.
const CALLS: &[(&str, &str)] = &[
    ("tcp", "import socket; socket.create_connection(('127.0.0.1', PORT)); print('open')"),
    ("tcp6", "import socket; socket.socket(socket.AF_INET6); print('open')"),
    ("udp", "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM); print('open')"),
    ("unix", "import socket; s=socket.socket(socket.AF_UNIX); s.connect('SOCKET'); print('open')"),
    ("netlink", "import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW); print('open')"),
    ("vsock", "import socket; socket.socket(socket.AF_VSOCK); print('open')"),
    (
        "datagram pair",
        "import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); print('open')",
    ),
    ("stream pair", "import socket; socket.socketpair(); print('open')"),
    (
        "packet pair",
        "import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET); print('open')",
    ),
    (
        "raw pair",
        "import socket; a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW); a.sendto(b'escaped', 'DATAGRAMS'); print('open')",
    ),
    (
        "packets to a path",
        "import socket; a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET); a.sendto(b'escaped', 'DATAGRAMS'); b.recv(7) or print('open')",
    ),
];

#[tokio::test]
async fn no_connection_is_opened() {
    let Some(workshop) = Workshop::new() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let socket = workshop.path("workspace/socket");
    let _daemon = UnixListener::bind(&socket).unwrap();
    let datagrams = workshop.path("workspace/datagrams");
    let listener = UnixDatagram::bind(&datagrams).unwrap();
    listener.set_nonblocking(true).unwrap();
    let mut open = Vec::new();
    for (name, code) in CALLS {
        let code =
            code.replace("PORT", &port).replace("'SOCKET'", &format!("'{}'", socket.display()));
        let code = code.replace("DATAGRAMS", datagrams.to_str().unwrap());
        let order = workshop.script(&format!("python3 -c \"{code}\""));
        if workshop.run(&order).await.unwrap().stdout.text() == "open\n" {
            open.push(*name);
        }
    }
    assert_eq!(open, ["stream pair", "packet pair"]);
    assert!(listener.recv(&mut [0; 8]).is_err(), "nothing escaped");
}

/// Runs system calls in a program and returns their results and `errno`. Each call is given by its
/// number and first arguments.
#[cfg(target_arch = "x86_64")]
async fn results_of(workshop: &Workshop, calls: &[(u64, &[u64])]) -> Vec<String> {
    let list: Vec<String> = calls
        .iter()
        .map(|(number, arguments)| {
            let all = std::iter::once(number).chain(*arguments).map(u64::to_string);
            format!("[{}]", all.collect::<Vec<_>>().join(","))
        })
        .collect();
    let code = format!(
        "import ctypes; c=ctypes.CDLL(None,use_errno=True); c.syscall.restype=ctypes.c_long\n\
         for n in [{}]:\n  a=[ctypes.c_long(x) for x in (n+[0]*6)[:6]]; ctypes.set_errno(0); \
         r=c.syscall(*a); print(r, ctypes.get_errno(), flush=True)",
        list.join(",")
    );
    let arguments = vec!["-c".to_owned(), code];
    let order = workshop
        .order(nacre_engine::confine::Program::Argv { name: "python3".to_owned(), arguments });
    let finished = workshop.run(&order).await.unwrap();
    let text = finished.stdout.text();
    assert_eq!(text.lines().count(), calls.len(), "{text} {}", finished.stderr.text());
    text.lines().map(str::to_owned).collect()
}

/// The x86-64 system calls with these numbers are refused, and `clone3` is unavailable.
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn dangerous_system_calls_are_refused() {
    const X32: u64 = 0x4000_0000;
    let Some(workshop) = Workshop::new() else { return };
    let calls: &[(&str, u64, &[u64], i32)] = &[
        ("ptrace", 101, &[], 1),
        ("mount", 165, &[], 1),
        ("open_tree", 428, &[], 1),
        ("open_tree_attr", 467, &[], 1),
        ("name_to_handle_at", 303, &[], 1),
        ("open_by_handle_at", 304, &[], 1),
        ("fanotify_mark", 301, &[], 1),
        ("quotactl_fd", 443, &[], 1),
        ("keyctl", 250, &[], 1),
        ("add_key", 248, &[], 1),
        ("request_key", 249, &[], 1),
        ("bpf", 321, &[], 1),
        ("perf_event_open", 298, &[], 1),
        ("userfaultfd", 323, &[], 1),
        ("io_uring_setup", 425, &[], 1),
        ("unshare", 272, &[], 1),
        ("setns", 308, &[], 1),
        ("clone (new user namespace)", 56, &[0x1000_0000], 1),
        ("clone (new network)", 56, &[0x4000_0000], 1),
        ("clone (traced)", 56, &[0x2000], 1),
        ("clone (with the parent of its parent)", 56, &[0x8000], 1),
        ("socketpair (datagrams)", 53, &[1, 2], 1),
        ("socketpair (raw)", 53, &[1, 3], 1),
        ("socketpair (raw, on exec closed)", 53, &[1, 0x8_0003], 1),
        ("socketpair (another flag)", 53, &[1, 0x11], 1),
        ("socketpair (a protocol)", 53, &[1, 1, 1], 1),
        ("socketpair (tipc)", 53, &[30, 1], 1),
        ("ioctl (a command that nobody knows)", 16, &[0, 0x1234_5678], 1),
        ("kcmp", 312, &[], 1),
        ("process_vm_readv", 310, &[], 1),
        ("process_vm_writev", 311, &[], 1),
        ("process_mrelease", 448, &[], 1),
        ("migrate_pages", 256, &[], 1),
        ("move_pages", 279, &[], 1),
        ("pidfd_getfd", 438, &[], 1),
        ("iopl", 172, &[], 1),
        ("ioperm", 173, &[], 1),
        ("modify_ldt", 154, &[], 1),
        ("kexec_load", 246, &[], 1),
        ("init_module", 175, &[], 1),
        ("personality (no randomization)", 135, &[0x0004_0000], 1),
        ("prlimit (of another process)", 302, &[1], 1),
        ("clone3", 435, &[], 38),
        ("ptrace (x32)", X32 | 521, &[], 1),
        ("socket (x32)", X32 | 41, &[], 1),
        ("mq_notify (x32)", X32 | 527, &[], 1),
        ("move_pages (x32)", X32 | 533, &[], 1),
    ];
    let numbers: Vec<_> = calls.iter().map(|(_, number, args, _)| (*number, *args)).collect();
    let results = results_of(&workshop, &numbers).await;
    for ((name, _, _, errno), result) in calls.iter().zip(results) {
        assert_eq!(result, format!("-1 {errno}"), "{name}");
    }
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn shared_memory_semaphores_and_messages_of_others_are_out_of_reach() {
    let Some(workshop) = Workshop::new() else { return };
    let calls = [
        ("shmget", 29),
        ("shmat", 30),
        ("shmctl", 31),
        ("shmdt", 67),
        ("semget", 64),
        ("semop", 65),
        ("semctl", 66),
        ("semtimedop", 220),
        ("msgget", 68),
        ("msgsnd", 69),
        ("msgrcv", 70),
        ("msgctl", 71),
        ("mq_open", 240),
        ("mq_unlink", 241),
        ("mq_timedsend", 242),
        ("mq_timedreceive", 243),
        ("mq_notify", 244),
        ("mq_getsetattr", 245),
    ];
    let numbers: Vec<(u64, &[u64])> = calls.iter().map(|(_, number)| (*number, &[][..])).collect();
    let results = results_of(&workshop, &numbers).await;
    for ((name, _), result) in calls.iter().zip(results) {
        assert_eq!(result, "-1 1", "{name}");
    }
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn attributes_of_files_are_kept_where_metadata_is() {
    let Some(workshop) = Workshop::new() else { return };
    let calls = [
        ("setxattrat", 463, 0),
        ("removexattrat", 466, 0),
        ("file_setattr", 469, 0),
        ("ioctl FS_IOC_SETFLAGS", 16, 0x4008_6602),
        ("ioctl FS_IOC32_SETFLAGS", 16, 0x4004_6602),
        ("ioctl FS_IOC_FSSETXATTR", 16, 0x401C_5820),
    ];
    let arguments: Vec<[u64; 2]> = calls.iter().map(|(_, _, second)| [0, *second]).collect();
    let numbers: Vec<(u64, &[u64])> = calls
        .iter()
        .zip(&arguments)
        .map(|((_, number, _), arguments)| (*number, &arguments[..]))
        .collect();
    let results = results_of(&workshop, &numbers).await;
    for ((name, _, _), result) in calls.iter().zip(results) {
        assert_eq!(result, "-1 1", "{name}");
    }
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn what_programs_ask_of_themselves_is_allowed() {
    let Some(workshop) = Workshop::new() else { return };
    // `prlimit` on the process itself, and a query of its execution domain.
    let results = results_of(&workshop, &[(302, &[]), (135, &[0xFFFF_FFFF])]).await;
    assert_eq!(results, ["0 0", "0 0"]);
    // These calls are allowed. Creating pairs of stream or packet sockets fails only at the invalid
    // pointer, and querying the number of queued bytes only at the invalid descriptor.
    let results =
        results_of(&workshop, &[(53, &[1, 0x8_0801]), (53, &[1, 5]), (16, &[99, 0x541B])]);
    assert_eq!(results.await, ["-1 14", "-1 14", "-1 9"]);
}

/// System files that no program needs, next to one that some programs need. Some are readable only
/// by root, as which these tests run on many machines.
#[tokio::test]
async fn private_files_of_the_system_are_not_read() {
    let Some(workshop) = Workshop::new() else { return };
    for (path, is_readable) in [
        ("/etc/passwd", true),
        ("/etc/shadow", false),
        ("/etc/shadow-", false),
        ("/etc/gshadow", false),
        ("/etc/gshadow-", false),
        ("/etc/sudoers", false),
        ("/etc/security/opasswd", false),
        ("/etc/ssh/ssh_host_ed25519_key", false),
        ("/etc/ssh/ssh_host_rsa_key", false),
        ("/dev/null", true),
        ("/dev/mem", false),
        ("/dev/kmsg", false),
        ("/dev/tty0", false),
        ("/dev/vda", false),
        ("/dev/sda", false),
        ("/proc/1/environ", false),
        ("/proc/kcore", false),
        ("/proc/kmsg", false),
        ("/proc/self/status", true),
    ] {
        let script = format!("test ! -e {path} || head -c 1 {path} && echo through");
        let is_there = Path::new(path).exists();
        let finished = workshop.run(&workshop.script(&script)).await.unwrap();
        let is_through = finished.stdout.text().contains("through");
        assert_eq!(is_through, is_readable || !is_there, "{path}");
    }
    for folder in ["/root", "/home", "/dev", "/run", "/var/lib", "/var/log", "/sys/kernel/debug"] {
        let list = format!("ls -A {folder} && echo through");
        let finished = workshop.run(&workshop.script(&list)).await.unwrap();
        assert!(!finished.stdout.text().contains("through"), "{folder}");
    }
}

#[tokio::test]
async fn other_processes_are_neither_read_nor_signalled() {
    let Some(workshop) = Workshop::new() else { return };
    let own = std::process::id();
    let script = format!(
        "cat /proc/{own}/environ && echo read; kill -0 {own} && echo signalled; kill -9 $PPID; echo alive"
    );
    let finished = workshop.run(&workshop.script(&script)).await.unwrap();
    assert_eq!(finished.stdout.text(), "alive\n");
    assert_eq!(finished.ending, Ending::Exited(0));
}

#[tokio::test]
async fn walls_that_cannot_be_tried_let_nobody_in() {
    let Some(workshop) = Workshop::new() else { return };
    let mut missing = workshop.script("echo in");
    missing.confinement.outside = workshop.path("nowhere");
    let mut inside = workshop.script("echo in");
    inside.confinement.outside = workshop.path("workspace");
    let mut whole_home = workshop.script("echo in");
    whole_home.confinement.workspace = workshop.path("home");
    let mut no_scratch = workshop.script("echo in");
    no_scratch.confinement.scratch = workshop.path("nowhere");
    for order in [missing, inside, whole_home, no_scratch] {
        let result = workshop.run(&order).await;
        assert!(matches!(result, Err(ProcessError::Unconfined(_))), "{result:?}");
    }
}
