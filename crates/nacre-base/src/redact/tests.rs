//! Tests what the redactor must find, what it must ignore, and what it must not change.

mod attack;
mod audit;
mod benign;
mod corpus;
mod disguise;
mod encoded;
mod extra;
mod files;
mod json;
mod limits;
mod live;
mod pasted;

use std::collections::BTreeMap;

use super::{ExtraWords, LiveRedactor, LiveText, redact, redact_counted, scan};
use corpus::{Dice, KINDS, PLACES, Sample};

/// A secret survives if at least this many of its bytes remain in the output.
const SURVIVING_RUN: usize = 16;

fn survives(secret: &str, clean: &str) -> bool {
    let secret = secret.as_bytes();
    let width = secret.len().min(SURVIVING_RUN);
    secret.windows(width).any(|run| memchr::memmem::find(clean.as_bytes(), run).is_some())
}

struct Miss {
    kind: &'static str,
    place: &'static str,
    text: String,
}

/// Redacts `n_samples` secrets of every kind in every place and checks how many of them are found.
fn check_recall(n_samples: usize, clean: impl Fn(&str) -> String) {
    let mut misses = Vec::new();
    for (idx, kind) in KINDS.iter().enumerate() {
        let mut dice = Dice::new(idx as u64 + 1);
        for place in PLACES.iter().flat_map(|place| std::iter::repeat_n(place, n_samples)) {
            let sample = kind.sample(&mut dice);
            let text = place.write(kind, &sample);
            if survives(&place.spell(&sample.secret), &clean(&text)) {
                misses.push(Miss { kind: kind.label, place: place.label, text });
            }
        }
    }
    let n_total = KINDS.len() * PLACES.len() * n_samples;
    let recall = 1.0 - misses.len() as f64 / n_total as f64;
    println!("recall {recall:.4} over {n_total} samples; misses:");
    for miss in &misses {
        println!("{} | {} | {}", miss.kind, miss.place, miss.text);
    }
    assert!(recall >= 0.98, "recall is {recall:.4} over {n_total} samples");
    assert_even(misses.iter().map(|miss| miss.kind), PLACES.len() * n_samples);
    assert_even(misses.iter().map(|miss| miss.place), KINDS.len() * n_samples);
}

/// Asserts that no single kind or place has many misses, even if the average is good.
fn assert_even(labels: impl Iterator<Item = &'static str>, n_each: usize) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for label in labels {
        *counts.entry(label).or_default() += 1;
    }
    counts.retain(|_, n| *n * 10 > n_each);
    assert!(counts.is_empty(), "more than a tenth missed: {counts:?}");
}

#[test]
fn secrets_are_caught_wherever_they_stand() {
    assert!(KINDS.len() >= 56 && PLACES.len() >= 20);
    check_recall(3, |text| redact(text).into_owned());
}

/// Replaces `%` in the text with the secret of `label`, redacts the text, and checks the result.
fn check(label: &str, text: &str, expected: &str) {
    let kind = KINDS.iter().find(|kind| kind.label == label).unwrap();
    let Sample { text: secret, .. } = kind.sample(&mut Dice::new(7));
    assert_eq!(redact(&text.replace('%', &secret)), expected, "{label} in {text}");
}

#[test]
fn placeholders_name_the_kind_and_leave_the_rest() {
    check("github-classic", "use % now", "use [redacted:github-token] now");
    check("github-classic", "GITHUB_TOKEN=%\n", "GITHUB_TOKEN=[redacted:github-token]\n");
    check("anthropic-api", r#"{"k":"%"}"#, r#"{"k":"[redacted:anthropic-key]"}"#);
    check("openai-project", "\u{1b}[32m%\u{1b}[0m", "\u{1b}[32m[redacted:openai-key]\u{1b}[0m");
    check("github-classic", r#"{"t":"a\n%\nb"}"#, r#"{"t":"a\n[redacted:github-token]\nb"}"#);
    check("aws-access", "id: %, region", "id: [redacted:aws-access-key], region");
    check("jwt", "got % ok", "got [redacted:jwt] ok");
    check(
        "url-postgres",
        "url=%",
        "url=postgres://app:[redacted:url-password]@db.internal:5432/app",
    );
    check("auth-basic", "-H '%'", "-H 'Authorization: Basic [redacted:authorization]'");
    check("set-cookie", "%", "Set-Cookie: session=[redacted:cookie]; Path=/; HttpOnly");
    check("password", "password: \"%\"", "password: \"[redacted:password]\"");
    check("password", "mysql -u root -p% app", "mysql -u root -p[redacted:password] app");
    check(
        "password",
        "curl -u bot:% https://x.test",
        "curl -u bot:[redacted:password] https://x.test",
    );
    check("password", "sshpass -p '%' ssh x", "sshpass -p '[redacted:password]' ssh x");
    check("password", "redis-cli -a % ping", "redis-cli -a [redacted:password] ping");
    check("password", "IDENTIFIED BY '%';", "IDENTIFIED BY '[redacted:password]';");
    check("password", "WITH PASSWORD '%';", "WITH PASSWORD '[redacted:password]';");
    check("password", "my password is % ok", "my password is [redacted:password] ok");
    check("password", "**Password:** %", "**Password:** [redacted:password]");
    check(
        "password",
        "User=sa;Password=%;Encrypt=yes",
        "User=sa;Password=[redacted:password];Encrypt=yes",
    );
    check("cohere", "`API_KEY`: %", "`API_KEY`: [redacted:api-key]");
    check("cohere", "ENV API_KEY %", "ENV API_KEY [redacted:api-key]");
    check(
        "github-classic",
        "https://%@github.com/a/b",
        "https://[redacted:github-token]@github.com/a/b",
    );
    check("cohere", "COHERE_API_KEY='%'", "COHERE_API_KEY='[redacted:cohere-key]'");
    check("pem-rsa", "key:\n%\nend", "key:\n[redacted:private-key]\nend");
    check("pem-cut", "%\n", "[redacted:private-key]\n");
    check("access-token", "<token>%</token>", "<token>[redacted:token]</token>");
}

#[test]
fn hits_are_counted_by_kind() {
    let github = KINDS.iter().find(|kind| kind.label == "github-classic").unwrap();
    let mut dice = Dice::new(3);
    let text = format!("{} {}", github.sample(&mut dice).text, github.sample(&mut dice).text);
    assert_eq!(redact_counted(&text).hits.into_iter().collect::<Vec<_>>(), [("github-token", 2)]);
    assert!(redact_counted("nothing to see").hits.is_empty());
}

#[test]
fn keys_spread_over_string_literals_go_line_by_line() {
    let kind = KINDS.iter().find(|kind| kind.label == "pem-ec").unwrap();
    let sample = kind.sample(&mut Dice::new(5));
    let lines: Vec<String> = sample.text.lines().map(|line| format!("{line:?}")).collect();
    let array = format!("[{}]", lines.join(", "));
    let clean = redact(&array).into_owned();
    assert!(!survives(&sample.secret.replace('\n', ""), &clean), "{clean}");
    let parsed: Vec<String> = serde_json::from_str(&clean).unwrap();
    assert_eq!(parsed.len(), lines.len());
    let indented = sample.text.replace('\n', "\n      ");
    assert_eq!(redact(&indented), "[redacted:private-key]");
}

#[test]
fn a_key_without_its_beginning_goes() {
    for label in ["pem-rsa", "pem-ec", "pem-openssh", "gcp-account"] {
        let kind = KINDS.iter().find(|kind| kind.label == label).unwrap();
        let sample = kind.sample(&mut Dice::new(9));
        let lines: Vec<&str> = sample.text.lines().collect();
        for n_lost in 1..lines.len() - 1 {
            let rest = lines[n_lost..].join("\n");
            for text in [
                format!("{rest}\nand more"),
                rest.replace('\n', "\\n"),
                rest.replace('\n', "\n    "),
            ] {
                let clean = redact(&text);
                assert!(
                    !lines[n_lost..lines.len() - 1]
                        .iter()
                        .any(|line| line.len() > 40 && clean.contains(line)),
                    "{label}: {clean}"
                );
            }
        }
    }
    let prose =
        "The body stands before `-----END PRIV".to_owned() + "ATE KEY-----`, as everybody knows.";
    assert_eq!(redact(&prose), prose);
}

#[test]
fn what_nacre_calls_its_own_sessions_and_tasks_is_no_secret() {
    for text in [
        r#"{"session":"sess_0d86oz0xj2pvl","task":"task_04b9pyuoh5dpb"}"#,
        "session=sess_0pya3407lotv5",
    ] {
        assert_eq!(redact(text), text);
    }
    let other = r#"{"session":"sess_0d86oz0xj2pvl9Qx4Zt7"}"#;
    assert_ne!(redact(other), other);
}
