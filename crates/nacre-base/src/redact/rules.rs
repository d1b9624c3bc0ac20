//! The table of secrets that are recognized by their format, and the code that matches them.
//!
//! A rule consists of a literal anchor and a pattern for the body after it. After a distinctive
//! anchor, the body may be shorter than the provider's full length, because logs truncate tokens.
//! Two more cases are handled outside the table: tokens with an unknown prefix, and the secret key
//! next to an AWS access key ID.

use std::ops::Range;

use super::judge;
use super::text::{Edge, FoundSecret, Secrets, Set, Text, Weight};

#[derive(Clone, Copy, Debug)]
pub(super) enum PatternPart {
    /// The longest run of characters from a set, with a length of `min..=max` bytes.
    Run(Set, usize, usize),
    Lit(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cover {
    Whole,
    AfterAnchor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    Plausible,
    /// The body looks generated rather than written by a person.
    Generated,
    Random,
}

type Str = &'static str;
type Parts = &'static [PatternPart];

#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) kind: &'static str,
    pub(super) anchors: &'static str,
    /// The part of the secret that precedes the anchor.
    pub(super) lead: Option<PatternPart>,
    pub(super) edge: Edge,
    /// A word that may directly precede the secret, such as `bot` in Telegram URLs.
    pub(super) touching: &'static str,
    pub(super) parts: &'static [PatternPart],
    pub(super) cover: Cover,
    pub(super) check: Check,
}

const fn token(kind: Str, anchors: Str, parts: Parts) -> Rule {
    Rule {
        kind,
        anchors,
        lead: None,
        edge: Edge::Word,
        touching: "",
        parts,
        cover: Cover::Whole,
        check: Check::Plausible,
    }
}

/// A short prefix that also occurs in ordinary text, so the body must look generated.
const fn weak(kind: Str, anchors: Str, parts: Parts) -> Rule {
    Rule { edge: Edge::Blob, check: Check::Random, ..token(kind, anchors, parts) }
}

/// A short prefix, with a body whose fixed length makes it unambiguous.
const fn exact(kind: Str, anchors: Str, parts: Parts) -> Rule {
    Rule { edge: Edge::Blob, ..token(kind, anchors, parts) }
}

/// A prefix that may be followed by hyphens, as in ordinary names, so the body must look generated.
const fn random(kind: Str, anchors: Str, parts: Parts) -> Rule {
    Rule { check: Check::Generated, ..token(kind, anchors, parts) }
}

const fn after(kind: Str, anchors: Str, parts: Parts) -> Rule {
    Rule { cover: Cover::AfterAnchor, ..token(kind, anchors, parts) }
}

const fn middle(kind: Str, anchors: Str, lead: PatternPart, parts: Parts) -> Rule {
    Rule { lead: Some(lead), check: Check::Generated, ..weak(kind, anchors, parts) }
}

use PatternPart::{Lit, Run};
use Set::{Alnum, Base64, Crypt, Digit, Hex, Lower, Percent, Tilde, Token, Upper, Url, UrlDot};

/// No provider issues tokens longer than this.
pub(super) const LONG: usize = 4096;

pub(super) static RULES: &[Rule] = &[
    // Model providers.
    random("anthropic-key", "sk-ant-", &[Run(Url, 20, 256)]),
    random("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", &[Run(Url, 20, 256)]),
    random("openrouter-key", "sk-or-v1- sk-or-", &[Run(Alnum, 24, 128)]),
    random("langfuse-key", "sk-lf-", &[Run(Url, 24, 64)]),
    random("openai-key", "sk-", &[Run(Alnum, 20, 128)]),
    token("groq-key", "gsk_", &[Run(Alnum, 20, 128)]),
    random("xai-key", "xai-", &[Run(Alnum, 24, 128)]),
    random("cerebras-key", "csk-", &[Run(Alnum, 24, 128)]),
    random("google-api-key", "AIza", &[Run(Url, 24, 48)]),
    random("google-oauth-token", "ya29.", &[Run(Url, 20, 1024)]),
    random("google-oauth-token", "1//0", &[Run(Url, 30, 256)]),
    random("google-client-secret", "GOCSPX-", &[Run(Url, 20, 40)]),
    exact("huggingface-token", "hf_", &[Run(Alnum, 34, 34)]),
    weak("huggingface-token", "hf_ api_org_", &[Run(Alnum, 24, 64)]),
    weak("replicate-token", "r8_", &[Run(Alnum, 24, 64)]),
    token("perplexity-key", "pplx-", &[Run(Alnum, 24, 96)]),
    random("nvidia-key", "nvapi-", &[Run(Url, 24, 128)]),
    random("langsmith-key", "lsv2_pt_ lsv2_sk_", &[Run(Hex, 24, 40)]),
    random("tavily-key", "tvly-", &[Run(Url, 20, 64)]),
    random("google-api-key", "AQ.Ab8", &[Run(Url, 24, 256)]),
    token("bedrock-key", "ABSK", &[Run(Base64, 80, 256)]),
    // Code hosts and package registries.
    token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", &[Run(Alnum, 20, 255)]),
    token("github-token", "github_pat_", &[Run(Alnum, 16, 64)]),
    token("github-token", "github_pat_", &[Run(Alnum, 16, 64), Lit("_"), Run(Alnum, 16, 128)]),
    random(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- gloas- glsoat- glagent- glimt- glffct-",
        &[Run(UrlDot, 18, 300)],
    ),
    token("gitlab-token", "GR1348941", &[Run(Url, 20, 20)]),
    token("trello-token", "ATTA", &[Run(Hex, 64, 72)]),
    token("bitbucket-token", "ATBB", &[Run(Alnum, 28, 48)]),
    random("atlassian-token", "ATATT3 ATCTT3", &[Run(Base64, 24, 400)]),
    token("npm-token", "npm_", &[Run(Alnum, 24, 64)]),
    token("pypi-token", "pypi-AgE", &[Run(Url, 24, 512)]),
    token("rubygems-key", "rubygems_", &[Run(Hex, 24, 64)]),
    weak("crates-io-token", "cio", &[Run(Alnum, 32, 32)]),
    exact("nuget-key", "oy2", &[Run(Lower, 43, 43)]),
    random("docker-token", "dckr_pat_ dckr_oat_", &[Run(Url, 20, 64)]),
    random("sourcegraph-token", "sgp_", &[Run(Url, 32, 64)]),
    random("openshift-token", "sha256~", &[Run(Url, 43, 43)]),
    // Cloud providers.
    exact("aws-access-key", "AKIA ASIA ABIA ACCA", &[Run(Upper, 16, 16)]),
    after("azure-storage-key", "AccountKey= SharedAccessKey=", &[Run(Base64, 32, 128)]),
    after(
        "azure-sas",
        "X-Amz-Signature= X-Goog-Signature= &Signature= ?sig= &sig= %26sig= u0026sig= &amp;sig= ;sig=",
        &[Run(Percent, 24, 256)],
    ),
    middle("azure-client-secret", "Q~", Run(Tilde, 4, 4), &[Run(Tilde, 28, 36)]),
    exact("alibaba-access-key", "LTAI", &[Run(Alnum, 16, 26)]),
    token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", &[Run(Hex, 24, 64)]),
    random("heroku-key", "HRKU-", &[Run(Url, 24, 96)]),
    random("cloudflare-token", "v1.0-", &[Run(Hex, 24, 24), Lit("-"), Run(Hex, 24, 200)]),
    token("netlify-token", "nfp_ nfc_ nfo_ nfu_", &[Run(Alnum, 24, 64)]),
    token("supabase-token", "sbp_", &[Run(Hex, 24, 64)]),
    random("supabase-key", "sb_secret_", &[Run(Url, 20, 64)]),
    random("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", &[Run(UrlDot, 24, 80)]),
    weak("databricks-token", "dapi", &[Run(Hex, 32, 32)]),
    weak("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", &[Run(Alnum, 32, 64)]),
    weak("doppler-token", "dp.st.", &[Run(Url, 1, 40), Lit("."), Run(Alnum, 32, 64)]),
    random("vault-token", "hvs. hvb. hvr.", &[Run(Url, 20, 300)]),
    weak("vault-token", "s.", &[Run(Alnum, 24, 24)]),
    middle("terraform-token", ".atlasv1.", Run(Alnum, 14, 14), &[Run(Base64, 24, 128)]),
    token("pulumi-token", "pul-", &[Run(Hex, 32, 48)]),
    random("fly-token", "fo1_", &[Run(Url, 24, 64)]),
    random("fly-token", "fm1a_ fm1r_ fm2_", &[Run(Base64, 24, LONG)]),
    random("tailscale-key", "tskey-", &[Run(Url, 20, 96)]),
    random("circleci-token", "CCIPAT_ CCIPRJ_", &[Run(Alnum, 16, 32), Lit("_"), Run(Hex, 24, 48)]),
    token("buildkite-token", "bkua_", &[Run(Hex, 32, 48)]),
    random(
        "dynatrace-token",
        "dt0c01. dt0s16.",
        &[Run(Upper, 20, 28), Lit("."), Run(Upper, 32, 80)],
    ),
    random("onepassword-token", "ops_eyJ", &[Run(Base64, 64, LONG)]),
    // Chat services.
    token(
        "slack-token",
        "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxc- xoxd- xoxe. xwfp-",
        &[Run(UrlDot, 16, 300)],
    ),
    token("slack-token", "xapp-", &[Run(Url, 24, 200)]),
    after(
        "slack-webhook",
        "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/ hooks.slack-gov.com/services/",
        &[Run(Base64, 24, 128)],
    ),
    after(
        "discord-webhook",
        "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
        &[Run(Base64, 40, 160)],
    ),
    Rule {
        touching: "bot",
        ..middle("telegram-token", ":AA", Run(Digit, 8, 10), &[Run(Url, 33, 33)])
    },
    after("teams-webhook", "webhook.office.com/webhookb2/", &[Run(Token, 40, 400)]),
    random("discord-token", "mfa.", &[Run(Url, 60, 100)]),
    weak("twilio-key", "SK AC", &[Run(Hex, 32, 32)]),
    // Email services.
    weak("sendgrid-key", "SG.", &[Run(Url, 16, 32), Lit("."), Run(Url, 16, 64)]),
    weak("mailgun-key", "key-", &[Run(Hex, 32, 32)]),
    middle("mailchimp-key", "-us", Run(Hex, 32, 32), &[Run(Digit, 1, 2)]),
    random("brevo-key", "xkeysib-", &[Run(Url, 24, 96)]),
    random("brevo-key", "xsmtpsib-", &[Run(Url, 24, 96)]),
    weak("resend-key", "re_", &[Run(Alnum, 8, 8), Lit("_"), Run(Alnum, 20, 32)]),
    // Payment and shop services.
    token(
        "braintree-token",
        "access_token$production$",
        &[Run(Lower, 16, 16), Lit("$"), Run(Hex, 32, 32)],
    ),
    weak("paypal-token", "A21AA", &[Run(Url, 60, 200)]),
    token("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", &[Run(Alnum, 16, 256)]),
    random("stripe-webhook-secret", "whsec_", &[Run(Base64, 20, 96)]),
    random("square-token", "sq0atp- sq0csp- sq0idp-", &[Run(Url, 20, 64)]),
    weak("square-token", "EAAA", &[Run(Url, 56, 64)]),
    token("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_", &[Run(Alnum, 24, 48)]),
    // Developer tools.
    token("linear-key", "lin_api_ lin_oauth_", &[Run(Alnum, 24, 80)]),
    weak("notion-token", "secret_", &[Run(Alnum, 40, 50)]),
    weak("notion-token", "ntn_", &[Run(Alnum, 30, 60)]),
    random("figma-token", "figd_ figu_", &[Run(Url, 24, 64)]),
    weak("airtable-token", "pat", &[Run(Alnum, 14, 14), Lit("."), Run(Hex, 40, 64)]),
    token("postman-key", "PMAK-", &[Run(Hex, 20, 24), Lit("-"), Run(Hex, 16, 34)]),
    random("grafana-token", "glc_eyJ eyJrIjoi", &[Run(Base64, 24, 512)]),
    token("grafana-token", "glsa_", &[Run(Alnum, 24, 40)]),
    token("grafana-token", "glsa_", &[Run(Alnum, 24, 40), Lit("_"), Run(Hex, 8, 8)]),
    random("new-relic-key", "NRAK- NRJS- NRII-", &[Run(Url, 18, 48)]),
    random("sentry-token", "sntrys_", &[Run(Base64, 24, 512)]),
    token("sentry-token", "sntryu_", &[Run(Hex, 24, 64)]),
    random("posthog-key", "phx_ phs_", &[Run(Alnum, 32, 64)]),
    random("hubspot-token", "pat-na1- pat-eu1-", &[Run(Url, 32, 48)]),
    token("age-secret-key", "AGE-SECRET-KEY-1", &[Run(Upper, 24, 64)]),
    token("age-secret-key", "AGE-SECRET-KEY-PQ-1", &[Run(Upper, 24, 128)]),
    middle("new-relic-key", "NRAL", Run(Hex, 36, 36), &[]),
    weak("facebook-token", "EAA", &[Run(Alnum, 80, 400)]),
    weak("instagram-token", "IGQV", &[Run(Url, 60, 256)]),
    // Cryptocurrency wallets.
    weak("wallet-key", "nsec1", &[Run(Lower, 58, 58)]),
    weak("wallet-key", "xprv", &[Run(Alnum, 107, 107)]),
    weak("wallet-key", "suiprivkey1", &[Run(Lower, 50, 64)]),
    // Password hashes in `/etc/shadow`, `.htpasswd` and LDAP formats.
    random(
        "password-hash",
        "$1$ $5$ $6$ $7$ $y$ $gy$ $2a$ $2b$ $2x$ $2y$ $apr1$ $argon2i$ $argon2d$ $argon2id$ $scrypt$ $pbkdf2",
        &[Run(Crypt, 28, 512)],
    ),
    random("password-hash", "{SHA} {SSHA} {SSHA256} {SSHA512}", &[Run(Base64, 27, 160)]),
    random(
        "password-hash",
        "SCRAM-SHA-256$ SCRAM-SHA-1$",
        &[
            Run(Digit, 3, 7),
            Lit(":"),
            Run(Base64, 16, 64),
            Lit("$"),
            Run(Base64, 24, 64),
            Lit(":"),
            Run(Base64, 24, 64),
        ],
    ),
    token("password-hash", "aad3b435b51404eeaad3b435b51404ee:", &[Run(Hex, 32, 32)]),
    // Private keys in PKCS#1, PKCS#8 and PKCS#12, as base64 without armor.
    middle(
        "private-key",
        "IBAAKCAQEA IBAAKCAgEA IBADANBgkqhkiG9w0BAQEFAASC IBAzCC",
        Run(Alnum, 6, 6),
        &[Run(Base64, 200, 16 * LONG)],
    ),
    token("private-key", "MIGHAgEAMBMGByqGSM49AgEG", &[Run(Base64, 80, 256)]),
    // Base64-encoded armor of a private key.
    token(
        "private-key",
        "LS0tLS1CRUdJTiBQUklWQVRF LS0tLS1CRUdJTiBSU0EgUFJJVkFURS LS0tLS1CRUdJTiBFQyBQUklWQVRF LS0tLS1CRUdJTiBPUEVOU1NI LS0tLS1CRUdJTiBFTkNSWVBURUQg",
        &[Run(Base64, 40, 16 * LONG)],
    ),
    token(
        "paseto",
        "v1.local. v2.local. v3.local. v4.local. v2.public. v3.public. v4.public.",
        &[Run(UrlDot, 40, LONG)],
    ),
    // A signed JWT with three parts, or an encrypted one with five. The signature may be truncated.
    token("jwt", "eyJ", &[Run(Url, 10, LONG), Lit(".eyJ"), Run(Url, 10, 16 * LONG)]),
    token(
        "jwt",
        "eyJ",
        &[Run(Url, 10, LONG), Lit(".eyJ"), Run(Url, 10, 16 * LONG), Lit("."), Run(Url, 8, LONG)],
    ),
    token(
        "jwt",
        "eyJ",
        &[
            Run(Url, 10, LONG),
            Lit("."),
            Run(Url, 0, LONG),
            Lit("."),
            Run(Url, 12, 64),
            Lit("."),
            Run(Url, 4, 16 * LONG),
            Lit("."),
            Run(Url, 12, 64),
        ],
    ),
];

pub(super) fn anchors() -> impl Iterator<Item = (String, &'static Rule)> {
    let listed =
        |rule: &'static Rule| rule.anchors.split(' ').map(move |anchor| (anchor.to_owned(), rule));
    RULES.iter().flat_map(listed).chain(discord_anchors().map(|anchor| (anchor, &DISCORD)))
}

/// The first three characters of a Discord bot token, which encode the first digits of the bot's ID
/// in base64.
fn discord_anchors() -> impl Iterator<Item = String> {
    let heads = ["MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"];
    let thirds = ["A", "E", "I", "M", "Q", "U", "Y", "c", "g", "k"];
    heads
        .into_iter()
        .flat_map(move |head| thirds.into_iter().map(move |third| format!("{head}{third}")))
}

/// The remaining parts of a Discord bot token: ID, time and signature.
static DISCORD: Rule = weak(
    "discord-token",
    "",
    &[Run(Alnum, 20, 25), Lit("."), Run(Url, 6, 6), Lit("."), Run(Url, 25, 40)],
);

pub(super) fn find_shape(
    text: &mut Text<'_>,
    rule: &'static Rule,
    start: usize,
    end: usize,
) -> Option<FoundSecret> {
    if !reaches(text, rule, end) {
        return None;
    }
    let first = match rule.lead {
        Some(PatternPart::Run(set, min, max)) => {
            let lead = text.run_start(set, start, max);
            (start >= lead + min).then_some(lead)?
        }
        Some(PatternPart::Lit(_)) | None => start,
    };
    let is_touched =
        !rule.touching.is_empty() && text.slice(0, first).ends_with(rule.touching.as_bytes());
    if rule.cover == Cover::Whole && !is_touched && !text.is_edge(rule.edge, first) {
        return None;
    }
    let last = parts_end(text, rule, end)?;
    let body = text.slice(if rule.lead.is_none() { end } else { first }, last);
    let is_real = match rule.check {
        Check::Plausible => judge::is_plausible(body),
        Check::Generated => judge::is_generated(body) && judge::is_plausible(body),
        Check::Random => judge::is_random(body) && judge::is_plausible(body),
    };
    let start = match rule.cover {
        Cover::Whole => first,
        Cover::AfterAnchor => end,
    };
    is_real.then_some(FoundSecret::new(start..last, rule.kind, Weight::Shape))
}

/// Returns whether the body could be long enough, judging only by its last required byte. In prose
/// and code, anchors are rarely followed by a run of that length.
fn reaches(text: &Text<'_>, rule: &Rule, pos: usize) -> bool {
    match rule.parts.first() {
        Some(PatternPart::Run(set, min @ 1.., _)) => {
            text.at(pos + min - 1).is_some_and(|byte| set.has(byte))
        }
        Some(PatternPart::Run(..) | PatternPart::Lit(_)) | None => true,
    }
}

fn parts_end(text: &mut Text<'_>, rule: &Rule, mut pos: usize) -> Option<usize> {
    for part in rule.parts {
        match *part {
            PatternPart::Lit(literal) => {
                pos = text
                    .rest(pos)
                    .starts_with(literal.as_bytes())
                    .then_some(pos + literal.len())?;
            }
            PatternPart::Run(set, min, max) => {
                let run_end = text.run_end(set, pos);
                // After a distinctive prefix, a longer run is assumed to be two adjacent secrets.
                let max = match rule.edge {
                    Edge::Word => max.max(LONG),
                    Edge::Blob => max,
                };
                pos = (min..=max).contains(&(run_end - pos)).then_some(run_end)?;
            }
        }
    }
    Some(pos)
}

/// Shorter bodies are often part of a name or address.
const MIN_BODY: usize = 24;

/// Longest prefix: three words of 16 characters and their separators.
const MAX_PREFIX: usize = 51;

/// First words of the prefixes of public IDs and hashes.
const IDS: &str = " toolu msg call resp req run thread asst file item fc rs ws ctc ctco step evt chatcmpl cmpl sha1 \
    sha256 sha384 sha512 md5 blake3 chunk img image commit rev build job trace span sess session task request user \
    agent conv id uuid node block hash etag digest layer snapshot cache tmp temp cus sub price prod pi ch cs seti pm \
    card acct in ig mcp gen batch vs ftjob org proj index main vendor style asset srvtoolu part prt ses ";

/// Words in a prefix that indicate a secret, even if the value is hexadecimal.
const SECRET_WORDS: &str =
    " key token secret sk pat api live test prod private auth access tkn pw rw ";

pub(super) fn find_prefixed(text: &mut Text<'_>, parts: &[Range<usize>], found: &mut Secrets) {
    for part in parts {
        // Every run of `MIN_BODY` characters contains one of the sampled bytes, so most of the
        // other bytes are skipped.
        let mut pos = part.start + MIN_BODY - 1;
        while pos < part.end.min(text.bytes.len()) {
            let from = pos + 1 - MIN_BODY;
            let head = text.slice(from, pos + 1);
            pos = match head.iter().rposition(|byte| !byte.is_ascii_alphanumeric()) {
                Some(at) => from + at + MIN_BODY,
                None => {
                    found.extend(token_at(text, from));
                    text.run_end(Set::Alnum, from) + MIN_BODY
                }
            };
        }
    }
}

fn token_at(text: &mut Text<'_>, body: usize) -> Option<FoundSecret> {
    if !matches!(text.before(body)?, b'_' | b'-') {
        return None;
    }
    let start = text.run_start(Set::Url, body, MAX_PREFIX + 1);
    let words = str::from_utf8(text.slice(start, body - 1)).ok()?;
    let is_listed = |list: &str, word: &str| list.split(' ').any(|one| one == word);
    let is_prefix = words.split(['_', '-']).count() <= 3 && words.split(['_', '-']).all(is_word);
    if !is_prefix
        || !text.is_edge(Edge::Blob, start)
        || is_listed(IDS, words.split(['_', '-']).next()?)
    {
        return None;
    }
    let run_end = text.run_end(Set::Alnum, body);
    let rest = text.slice(body, run_end);
    let is_id = rest.len() == 24 && rest.starts_with(b"01");
    let is_hex = rest.iter().all(u8::is_ascii_hexdigit);
    let is_secret = words.split(['_', '-']).any(|word| is_listed(SECRET_WORDS, word));
    let is_generated =
        if is_hex { is_secret && judge::is_random(rest) } else { judge::is_certain(rest) };
    let end = text.run_end(Set::Url, body);
    // A file name that ends with a content hash.
    let is_file = text.at(end) == Some(b'.')
        && text.at(end + 1).is_some_and(|byte| byte.is_ascii_alphanumeric());
    (is_generated && !is_id && !is_file && judge::is_plausible(rest)).then_some(FoundSecret::new(
        start..end,
        "token",
        Weight::Place,
    ))
}

fn is_word(word: &str) -> bool {
    let is_lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let has_letter = word.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_short = word.len() <= 8 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    has_letter && (2..=16).contains(&word.len()) && (is_short || word.bytes().all(is_lower))
}

pub(super) const AWS_ID_KIND: &str = "aws-access-key";

const AWS_SECRET_LEN: usize = 40;

const MAX_AWS_DISTANCE: usize = 160;

/// Maximum number of line breaks between a key and its ID: they are on the same or adjacent lines.
const MAX_BREAKS: usize = 1;

pub(super) fn find_aws_secret(text: &Text<'_>, start: usize, end: usize) -> Option<FoundSecret> {
    let behind = text.rest(end);
    let behind = &behind[..behind.len().min(MAX_AWS_DISTANCE)];
    let floor = start.saturating_sub(MAX_AWS_DISTANCE);
    let before = text.slice(floor, start);
    let line = memchr::memrchr2(b'\n', b'\r', before).map_or(0, |at| at + 1);
    let at = aws_secret_in(behind, text.at(end + behind.len())).map(|at| end + at);
    let at = at.or_else(|| Some(floor + line + aws_secret_in(&before[line..], None)?))?;
    Some(FoundSecret::new(at..at + AWS_SECRET_LEN, "aws-secret-key", Weight::Shape))
}

/// Returns where the first secret key in `bytes` starts. `next` is the byte after `bytes`.
fn aws_secret_in(bytes: &[u8], next: Option<u8>) -> Option<usize> {
    let is_key = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'+' | b'/');
    let (mut pos, mut n_breaks) = (0, 0);
    while pos < bytes.len() {
        let run = &bytes[pos..];
        let n_run = run.iter().take_while(is_key).count();
        let is_whole = pos + n_run < bytes.len() || next.is_none_or(|byte| !is_key(&&byte));
        if n_run == AWS_SECRET_LEN && is_whole && is_aws_secret(&run[..AWS_SECRET_LEN]) {
            return Some(pos);
        }
        let (is_break, n_mark) = match run.get(n_run..) {
            Some([b'\r', b'\n', ..]) => (true, 2),
            Some([b'\n' | b'\r', ..]) => (true, 1),
            Some([b'\\', b'n', ..]) => (true, 2),
            Some([b'\\', b'r' | b't', ..]) => (false, 2),
            Some(_) | None => (false, 1),
        };
        n_breaks += usize::from(is_break);
        if n_breaks > MAX_BREAKS {
            return None;
        }
        pos += n_run + n_mark;
    }
    None
}

fn is_aws_secret(key: &[u8]) -> bool {
    !key.iter().all(u8::is_ascii_hexdigit) && judge::is_random(key) && !judge::has_placeholder(key)
}
