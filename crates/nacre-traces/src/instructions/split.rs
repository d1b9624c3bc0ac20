//! Splits an instruction file into statements. Headings provide the topic; list items and
//! paragraphs are statements. A line that ends with a colon introduces the lines below it. Nested
//! items, code and tables belong to the preceding statement, and all steps of a procedure belong to
//! its first step.

use super::pieces::{FrontMatter, Piece, PieceKind, front_matter, pieces};
use super::statement::{FoundStatement, NotTaken, Statement, plain, statement, whole_file};

/// No real instruction file contains this many statements.
const MAX_STATEMENTS: usize = 2000;

/// Maximum length of the glob patterns in a note. Longer lists are of no use to readers.
const MAX_GLOBS: usize = 150;

/// Words in a heading or introduction that indicate a procedure.
const PROCEDURES: &str = "\
    to |how |step|process|workflow|releas|setup|set up|install|deploy|adding |add a|\
    procedure|checklist|before you|creating ";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    pub statements: Vec<Statement>,
    pub left_out: Vec<LeftOut>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Counted from 1.
    pub line: usize,
    pub text: String,
    pub reason: NotTaken,
}

pub fn split(text: &str) -> Split {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines: Vec<&str> = text.lines().collect();
    let (front, from) = front_matter(&lines);
    let mut splitter = Splitter::new(&lines, &front);
    if !front.memory_type.is_empty() {
        let title = if front.description.is_empty() { &front.name } else { &front.description };
        let body = lines[from.min(lines.len())..].join("\n");
        splitter.take(whole_file(title, &body, from + 1), from + 1, title);
        return splitter.split;
    }
    for piece in pieces(&lines, from) {
        if splitter.split.statements.len() == MAX_STATEMENTS {
            break;
        }
        splitter.add(piece);
    }
    splitter.flush();
    splitter.split
}

struct Splitter<'t> {
    lines: &'t [&'t str],
    split: Split,
    headings: Vec<(usize, String)>,
    /// Items that introduce nested items, with their indentation.
    labels: Vec<(usize, String)>,
    /// The line that introduces a list or code block, with its line number.
    intro: Option<(String, usize)>,
    current: Option<Current>,
    /// Which files the instruction file applies to, according to its front matter.
    note: Option<String>,
}

struct Current {
    found: FoundStatement,
    indent: Option<usize>,
    lines: std::ops::Range<usize>,
}

impl<'t> Splitter<'t> {
    fn new(lines: &'t [&'t str], front: &FrontMatter) -> Self {
        let is_some = !matches!(front.globs.as_str(), "" | "*" | "**" | "**/*" | "[]");
        let is_short = front.globs.len() <= MAX_GLOBS;
        let note = (is_some && is_short).then(|| format!("Applies to `{}`.", front.globs));
        let headings = match front.description.as_str() {
            "" => Vec::new(),
            // Level 0 ranks above every heading in the text.
            description => vec![(0, description.to_owned())],
        };
        Self {
            lines,
            split: Split::default(),
            headings,
            labels: Vec::new(),
            intro: None,
            current: None,
            note,
        }
    }

    fn add(&mut self, piece: Piece) {
        match piece.kind {
            PieceKind::Heading { level } => {
                self.end_list();
                self.headings.retain(|(above, _)| *above < level);
                // A heading replaces the front matter's description, because it is more specific.
                self.headings.retain(|(above, _)| *above > 0);
                self.headings.push((level, piece.text));
            }
            PieceKind::Paragraph => self.add_paragraph(piece),
            PieceKind::Item => self.add_item(piece),
            PieceKind::Code | PieceKind::Table => self.add_detail(piece),
        }
    }

    fn add_paragraph(&mut self, piece: Piece) {
        let goes_on = |current: &Current| current.indent.is_some_and(|above| piece.indent > above);
        if self.current.as_ref().is_some_and(goes_on) {
            return self.attach(&piece, plain(&piece.text));
        }
        self.end_list();
        if piece.text.trim_end_matches('*').ends_with(':') {
            self.intro = Some((label_of(&piece.text), piece.lines.start));
            return;
        }
        self.begin(piece, None);
    }

    fn add_item(&mut self, piece: Piece) {
        let indent = piece.indent;
        let is_nested = |current: &Current| current.indent.is_some_and(|above| above < indent);
        match self.current.take() {
            Some(current) if is_nested(&current) && introduces(&current.found.text) => {
                self.labels.push((current.indent.unwrap_or(0), label_of(&current.found.text)));
            }
            Some(current) if is_nested(&current) || self.is_next_step(&current, &piece) => {
                self.current = Some(current);
                return self.attach(&piece, format!("- {}", plain(&piece.text)));
            }
            current => {
                self.current = current;
                self.flush();
            }
        }
        self.labels.retain(|(above, _)| *above < indent);
        self.begin(piece, Some(indent));
    }

    /// Returns whether the item continues the procedure whose first step is the current statement.
    fn is_next_step(&self, current: &Current, piece: &Piece) -> bool {
        let is_numbered =
            |line: usize| self.lines[line].trim_start().starts_with(|c: char| c.is_ascii_digit());
        let topic = current.found.topics.last().map(|topic| topic.to_lowercase());
        let is_procedure = |topic: String| {
            PROCEDURES.split('|').any(|word| match word.ends_with(' ') {
                true => topic.starts_with(word),
                false => topic.contains(word),
            })
        };
        current.indent == Some(piece.indent)
            && is_numbered(current.lines.start)
            && is_numbered(piece.lines.start)
            && topic.is_some_and(is_procedure)
    }

    fn add_detail(&mut self, piece: Piece) {
        let text = piece.text.clone();
        if self.current.is_some() {
            return self.attach(&piece, text);
        }
        if piece.kind == PieceKind::Table {
            return self.leave_out(piece.lines.start + 1, &text, NotTaken::NotAStatement);
        }
        let lines = piece.lines.clone();
        self.begin(Piece { text: String::new(), ..piece }, None);
        if let Some(current) = &mut self.current {
            current.found.details.push(text);
            current.lines = lines;
        }
    }

    fn begin(&mut self, piece: Piece, indent: Option<usize>) {
        self.flush();
        let Piece { text, lines, .. } = piece;
        let mut topics: Vec<String> = self.headings.iter().map(|(_, text)| text.clone()).collect();
        // A level-one heading followed by other headings is the document's title rather than a
        // topic.
        if topics.len() > 1 && self.headings[0].0 == 1 {
            topics.remove(0);
        }
        topics.extend(self.intro.iter().map(|(text, _)| text.clone()));
        topics.extend(self.labels.iter().map(|(_, text)| text.clone()));
        let found =
            FoundStatement { line: lines.start + 1, topics, text, ..FoundStatement::default() };
        self.current = Some(Current { found, indent, lines });
    }

    fn attach(&mut self, piece: &Piece, text: String) {
        let Some(current) = &mut self.current else { return };
        current.found.details.push(text);
        current.lines.end = piece.lines.end;
    }

    fn flush(&mut self) {
        let Some(Current { mut found, lines, .. }) = self.current.take() else { return };
        found.quote = self.lines[lines].join("\n").trim_end().to_owned();
        if found.text.is_empty() && found.details.is_empty() {
            return;
        }
        let (line, text) = (found.line, found.text.clone());
        let made = statement(found).map(|made| match &self.note {
            Some(note) => Statement { body: format!("{}\n\n{note}", made.body), ..made },
            None => made,
        });
        self.take(made, line, &text);
    }

    fn end_list(&mut self) {
        self.flush();
        self.labels.clear();
        self.intro = None;
    }

    fn take(&mut self, statement: Result<Statement, NotTaken>, line: usize, text: &str) {
        match statement {
            Ok(statement) => self.split.statements.push(statement),
            Err(reason) => self.leave_out(line, text, reason),
        }
    }

    fn leave_out(&mut self, line: usize, text: &str, reason: NotTaken) {
        let text: String = plain(text).chars().take(80).collect();
        if self.split.left_out.len() < MAX_STATEMENTS {
            self.split.left_out.push(LeftOut { line, text, reason });
        }
    }
}

fn introduces(text: &str) -> bool {
    let text = plain(text);
    text.ends_with(':') || text.split_whitespace().count() <= 2
}

fn label_of(text: &str) -> String {
    plain(text).trim_end_matches([':', '*']).trim().to_owned()
}
