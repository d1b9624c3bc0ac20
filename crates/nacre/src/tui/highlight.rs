//! Colors in code: keywords, strings, comments and numbers, by families of languages.
//!
//! A lexer of one pass and no tree: it runs on every frame while an answer is being written, on code that is not complete. What
//! it takes for a keyword wrongly costs a color and nothing else.

use ratatui_core::text::Span;

use super::theme::{Role, Theme};

/// What languages that look alike have in common.
struct Family {
    /// The words after the fence that name a language of it.
    names: &'static [&'static str],
    line_comments: &'static [&'static str],
    block_comment: Option<(&'static str, &'static str)>,
    /// Each opens and closes a text inside one line.
    quotes: &'static [char],
    /// Each opens and closes a text that may have several lines.
    long_quotes: &'static [&'static str],
    keywords: &'static [&'static str],
}

const FAMILIES: &[Family] = &[
    Family {
        names: &["rust", "rs"],
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        quotes: &['"'],
        long_quotes: &[],
        keywords: &[
            "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum",
            "extern", "false", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod",
            "move", "mut", "pub", "ref", "return", "self", "Self", "static", "struct", "super",
            "trait", "true", "type", "unsafe", "use", "where", "while",
        ],
    },
    Family {
        names: &["python", "py", "python3"],
        line_comments: &["#"],
        block_comment: None,
        quotes: &['"', '\''],
        long_quotes: &["\"\"\"", "'''"],
        keywords: &[
            "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
            "elif", "else", "except", "False", "finally", "for", "from", "global", "if", "import",
            "in", "is", "lambda", "match", "None", "nonlocal", "not", "or", "pass", "raise",
            "return", "self", "True", "try", "while", "with", "yield",
        ],
    },
    Family {
        names: &["javascript", "js", "jsx", "mjs", "typescript", "ts", "tsx", "svelte", "vue"],
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        quotes: &['"', '\''],
        long_quotes: &["`"],
        keywords: &[
            "any",
            "as",
            "async",
            "await",
            "break",
            "case",
            "catch",
            "class",
            "const",
            "continue",
            "default",
            "delete",
            "do",
            "else",
            "enum",
            "export",
            "extends",
            "false",
            "finally",
            "for",
            "from",
            "function",
            "if",
            "implements",
            "import",
            "in",
            "instanceof",
            "interface",
            "let",
            "new",
            "null",
            "of",
            "private",
            "public",
            "readonly",
            "return",
            "static",
            "super",
            "switch",
            "this",
            "throw",
            "true",
            "try",
            "type",
            "typeof",
            "undefined",
            "var",
            "void",
            "while",
            "yield",
        ],
    },
    Family {
        names: &["go", "golang"],
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        quotes: &['"', '\''],
        long_quotes: &["`"],
        keywords: &[
            "break",
            "case",
            "chan",
            "const",
            "continue",
            "default",
            "defer",
            "else",
            "fallthrough",
            "false",
            "for",
            "func",
            "go",
            "goto",
            "if",
            "import",
            "interface",
            "map",
            "nil",
            "package",
            "range",
            "return",
            "select",
            "struct",
            "switch",
            "true",
            "type",
            "var",
        ],
    },
    Family {
        names: &[
            "c", "h", "cpp", "c++", "cc", "hpp", "java", "kotlin", "kt", "scala", "swift",
            "csharp", "cs", "php", "dart", "zig", "proto",
        ],
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        quotes: &['"', '\''],
        long_quotes: &["\"\"\""],
        keywords: &[
            "abstract",
            "auto",
            "bool",
            "boolean",
            "break",
            "case",
            "catch",
            "char",
            "class",
            "const",
            "continue",
            "def",
            "default",
            "do",
            "double",
            "else",
            "enum",
            "extends",
            "extern",
            "false",
            "final",
            "float",
            "for",
            "foreach",
            "fun",
            "func",
            "function",
            "guard",
            "if",
            "implements",
            "import",
            "in",
            "include",
            "int",
            "interface",
            "let",
            "long",
            "match",
            "namespace",
            "new",
            "nil",
            "null",
            "nullptr",
            "object",
            "override",
            "package",
            "private",
            "protected",
            "protocol",
            "public",
            "return",
            "self",
            "short",
            "signed",
            "sizeof",
            "static",
            "struct",
            "super",
            "switch",
            "template",
            "this",
            "throw",
            "throws",
            "trait",
            "true",
            "try",
            "typedef",
            "typename",
            "union",
            "unsigned",
            "using",
            "val",
            "var",
            "virtual",
            "void",
            "when",
            "while",
        ],
    },
    Family {
        names: &["sh", "bash", "shell", "zsh", "console", "make", "makefile", "dockerfile"],
        line_comments: &["#"],
        block_comment: None,
        quotes: &['"', '\''],
        long_quotes: &[],
        keywords: &[
            "case", "do", "done", "elif", "else", "esac", "exit", "export", "fi", "for",
            "function", "if", "in", "local", "return", "set", "then", "until", "while", "FROM",
            "RUN", "COPY",
        ],
    },
    Family {
        names: &["ruby", "rb", "elixir", "ex", "exs"],
        line_comments: &["#"],
        block_comment: None,
        quotes: &['"', '\''],
        long_quotes: &["\"\"\""],
        keywords: &[
            "and",
            "begin",
            "case",
            "class",
            "cond",
            "def",
            "defmodule",
            "defp",
            "do",
            "else",
            "elsif",
            "end",
            "ensure",
            "false",
            "fn",
            "if",
            "in",
            "module",
            "next",
            "nil",
            "not",
            "or",
            "require",
            "rescue",
            "return",
            "self",
            "super",
            "then",
            "true",
            "unless",
            "use",
            "until",
            "when",
            "while",
            "with",
            "yield",
        ],
    },
    Family {
        names: &["lua", "sql", "haskell", "hs"],
        line_comments: &["--"],
        block_comment: Some(("/*", "*/")),
        quotes: &['"', '\''],
        long_quotes: &[],
        keywords: &[
            "and", "as", "between", "by", "case", "create", "delete", "do", "else", "end",
            "exists", "false", "for", "from", "function", "group", "having", "if", "in", "index",
            "insert", "into", "is", "join", "left", "let", "limit", "local", "module", "nil",
            "not", "null", "of", "on", "or", "order", "primary", "return", "select", "set",
            "table", "then", "true", "type", "union", "unique", "update", "values", "where",
            "while", "with",
        ],
    },
    Family {
        names: &["toml", "yaml", "yml", "ini", "conf", "env"],
        line_comments: &["#"],
        block_comment: None,
        quotes: &['"', '\''],
        long_quotes: &["\"\"\"", "'''"],
        keywords: &["true", "false", "null", "yes", "no"],
    },
    Family {
        names: &["json", "jsonc", "json5", "jsonl", "css", "scss"],
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        quotes: &['"'],
        long_quotes: &[],
        keywords: &["true", "false", "null"],
    },
];

/// Colors code, line by line. A text or comment that is open at the end of a line goes on in the next.
pub(super) struct Highlighter {
    family: Option<&'static Family>,
    is_diff: bool,
    is_sql: bool,
    theme: Theme,
    /// What closes the text or comment that the line begins in.
    open: Option<(&'static str, Role)>,
}

impl Highlighter {
    /// For the word that stands after a fence.
    pub(super) fn new(language: &str, theme: Theme) -> Self {
        let name = language.split([',', ' ', '{']).next().unwrap_or_default().to_ascii_lowercase();
        let family = FAMILIES.iter().find(|family| family.names.contains(&name.as_str()));
        let is_diff = matches!(name.as_str(), "diff" | "patch");
        Self { family, is_diff, is_sql: name == "sql", theme, open: None }
    }

    /// One line of code, without its end.
    pub(super) fn line(&mut self, line: &str) -> Vec<Span<'static>> {
        if self.is_diff {
            return vec![Span::styled(line.to_owned(), self.theme.style(super::diff::role(line)))];
        }
        let Some(family) = self.family else {
            return vec![Span::styled(line.to_owned(), self.theme.style(Role::Text))];
        };
        let mut spans = Spans { spans: Vec::new(), theme: self.theme };
        let mut rest = line;
        while !rest.is_empty() {
            let (length, role) = self.next(family, rest);
            // A text from outside is cut only between characters.
            let length = (length.max(1)..=rest.len()).find(|at| rest.is_char_boundary(*at));
            let (piece, after) = rest.split_at(length.unwrap_or(rest.len()));
            spans.push(piece, role);
            rest = after;
        }
        spans.spans
    }

    /// How long the next piece is, and what it is.
    fn next(&mut self, family: &'static Family, rest: &str) -> (usize, Role) {
        if let Some((close, role)) = self.open {
            let end = rest.find(close).map(|at| at + close.len());
            if end.is_some() {
                self.open = None;
            }
            return (end.unwrap_or(rest.len()), role);
        }
        if family.line_comments.iter().any(|open| rest.starts_with(open)) {
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
            return (quoted(rest, first), Role::Literal);
        }
        if first.is_ascii_digit() {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
            return (end.unwrap_or(rest.len()), Role::Number);
        }
        if is_word(first) {
            let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
            return (end, self.word_role(family, &rest[..end]));
        }
        let is_start = |c: char| is_word(c) || !(c == ' ' || c.is_ascii_punctuation());
        let end =
            rest.find(|c: char| is_start(c) || c.is_ascii_punctuation()).unwrap_or(rest.len());
        (end.max(first.len_utf8()), Role::Text)
    }

    fn word_role(&self, family: &Family, word: &str) -> Role {
        let is_keyword = family.keywords.contains(&word)
            || (self.is_sql && family.keywords.contains(&word.to_ascii_lowercase().as_str()));
        if is_keyword { Role::Keyword } else { Role::Text }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// How long a text in quotes is, with the quotes.
fn quoted(rest: &str, quote: char) -> usize {
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

/// Neighbors of the same role are one piece.
struct Spans {
    spans: Vec<Span<'static>>,
    theme: Theme,
}

impl Spans {
    fn push(&mut self, text: &str, role: Role) {
        let style = self.theme.style(role);
        match self.spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(text),
            Some(_) | None => self.spans.push(Span::styled(text.to_owned(), style)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Each piece between marks: `k(…)` for a keyword and so on.
    fn marked(language: &str, code: &str) -> String {
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
            // Added lines and texts in quotes look the same in this theme.
            let got = marked(language, code).replace("s(+a)", "+(+a)");
            assert_eq!(got, expected, "{language}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_lost(code in any::<String>(), family in 0..FAMILIES.len()) {
            let mut highlighter = Highlighter::new(FAMILIES[family].names[0], Theme::default());
            for line in code.split('\n') {
                let spans = highlighter.line(line);
                let all: String = spans.iter().map(|span| span.content.as_ref()).collect();
                prop_assert_eq!(all, line);
            }
        }
    }
}
