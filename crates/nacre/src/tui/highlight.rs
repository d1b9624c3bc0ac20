//! Highlights the syntax of code and diffs. Similar languages share one set of rules.
//!
//! This is a single-pass lexer rather than a parser, because it runs on every frame of a streamed
//! answer and must handle incomplete code. A misclassified word merely gets the wrong color.

use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};

use super::theme::{Role, Theme};
use super::wrap::{Break, Indent, wrap};

/// A group of languages with similar syntax.
struct Family {
    /// Language names used in code fences, separated by spaces.
    names: &'static str,
    line_comment: &'static str,
    block_comment: Option<(&'static str, &'static str)>,
    /// Delimiters of strings that end on the same line.
    quotes: &'static [char],
    /// Delimiters of strings that can span several lines.
    long_quotes: &'static [&'static str],
    keywords: &'static str,
}

const KEYWORDS: &str = "abstract and as assert async await bool break case catch chan char class \
    const continue crate def default defer del delete do double dyn elif else elsif end enum \
    except export extends extern false False fi final finally float fn for foreach from func \
    function global go goto if impl implements import in include int interface is lambda let \
    local long loop match mod module move mut namespace new next nil None not null nullptr object \
    of or override package pass private protected pub public raise ref require rescue return self \
    Self short static struct super switch template then this throw trait true True try type \
    typedef typeof undefined union unless unsafe until use using val var void where while with \
    yield done esac FROM RUN COPY";

const SQL_KEYWORDS: &str = "and as between by case create delete do else end exists false for from \
    function group having if in index insert into is join left let limit local not null of on or \
    order primary return select set table then true type union unique update values when where \
    while with";

const LITERALS: &str = "true false null yes no";

const C_COMMENT: Option<(&str, &str)> = Some(("/*", "*/"));

const RUST: Family = Family {
    names: "rust rs",
    line_comment: "//",
    block_comment: C_COMMENT,
    quotes: &['"'],
    long_quotes: &[],
    keywords: KEYWORDS,
};

const SCRIPTS: Family = Family {
    names: "python py python3 sh bash shell zsh console make makefile dockerfile ruby rb elixir \
            ex exs",
    line_comment: "#",
    block_comment: None,
    quotes: &['"', '\''],
    long_quotes: &["\"\"\"", "'''"],
    keywords: KEYWORDS,
};

const FAMILIES: &[Family] = &[
    RUST,
    Family {
        names: "javascript js jsx mjs typescript ts tsx svelte vue go golang c h cpp c++ cc hpp java \
                kotlin kt scala swift csharp cs php dart zig proto",
        quotes: &['"', '\''],
        long_quotes: &["`", "\"\"\""],
        ..RUST
    },
    SCRIPTS,
    Family {
        names: "lua sql haskell hs",
        line_comment: "--",
        quotes: &['"', '\''],
        keywords: SQL_KEYWORDS,
        ..RUST
    },
    Family { names: "toml yaml yml ini conf env", keywords: LITERALS, ..SCRIPTS },
    Family { names: "json jsonc json5 jsonl css scss", keywords: LITERALS, ..RUST },
];

/// Highlights code line by line. Strings and comments can span several lines.
pub(super) struct Highlighter {
    family: Option<&'static Family>,
    is_diff: bool,
    is_sql: bool,
    theme: Theme,
    /// The end delimiter and role of the string or comment that is still open when the line starts.
    open: Option<(&'static str, Role)>,
}

impl Highlighter {
    pub(super) fn new(language: &str, theme: Theme) -> Self {
        let name = language.split([',', ' ', '{']).next().unwrap_or_default().to_ascii_lowercase();
        let family = FAMILIES.iter().find(|family| contains_word(family.names, &name));
        let is_diff = matches!(name.as_str(), "diff" | "patch");
        Self { family, is_diff, is_sql: name == "sql", theme, open: None }
    }

    pub(super) fn line(&mut self, line: &str) -> Vec<Span<'static>> {
        if self.is_diff {
            return vec![Span::styled(line.to_owned(), self.theme.style(diff_role(line)))];
        }
        let Some(family) = self.family else {
            return vec![Span::styled(line.to_owned(), self.theme.style(Role::Text))];
        };
        let mut spans = Vec::new();
        let mut rest = line;
        while !rest.is_empty() {
            let (length, role) = self.next(family, rest);
            // The computed length may end in the middle of a character.
            let length = (length.max(1)..=rest.len()).find(|at| rest.is_char_boundary(*at));
            let (piece, after) = rest.split_at(length.unwrap_or(rest.len()));
            push_span(&mut spans, piece, self.theme.style(role));
            rest = after;
        }
        spans
    }

    /// Returns the length and role of the next token.
    fn next(&mut self, family: &'static Family, rest: &str) -> (usize, Role) {
        if let Some((close, role)) = self.open {
            let end = rest.find(close).map(|at| at + close.len());
            if end.is_some() {
                self.open = None;
            }
            return (end.unwrap_or(rest.len()), role);
        }
        if rest.starts_with(family.line_comment) {
            return (rest.len(), Role::Comment);
        }
        let comment = family.block_comment.filter(|(open, _)| rest.starts_with(open));
        let quote = family.long_quotes.iter().find(|quote| rest.starts_with(**quote));
        if let Some((open, close)) = comment {
            self.open = Some((close, Role::Comment));
            return (open.len(), Role::Comment);
        }
        if let Some(quote) = quote {
            self.open = Some((quote, Role::Literal));
            return (quote.len(), Role::Literal);
        }
        let first = rest.chars().next().unwrap_or(' ');
        if family.quotes.contains(&first) {
            return (measure_quoted(rest, first), Role::Literal);
        }
        if first.is_ascii_digit() {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
            return (end.unwrap_or(rest.len()), Role::Number);
        }
        if is_word(first) {
            let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
            let word = &rest[..end];
            let is_keyword = contains_word(family.keywords, word)
                || (self.is_sql && contains_word(family.keywords, &word.to_ascii_lowercase()));
            return (end, if is_keyword { Role::Keyword } else { Role::Text });
        }
        let is_start = |c: char| is_word(c) || !(c == ' ' || c.is_ascii_punctuation());
        let end =
            rest.find(|c: char| is_start(c) || c.is_ascii_punctuation()).unwrap_or(rest.len());
        (end.max(first.len_utf8()), Role::Text)
    }
}

fn contains_word(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the length of a quoted string, including the quotes.
fn measure_quoted(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

fn push_span(spans: &mut Vec<Span<'static>>, text: &str, style: Style) {
    match spans.last_mut() {
        Some(last) if last.style == style => last.content.to_mut().push_str(text),
        Some(_) | None => spans.push(Span::styled(text.to_owned(), style)),
    }
}

fn diff_role(line: &str) -> Role {
    if line.starts_with("+++") || line.starts_with("---") || line.starts_with("diff ") {
        return Role::Heading;
    }
    match line.bytes().next() {
        Some(b'+') => Role::Added,
        Some(b'-') => Role::Removed,
        Some(b'@') => Role::Hunk,
        _ => Role::Text,
    }
}

pub(super) fn diff_lines(
    diff: &str,
    columns: usize,
    indent: &Indent,
    theme: Theme,
) -> Vec<Line<'static>> {
    let line = |line: &str| {
        let span = Span::styled(line.to_owned(), theme.style(diff_role(line)));
        wrap(&[span], columns, indent, Break::Anywhere)
    };
    diff.lines().flat_map(line).collect()
}

/// Formats counts as `+added -removed`.
pub(super) fn diff_counts(added: u32, removed: u32, theme: Theme) -> [Span<'static>; 3] {
    [
        Span::styled(format!("+{added}"), theme.style(Role::Good)),
        Span::raw(" "),
        Span::styled(format!("-{removed}"), theme.style(Role::Bad)),
    ]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Marks each token with its role, such as `k(…)` for a keyword.
    fn mark_tokens(language: &str, code: &str) -> String {
        let theme = Theme::default();
        let mut highlighter = Highlighter::new(language, theme);
        let marks = [
            (Role::Keyword, 'k'),
            (Role::Literal, 's'),
            (Role::Number, 'n'),
            (Role::Comment, 'c'),
            (Role::Added, '+'),
            (Role::Removed, '-'),
        ];
        let mut text = String::new();
        for line in code.lines() {
            for span in highlighter.line(line) {
                let mark = marks.iter().find(|(role, _)| theme.style(*role) == span.style);
                match mark {
                    Some((_, mark)) => text.push_str(&format!("{mark}({})", span.content)),
                    None => text.push_str(&span.content),
                }
            }
            text.push('\n');
        }
        text
    }

    #[test]
    fn families_are_colored() {
        let cases = [
            ("rust", "let x = 1; // one\n", "k(let) x = n(1); c(// one)\n"),
            ("rust", "\"a\\\"b\" fnord\n", "s(\"a\\\"b\") fnord\n"),
            ("rust", "/* a\nb */ fn\n", "c(/* a)\nc(b */) k(fn)\n"),
            ("python", "'''a\nif''' if\n", "s('''a)\ns(if''') k(if)\n"),
            ("sql", "SELECT 1 -- x\n", "k(SELECT) n(1) c(-- x)\n"),
            ("diff", "+a\n-b\n c\n", "+(+a)\n-(-b)\n c\n"),
            ("unknown", "let 1\n", "let 1\n"),
        ];
        for (language, code, expected) in cases {
            // In this theme, added lines and quoted strings have the same style.
            let got = mark_tokens(language, code).replace("s(+a)", "+(+a)");
            assert_eq!(got, expected, "{language}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_lost(code in any::<String>(), family in 0..FAMILIES.len()) {
            let mut highlighter = Highlighter::new(FAMILIES[family].names.split(' ').next().unwrap(), Theme::default());
            for line in code.split('\n') {
                let spans = highlighter.line(line);
                let all: String = spans.iter().map(|span| span.content.as_ref()).collect();
                prop_assert_eq!(all, line);
            }
        }
    }
}
