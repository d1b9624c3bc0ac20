//! Commands that take a secret, as a table: the words a command begins with, and where on its line the secret stands.
//!
//! The words are looked for by the engine, so a text without them does not pay for the table.

use super::arguments::{self, Slot};
use super::finding::{FoundSecret, Weight};
use super::text::{Edge, Text};

/// One way to hand a secret to a program.
pub(super) struct Program {
    /// The beginnings of commands, separated by `|`. Their arguments begin behind the last blank of these words.
    pub(super) words: &'static str,
    slot: Slot,
    kind: &'static str,
}

const fn row(words: &'static str, slot: Slot, kind: &'static str) -> Program {
    Program { words, slot, kind }
}

const P: &[&str] = &["-p", "--password", "--pass"];

pub(super) const PROGRAMS: &[Program] = &[
    // Databases, queues and directories.
    row(
        "mongosh |mongo |mongodump |mongorestore |mongoexport |mongoimport |cqlsh |sshpass |docker login |podman login |\
         helm registry login |oras login |nerdctl login |crane auth login |twine upload |az login |rdesktop |psexec ",
        Slot::Flag(P),
        "password",
    ),
    row(
        "mysql |mysqldump |mysqladmin |mariadb |mariadb-dump |7z |7za |rar ",
        Slot::Glued(&["-p"]),
        "password",
    ),
    row(
        "sqlcmd |mosquitto_pub |mosquitto_sub |ipmitool |zip |unzip ",
        Slot::Flag(&["-P", "--pw"]),
        "password",
    ),
    row("redis-cli ", Slot::Flag(&["-a", "--pass"]), "password"),
    row(
        "ldapsearch |ldapmodify |ldapadd |ldapdelete |ldappasswd |ldapwhoami ",
        Slot::Flag(&["-w"]),
        "password",
    ),
    row("snmpwalk |snmpget ", Slot::Flag(&["-c"]), "password"),
    row("openssl enc|openssl aes|openssl des", Slot::Flag(&["-k", "-K"]), "password"),
    row("rabbitmqctl add_user |rabbitmqctl change_password ", Slot::Argument(1), "password"),
    row("requirepass |masterauth |enable secret |enable password ", Slot::Argument(0), "password"),
    row("AUTH |mkpasswd |openssl passwd |ConvertTo-SecureString ", Slot::Any, "password"),
    // Hosts, shares and accounts.
    row("smbclient |rpcclient ", Slot::Pair(&["-U", "--user"], b'%'), "password"),
    row("lftp ", Slot::Pair(&["-u", "--user"], b','), "password"),
    row("xfreerdp |wfreerdp ", Slot::Flag(&["/p:"]), "password"),
    row("net user |wpa_passphrase ", Slot::Argument(1), "password"),
    row("net use |htpasswd |http-basic.", Slot::Argument(2), "password"),
    row("nmcli ", Slot::Flag(&["password"]), "password"),
    row("preshared-key ", Slot::Argument(0), "secret"),
    row("adb shell input text |rclone obscure ", Slot::Argument(0), "password"),
    // Web requests and registries.
    row(
        "curl |wget |http -|http GET |http POST |https -|xh -",
        Slot::Pair(&["-u", "--user", "-a", "--auth"], b':'),
        "password",
    ),
    row("skopeo ", Slot::Pair(&["--creds", "--src-creds", "--dest-creds"], b':'), "password"),
    row(
        "cargo login |snyk auth |wandb login |ngrok authtoken |ngrok config add-authtoken |vault login ",
        Slot::Argument(0),
        "token",
    ),
    row("pypi-token.", Slot::Argument(1), "token"),
    row("mc alias set |mc config host add ", Slot::Argument(3), "secret"),
    // Clouds and stores of secrets.
    row("keyvault secret set |ssm put-parameter ", Slot::Flag(&["--value"]), "secret"),
    row("secretsmanager ", Slot::Flag(&["--secret-string"]), "secret"),
    row("gh secret set ", Slot::Flag(&["--body", "-b"]), "secret"),
    row(
        "gh secret set |gcloud secrets |docker secret create |podman secret create |wrangler secret put |vercel env add |\
         fly secrets import ",
        Slot::Stdin,
        "secret",
    ),
    row("gh auth login ", Slot::Stdin, "token"),
    row("create secret generic ", Slot::Pair(&["--from-literal"], b'='), "secret"),
    row(
        "fly secrets set |flyctl secrets set |supabase secrets set |doppler secrets set |heroku config:set |\
         heroku config:add |vault kv put |vault kv patch |vault write ",
        Slot::Assignments,
        "secret",
    ),
    row("netlify env:set |convex env set |dotnet user-secrets set ", Slot::Argument(1), "secret"),
    row("pulumi config set |ansible-vault encrypt_string ", Slot::Any, "secret"),
    // Keys and accounts of this machine.
    row("ssh-keygen ", Slot::Flag(&["-N", "-P"]), "password"),
    row(
        "keytool |jarsigner ",
        Slot::Flag(&["-keypass", "-storepass", "-srcstorepass"]),
        "password",
    ),
    row(
        "password-stdin|sudo -S|sudo -kS|sudo --stdin|passwd --stdin|passphrase-fd 0|cryptsetup |kinit ",
        Slot::Stdin,
        "password",
    ),
    row("chpasswd", Slot::StdinPair, "password"),
];

/// Returns the secrets of the command whose words are at `start..end`.
pub(super) fn find(
    text: &mut Text<'_>,
    program: &'static Program,
    start: usize,
    end: usize,
) -> Vec<FoundSecret> {
    if !text.is_edge(Edge::Word, start) {
        return Vec::new();
    }
    let blank = text.slice(start, end).iter().rposition(|byte| *byte == b' ');
    let first = blank.map_or(end, |blank| start + blank + 1);
    let found = arguments::secrets(text, &program.slot, start, first);
    found.into_iter().map(|one| FoundSecret::new(one, program.kind, Weight::Name)).collect()
}
