//! The part of a text that shows why it was found.

use super::words;

/// The longest snippet, in characters.
const MAX_CHARS: usize = 160;

/// Lines of a long text that are looked at.
const MAX_LINES: usize = 400;

/// The line that holds most terms of the question, cut around them; the first line when none does. A heading says what
/// follows and nothing else: it is no such line.
pub fn of(text: &str, question: &str) -> String {
    let wanted = words::terms(question);
    let says_something = |line: &&str| !line.is_empty() && !is_mark(line);
    let lines = text.lines().map(str::trim).filter(says_something).take(MAX_LINES);
    let mut best: Option<(usize, &str)> = None;
    for line in lines {
        let n_held = n_held(line, &wanted);
        if best.is_none_or(|(most, _)| n_held > most) {
            best = Some((n_held, line));
        }
        if n_held == wanted.len() {
            break;
        }
    }
    best.map_or_else(String::new, |(_, line)| cut(line, &wanted))
}

/// Whether a line is a heading, a rule or the edge of a block of code.
fn is_mark(line: &str) -> bool {
    let bare = line.trim_start_matches('#');
    let is_heading = bare.len() < line.len() && (bare.is_empty() || bare.starts_with(' '));
    is_heading || line.starts_with("```") || line.chars().all(|c| "-=*_".contains(c))
}

fn n_held(line: &str, wanted: &[String]) -> usize {
    let mut held = vec![false; wanted.len()];
    words::each_term(line, |term| {
        if let Some(idx) = wanted.iter().position(|wanted| wanted == term) {
            held[idx] = true;
        }
    });
    held.into_iter().filter(|is_held| *is_held).count()
}

/// A line that is too long is cut at a blank, some words before the first term.
fn cut(line: &str, wanted: &[String]) -> String {
    if line.chars().count() <= MAX_CHARS {
        return line.to_owned();
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let first = words.iter().position(|word| n_held(word, wanted) > 0).unwrap_or(0);
    let start = first.saturating_sub(4);
    let mut cut = if start > 0 { "…".to_owned() } else { String::new() };
    for word in &words[start..] {
        if cut.chars().count() + word.chars().count() + 1 > MAX_CHARS {
            cut.push('…');
            break;
        }
        if !cut.is_empty() && cut != "…" {
            cut.push(' ');
        }
        cut.push_str(word);
    }
    cut.chars().take(MAX_CHARS + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_with_most_terms_is_shown() {
        let text = "# Why\n\nOne file is simple.\nThe queue is a SQLite table.\n";
        assert_eq!(of(text, "sqlite queues"), "The queue is a SQLite table.");
        assert_eq!(of(text, "nothing"), "One file is simple.");
        assert_eq!(of("## Intent\n\nMend it.\n\n## Outcome", "intent"), "Mend it.");
        assert_eq!(of("#1 is open\n---\n", "x"), "#1 is open");
        assert_eq!(of("", "x"), "");
    }

    #[test]
    fn a_long_line_is_cut_around_its_term() {
        let line = format!("{}needle {}", "lorem ".repeat(100), "ipsum ".repeat(100));
        let snippet = of(&line, "needles");
        assert!(snippet.starts_with("…lorem lorem lorem lorem needle"), "{snippet}");
        assert!(snippet.chars().count() <= MAX_CHARS + 1);
    }
}
