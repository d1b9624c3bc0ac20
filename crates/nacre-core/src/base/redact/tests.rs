//! What the redactor must catch, leave alone and keep whole.

mod json;
mod limits;

use std::collections::BTreeMap;

use super::corpus::{Dice, KINDS, Kind, PLACES, Place, Sample};
use super::{Redactor, redact, redact_counted};

/// Samples of every kind in every place.
const N_SAMPLES: u64 = 5;

/// A secret survives if this much of it does.
const SURVIVING_RUN: usize = 16;

fn survives(secret: &str, clean: &str) -> bool {
    let secret = secret.as_bytes();
    let width = secret.len().min(SURVIVING_RUN);
    secret.windows(width).any(|run| memchr::memmem::find(clean.as_bytes(), run).is_some())
}

/// Runs `clean` over the whole corpus and returns the misses and the number of samples.
fn misses(clean: impl Fn(&str, &mut Dice) -> String) -> (Vec<String>, usize) {
    let mut misses = Vec::new();
    let mut n_samples = 0;
    for (idx, kind) in KINDS.iter().enumerate() {
        let mut dice = Dice::new(idx as u64 + 1);
        for place in PLACES {
            for _ in 0..N_SAMPLES {
                let sample = kind.sample(&mut dice);
                let text = place.write(kind, &sample);
                n_samples += 1;
                if survives(&place.spell(&sample.secret), &clean(&text, &mut dice)) {
                    misses.push(format!("{} | {} | {text}", kind.label, place.label));
                }
            }
        }
    }
    (misses, n_samples)
}

fn assert_recall(misses: &[String], n_samples: usize) {
    let recall = 1.0 - misses.len() as f64 / n_samples as f64;
    println!("recall {recall:.4} over {n_samples} samples; misses:\n{}", misses.join("\n"));
    assert!(recall >= 0.98, "recall is {recall:.4} over {n_samples} samples");
}

#[test]
fn secrets_are_caught_wherever_they_stand() {
    assert!(KINDS.len() >= 56 && PLACES.len() >= 20);
    let (misses, n_samples) = misses(|text, _| redact(text).into_owned());
    assert_recall(&misses, n_samples);
}

#[test]
fn secrets_cut_in_two_by_chunks_are_caught() {
    let filler = "the quick brown fox jumps over the lazy dog\n".repeat(500);
    let (misses, n_samples) = misses(|text, dice| {
        let text = format!("{filler}{text}\n{filler}");
        let mut redactor = Redactor::new();
        let mut clean = String::new();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (piece, tail) = rest.split_at(rest.len().min(1 + dice.below(24_000)));
            redactor.push(piece, &mut clean);
            rest = tail;
        }
        redactor.finish(&mut clean);
        clean
    });
    assert_recall(&misses, n_samples);
}

#[test]
fn no_kind_and_no_place_is_left_out() {
    let mut by_kind: BTreeMap<&str, usize> = BTreeMap::new();
    let mut by_place: BTreeMap<&str, usize> = BTreeMap::new();
    let (misses, _) = misses(|text, _| redact(text).into_owned());
    for miss in &misses {
        let mut labels = miss.splitn(3, " | ");
        *by_kind.entry(labels.next().unwrap()).or_default() += 1;
        *by_place.entry(labels.next().unwrap()).or_default() += 1;
    }
    let n_samples = usize::try_from(N_SAMPLES).unwrap();
    by_kind.retain(|_, n| *n * 10 > PLACES.len() * n_samples);
    by_place.retain(|_, n| *n * 10 > KINDS.len() * n_samples);
    assert!(by_kind.is_empty() && by_place.is_empty(), "weak: {by_kind:?} {by_place:?}");
}

/// Asserts what becomes of a text, with the secret of `label` put in for `%`.
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

#[expect(dead_code, reason = "the signature that every corpus test goes through")]
fn write(place: &Place, kind: &Kind, sample: &Sample) -> String {
    place.write(kind, sample)
}
