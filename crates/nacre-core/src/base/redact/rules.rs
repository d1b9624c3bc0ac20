//! The table of secrets that are known by their shape.
//!
//! A rule is a literal anchor and what must follow it. Bodies may be shorter than the provider's
//! full length where the anchor is distinctive, because logs cut tokens short.

use super::text::{Edge, Set};

/// One piece of what follows (or precedes) an anchor.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// The longest run of a set, of `min..=max` bytes.
    Run(Set, usize, usize),
    Lit(&'static str),
}

/// How much of a match is secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cover {
    Whole,
    /// The anchor says what it is and stays.
    AfterAnchor,
}

/// What the body must be besides fitting its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// Not a placeholder.
    Plausible,
    /// Rather generated than written.
    Generated,
    /// Certainly generated.
    Random,
}

type Str = &'static str;
type Parts = &'static [Part];

/// A secret known by its shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) kind: &'static str,
    /// Separated by blanks.
    pub(super) anchors: &'static str,
    /// What is before the anchor and belongs to the secret.
    pub(super) lead: Option<(Set, usize, usize)>,
    pub(super) edge: Edge,
    /// A word that may touch the secret, as `bot` does in addresses of Telegram.
    pub(super) touching: &'static str,
    pub(super) parts: &'static [Part],
    pub(super) cover: Cover,
    pub(super) check: Check,
}

/// A distinctive prefix and its body.
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

/// A short prefix that other text has too: the body must look generated.
const fn weak(kind: Str, anchors: Str, parts: Parts) -> Rule {
    Rule { edge: Edge::Blob, check: Check::Random, ..token(kind, anchors, parts) }
}

/// A short prefix before a body of fixed length that nothing else has.
const fn exact(kind: Str, anchors: Str, parts: Parts) -> Rule {
    Rule { edge: Edge::Blob, ..token(kind, anchors, parts) }
}

/// A prefix whose body may hold hyphens, as names do: the body must look generated.
const fn random(kind: Str, anchors: Str, parts: Parts) -> Rule {
    Rule { check: Check::Generated, ..token(kind, anchors, parts) }
}

/// An anchor that stays, before a body that goes.
const fn after(kind: Str, anchors: Str, parts: Parts) -> Rule {
    Rule { cover: Cover::AfterAnchor, ..token(kind, anchors, parts) }
}

/// An anchor in the middle of the secret.
const fn middle(kind: Str, anchors: Str, lead: (Set, usize, usize), parts: Parts) -> Rule {
    Rule { lead: Some(lead), check: Check::Generated, ..weak(kind, anchors, parts) }
}

use Part::{Lit, Run};
use Set::{Alnum, Base64, Crypt, Digit, Hex, Lower, Percent, Tilde, Token, Upper, Url, UrlDot};

/// No provider's token is longer.
pub(super) const LONG: usize = 4096;

pub(super) static RULES: &[Rule] = &[
    // Models.
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
    // Code hosts and registries.
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
    // Clouds.
    exact("aws-access-key", "AKIA ASIA ABIA ACCA", &[Run(Upper, 16, 16)]),
    after("azure-storage-key", "AccountKey= SharedAccessKey=", &[Run(Base64, 32, 128)]),
    after(
        "azure-sas",
        "X-Amz-Signature= X-Goog-Signature= &Signature= ?sig= &sig= %26sig= u0026sig= &amp;sig= ;sig=",
        &[Run(Percent, 24, 256)],
    ),
    middle("azure-client-secret", "Q~", (Tilde, 4, 4), &[Run(Tilde, 28, 36)]),
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
    middle("terraform-token", ".atlasv1.", (Alnum, 14, 14), &[Run(Base64, 24, 128)]),
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
    // Chat.
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
        ..middle("telegram-token", ":AA", (Digit, 8, 10), &[Run(Url, 33, 33)])
    },
    after("teams-webhook", "webhook.office.com/webhookb2/", &[Run(Token, 40, 400)]),
    random("discord-token", "mfa.", &[Run(Url, 60, 100)]),
    weak("twilio-key", "SK AC", &[Run(Hex, 32, 32)]),
    // Mail.
    weak("sendgrid-key", "SG.", &[Run(Url, 16, 32), Lit("."), Run(Url, 16, 64)]),
    weak("mailgun-key", "key-", &[Run(Hex, 32, 32)]),
    middle("mailchimp-key", "-us", (Hex, 32, 32), &[Run(Digit, 1, 2)]),
    random("brevo-key", "xkeysib-", &[Run(Url, 24, 96)]),
    random("brevo-key", "xsmtpsib-", &[Run(Url, 24, 96)]),
    weak("resend-key", "re_", &[Run(Alnum, 8, 8), Lit("_"), Run(Alnum, 20, 32)]),
    // Money and shops.
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
    // Tools.
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
    middle("new-relic-key", "NRAL", (Hex, 36, 36), &[]),
    weak("facebook-token", "EAA", &[Run(Alnum, 80, 400)]),
    weak("instagram-token", "IGQV", &[Run(Url, 60, 256)]),
    // Wallets.
    weak("wallet-key", "nsec1", &[Run(Lower, 58, 58)]),
    weak("wallet-key", "xprv", &[Run(Alnum, 107, 107)]),
    weak("wallet-key", "suiprivkey1", &[Run(Lower, 50, 64)]),
    // Hashes of passwords, as `/etc/shadow`, `.htpasswd` and LDAP keep them.
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
        (Alnum, 6, 6),
        &[Run(Base64, 200, 16 * LONG)],
    ),
    token("private-key", "MIGHAgEAMBMGByqGSM49AgEG", &[Run(Base64, 80, 256)]),
    // Base64 of the armor of a private key.
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
    // A signed token of three parts, or an encrypted one of five; the signature may be cut off.
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

/// Every anchor of the table with its rule.
pub(super) fn anchors() -> impl Iterator<Item = (String, &'static Rule)> {
    let listed =
        |rule: &'static Rule| rule.anchors.split(' ').map(move |anchor| (anchor.to_owned(), rule));
    RULES.iter().flat_map(listed).chain(discord_anchors().map(|anchor| (anchor, &DISCORD)))
}

/// The first three characters of a Discord bot token: base64 of the first digits of the bot's id.
fn discord_anchors() -> impl Iterator<Item = String> {
    let heads = ["MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"];
    let thirds = ["A", "E", "I", "M", "Q", "U", "Y", "c", "g", "k"];
    heads
        .into_iter()
        .flat_map(move |head| thirds.into_iter().map(move |third| format!("{head}{third}")))
}

/// The rest of a Discord bot token: id, time and signature.
static DISCORD: Rule = weak(
    "discord-token",
    "",
    &[Run(Alnum, 20, 25), Lit("."), Run(Url, 6, 6), Lit("."), Run(Url, 25, 40)],
);
