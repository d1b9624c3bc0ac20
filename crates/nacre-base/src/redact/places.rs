//! Finds secrets after words that introduce them in commands, calls, files and sentences.
//!
//! A rule consists of the introducing words, a pattern for the text between them and the secret,
//! and a check of the secret. Patterns are anchored and match a bounded part of the text, so the
//! scan takes linear time even for malicious input.

use std::ops::Range;
use std::sync::LazyLock;

use super::text::{Edge, FoundSecret, Pattern, Secrets, Text, Weight};
use super::{judge, value};

const MAX_AHEAD: usize = 400;

const MAX_HEAD: usize = 64;

const MAX_TRIES: usize = 16;

static ARGUMENT: Pattern = Pattern::new("\\A<bare>*");

pub(super) struct PlaceRule {
    /// Words that introduce the secret, separated by `|`.
    pub(super) words: &'static str,
    kind: &'static str,
    weight: Weight,
    /// Whether the words may also match at the end of a longer word, such as `login(` in
    /// `basic_login(`.
    is_suffix: bool,
    head: Option<Pattern>,
    lead: Pattern,
    tail: Option<Pattern>,
    /// Whether the secret must be in quotes. Text in backticks is a name.
    is_quoted: bool,
    /// Whether the secret is a word in a sentence, which punctuation may end, rather than a command
    /// argument.
    is_sentence: bool,
    n_tries: usize,
    is_secret: fn(&[u8]) -> bool,
}

type Str = &'static str;

/// A command argument that is always a secret.
fn command(words: Str, kind: Str, lead: Str) -> PlaceRule {
    PlaceRule {
        words,
        kind,
        weight: Weight::Name,
        is_suffix: false,
        head: None,
        lead: Pattern::new(lead),
        tail: None,
        is_quoted: false,
        is_sentence: false,
        n_tries: MAX_TRIES,
        is_secret: judge::is_literal,
    }
}

/// An argument treated as a secret unless it is just a word followed by a number.
fn argument(words: Str, kind: Str, lead: Str) -> PlaceRule {
    PlaceRule { n_tries: 1, ..any_argument(words, kind, lead) }
}

fn any_argument(words: Str, kind: Str, lead: Str) -> PlaceRule {
    PlaceRule { is_secret: judge::is_chosen_literal, ..command(words, kind, lead) }
}

/// Text that is piped into a command that matches `tail`.
fn print_command(kind: Str, lead: Str, tail: Str) -> PlaceRule {
    PlaceRule { tail: Some(Pattern::new(tail)), n_tries: 1, ..command("echo |printf ", kind, lead) }
}

fn call(words: Str, lead: Str, tail: Str) -> PlaceRule {
    PlaceRule {
        is_suffix: true,
        is_quoted: true,
        tail: Some(Pattern::new(tail)),
        ..argument(words, "password", lead)
    }
}

fn field(words: Str, kind: Str, lead: Str) -> PlaceRule {
    PlaceRule { n_tries: 1, is_suffix: true, ..command(words, kind, lead) }
}

/// A line of `.pgpass`: `host:port:database:user:password`.
fn pgpass(words: Str, lead: Str) -> PlaceRule {
    PlaceRule {
        weight: Weight::Place,
        head: Some(Pattern::new(r"(?:\A|[^\w.*:/@%-])[\w.*-]+\z")),
        is_secret: judge::is_last_field,
        ..field(words, "password", lead)
    }
}

/// A password in a sentence. Values that could be ordinary words are ignored.
fn sentence(words: Str, lead: Str) -> PlaceRule {
    PlaceRule {
        is_suffix: true,
        is_sentence: true,
        is_secret: judge::is_no_word,
        ..argument(words, "password", lead)
    }
}

pub(super) static PLACES: LazyLock<Vec<PlaceRule>> = LazyLock::new(|| {
    let tables = [databases(), hosts(), web(), stores(), pipes(), calls(), texts()];
    tables.into_iter().flatten().collect()
});

fn databases() -> Vec<PlaceRule> {
    vec![
        command(
            "mongosh |mongo |mongodump |mongorestore |mongoexport |mongoimport |cqlsh |sshpass |\
             docker login |podman login |helm registry login |oras login |nerdctl login |\
             crane auth login |twine upload |az login |rdesktop |psexec ",
            "password",
            "<args>(?:-p<is>?|--pass(?:word)?<is>)",
        ),
        command(
            "mysql |mysqldump |mysqladmin |mariadb |mariadb-dump |7z |7za |rar ",
            "password",
            "<args>-p",
        ),
        command(
            "sqlcmd |mosquitto_pub |mosquitto_sub |ipmitool |zip |unzip ",
            "password",
            "<args>(?:-P<is>?|--pw<is>)",
        ),
        command("redis-cli ", "password", "<args>(?:-a<is>?|--pass<is>)"),
        command(
            "ldapsearch |ldapmodify |ldapadd |ldapdelete |ldappasswd |ldapwhoami ",
            "password",
            "<args>-w<is>?",
        ),
        command("snmpwalk |snmpget ", "password", "<args>-c<is>?"),
        command("openssl enc|openssl aes|openssl des", "password", "<args>-[kK]<is>?"),
        argument(
            "rabbitmqctl add_user |rabbitmqctl change_password |net user |wpa_passphrase ",
            "password",
            "<first><next>",
        ),
        argument(
            "requirepass |masterauth |enable secret |enable password |adb shell input text |\
             rclone obscure ",
            "password",
            "<first>",
        ),
        any_argument(
            "AUTH |mkpasswd |openssl passwd |ConvertTo-SecureString ",
            "password",
            "<first>",
        ),
    ]
}

fn hosts() -> Vec<PlaceRule> {
    vec![
        command(
            "smbclient |rpcclient ",
            "password",
            r#"<args>(?:-U<is>?|--user<is>)<q>?[^\s%"'`]*%"#,
        ),
        command("lftp ", "password", r#"<args>(?:-u<is>?|--user<is>)<q>?[^\s,"'`]*,"#),
        command("xfreerdp |wfreerdp ", "password", "<args>/p:"),
        argument("net use |htpasswd |http-basic.", "password", "<first><next><next>"),
        command("nmcli ", "password", "<args>password<gap>"),
        argument("preshared-key ", "secret", "<first>"),
        command("ssh-keygen ", "password", "<args>-[NP]<is>?"),
        command("keytool |jarsigner ", "password", "<args>-(?:src)?(?:key|store)pass<is>"),
    ]
}

fn web() -> Vec<PlaceRule> {
    vec![
        command(
            "curl |wget |http |https |xh ",
            "password",
            r#"<args>(?:-[ua]<is>?|--(?:user|auth)<is>)<q>?[^\s:"'`]*:"#,
        ),
        command("skopeo ", "password", r#"<args>--(?:src-|dest-)?creds<is><q>?[^\s:"'`]*:"#),
        argument(
            "cargo login |snyk auth |wandb login |ngrok authtoken |ngrok config add-authtoken |\
             vault login ",
            "token",
            "<first>",
        ),
        argument("pypi-token.", "token", "<first><next>"),
        argument("mc alias set |mc config host add ", "secret", "<first><next><next><next>"),
    ]
}

fn stores() -> Vec<PlaceRule> {
    vec![
        command("keyvault secret set |ssm put-parameter ", "secret", "<args>--value<is>"),
        command("secretsmanager ", "secret", "<args>--secret-string<is>"),
        command("gh secret set ", "secret", "<args>(?:-b<is>?|--body<is>)"),
        command("create secret generic ", "secret", r#"<args>--from-literal<is><q>?[^\s="'`]*="#),
        any_argument(
            "fly secrets set |flyctl secrets set |supabase secrets set |doppler secrets set |\
             heroku config:set |heroku config:add |vault kv put |vault kv patch |vault write ",
            "secret",
            r"<args><q>?[\w.:-]+=",
        ),
        argument(
            "netlify env:set |convex env set |dotnet user-secrets set ",
            "secret",
            "<first><next>",
        ),
        any_argument("pulumi config set |ansible-vault encrypt_string ", "secret", "<first>"),
    ]
}

/// Rules for commands that read a secret from `echo` or `<<<`.
fn pipes() -> Vec<PlaceRule> {
    const PRINTED: Str = r"\A(?:-[ne] |<q>?%s(?:\\+n)?<q>? )*";
    const HANDED: Str = r"\A[^\n]{0,128}?<<< ?";
    vec![
        print_command(
            "password",
            PRINTED,
            concat!(
                r"\A<q>? *\|[^\n]{0,200}?(?:password-stdin|sudo (?:-k?S|--stdin)|passwd --stdin|",
                "passphrase-fd 0|cryptsetup |kinit )",
            ),
        ),
        print_command(
            "secret",
            PRINTED,
            concat!(
                r"\A<q>? *\|[^\n]{0,200}?(?:gh secret set|gcloud secrets|wrangler secret put|",
                "(?:docker|podman) secret create|vercel env add|fly secrets import) ",
            ),
        ),
        print_command("token", PRINTED, r"\A<q>? *\|[^\n]{0,200}?gh auth login "),
        print_command("password", r"\A(?:-[ne] )*<q>?[\w.-]+:", r"\A<q>? *\|[^\n]{0,200}?chpasswd"),
        command(
            "password-stdin|sudo -S|sudo -kS|sudo --stdin|passwd --stdin|passphrase-fd 0|\
             cryptsetup |kinit ",
            "password",
            HANDED,
        ),
        command(
            "gh secret set |gcloud secrets |docker secret create |podman secret create |\
             wrangler secret put |vercel env add |fly secrets import ",
            "secret",
            HANDED,
        ),
        command("gh auth login ", "token", HANDED),
        command("chpasswd", "password", r"\A *<<-?<q>?\w+<q>?<br>[\w.-]+:"),
    ]
}

fn calls() -> Vec<PlaceRule> {
    const LAST: Str = r"\A<s>[)\]]";
    vec![
        call(
            "login(|Login(|create_superuser(|create_user(|createUser(|CreateUser(|BasicAuth(|\
             basicAuth(|basic_auth(|authenticate(|signIn(|sign_in(|EmailAndPassword(|\
             PasswordCredentials(",
            r"\A(?:<s><item><s>,){1,5}<s>",
            LAST,
        ),
        call("NetworkCredential(", r"\A<s><item><s>,<s>", r"\A<s>[,)]"),
        call("PlainAuth(", r"\A<s><item><s>,<s><item><s>,<s>", r"\A<s>[,)]"),
        call(
            "auth=(|auth=[|auth = (|auth = [|auth: (|auth: [|auth\": (|auth\": [",
            r"\A<s><item><s>,<s>",
            LAST,
        ),
    ]
}

fn texts() -> Vec<PlaceRule> {
    const USER: Str = concat!(
        r"\A\*{0,2}(?::\*\*|:| are| is| =|=)?<_><q>?[\w.@+-]{1,64}<q>?",
        r"(?: with the password | with password | and password | with pw | with | using | and |",
        " / | : |: |, |/|:)"
    );
    vec![
        PlaceRule {
            weight: Weight::Shape,
            is_suffix: false,
            ..field(
                "machine |default ",
                "netrc-password",
                r"\A(?:[^\s\\]+<ws>)?login<ws>[^\s\\]+<ws>password<ws>",
            )
        },
        PlaceRule {
            is_quoted: true,
            ..field("IDENTIFIED BY |identified by |PASSWORD ", "password", "")
        },
        PlaceRule {
            is_quoted: true,
            is_secret: judge::is_password_literal,
            ..field("password |Password ", "password", "")
        },
        pgpass(":5432:|:6432:", r"\A[\w.*-]+:[\w.*-]+:"),
        pgpass(":*:*:", r"\A[\w.*-]+:"),
        sentence(
            "credentials|Credentials|CREDENTIALS|creds|Creds|CREDS|login:|Login:|log in as |\
             Log in as |login as |Login as |logged in as |Logged in as |logging in as |\
             sign in as |Sign in as |signed in as |log in with |Log in with |login with |\
             Login with |sign in with ",
            USER,
        ),
    ]
}

/// A new password in a sentence: `password to …`, `password was changed from … to …`.
pub(super) static CHANGED: LazyLock<PlaceRule> = LazyLock::new(|| PlaceRule {
    n_tries: 2,
    ..sentence("", r"\A(?: (?:<changed>|still|just|to|from|temporarily)){1,5} ")
});

/// Words that confirm that a match of `CHANGED` really describes a change.
pub(super) static IS_CHANGED: Pattern =
    Pattern::new(r"\A(?: (?:still|just|to|from|temporarily))* (?:<changed>) ");

impl PlaceRule {
    pub(super) fn find(&self, text: &mut Text<'_>, start: usize, end: usize) -> Secrets {
        let mut found = Vec::new();
        let is_place = (self.is_suffix || text.is_edge(Edge::Word, start))
            && self.head.as_ref().is_none_or(|head| head.is_match(text.behind(start, MAX_HEAD)));
        if !is_place {
            return found;
        }
        let limit = text.bytes.len().min(end + MAX_AHEAD);
        let mut pos = end;
        for _ in 0..self.n_tries {
            let Some(n_lead) = self.lead.len(text.slice(pos, limit)) else { break };
            let at = pos + n_lead;
            let Some(value) = self.read(text, at) else { break };
            let close = value::quote_at(text, value.end).map_or(value.end, |quote| quote.end);
            let is_quoted = at < value.start;
            let bytes = text.slice(value.start, value.end.min(value.start + judge::SAMPLE));
            let is_literal = !self.is_quoted || is_quoted && text.at(at) != Some(b'`');
            let has_tail =
                || self.tail.as_ref().is_none_or(|tail| tail.is_match(text.slice(close, limit)));
            if is_literal && (self.is_secret)(bytes) && has_tail() {
                found.push(FoundSecret::new(value, self.kind, self.weight));
            }
            if close == pos {
                break;
            }
            pos = close;
        }
        found
    }

    fn read(&self, text: &mut Text<'_>, pos: usize) -> Option<Range<usize>> {
        if value::quote_at(text, pos).is_some() {
            return value::read(text, pos).map(|value| value.start..value.end);
        }
        if !self.is_sentence {
            // The limit could split a multi-byte character.
            let ahead = text.ahead(pos, MAX_AHEAD);
            let n_ascii = ahead.iter().take_while(|byte| byte.is_ascii()).count();
            return ARGUMENT.len(&ahead[..n_ascii]).map(|len| pos..pos + len);
        }
        let Range { start, end } = value::read(text, pos).map(|value| value.start..value.end)?;
        let has_stop = matches!(text.before(end), Some(b'.' | b':'))
            && !text.at(end).is_some_and(|byte| byte.is_ascii_graphic());
        Some(start..end - usize::from(has_stop && start < end))
    }
}
