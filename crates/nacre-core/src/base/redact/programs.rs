//! Commands that take a secret, as a table: the words a command begins with, and where on its line the secret stands.
//!
//! The words are looked for by the engine, so a text without them does not pay for the table.

use super::arguments::{self, Slot};
use super::finding::{FoundSecret, Weight};
use super::text::{Edge, Text};

/// One way to hand a secret to a program.
pub(super) struct Program {
    /// The beginning of the command. Its arguments begin behind the last blank of these words.
    pub(super) words: &'static str,
    slot: Slot,
    kind: &'static str,
}

const fn row(words: &'static str, slot: Slot, kind: &'static str) -> Program {
    Program { words, slot, kind }
}

const P: &[&str] = &["-p", "--password"];

pub(super) const PROGRAMS: &[Program] = &[
    // Databases, queues and directories.
    row("mongosh ", Slot::Flag(P), "password"),
    row("mongo ", Slot::Flag(P), "password"),
    row("mongodump ", Slot::Flag(P), "password"),
    row("mongorestore ", Slot::Flag(P), "password"),
    row("mongoexport ", Slot::Flag(P), "password"),
    row("mongoimport ", Slot::Flag(P), "password"),
    row("cqlsh ", Slot::Flag(P), "password"),
    row("sqlcmd ", Slot::Flag(&["-P"]), "password"),
    row("mosquitto_pub ", Slot::Flag(&["-P", "--pw"]), "password"),
    row("mosquitto_sub ", Slot::Flag(&["-P", "--pw"]), "password"),
    row("ipmitool ", Slot::Flag(&["-P"]), "password"),
    row("rabbitmqctl add_user ", Slot::Argument(1), "password"),
    row("rabbitmqctl change_password ", Slot::Argument(1), "password"),
    // Hosts, shares and accounts.
    row("smbclient ", Slot::Pair(&["-U", "--user"], b'%'), "password"),
    row("rpcclient ", Slot::Pair(&["-U", "--user"], b'%'), "password"),
    row("lftp ", Slot::Pair(&["-u", "--user"], b','), "password"),
    row("xfreerdp ", Slot::Flag(&["/p:"]), "password"),
    row("wfreerdp ", Slot::Flag(&["/p:"]), "password"),
    row("rdesktop ", Slot::Flag(&["-p"]), "password"),
    row("net user ", Slot::Argument(1), "password"),
    row("net use ", Slot::Argument(2), "password"),
    row("psexec ", Slot::Flag(&["-p"]), "password"),
    row("nmcli ", Slot::Flag(&["password"]), "password"),
    row("wpa_passphrase ", Slot::Argument(1), "password"),
    row("preshared-key ", Slot::Argument(0), "secret"),
    row("ConvertTo-SecureString ", Slot::Any, "password"),
    row("adb shell input text ", Slot::Argument(0), "password"),
    row("htpasswd ", Slot::Argument(2), "password"),
    row("mkpasswd ", Slot::Any, "password"),
    row("openssl passwd ", Slot::Any, "password"),
    // Web requests and registries.
    row("http -", Slot::Pair(&["-a", "--auth"], b':'), "password"),
    row("http GET ", Slot::Pair(&["-a", "--auth"], b':'), "password"),
    row("http POST ", Slot::Pair(&["-a", "--auth"], b':'), "password"),
    row("https -", Slot::Pair(&["-a", "--auth"], b':'), "password"),
    row("xh -", Slot::Pair(&["-a", "--auth"], b':'), "password"),
    row("skopeo ", Slot::Pair(&["--creds", "--src-creds", "--dest-creds"], b':'), "password"),
    row("oras login ", Slot::Flag(P), "password"),
    row("nerdctl login ", Slot::Flag(P), "password"),
    row("crane auth login ", Slot::Flag(P), "password"),
    row("twine upload ", Slot::Flag(P), "password"),
    row("pypi-token.", Slot::Argument(1), "token"),
    row("http-basic.", Slot::Argument(2), "password"),
    row("cargo login ", Slot::Argument(0), "token"),
    row("snyk auth ", Slot::Argument(0), "token"),
    row("wandb login ", Slot::Argument(0), "token"),
    row("ngrok authtoken ", Slot::Argument(0), "token"),
    row("ngrok config add-authtoken ", Slot::Argument(0), "token"),
    row("mc alias set ", Slot::Argument(3), "secret"),
    row("mc config host add ", Slot::Argument(3), "secret"),
    // Clouds and stores of secrets.
    row("az login ", Slot::Flag(P), "password"),
    row("keyvault secret set ", Slot::Flag(&["--value"]), "secret"),
    row("ssm put-parameter ", Slot::Flag(&["--value"]), "secret"),
    row("secretsmanager ", Slot::Flag(&["--secret-string"]), "secret"),
    row("gh secret set ", Slot::Flag(&["--body", "-b"]), "secret"),
    row("gh secret set ", Slot::Stdin, "secret"),
    row("gh auth login ", Slot::Stdin, "token"),
    row("gcloud secrets ", Slot::Stdin, "secret"),
    row("docker secret create ", Slot::Stdin, "secret"),
    row("podman secret create ", Slot::Stdin, "secret"),
    row("wrangler secret put ", Slot::Stdin, "secret"),
    row("vercel env add ", Slot::Stdin, "secret"),
    row("create secret generic ", Slot::Pair(&["--from-literal"], b'='), "secret"),
    row("fly secrets set ", Slot::Assignments, "secret"),
    row("fly secrets import ", Slot::Stdin, "secret"),
    row("flyctl secrets set ", Slot::Assignments, "secret"),
    row("supabase secrets set ", Slot::Assignments, "secret"),
    row("doppler secrets set ", Slot::Assignments, "secret"),
    row("heroku config:set ", Slot::Assignments, "secret"),
    row("heroku config:add ", Slot::Assignments, "secret"),
    row("netlify env:set ", Slot::Argument(1), "secret"),
    row("convex env set ", Slot::Argument(1), "secret"),
    row("vault kv put ", Slot::Assignments, "secret"),
    row("vault kv patch ", Slot::Assignments, "secret"),
    row("vault write ", Slot::Assignments, "secret"),
    row("vault login ", Slot::Argument(0), "token"),
    row("dotnet user-secrets set ", Slot::Argument(1), "secret"),
    row("pulumi config set ", Slot::Any, "secret"),
    row("ansible-vault encrypt_string ", Slot::Any, "secret"),
    row("rclone obscure ", Slot::Argument(0), "password"),
    // Keys and accounts of this machine.
    row("ssh-keygen ", Slot::Flag(&["-N", "-P"]), "password"),
    row("keytool ", Slot::Flag(&["-keypass", "-storepass", "-srcstorepass"]), "password"),
    row("jarsigner ", Slot::Flag(&["-keypass", "-storepass"]), "password"),
    row("sudo -S", Slot::Stdin, "password"),
    row("sudo -kS", Slot::Stdin, "password"),
    row("sudo --stdin", Slot::Stdin, "password"),
    row("chpasswd", Slot::StdinPair, "password"),
    row("passwd --stdin", Slot::Stdin, "password"),
    row("passphrase-fd 0", Slot::Stdin, "password"),
    row("cryptsetup ", Slot::Stdin, "password"),
    row("kinit ", Slot::Stdin, "password"),
];

/// Returns the secrets of the command whose words stand at `start..end`.
pub(super) fn find(
    text: &mut Text<'_>,
    program: &'static Program,
    start: usize,
    end: usize,
) -> Vec<FoundSecret> {
    if !text.is_edge(Edge::Word, start) {
        return Vec::new();
    }
    let first = program.words.rfind(' ').map_or(end, |blank| start + blank + 1);
    let found = arguments::secrets(text, &program.slot, start, first);
    found
        .into_iter()
        .map(|one| FoundSecret {
            start: one.start,
            end: one.end,
            kind: program.kind,
            weight: Weight::Name,
        })
        .collect()
}
