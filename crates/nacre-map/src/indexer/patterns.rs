//! Which patterns cost time: every one but a name, or a name after one `*`, is a part of an automaton that is asked about each path.
//!
//! Such patterns can be written so that all of them stay possible until the last letter of a name. Their number bounds what a
//! repository can make a look cost; real ones have a few dozen.

/// So many of them hold at one place at most, those of the folders above included.
pub(super) const MAX_COSTLY: usize = 400;

/// Whether a pattern is more than a name, or a name after one `*`.
pub(super) fn is_costly(pattern: &str) -> bool {
    let name = pattern.trim_start_matches('!').trim_start_matches("**/").trim_start_matches('/');
    let name = name.trim_end_matches('/').trim_end_matches("/**");
    name.strip_prefix('*').unwrap_or(name).contains(['*', '?', '[', '{'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_endings_cost_nothing() {
        for cheap in ["target", "/target/", "*.log", "!*.rs", "**/dist/**", "docs/*.md", "a b"] {
            assert_eq!(is_costly(cheap), cheap == "docs/*.md", "{cheap}");
        }
        for costly in ["a*b", "foo*", "*a*b", "[Dd]ebug", "?", "*.{js,ts}"] {
            assert!(is_costly(costly), "{costly}");
        }
    }
}
