//! Measures the redactor on labelled strings, or lists its redactions in files.
//!
//! Without arguments, it reads JSON lines of the form `{"text", "secret"?}` and answers each with
//! `{"gone", "n_redacted", "kinds"}`. With paths, it prints every redaction and its context as a
//! JSON line, so that the output of two versions can be compared.

use std::io::BufRead;

use nacre_base::redact::{Redacted, redact_counted};
use serde_json::{Value, json};

use crate::Outcome;

const CONTEXT: usize = 60;

/// Check labelled strings from standard input, or list every redaction in files
#[derive(Debug, clap::Args)]
pub(crate) struct RedactionArgs {
    files: Vec<String>,
}

pub(super) fn run(args: &RedactionArgs) -> Outcome {
    let files = &args.files;
    if files.is_empty() {
        judge_lines();
    } else {
        files.iter().for_each(|path| list_file(path));
    }
    Ok(true)
}

fn judge_lines() {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let row: Value = serde_json::from_str(&line).expect("a JSON line");
        let text = row["text"].as_str().expect("a text");
        let redacted = redact_counted(text);
        let cuts = cuts(text, &redacted);
        let gone = row["secret"].as_str().map(|secret| !redacted.text.contains(secret));
        let n_redacted: usize = cuts.iter().map(|cut| cut.end - cut.start).sum();
        let kinds: Vec<&str> = cuts.iter().map(|cut| cut.kind).collect();
        println!("{}", json!({"gone": gone, "n_redacted": n_redacted, "kinds": kinds}));
    }
}

fn list_file(path: &str) {
    let Ok(bytes) = std::fs::read(path) else { return };
    let text = String::from_utf8_lossy(&bytes);
    let redacted = redact_counted(&text);
    for cut in cuts(&text, &redacted) {
        let before = text.floor_char_boundary(cut.start.saturating_sub(CONTEXT));
        let after = text.ceil_char_boundary((cut.end + CONTEXT).min(text.len()));
        let row = json!({
            "path": path,
            "start": cut.start,
            "kind": cut.kind,
            "before": &text[before..cut.start],
            "secret": &text[cut.start..cut.end],
            "after": &text[cut.end..after],
        });
        println!("{row}");
    }
}

struct Cut<'r> {
    start: usize,
    end: usize,
    kind: &'r str,
}

/// Aligns the text with its redacted copy to find the parts that placeholders replaced.
fn cuts<'r>(text: &str, redacted: &'r Redacted<'_>) -> Vec<Cut<'r>> {
    let mut cuts: Vec<Cut<'r>> = Vec::new();
    let mut pieces = redacted.text.split("[redacted:");
    let mut pos = pieces.next().map_or(0, str::len);
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        let Some((kind, literal)) = piece.split_once(']') else { continue };
        let rest = &text[pos..];
        // The original text already contained this placeholder.
        if rest.starts_with("[redacted:") && rest[10..].starts_with(piece) {
            pos += 10 + piece.len();
            continue;
        }
        let n_cut = match pieces.peek() {
            None => rest.len().saturating_sub(literal.len()),
            Some(_) => rest.find(literal).unwrap_or_default(),
        };
        cuts.push(Cut { start: pos, end: pos + n_cut, kind });
        pos += n_cut + literal.len();
    }
    cuts
}
