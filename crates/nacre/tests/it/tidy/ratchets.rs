//! Counts that may only decrease. A commit that lowers a count must also lower its limit.

use std::fmt::Write as _;
use std::path::Path;

use super::{read, sources};
use crate::home::repository;

/// The maximum value of each count.
const LIMITS: &[(&str, usize)] = &[
    ("lines of product code", 125_853),
    ("product files", 785),
    ("structs and enums", 2_076),
    ("`super::super`", 0),
    ("`A::X => B::X` arms", 5),
    ("\"stands\" in comments", 5),
    ("\"told\" or \"tells\" in comments", 10),
    ("lines of ARCHITECTURE.md", 250),
    ("locked packages", 400),
];

#[test]
fn counts_only_fall() {
    let counts = count();
    let mut over = String::new();
    for ((name, limit), count) in LIMITS.iter().zip(counts) {
        if count > *limit {
            writeln!(over, "{name}: {count}, at most {limit}").unwrap();
        }
    }
    assert!(over.is_empty(), "These counts grew:\n{over}");
}

/// Returns the counts, in the order of `LIMITS`.
fn count() -> [usize; 9] {
    let mut counts = [0; 9];
    for path in sources().iter().filter(|path| is_product(path)) {
        let text = read(path);
        let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        counts[1] += 1;
        for line in product.lines().map(str::trim_start) {
            if let Some(comment) = line.strip_prefix("//") {
                let has =
                    |word: &str| comment.split(|c: char| !c.is_alphabetic()).any(|w| w == word);
                counts[5] += usize::from(has("stands"));
                counts[6] += usize::from(has("told") || has("tells"));
                continue;
            }
            counts[0] += usize::from(!line.is_empty());
            let item = line.trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ");
            let item = item.trim_start_matches("pub ");
            counts[2] += usize::from(item.starts_with("struct ") || item.starts_with("enum "));
            counts[3] += line.matches("super::super").count();
            counts[4] += usize::from(is_identity_arm(line));
        }
    }
    counts[7] = read(&repository().join("ARCHITECTURE.md")).lines().count();
    counts[8] = read(&repository().join("Cargo.lock")).matches("[[package]]").count();
    counts
}

/// Returns whether a line maps a variant to another type's variant of the same name.
fn is_identity_arm(line: &str) -> bool {
    let Some((from, to)) = line.trim_end_matches(',').split_once(" => ") else { return false };
    let path = |text: &str| {
        let is_path = text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':');
        let (name, variant) = text.rsplit_once("::")?;
        is_path.then(|| (name.to_owned(), variant.to_owned()))
    };
    matches!((path(from), path(to)), (Some(a), Some(b)) if a.0 != b.0 && a.1 == b.1)
}

fn is_product(path: &Path) -> bool {
    let path = path.strip_prefix(repository()).unwrap_or(path).to_string_lossy();
    let is_test = ["/tests/", "/examples/", "nacre-lab/"].iter().any(|part| path.contains(part));
    !is_test && !["tests.rs", "_tests.rs", "/testing.rs"].iter().any(|end| path.ends_with(end))
}
