//! Tests secrets that programs disguise: in color, as JSON escapes, in base64, or with an `&`.

use super::corpus::{Dice, KINDS, Sample};
use super::redact;

/// Kinds that are recognized by format alone, wherever they occur.
const SHAPES: &[&str] = &[
    "anthropic-api",
    "openai-project",
    "github-classic",
    "github-fine",
    "gitlab-personal",
    "google-api",
    "aws-access",
    "slack-bot",
    "stripe-live",
    "npm",
    "huggingface",
    "sendgrid",
    "jwt",
];

fn sample(label: &str, seed: u64) -> Sample {
    let kind = KINDS.iter().find(|kind| kind.label == label).unwrap();
    kind.sample(&mut Dice::new(seed))
}

pub(super) fn base64(text: impl AsRef<[u8]>) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |bytes: &[u8]| {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | usize::from(*bytes.get(at).unwrap_or(&0)));
        let chars = [18, 12, 6, 0].map(|shift| char::from(ALPHABET[bits >> shift & 63]));
        let n_chars = bytes.len() + 1;
        (0..4).map(|at| if at < n_chars { chars[at] } else { '=' }).collect::<String>()
    };
    text.as_ref().chunks(3).map(group).collect()
}

/// Asserts that only placeholders remain between the first and the last word of `text`.
pub(super) fn check_gone(text: &str, secret: &str) {
    let clean = redact(text);
    assert!(clean.contains("[redacted:"), "{text}\nstayed");
    let left: String = clean.chars().filter(char::is_ascii_alphanumeric).collect();
    let secret: String = secret.chars().filter(char::is_ascii_alphanumeric).collect();
    for run in secret.as_bytes().windows(10) {
        let is_left = memchr::memmem::find(left.as_bytes(), run).is_some();
        assert!(!is_left, "{text}\nbecame\n{clean}");
    }
    assert_eq!(redact(&clean), clean);
}

#[test]
fn colors_and_json_escapes_hide_no_secret() {
    for label in SHAPES {
        let secret = sample(label, 3).secret;
        for mark in ["\u{1b}[0m", "\u{1b}[01;31m\u{1b}[K", "\\u001b[31m", "\\\\u001b[0m"] {
            for at in [1, 3, 8, secret.len() - 2] {
                let (head, tail) = secret.split_at(at);
                check_gone(&format!("use {head}{mark}{tail} now"), &secret);
            }
        }
    }
    let github = sample("github-classic", 4).secret;
    let text = format!("use \\u0067hp_{} now", &github[4..]);
    assert_eq!(redact(&text), "use [redacted:github-token] now");
    let raw = format!(r#"{{"t":"\u003cb\u003e caf\u00e9 t\u003d{github} \u0026","n":1}}"#);
    let expected = r#"{"t":"\u003cb\u003e caf\u00e9 t\u003d[redacted:github-token] \u0026","n":1}"#;
    assert_eq!(redact(&raw), expected);
    assert_eq!(redact("password：kX9#vTq2!mWz"), "password：[redacted:password]");
}

#[test]
fn text_with_marks_and_no_secret_stays() {
    for text in [
        "Токен хранится в базе, пароль никому не говорят: сорок четыре символа.",
        "日本語：設定＝トークン（ＡＢＣ）を使う。",
        "\u{1b}[32mPASS\u{1b}[0m test_password_is_not_shown_in_logs_2",
        "a – b — c… “token” ‘key’ €5 ❤\u{fe0f} 👩\u{200d}💻",
        r#"{"t":"caf\u00e9 \u0026 token \u003d \u201cnone\u201d \ud83d\ude00"}"#,
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn base64_hides_no_secret() {
    for label in SHAPES {
        let secret = sample(label, 10).secret;
        for lead in ["", "x", "ab", "token: ", "user:", "{\"a\": 1, \"b\": \"", "\u{e9}\u{fe} "] {
            // A prefix of three bytes is only recognized at the start of a base64 group.
            if secret.starts_with("SG.") || secret.starts_with("eyJ") || secret.starts_with("hf_") {
                continue;
            }
            let blob = base64(format!("{lead}{secret}"));
            let lead_is_edge = !lead.ends_with(|c: char| c.is_ascii_alphanumeric());
            for text in [
                format!("data {blob} end"),
                format!("DATA={blob}\n"),
                format!("data \"{}\" end", blob.trim_end_matches('=')),
                format!("{{\"d\":\"{}\"}}", blob.replace('+', "-").replace('/', "_")),
            ] {
                if lead_is_edge {
                    check_gone(&text, &blob[4 * lead.len().div_ceil(3)..]);
                }
            }
        }
    }
    let secret = sample("github-classic", 10).secret;
    assert_eq!(redact(&format!("D={} ok", base64(&secret))), "D=[redacted:github-token] ok");
}

#[test]
fn keys_and_files_in_base64_are_found() {
    for label in ["pem-rsa", "pem-ec", "pem-openssh", "pem-encrypted"] {
        let key = sample(label, 11).text;
        for text in [key.clone(), format!("k:\n{key}"), format!("ab\n{key}")] {
            let blob = base64(&text);
            assert_eq!(redact(&format!("x: {blob}\ny")), "x: [redacted:private-key]\ny", "{label}");
            let twice = base64(format!("client: {blob}\n"));
            assert_eq!(
                redact(&format!("x: {twice}\ny")),
                "x: [redacted:private-key]\ny",
                "{label}"
            );
            let lines: Vec<&str> =
                (0..blob.len()).step_by(76).map(|at| &blob[at..blob.len().min(at + 76)]).collect();
            let wrapped = lines.join("\n");
            check_gone(&format!("x:\n{wrapped}\n"), &wrapped);
        }
    }
    let certificate =
        "-----BEGIN CERTIF".to_owned() + "ICATE-----\n" + &sample("pem-rsa", 1).secret;
    let text = format!("client-certificate-data: {}", base64(&certificate));
    assert_eq!(redact(&text), text);
}

#[test]
fn an_ampersand_is_part_of_a_value_where_it_does_not_separate() {
    for (text, expected) in [
        ("DB_PASSWORD=kX9#vT&q2mWz\n", "DB_PASSWORD=[redacted:password]\n"),
        ("password: kX9vTq2m&Wz&t7\n", "password: [redacted:password]\n"),
        ("X-Api-Key: a8F3kZ0qLm2Vn5Xb7&Rt9Wc1", "X-Api-Key: [redacted:api-key]"),
        ("password='kX9vTq2m&Wz&t7'", "password='[redacted:password]'"),
        (
            "https://x.test/?password=kX9vTq2m!&next=1",
            "https://x.test/?password=[redacted:password]&next=1",
        ),
        (
            "https://x.test/?a=1&password=kX9vTq2m!&next",
            "https://x.test/?a=1&password=[redacted:password]&next",
        ),
        ("password=kX9vTq2m!&user=a", "password=[redacted:password]&user=a"),
        ("PASSWORD=kX9vTq2m! && make", "PASSWORD=[redacted:password] && make"),
        ("PASSWORD=kX9vTq2m!&& make", "PASSWORD=[redacted:password]&& make"),
        ("PASSWORD=kX9vTq2m! ./run &", "PASSWORD=[redacted:password] ./run &"),
    ] {
        assert_eq!(redact(text), expected);
    }
}

#[test]
fn names_of_clusters_and_registries_are_known() {
    let mut dice = Dice::new(12);
    let random = super::corpus::expand("{b64:120}", &mut dice);
    let login = base64("deploy:Winter-monkey");
    let logins = base64(
        r#"{"auths":{"registry.test":{"username":"deploy","password":"Winter42monkey","auth":"ZGVwbG95"}}}"#,
    );
    for (text, expected) in [
        (format!("    client-key-data: {random}"), "    client-key-data: [redacted:api-key]"),
        (format!("private-key-data: {random}"), "private-key-data: [redacted:api-key]"),
        (format!("    token: {random}"), "    token: [redacted:token]"),
        (format!("id-token: {random}"), "id-token: [redacted:token]"),
        (format!("refresh-token: {random}"), "refresh-token: [redacted:token]"),
        (format!(r#""identitytoken": "{random}""#), r#""identitytoken": "[redacted:token]""#),
        (format!("  .dockerconfigjson: {logins}"), "  .dockerconfigjson: [redacted:secret]"),
        (format!(r#"{{"auth": "{login}"}}"#), r#"{"auth": "[redacted:credential]"}"#),
        (format!("_auth={login}"), "_auth=[redacted:credential]"),
    ] {
        assert_eq!(redact(&text), expected);
    }
    for text in [
        "\"auth\": \"enabled-for-all\"",
        "auth: oauth2-proxy",
        "    certificate-authority-data: none",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn a_key_beside_its_id_goes() {
    let id = sample("aws-access", 14).secret;
    let key = sample("aws-secret", 14).secret;
    let (id_gone, key_gone) = ("[redacted:aws-access-key]", "[redacted:aws-secret-key]");
    for template in [
        "%i,%k",
        "Access,Secret\n%i,%k\n",
        "%i\n%k\n",
        "%i\r\n%k",
        "%i  %k end",
        "| %i | %k |",
        "bot,%k,%i",
        "{\"t\":\"%i\\n%k\\n\"}",
        "[\"%i\", \"%k\"]",
    ] {
        let text = template.replace("%i", &id).replace("%k", &key);
        let expected = template.replace("%i", id_gone).replace("%k", key_gone);
        assert_eq!(redact(&text), expected, "{template}");
    }
    let hash = super::corpus::expand("{hex:40}", &mut Dice::new(14));
    for other in [hash.as_str(), "src/main/java/org/apache/commons/lang3/A", &format!("{key}x")] {
        assert_eq!(redact(&format!("{id} {other}")), format!("{id_gone} {other}"));
    }
    let far = format!("{id_gone}\n\n{key}");
    assert_eq!(redact(&format!("{id}\n\n{key}")), far);
}
