//! Whether a statement about code says of one name what the lines say of another.
//!
//! Who calls, holds or sets comes before what is called, held or set, in code as in a sentence. A sentence that names them the
//! other way round is turned round by a word such as "by" or "in", or it is wrong.

use super::source::Source;

/// Words between two names that turn them round.
const TURNS: &[&str] = &["by", "from", "in", "inside", "into", "of", "on", "to", "within"];

/// Words between two names that set them beside each other.
const JOINS: &[&str] = &["and", "or", "then", "after", "before", "but", "while", "nor"];

/// Whether two names that follow each other in a statement stand the other way round in the lines.
pub(super) fn exchanges_names(statement: &str, source: &Source) -> bool {
    let mut pieces = statement.split('`');
    let mut last: Option<Vec<usize>> = None;
    let mut between = pieces.next().unwrap_or_default();
    while let Some(name) = pieces.next() {
        let places = places(name.trim(), source);
        if let Some(before) = &last
            && is_exchanged(before, between, &places)
        {
            return true;
        }
        last = Some(places);
        between = pieces.next().unwrap_or_default();
    }
    false
}

/// Whether every place of the first name is behind every place of the second, or before it where a word turns them round.
fn is_exchanged(first: &[usize], between: &str, second: &[usize]) -> bool {
    let words: Vec<String> = between
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let has = |table: &[&str]| words.iter().any(|word| table.contains(&word.as_str()));
    // Without a verb between them, or across a comma, nothing is said of one by the other.
    if words.is_empty() || has(JOINS) || between.contains([',', ';', ':', '(', ')', '.']) {
        return false;
    }
    let (Some(first_from), Some(first_to)) = (first.iter().min(), first.iter().max()) else {
        return false;
    };
    let (Some(second_from), Some(second_to)) = (second.iter().min(), second.iter().max()) else {
        return false;
    };
    match has(TURNS) {
        true => first_to < second_from && words.iter().any(|word| word == "by"),
        false => second_to < first_from,
    }
}

/// Where a name stands in the lines, as a whole word.
fn places(name: &str, source: &Source) -> Vec<usize> {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    let text = source.units.iter().map(|unit| unit.text.as_str()).collect::<Vec<_>>().join("\n");
    if name.is_empty() {
        return Vec::new();
    }
    text.match_indices(name)
        .filter(|(at, found)| {
            !text[..*at].ends_with(is_inside) && !text[at + found.len()..].starts_with(is_inside)
        })
        .map(|(at, _)| at)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_the_order_of_the_lines() {
        let mut source = Source::default();
        source.add_lines(
            "src/queue.rs",
            "fn claim(queue: &mut Queue) {\n    queue.lock.wait();\n    self.jobs.pop_front()\n}",
        );
        for (statement, expected) in [
            ("`claim` calls `wait`", false),
            ("`wait` calls `claim`", true),
            ("`wait` is called by `claim`", false),
            ("`claim` is called by `wait`", true),
            ("`pop_front` is called in `claim`", false),
            ("`wait` and `claim` are there", false),
            ("`jobs` belongs to `claim`", false),
            ("`pop_front` comes after `wait`", false),
            ("`claim` takes a `Queue`", false),
            ("`gone` calls `claim`", false),
        ] {
            assert_eq!(exchanges_names(statement, &source), expected, "{statement}");
        }
    }
}
