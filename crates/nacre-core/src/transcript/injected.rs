//! Tells a person's words from text that programs put into user messages.
//!
//! A message can hold both, so it is split: known blocks are taken out by table, and what is left
//! is the person's. A block counts only where a program would write it, at the start of a line, so
//! that people may talk about these tags.
//!
//! A block may hold a file that a stranger wrote, with end tags of its own. So everything up to the last end tag of a name is
//! the block's: to lose words of a person is better than to take a stranger's for theirs.

mod attached;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use self::attached::Doubtful;
use super::event::{InjectedReason, WordSource};
use crate::base::is_hidden_char;
use crate::instructions;

/// What the tag around every text begins with that Nacre hands to an agent; recall must never feed itself.
pub const OWN_TAGS: &str = "nacre-";

/// The tags of Nacre's own: around a brief, around memories that fit a prompt, around a note about a file, and around the
/// question whether there is something to record.
pub const BRIEF_TAG: &str = "nacre-brief";
pub const MEMORY_TAG: &str = "nacre-memory";
pub const NOTE_TAG: &str = "nacre-note";
pub const ASK_TAG: &str = "nacre-ask";

/// How every question begins that Nacre asks an agent of the person as a model: what the agent keeps of it is not a session.
pub const QUESTION_MARK: &str = "[Question from Nacre]";

/// Who wrote a part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    Person(WordSource),
    Program(InjectedReason),
}

/// A part of a user message with one author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    pub author: Author,
    pub text: Cow<'a, str>,
}

/// What to do with a tagged block.
#[derive(Clone, Copy)]
enum Rule {
    Inject(InjectedReason),
    /// The block's content is the person's; the tags are not.
    Unwrap(WordSource),
}

/// Tags that agents wrap around what they add; `-` and `_` forms differ by agent.
const TAGS: &[(&str, Rule)] = &[
    ("system-reminder", Rule::Inject(InjectedReason::SystemReminder)),
    ("system_reminder", Rule::Inject(InjectedReason::SystemReminder)),
    ("system-notification", Rule::Inject(InjectedReason::SystemReminder)),
    ("command-name", Rule::Inject(InjectedReason::Command)),
    ("command-message", Rule::Inject(InjectedReason::Command)),
    ("command-contents", Rule::Inject(InjectedReason::Command)),
    ("command-args", Rule::Unwrap(WordSource::CommandArgs)),
    ("skill-format", Rule::Inject(InjectedReason::Command)),
    ("local-command-stdout", Rule::Inject(InjectedReason::CommandOutput)),
    ("local-command-stderr", Rule::Inject(InjectedReason::CommandOutput)),
    ("bash-stdout", Rule::Inject(InjectedReason::CommandOutput)),
    ("bash-stderr", Rule::Inject(InjectedReason::CommandOutput)),
    ("user_shell_command", Rule::Inject(InjectedReason::CommandOutput)),
    ("bash-input", Rule::Unwrap(WordSource::Shell)),
    ("local-command-caveat", Rule::Inject(InjectedReason::Caveat)),
    ("task-notification", Rule::Inject(InjectedReason::TaskNotice)),
    ("task_notification", Rule::Inject(InjectedReason::TaskNotice)),
    ("subagent_notification", Rule::Inject(InjectedReason::TaskNotice)),
    ("teammate-message", Rule::Inject(InjectedReason::TaskNotice)),
    ("environment_context", Rule::Inject(InjectedReason::Environment)),
    ("environment_details", Rule::Inject(InjectedReason::Environment)),
    ("session_context", Rule::Inject(InjectedReason::Environment)),
    ("user_info", Rule::Inject(InjectedReason::Environment)),
    ("git_status", Rule::Inject(InjectedReason::Environment)),
    ("project_layout", Rule::Inject(InjectedReason::Environment)),
    ("timestamp", Rule::Inject(InjectedReason::Environment)),
    ("user_instructions", Rule::Inject(InjectedReason::Instructions)),
    ("user_action", Rule::Inject(InjectedReason::Instructions)),
    ("INSTRUCTIONS", Rule::Inject(InjectedReason::Instructions)),
    ("permissions", Rule::Inject(InjectedReason::Instructions)),
    ("collaboration_mode", Rule::Inject(InjectedReason::Instructions)),
    ("skill", Rule::Inject(InjectedReason::Instructions)),
    ("skills_instructions", Rule::Inject(InjectedReason::Instructions)),
    ("apps_instructions", Rule::Inject(InjectedReason::Instructions)),
    ("plugins_instructions", Rule::Inject(InjectedReason::Instructions)),
    ("recommended_plugins", Rule::Inject(InjectedReason::Instructions)),
    ("agent_skills", Rule::Inject(InjectedReason::Instructions)),
    ("rules", Rule::Inject(InjectedReason::Instructions)),
    ("user_rules", Rule::Inject(InjectedReason::Instructions)),
    ("always_applied_workspace_rules", Rule::Inject(InjectedReason::Instructions)),
    ("ide_opened_file", Rule::Inject(InjectedReason::EditorContext)),
    ("ide_selection", Rule::Inject(InjectedReason::EditorContext)),
    ("ide_diagnostics", Rule::Inject(InjectedReason::EditorContext)),
    ("post-tool-use-hook", Rule::Inject(InjectedReason::Hook)),
    ("attached_files", Rule::Inject(InjectedReason::EditorContext)),
    ("external_links", Rule::Inject(InjectedReason::EditorContext)),
    ("open_and_recently_viewed_files", Rule::Inject(InjectedReason::EditorContext)),
    ("additional_data", Rule::Inject(InjectedReason::EditorContext)),
    ("current_file", Rule::Inject(InjectedReason::EditorContext)),
    ("image_files", Rule::Inject(InjectedReason::EditorContext)),
    ("image", Rule::Inject(InjectedReason::EditorContext)),
    ("user-prompt-submit-hook", Rule::Inject(InjectedReason::Hook)),
    ("session-start-hook", Rule::Inject(InjectedReason::Hook)),
    ("hook_prompt", Rule::Inject(InjectedReason::Hook)),
    ("hook_context", Rule::Inject(InjectedReason::Hook)),
    ("turn_aborted", Rule::Inject(InjectedReason::Interruption)),
    ("qwen", Rule::Inject(InjectedReason::Hook)),
    ("current_datetime", Rule::Inject(InjectedReason::Environment)),
    ("mode_notice", Rule::Inject(InjectedReason::SystemReminder)),
    ("system_notification", Rule::Inject(InjectedReason::TaskNotice)),
    ("state_snapshot", Rule::Inject(InjectedReason::CompactionSummary)),
    ("user_query", Rule::Unwrap(WordSource::Prompt)),
];

/// Messages that are injected from their first word to their last.
const OPENINGS: &[(&str, InjectedReason)] = &[
    (QUESTION_MARK, InjectedReason::Nacre),
    ("# AGENTS.md instructions for ", InjectedReason::Instructions),
    ("Base directory for this skill", InjectedReason::Instructions),
    ("Caveat: The messages below were generated by the user", InjectedReason::Caveat),
    ("This session is being continued from a previous", InjectedReason::CompactionSummary),
    ("Your task is to create a detailed summary of", InjectedReason::CompactionSummary),
    ("Another language model started to solve this problem", InjectedReason::CompactionSummary),
    ("[SUGGESTION MODE:", InjectedReason::PromptSuggestion),
    ("Stop hook feedback", InjectedReason::Hook),
    ("PreToolUse:", InjectedReason::Hook),
    ("PostToolUse:", InjectedReason::Hook),
    ("UserPromptSubmit hook ", InjectedReason::Hook),
    ("Operation stopped by hook", InjectedReason::Hook),
    ("<permissions instructions>", InjectedReason::Instructions),
    ("[Request interrupted by user", InjectedReason::Interruption),
    ("Read the output file to retrieve the result", InjectedReason::TaskNotice),
    ("Full transcript available at: ", InjectedReason::TaskNotice),
];

/// What opens a mark, or looks as if it did.
const OPENING_SIGNS: [char; 5] = ['<', '＜', '﹤', '⟨', '〈'];

/// What ends one, or looks as if it did.
const SLASHES: [char; 5] = ['/', '／', '∕', '⁄', '⧸'];

/// The longest name of a mark.
const MAX_NAME: usize = 48;

/// Marks that models are trained on, between which their own protocol stands.
const PROTOCOL_MARKS: [&str; 8] = [
    "function_calls",
    "function_results",
    "function_result",
    "invoke",
    "tool_call",
    "tool_calls",
    "tool_response",
    "tool_result",
];

/// No agent opens a message this often. Where one does, all that follows is a program's.
const MAX_OPENINGS: usize = 64;

/// No agent writes a longer tag, with all its attributes.
const MAX_TAG_BYTES: usize = 1024;

/// Lines that agents write below the notice of a task that ended.
const NOTICE_LINES: [&str; 2] =
    ["Read the output file to retrieve the result", "Full transcript available at: "];

/// Editors put their context first and the request under one of these headings.
const CONTEXT_OPENINGS: [&str; 2] =
    ["# Context from my IDE setup:", "# Files mentioned by the user:"];
const REQUEST_HEADINGS: [&str; 2] = ["## My request for Codex:", "## My request for Claude:"];

/// The block of a prompt template that holds what the person gave it.
const TEMPLATE_INPUT: &str = "## User Input\n\n```text\n";
/// A message this short is not a template.
const MIN_TEMPLATE: usize = 1024;

/// Whether a tool belongs to Nacre, under whichever name the agent's MCP client gave it.
pub fn is_nacre_tool(name: &str) -> bool {
    let bare = name.strip_prefix("mcp__").or_else(|| name.strip_prefix("mcp_")).unwrap_or(name);
    bare.starts_with("nacre")
}

/// Whether a shell call, given by its arguments as JSON, runs Nacre.
pub fn is_nacre_command(arguments: &str) -> bool {
    static WORD: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\"nacre "));
    WORD.find_iter(arguments.as_bytes())
        .any(|at| arguments[..at].trim_end().ends_with([':', '[', ',']))
}

/// Whether a text carries something that Nacre handed to an agent.
pub fn holds_own_text(text: &str) -> bool {
    static OPEN: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("<nacre-"));
    OPEN.find(text.as_bytes()).is_some()
}

/// A text between the marks of Nacre's own. What looks like the mark of a program inside it is made harmless: a memory can
/// neither end the block nor begin another one.
pub fn marked(tag: &str, text: &str) -> String {
    format!("<{tag}>\n{}\n</{tag}>", without_tags(text).trim())
}

/// A text in which no tag of [`TAGS`], none of Nacre's own and no mark of a model's own protocol begins or ends a block. What a
/// reader would take for such a mark counts, too.
fn without_tags(text: &str) -> String {
    let mut harmless = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(OPENING_SIGNS) {
        let sign = rest[at..].chars().next().map_or(0, char::len_utf8);
        let (before, after) = (&rest[..at], &rest[at + sign..]);
        harmless.push_str(before);
        harmless.push_str(if is_mark(after) { "‹" } else { &rest[at..at + sign] });
        rest = after;
    }
    harmless.push_str(rest);
    harmless
}

/// Whether the name of a mark follows the sign that opens it.
fn is_mark(after: &str) -> bool {
    if after.starts_with('|') {
        return true;
    }
    let is_shown = |c: &char| !is_hidden_char(*c) && !c.is_whitespace();
    let shown = after.chars().filter(is_shown).skip_while(|c| SLASHES.contains(c));
    let shown = shown.take(MAX_NAME).collect::<Vec<_>>();
    // A character that is not ASCII may look like any letter of a name.
    let begins_with = |name: &str| {
        let is_same =
            |(shown, c): (&char, char)| !shown.is_ascii() || shown.eq_ignore_ascii_case(&c);
        name.len() <= shown.len() && shown.iter().zip(name.chars()).all(is_same)
    };
    let is_name = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_whole = |name: &str| begins_with(name) && !shown.get(name.len()).is_some_and(is_name);
    let mut names = TAGS.iter().map(|(name, _)| *name).chain(PROTOCOL_MARKS);
    begins_with(OWN_TAGS) || names.any(is_whole)
}

/// The name that a tag begins with.
fn tag_name(inside: &str) -> &str {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    &inside[..inside.find(|c| !is_name(c)).unwrap_or(inside.len())]
}

/// The names of all tags that are known here.
#[cfg(test)]
pub(super) fn known_tags() -> Vec<&'static str> {
    TAGS.iter().map(|(name, _)| *name).chain(attached::FILE_TAGS.map(|(name, _)| name)).collect()
}

/// What becomes of the block of a tag; `None` where no program writes it.
fn rule_of(name: &str) -> Option<Rule> {
    if name.starts_with(OWN_TAGS) {
        return Some(Rule::Inject(InjectedReason::Nacre));
    }
    TAGS.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule)
}

/// Whether a text as written in JSON may name Nacre once it is decoded. Only letters that are written
/// as escapes could hide the name, and no agent writes them so: where there are any, it may.
pub(super) fn may_name_nacre(written: &str) -> bool {
    static NAME: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("nacre"));
    static ESCAPE: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\\u00"));
    let bytes = written.as_bytes();
    let is_letter = |at: usize| matches!(bytes.get(at + 4), Some(b'2'..=b'7'));
    NAME.find(bytes).is_some() || ESCAPE.find_iter(bytes).any(is_letter)
}

/// Why a text that its agent marks as not typed was added.
pub fn reason_of(text: &str) -> InjectedReason {
    let injected = split_user(text).into_iter().find_map(|piece| match piece.author {
        Author::Program(reason) => Some(reason),
        Author::Person(_) => None,
    });
    injected.unwrap_or(InjectedReason::Host)
}

/// Splits a user message by author; the person's own words come out as one piece.
pub fn split_user(text: &str) -> Vec<Piece<'_>> {
    let (mut pieces, mut rest) = (Vec::new(), text.trim());
    while let Some((piece, after)) = opening(rest) {
        if pieces.len() == MAX_OPENINGS {
            pieces.push(Piece { text: Cow::Borrowed(rest), ..piece });
            return pieces;
        }
        pieces.push(piece);
        rest = after.trim();
    }
    pieces.extend(split_rest(rest));
    pieces
}

/// Splits what follows the openings of a message.
fn split_rest(text: &str) -> Vec<Piece<'_>> {
    if !text.contains('<') && !attached::may_hold(text) {
        return own_pieces(Cow::Borrowed(text));
    }
    split_by_tags(text)
}

/// The person's own words, of which a template may hold the most.
fn own_pieces(text: Cow<'_, str>) -> Vec<Piece<'_>> {
    let trimmed = match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    };
    if trimmed.is_empty() {
        return Vec::new();
    }
    let Some(input) = template_input(&trimmed).map(str::to_owned) else {
        return vec![Piece { author: Author::Person(WordSource::Prompt), text: trimmed }];
    };
    let author = Author::Program(InjectedReason::Command);
    let mut pieces = vec![Piece { author, text: trimmed }];
    if !input.is_empty() && input != "$ARGUMENTS" {
        let author = Author::Person(WordSource::TemplateInput);
        pieces.push(Piece { author, text: Cow::Owned(input) });
    }
    pieces
}

fn program(reason: InjectedReason, text: &str) -> Piece<'_> {
    Piece { author: Author::Program(reason), text: Cow::Borrowed(text.trim()) }
}

/// What a program wrote at the start of a message, and what follows it.
fn opening(text: &str) -> Option<(Piece<'_>, &str)> {
    if CONTEXT_OPENINGS.iter().any(|opening| text.starts_with(opening)) {
        // A selected file may hold the heading; the editor writes its own last.
        let ends = REQUEST_HEADINGS
            .iter()
            .filter_map(|heading| text.rfind(heading).map(|at| at + heading.len()));
        let request = ends.max().unwrap_or(text.len());
        let (context, rest) = text.split_at(request);
        return Some((program(InjectedReason::EditorContext, context), rest));
    }
    let (_, reason) = OPENINGS.iter().find(|(opening, _)| text.starts_with(opening))?;
    let end = match reason {
        InjectedReason::Interruption => text.find(']').map_or(text.len(), |at| at + 1),
        InjectedReason::Instructions => {
            let end_tag = "</INSTRUCTIONS>";
            text.rfind(end_tag).map_or(text.len(), |at| at + end_tag.len())
        }
        InjectedReason::SystemReminder
        | InjectedReason::Command
        | InjectedReason::CommandOutput
        | InjectedReason::Environment
        | InjectedReason::EditorContext
        | InjectedReason::PromptSuggestion
        | InjectedReason::Caveat
        | InjectedReason::Hook
        | InjectedReason::TaskNotice
        | InjectedReason::CompactionSummary
        | InjectedReason::Host
        | InjectedReason::Nacre => text.len(),
    };
    let (injected, rest) = text.split_at(end);
    Some((program(*reason, injected), rest))
}

/// What the person gave a template; `None` where the text is not one. A text with two such blocks does not say which is theirs.
fn template_input(text: &str) -> Option<&str> {
    if text.len() < MIN_TEMPLATE {
        return None;
    }
    let (_, after) = text.split_once(TEMPLATE_INPUT)?;
    if after.contains(TEMPLATE_INPUT) {
        return Some("");
    }
    Some(after.split("\n```").next().unwrap_or_default().trim())
}

fn split_by_tags(text: &str) -> Vec<Piece<'_>> {
    let ends = EndTags::of(text);
    let mut split = Split { text, doubtful: attached::doubtful(text, &ends), ..Split::default() };
    let mut at = 0;
    while let Some(mut block) = next_block(text, at, &ends) {
        split.own(at..block.start);
        if matches!(block.rule, Rule::Inject(InjectedReason::TaskNotice)) {
            block.end = notice_end(text, block.end);
        }
        split.block(&block);
        at = block.end;
    }
    split.own(at..text.len());
    split.finish()
}

/// A message while it is split.
#[derive(Default)]
struct Split<'a> {
    text: &'a str,
    /// Where a program's block may still go on, ascending.
    doubtful: Vec<Doubtful>,
    pieces: Vec<Piece<'a>>,
    own: Vec<&'a str>,
    /// The requests in tags, and how much of `own` stood before the last of them.
    requests: Vec<&'a str>,
    n_before_request: usize,
}

impl<'a> Split<'a> {
    /// Takes text outside of blocks: the person's, as far as no program's block may reach.
    fn own(&mut self, range: Range<usize>) {
        let mut from = range.start;
        for doubtful in &self.doubtful {
            let (start, end) = (doubtful.range.start.max(from), doubtful.range.end.min(range.end));
            if start < end {
                self.own.extend(filled(&self.text[from..start]));
                let inside = filled(&self.text[start..end]);
                self.pieces.extend(inside.map(|text| program(doubtful.reason, text)));
                from = end;
            }
        }
        self.own.extend(filled(&self.text[from..range.end]));
    }

    fn block(&mut self, block: &Block<'a>) {
        let is_doubtful = self.doubtful.iter().any(|one| one.range.contains(&block.start));
        let whole = &self.text[block.start..block.end];
        match block.rule {
            Rule::Inject(reason) => self.pieces.push(program(reason, whole)),
            Rule::Unwrap(_) if is_doubtful => {
                self.pieces.push(program(InjectedReason::EditorContext, whole));
            }
            Rule::Unwrap(WordSource::Prompt) => {
                self.requests.push(block.content);
                self.n_before_request = self.own.len();
            }
            Rule::Unwrap(source) if !block.content.trim().is_empty() => {
                let text = Cow::Borrowed(block.content.trim());
                self.pieces.push(Piece { author: Author::Person(source), text });
            }
            Rule::Unwrap(_) => {}
        }
    }

    fn finish(mut self) -> Vec<Piece<'a>> {
        let Some(last) = self.requests.pop() else {
            let own = match self.own.as_slice() {
                [one] => Cow::Borrowed(*one),
                several => Cow::Owned(several.join("\n\n")),
            };
            self.pieces.extend(own_pieces(own));
            return self.pieces;
        };
        // An agent that marks the request writes all that stands beside it. Of several, all but the last stood in something
        // that it added; where more follows, the last one may have, too.
        let is_sure = self.requests.is_empty() || self.own.len() == self.n_before_request;
        let added = self.requests.into_iter().map(|text| (InjectedReason::EditorContext, text));
        let beside = self.own.into_iter().map(|text| (InjectedReason::Host, text));
        let unsure = (!is_sure).then_some((InjectedReason::EditorContext, last));
        for (reason, text) in added.chain(beside).chain(unsure) {
            self.pieces.extend(filled(text).map(|text| program(reason, text)));
        }
        if is_sure {
            self.pieces.extend(own_pieces(Cow::Borrowed(last)));
        }
        self.pieces
    }
}

/// A text without the white space around it, where there is more.
fn filled(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

/// Where a notice ends whose block ends at `from`: after the lines that belong to it.
fn notice_end(text: &str, from: usize) -> usize {
    let mut end = from;
    loop {
        let rest = &text[end..];
        let line = rest.trim_start();
        if !NOTICE_LINES.iter().any(|notice| line.starts_with(notice)) {
            return end;
        }
        let n_blank = rest.len() - line.len();
        end += n_blank + line.find('\n').unwrap_or(line.len());
    }
}

/// A known block inside a message.
struct Block<'a> {
    start: usize,
    end: usize,
    content: &'a str,
    rule: Rule,
}

/// Where the end tags of a text stand. They are looked up once: a text may open many blocks and close none.
struct EndTags<'a> {
    /// The places of each name, ascending.
    places: HashMap<&'a str, Vec<usize>>,
    /// Where the last block ends that `nacre export` wrote.
    last_export: Option<usize>,
}

impl<'a> EndTags<'a> {
    fn of(text: &'a str) -> Self {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, opening) in text.match_indices("</") {
            let name = tag_name(&text[at + opening.len()..]);
            if rule_of(name).is_some() || attached::is_name(name) {
                places.entry(name).or_default().push(at);
            }
        }
        Self { places, last_export: text.rfind(instructions::END) }
    }

    /// Where the last end of a tag stands.
    fn last(&self, name: &str) -> Option<usize> {
        self.places.get(name)?.last().copied()
    }

    /// The first end of a tag at or after `from`.
    fn next(&self, name: &str, from: usize) -> Option<usize> {
        let places = self.places.get(name)?;
        places.get(places.partition_point(|at| *at < from)).copied()
    }
}

/// The first known block at or after `from`.
fn next_block<'a>(text: &'a str, from: usize, ends: &EndTags<'_>) -> Option<Block<'a>> {
    let mut at = from;
    loop {
        let start = at + text.get(at..)?.find('<')?;
        // Right after another block counts as a line's start.
        if (start == from || starts_line(text, start))
            && let Some(block) = block_at(text, start, ends)
        {
            return Some(block);
        }
        at = start + 1;
    }
}

fn starts_line(text: &str, at: usize) -> bool {
    text[..at].trim_end_matches([' ', '\t']).chars().next_back().is_none_or(|before| before == '\n')
}

fn block_at<'a>(text: &'a str, start: usize, ends: &EndTags<'_>) -> Option<Block<'a>> {
    if text[start..].starts_with(instructions::BEGIN) {
        return exported_block_at(text, start, ends);
    }
    let inside = &text[start + 1..];
    let name = tag_name(inside);
    let (rule, open_end) = opening_tag(text, start)?;
    let (content_end, end) = match ends.next(name, open_end) {
        Some(close_at) => {
            let close_end = text[close_at..].find('>').map_or(text.len(), |at| close_at + at + 1);
            (close_at, close_end)
        }
        // A block that never closes was cut; at the very start it takes the message with it.
        None if start == 0 => (text.len(), text.len()),
        None => return None,
    };
    Some(Block { start, end, content: &text[open_end..content_end], rule })
}

/// What becomes of the block that a tag opens, and where the tag ends.
fn opening_tag(text: &str, start: usize) -> Option<(Rule, usize)> {
    let inside = &text[start + 1..];
    let name = tag_name(inside);
    let attributes = &inside[name.len()..];
    let attributes = &attributes[..attributes.floor_char_boundary(MAX_TAG_BYTES)];
    let rule = rule_of(name).or_else(|| attached::rule_of(name, attributes))?;
    Some((rule, start + 1 + name.len() + attributes.find('>')? + 1))
}

/// The block that `nacre export` keeps in an instruction file, with its marks.
fn exported_block_at<'a>(text: &'a str, start: usize, ends: &EndTags<'_>) -> Option<Block<'a>> {
    ends.last_export.filter(|last| start < *last)?;
    let end = start + text[start..].find(instructions::END)? + instructions::END.len();
    let rule = Rule::Inject(InjectedReason::Nacre);
    Some(Block { start, end, content: &text[start..end], rule })
}

#[cfg(test)]
mod tests;
