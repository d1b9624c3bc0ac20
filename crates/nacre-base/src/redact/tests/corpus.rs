//! Generates test secrets at run time from a table of formats and a table of the places in which
//! secrets occur.
//!
//! No line in this file contains a whole secret, so that scanners do not report this repository:
//! `|` splits literals and is dropped, and `{set:n}` becomes `n` generated characters.

/// A small random number generator with a fixed seed, so that misses are reproducible.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % n as u64).unwrap_or_default()
    }

    fn pick(&mut self, set: &[u8], n: usize) -> String {
        (0..n).map(|_| char::from(set[self.below(set.len())])).collect()
    }
}

/// A kind of secret: the name it is assigned to, and its text with the part to redact in `<…>`.
pub(super) struct Kind {
    pub(super) label: &'static str,
    pub(super) name: &'static str,
    spec: &'static str,
}

const fn kind(label: &'static str, name: &'static str, spec: &'static str) -> Kind {
    Kind { label, name, spec }
}

#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// The secret together with the text around it.
    pub(super) text: String,
    /// The part that must be redacted.
    pub(super) secret: String,
}

impl Kind {
    pub(super) fn sample(&self, dice: &mut Dice) -> Sample {
        let text = expand(&self.spec.replace('|', ""), dice);
        match (text.find('<'), text.rfind('>')) {
            (Some(open), Some(close)) => {
                let secret = text[open + 1..close].to_owned();
                Sample { text: text.replace(['<', '>'], ""), secret }
            }
            _ => Sample { secret: text.clone(), text },
        }
    }
}

/// Replaces `{set:n}` in `spec` with generated characters. Other text in braces stays unchanged.
pub(super) fn expand(spec: &str, dice: &mut Dice) -> String {
    let mut text = String::new();
    let mut rest = spec;
    while let Some((head, tail)) = rest.split_once('{') {
        text.push_str(head);
        let hole =
            tail.split_once('}').and_then(|(hole, after)| Some((hole.split_once(':')?, after)));
        let filled = hole.and_then(|((set, n), after)| Some((set, n.parse().ok()?, after)));
        rest = match filled {
            Some((set, n, after)) => {
                text.push_str(&body(set, n, dice));
                after
            }
            None => {
                text.push('{');
                tail
            }
        };
    }
    text.push_str(rest);
    text
}

fn body(set: &str, n: usize, dice: &mut Dice) -> String {
    const ALNUM: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    match set {
        "digit" => dice.pick(b"0123456789", n),
        "hex" => dice.pick(b"0123456789abcdef", n),
        "upper" => dice.pick(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", n),
        "b32" => dice.pick(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", n),
        "lower" => dice.pick(b"abcdefghijklmnopqrstuvwxyz0123456789", n),
        "url" => {
            format!("{}{}", dice.pick(ALNUM, n - n / 2), dice.pick(&[ALNUM, b"_-"].concat(), n / 2))
        }
        "b64" => format!("{}{}", dice.pick(&[ALNUM, b"+/"].concat(), n - 1), dice.pick(ALNUM, 1)),
        "uuid" => [8, 4, 4, 4, 12].map(|n| dice.pick(b"0123456789abcdef", n)).join("-"),
        "pem" => (0..n).map(|_| dice.pick(&[ALNUM, b"+/"].concat(), 64) + "\n").collect(),
        "snowflake" => base64_of_digits(n, dice),
        "pass" => chosen_password(dice),
        _ => dice.pick(ALNUM, n),
    }
}

/// Generates the start of a Discord token: an ID with `n` digits in base64.
fn base64_of_digits(n: usize, dice: &mut Dice) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = dice.pick(b"123456789", n);
    let triple = |bytes: &[u8]| {
        let bits = bytes.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        [18, 12, 6, 0].map(|shift| char::from(ALPHABET[bits >> shift & 63]))
    };
    digits.as_bytes().chunks_exact(3).flat_map(triple).collect()
}

/// Generates a password that a person might choose, from words, digits and a symbol.
fn chosen_password(dice: &mut Dice) -> String {
    let words = ["Winter", "monkey", "Sunshine", "dragon", "Falcon", "purple", "Krakow", "teapot"];
    let signs = ["!", "#", "*", "-", "_", "+", "?", ""];
    let word = words[dice.below(words.len())];
    let sign = signs[dice.below(signs.len())];
    let other = words[dice.below(words.len())];
    format!("{word}{}{sign}{other}{}", dice.pick(b"0123456789", 3), dice.pick(b"0123456789", 1))
}

pub(super) const KINDS: &[Kind] = &[
    kind("anthropic-api", "ANTHROPIC_API_KEY", "sk-|ant-api03-{url:93}AA"),
    kind("anthropic-admin", "ANTHROPIC_ADMIN_KEY", "sk-|ant-admin01-{url:93}AA"),
    kind("anthropic-oauth", "CLAUDE_CODE_OAUTH_TOKEN", "sk-|ant-oat01-{url:93}AA"),
    kind("openai-old", "OPENAI_API_KEY", "sk-|{alnum:20}T3Blbk|FJ{alnum:20}"),
    kind("openai-project", "OPENAI_API_KEY", "sk-|proj-{url:74}T3Blbk|FJ{url:74}"),
    kind("openai-service", "OPENAI_API_KEY", "sk-|svcacct-{url:74}T3Blbk|FJ{url:74}"),
    kind("openrouter", "OPENROUTER_API_KEY", "sk-|or-v1-{hex:64}"),
    kind("deepseek", "DEEPSEEK_API_KEY", "sk-|{hex:32}"),
    kind("groq", "GROQ_API_KEY", "gsk|_{alnum:52}"),
    kind("xai", "XAI_API_KEY", "xai|-{alnum:80}"),
    kind("google-api", "GOOGLE_API_KEY", "AI|za{url:35}"),
    kind("google-oauth", "GOOGLE_TOKEN", "ya|29.a0{url:120}"),
    kind("google-client", "GOOGLE_CLIENT_SECRET", "GOC|SPX-{url:28}"),
    kind("google-refresh", "GOOGLE_REFRESH_TOKEN", "1/|/0{url:60}"),
    kind("huggingface", "HF_TOKEN", "hf|_{alnum:34}"),
    kind("replicate", "REPLICATE_API_TOKEN", "r8|_{alnum:37}"),
    kind("perplexity", "PERPLEXITY_API_KEY", "pplx|-{alnum:48}"),
    kind("cohere", "COHERE_API_KEY", "{alnum:40}"),
    kind("mistral", "MISTRAL_API_KEY", "{alnum:32}"),
    kind("zai", "ZAI_API_KEY", "{hex:32}.{alnum:16}"),
    kind("nvidia", "NVIDIA_API_KEY", "nv|api-{url:64}"),
    kind("github-classic", "GITHUB_TOKEN", "gh|p_{alnum:36}"),
    kind("github-oauth", "GITHUB_TOKEN", "gh|o_{alnum:36}"),
    kind("github-user", "GH_TOKEN", "gh|u_{alnum:36}"),
    kind("github-server", "GH_TOKEN", "gh|s_{alnum:36}"),
    kind("github-refresh", "GH_TOKEN", "gh|r_{alnum:76}"),
    kind("github-fine", "GITHUB_TOKEN", "github|_pat_{alnum:22}_{alnum:59}"),
    kind("gitlab-personal", "GITLAB_TOKEN", "gl|pat-{url:20}"),
    kind("gitlab-deploy", "GITLAB_TOKEN", "gl|dt-{url:20}"),
    kind("gitlab-runner", "RUNNER_TOKEN", "gl|rt-{url:20}"),
    kind("gitlab-job", "CI_JOB_TOKEN", "gl|cbt-64_{url:20}"),
    kind("bitbucket", "BITBUCKET_TOKEN", "AT|BB{alnum:32}"),
    kind("atlassian", "ATLASSIAN_TOKEN", "ATA|TT3xFfGF0{url:170}={upper:8}"),
    kind("aws-access", "AWS_ACCESS_KEY_ID", "AK|IA{b32:16}"),
    kind("aws-temporary", "AWS_ACCESS_KEY_ID", "AS|IA{b32:16}"),
    kind("aws-secret", "AWS_SECRET_ACCESS_KEY", "{b64:40}"),
    kind(
        "azure-storage",
        "AZURE_STORAGE_CONNECTION_STRING",
        "DefaultEndpointsProtocol=https;AccountName=acct;Account|Key=<{b64:86}==>;EndpointSuffix=core.windows.net",
    ),
    kind(
        "azure-sas",
        "SAS_URL",
        "https://acct.blob.core.windows.net/c?sv=2022-11-02&sr=c&sig|=<{alnum:20}%2B{alnum:20}%3D>",
    ),
    kind("azure-client", "AZURE_CLIENT_SECRET", "{alnum:3}8|Q~{alnum:34}"),
    kind(
        "gcp-account",
        "GCP_CREDENTIALS",
        "-----BEGIN PRIV|ATE KEY-----\n<{pem:12}>-----END PRIV|ATE KEY-----\n",
    ),
    kind("slack-bot", "SLACK_TOKEN", "xo|xb-{digit:12}-{digit:12}-{alnum:24}"),
    kind("slack-user", "SLACK_TOKEN", "xo|xp-{digit:12}-{digit:12}-{digit:12}-{hex:32}"),
    kind("slack-legacy", "SLACK_TOKEN", "xo|xs-{digit:12}-{digit:12}-{digit:12}-{hex:10}"),
    kind("slack-app", "SLACK_APP_TOKEN", "xa|pp-1-A{upper:10}-{digit:13}-{hex:64}"),
    kind(
        "slack-webhook",
        "SLACK_WEBHOOK_URL",
        "https://hooks.slack.|com/services/<T{upper:8}/B{upper:10}/{alnum:24}>",
    ),
    kind("discord-bot", "DISCORD_TOKEN", "{snowflake:18}.G{alnum:5}.{url:38}"),
    kind(
        "discord-webhook",
        "DISCORD_WEBHOOK",
        "https://discord.|com/api/webhooks/<{digit:19}/{url:68}>",
    ),
    kind("telegram", "TELEGRAM_BOT_TOKEN", "{digit:10}:|AA{url:33}"),
    kind("twilio-key", "TWILIO_API_KEY", "S|K{hex:32}"),
    kind("twilio-account", "TWILIO_ACCOUNT", "A|C{hex:32}"),
    kind("sendgrid", "SENDGRID_API_KEY", "S|G.{url:22}.{url:43}"),
    kind("mailgun", "MAILGUN_API_KEY", "key|-{hex:32}"),
    kind("mailchimp", "MAILCHIMP_API_KEY", "{hex:32}|-us21"),
    kind("stripe-live", "STRIPE_SECRET_KEY", "sk|_live_{alnum:99}"),
    kind("stripe-test", "STRIPE_SECRET_KEY", "sk|_test_{alnum:24}"),
    kind("stripe-restricted", "STRIPE_KEY", "rk|_live_{alnum:24}"),
    kind("stripe-webhook", "STRIPE_WEBHOOK_SECRET", "wh|sec_{alnum:32}"),
    kind("square-access", "SQUARE_ACCESS_TOKEN", "sq0|atp-{url:22}"),
    kind("square-secret", "SQUARE_SECRET", "sq0|csp-{url:43}"),
    kind("square-new", "SQUARE_ACCESS_TOKEN", "EA|AA{url:60}"),
    kind("paypal", "PAYPAL_CLIENT_SECRET", "E{url:79}"),
    kind("shopify", "SHOPIFY_TOKEN", "shp|at_{hex:32}"),
    kind("npm", "NPM_TOKEN", "np|m_{alnum:36}"),
    kind("pypi", "TWINE_PASSWORD", "py|pi-AgEIcHlwaS5vcmc{url:150}"),
    kind("rubygems", "GEM_HOST_API_KEY", "ruby|gems_{hex:48}"),
    kind("crates-io", "CARGO_REGISTRY_TOKEN", "c|io{alnum:32}"),
    kind("nuget", "NUGET_API_KEY", "o|y2{lower:43}"),
    kind("docker", "DOCKER_TOKEN", "dckr|_pat_{url:27}"),
    kind("digitalocean", "DIGITALOCEAN_TOKEN", "do|p_v1_{hex:64}"),
    kind("heroku", "HEROKU_API_KEY", "HR|KU-AA{url:58}"),
    kind("cloudflare", "CLOUDFLARE_API_TOKEN", "{url:40}"),
    kind("cloudflare-ca", "CLOUDFLARE_CA_KEY", "v1|.0-{hex:24}-{hex:146}"),
    kind("fastly", "FASTLY_API_TOKEN", "{url:32}"),
    kind("netlify", "NETLIFY_AUTH_TOKEN", "nf|p_{alnum:36}"),
    kind("vercel", "VERCEL_TOKEN", "{alnum:24}"),
    kind("supabase", "SUPABASE_ACCESS_TOKEN", "sb|p_{hex:40}"),
    kind("planetscale", "PLANETSCALE_TOKEN", "pscale|_tkn_{url:43}"),
    kind("databricks", "DATABRICKS_TOKEN", "da|pi{hex:32}"),
    kind("doppler", "DOPPLER_TOKEN", "dp.|pt.{alnum:43}"),
    kind("vault", "VAULT_TOKEN", "hv|s.{url:95}"),
    kind("vault-old", "VAULT_TOKEN", "s|.{alnum:24}"),
    kind("terraform", "TFE_TOKEN", "{alnum:14}.atlas|v1.{url:67}"),
    kind("pulumi", "PULUMI_ACCESS_TOKEN", "pu|l-{hex:40}"),
    kind("linear", "LINEAR_API_KEY", "lin|_api_{alnum:40}"),
    kind("notion", "NOTION_TOKEN", "secret|_{alnum:43}"),
    kind("notion-new", "NOTION_TOKEN", "nt|n_{alnum:46}"),
    kind("figma", "FIGMA_TOKEN", "fi|gd_{url:40}"),
    kind("airtable", "AIRTABLE_TOKEN", "pa|t{alnum:14}.{hex:64}"),
    kind("postman", "POSTMAN_API_KEY", "PM|AK-{hex:24}-{hex:34}"),
    kind("grafana-cloud", "GRAFANA_TOKEN", "gl|c_eyJvIjoi{alnum:100}"),
    kind("grafana-service", "GRAFANA_TOKEN", "gl|sa_{alnum:32}_{hex:8}"),
    kind("grafana-key", "GRAFANA_API_KEY", "eyJrI|joi{alnum:84}"),
    kind("new-relic", "NEW_RELIC_API_KEY", "NR|AK-{upper:27}"),
    kind("datadog", "DD_API_KEY", "{hex:32}"),
    kind("sentry-org", "SENTRY_AUTH_TOKEN", "sn|trys_eyJpYXQiOj{alnum:90}_{alnum:43}"),
    kind("sentry-user", "SENTRY_AUTH_TOKEN", "sn|tryu_{hex:64}"),
    kind("algolia", "ALGOLIA_ADMIN_KEY", "{hex:32}"),
    kind("fly", "FLY_API_TOKEN", "fo|1_{url:43}"),
    kind("fly-macaroon", "FLY_API_TOKEN", "FlyV1 fm|2_<{b64:160}>"),
    kind("age", "AGE_KEY", "AGE-SECRET|-KEY-1{upper:58}"),
    kind("jwt", "ID_TOKEN", "ey|JhbGciOiJIUzI1NiJ9.ey|J{url:80}.{url:43}"),
    kind(
        "pem-rsa",
        "SSH_KEY",
        "-----BEGIN RSA PRIV|ATE KEY-----\n<{pem:25}{b64:30}==\n>-----END RSA PRIV|ATE KEY-----",
    ),
    kind(
        "pem-ec",
        "TLS_KEY",
        "-----BEGIN EC PRIV|ATE KEY-----\n<{pem:3}>-----END EC PRIV|ATE KEY-----",
    ),
    kind(
        "pem-openssh",
        "SSH_KEY",
        "-----BEGIN OPENSSH PRIV|ATE KEY-----\n<{pem:7}>-----END OPENSSH PRIV|ATE KEY-----",
    ),
    kind(
        "pem-encrypted",
        "TLS_KEY",
        "-----BEGIN RSA PRIV|ATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{upper:32}\n\n<{pem:9}>-----END RSA PRIV|ATE KEY-----",
    ),
    kind(
        "pem-pgp",
        "GPG_KEY",
        "-----BEGIN PGP PRIV|ATE KEY BLOCK-----\nVersion: GnuPG v2\n\n<{pem:20}>=aB3d\n-----END PGP PRIV|ATE KEY BLOCK-----",
    ),
    kind("pem-cut", "TLS_KEY", "-----BEGIN PRIV|ATE KEY-----\n<{pem:5}{b64:33}>"),
    kind("url-postgres", "DATABASE_URL", "postgres://app:<{alnum:18}>@db.internal:5432/app"),
    kind("url-mongo", "MONGO_URL", "mongodb+srv://app:<{pass:1}>@c0.mongodb.net/x"),
    kind("url-redis", "REDIS_URL", "redis://:<{alnum:32}>@cache:6379/0"),
    kind("url-amqp", "AMQP_URL", "amqp://svc:<{alnum:12}>@mq:5672/v"),
    kind("url-basic", "REGISTRY_URL", "https://deploy:<{alnum:20}>@nexus.corp.net/repo"),
    kind("auth-bearer", "HEADER", "Authorization: Bearer <{alnum:40}>"),
    kind("auth-basic", "HEADER", "Authorization: Basic <{alnum:30}==>"),
    kind("auth-token", "HEADER", "authorization: token <{hex:40}>"),
    kind("auth-custom", "HEADER", "Authorization: ApiKey-v1 <{url:36}>"),
    kind("cookie", "HEADER", "Cookie: theme=<dark; sid={alnum:40}; csrf={hex:32}>"),
    kind("set-cookie", "HEADER", "Set-Cookie: session=<{url:48}>; Path=/; HttpOnly"),
    kind("netrc", "NOTE", "machine api.test login bot password <{pass:1}>"),
    kind("password", "DB_PASSWORD", "{pass:1}"),
    kind("password-random", "SMTP_PASSWORD", "{alnum:16}"),
    kind("secret-key", "SECRET_KEY", "{url:50}"),
    kind("client-secret", "OAUTH_CLIENT_SECRET", "{alnum:32}"),
    kind("api-key-uuid", "SERVICE_API_KEY", "{uuid:1}"),
    kind(
        "pem-base64",
        "CLIENT_KEY_DATA",
        "LS0tLS1CRU|dJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo<{b64:300}>",
    ),
    kind("access-token", "ACCESS_TOKEN", "{url:64}"),
];

/// How a secret is escaped in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// Unescaped, possibly on several lines.
    Raw,
    /// With line breaks and quotes escaped as in JSON.
    Escaped,
    /// Escaped twice, as in JSON inside a JSON string.
    Twice,
}

/// A place in which secrets occur. `%N %n %c %h %f` stand for the name in different spellings, and
/// `%S` for the secret.
pub(super) struct PlaceRule {
    pub(super) label: &'static str,
    template: &'static str,
    spelling: Spelling,
}

const fn place(label: &'static str, spelling: Spelling, template: &'static str) -> PlaceRule {
    PlaceRule { label, template, spelling }
}

pub(super) const PLACES: &[PlaceRule] = &[
    place("env line", Spelling::Escaped, "LOG=info\n%N=%S\nPORT=80\n"),
    place("export", Spelling::Escaped, "export %N=%S"),
    place("env quoted", Spelling::Escaped, "%N=\"%S\"\n"),
    place("json value", Spelling::Escaped, "{\"id\": 7, \"%n\": \"%S\", \"ok\": true}"),
    place("json in json", Spelling::Twice, "{\"content\":\"{\\\"%n\\\":\\\"%S\\\",\\\"n\\\":1}\"}"),
    place("shell in json", Spelling::Twice, "{\"cmd\":\"export %N=\\\"%S\\\"\\nmake\"}"),
    place("yaml", Spelling::Escaped, "service:\n  %n: %S\n  port: 80\n"),
    place("toml", Spelling::Escaped, "[service]\n%n = \"%S\"\n"),
    place("url query", Spelling::Escaped, "GET https://api.test/v1/items?%n=%S&page=2 HTTP/1.1"),
    place("http header", Spelling::Escaped, "Host: api.test\r\n%h: %S\r\nAccept: */*\r\n"),
    place("curl", Spelling::Escaped, "curl -s -H '%h: %S' https://api.test/v1"),
    place("python", Spelling::Escaped, "    %n = '%S'  # rotate"),
    place("js object", Spelling::Escaped, "const client = new Client({ %c: \"%S\", retries: 3 });"),
    place("rust const", Spelling::Escaped, "pub const %N: &str = \"%S\";"),
    place("log line", Spelling::Escaped, "2026-01-02T03:04:05Z INFO client: %n=%S status=200"),
    place("inline code", Spelling::Escaped, "Set `%N=%S` before you start."),
    place("shell history", Spelling::Escaped, ": 1700000000:0;%N=%S ./deploy.sh"),
    place("xml attribute", Spelling::Escaped, "<add key=\"%c\" value=\"%S\" />"),
    place("csv cell", Spelling::Escaped, "%n,%S,2026-01-02\n"),
    place("flag", Spelling::Escaped, "tool --%f %S --verbose"),
    place("many lines", Spelling::Raw, "%n = \"\"\"%S\"\"\"\n%N=%S\n"),
    place("name and value", Spelling::Escaped, "{\"name\": \"%N\", \"value\": \"%S\"}"),
    place("colored", Spelling::Escaped, "%N=\u{1b}[32m%S\u{1b}[0m\n"),
    place("link escaped", Spelling::Escaped, "{\"cmd\": \"%N\\u003d%S\"}"),
    place("fullwidth link", Spelling::Escaped, "%n\u{ff1a}%S\n"),
];

impl PlaceRule {
    pub(super) fn write(&self, kind: &Kind, sample: &Sample) -> String {
        let lower = kind.name.to_lowercase();
        let words: Vec<String> = lower.split('_').map(capitalize).collect();
        let camel = format!("{}{}", words[0].to_lowercase(), words[1..].concat());
        self.template
            .replace("%N", kind.name)
            .replace("%n", &lower)
            .replace("%c", &camel)
            .replace("%h", &words.join("-"))
            .replace("%f", &lower.replace('_', "-"))
            .replace("%S", &self.spell(&sample.text))
    }

    pub(super) fn spell(&self, secret: &str) -> String {
        match self.spelling {
            Spelling::Raw => secret.to_owned(),
            Spelling::Escaped => escaped(secret),
            Spelling::Twice => escaped(&escaped(secret)),
        }
    }
}

fn capitalize(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
