//! Compares estimates with the counts of real tokenizers.

use proptest::prelude::*;

use super::*;

const BRIEF: &str = "## Decisions
- Where should the queue live: SQLite, not Redis. Asked where it should live, the person chose SQLite (a table in orders.db). [20260303-where]
- Dropping a column takes two releases, because the old workers still read it. [20260411-dropping]

## Preferences and conventions
- Always use pnpm here, never npm: npm writes a second lock file [20260304-always-use]
- Short commit messages in the imperative, no emoji. One line of at most 60 characters. [20261118-short]

## Pitfalls
- The report tests need TZ=UTC. Without it they fail after 23:00. [20260302-the-report]
- Webhooks are verified with the raw body, before JSON parsing. [20261118-webhooks]
";

const PROSE: &str = "Nacre reads user input, the sessions that coding agents store on disk, and \
    files that people edit. It stores memories as Markdown files with supporting evidence, and \
    prints answers as text or JSON. Files are the source of truth. Every command works without \
    a server. Search indexes, the session catalog and the code map are derived from files and \
    can be rebuilt. A crate may depend only on crates below it; another test rejects new \
    dependency cycles between files.";

const CODE: &str = "pub fn read_config(path: &Path) -> Result<Settings, ConfigError> {
    let text = fs::read_to_string(path)?;
    let mut settings: Settings = toml::from_str(&text)?;
    if settings.hooks.deadline_ms == 0 {
        settings.hooks.deadline_ms = USUAL_DEADLINE_MS;
    }
    settings.files.retain(|file| !file.name.starts_with('.'));
    Ok(settings)
}
";

const SHELL: &str =
    "$ export RUST_LOG=debug && cargo test -p nacre-core --all-targets -- -D warnings
$ curl -s https://example.com/api/v1/items?limit=20 | jq '.items[] | .name'
";

const IDS: &str = "(also 20260303-where-should-the-queue-live-sqlite-not-redis, \
    20261118-deploy-with-make-ship-from-the-release-branch, 20261115-pin-reqwest-to-0-13)";

/// Sample texts with their token counts in `o200k`, `cl100k` and an Anthropic tokenizer.
const COUNTED: [(&str, [usize; 3]); 6] = [
    (BRIEF, [169, 170, 187]),
    (PROSE, [91, 91, 93]),
    (CODE, [93, 93, 111]),
    (SHELL, [49, 49, 57]),
    (IDS, [52, 51, 57]),
    (
        "队列是一个SQLite表,因为一个文件很容易备份。我们决定不使用Redis,因为运维成本太高。",
        [28, 37, 30],
    ),
];

#[test]
fn estimates_are_within_a_tenth_of_real_tokenizers() {
    for (text, counts) in COUNTED {
        let (mean, estimate) = (counts.iter().sum::<usize>() / 3, count_tokens(text));
        assert!(estimate.abs_diff(mean) * 10 <= mean, "{estimate}, not {mean}: {text}");
    }
}

proptest! {
    #[test]
    fn lines_add_up_and_no_estimate_is_above_the_bytes(one in "\\PC{0,80}", two in "\\PC{0,80}") {
        let (a, b) = (one.trim_end(), two.trim_end());
        let both = count_tokens(&format!("{a}\n{b}"));
        prop_assert_eq!(both, count_tokens(a) + 1 + count_tokens(b));
        prop_assert!(both <= a.len() + b.len() + 1);
        prop_assert!(a.is_empty() || count_tokens(a) > 0);
    }
}
