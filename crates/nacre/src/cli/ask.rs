//! `nacre ask`

use std::collections::BTreeMap;

use jiff::Timestamp;
use nacre_ops::ask as ops;
use nacre_types::{
    AskReport, AskRequest, MemoryAnswer, ModelAnswer, RecalledQuote, SaidInSession, SentenceDoubt,
    StoreScope,
};

use super::layout::day;
use super::prelude::*;
use super::remote::{by_server_or, server};
use super::render::{count, parenthesize, print_not_verified};

const DEFAULT_LIMIT: usize = 5;

const MAX_QUOTE_CHARS: usize = 400;

const NOT_KNOWN: &str = "Nothing in memory answers that.";
const NOT_SURE: &str = "Nothing in memory clearly answers that. Closest:";

/// Ask a question and get an answer with citations
///
/// With a model, a short answer is written from the matching memories and printed with the memories
/// that it cites. Sentences without a valid source are left out and counted. Sentences whose words
/// their sources do not contain are marked, and the source is printed below the answer. The
/// question and the memories are sent to the model set for `ask`.
///
/// Without a model, the best matching memory is printed. If no memory clearly answers the question,
/// the command says so, and prints the closest memories and what you said about it in a session, if
/// anything.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// The question
    #[arg(required = true)]
    question: Vec<String>,

    /// Answer from at most this many memories (1 to 20)
    #[arg(long, short = 'n', value_name = "N", default_value_t = DEFAULT_LIMIT)]
    limit: usize,

    /// Print the matching memories, even if a model is set
    #[arg(long)]
    no_model: bool,

    /// Read the model's responses from this file, for tests
    #[arg(long, value_name = "FILE", conflicts_with = "no_model")]
    scripted: Option<String>,

    /// Answer from the memories of all registered projects
    #[arg(long, conflicts_with = "scope")]
    all_projects: bool,

    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_ask(ui: &mut Ui, host: &Host, args: AskArgs) -> CommandResult {
    let AskArgs { question, limit, no_model, scripted, all_projects, scope } = args;
    // Only this process can read the script file by its path.
    let server = if scripted.is_some() { None } else { server(ui, host) };
    let request = AskRequest {
        question: question.join(" "),
        limit: Some(limit),
        no_model,
        scripted,
        scope: scope.mode(),
        all_projects,
    };
    let here = |events: &_| ops::ask(host, &request, events);
    let report = by_server_or(server, "POST /api/ask", &request, &ui.cancellable_events(), here)?;
    ui.report(&report, |ui, report| match report {
        AskReport::Model(answer) => print_answer(ui, answer),
        AskReport::Memories(answer) => print_memories(ui, answer),
    })
}

fn print_answer(ui: &mut Ui, answer: &ModelAnswer) {
    match &answer.answer {
        None => ui.line(NOT_KNOWN),
        Some(text) => ui.text(text),
    }
    for sentence in answer.sentences.iter().filter(|sentence| !sentence.verified) {
        for quote in &sentence.quotes {
            let text = format!("not verified; {} says: {}", quote.source, in_quotes(&quote.text));
            ui.note(4, Role::Warning, text);
        }
    }
    if !answer.memories.is_empty() {
        ui.line("");
    }
    for memory in &answer.memories {
        let note = memory.project.clone().or_else(|| same_id(memory.scope, &memory.also_in));
        let note = parenthesize("  ", note.as_slice());
        let about = title(format!("{}{note}", memory.title));
        let updated = faint(memory.updated.as_deref().map(day).unwrap_or_default());
        ui.table([[id(&memory.id), faint(&memory.r#type), updated, about]]);
        print_not_verified(ui, &memory.not_verified);
        if let Some((quote, speaker)) = memory.quote.as_ref().zip(memory.speaker) {
            let from = speaker.introduce(memory.place.as_deref().unwrap_or_default());
            ui.note(4, Role::Faint, format!("{from}: {}", in_quotes(quote)));
        }
    }
    for place in &answer.messages {
        let quotes = answer.sentences.iter().flat_map(|sentence| &sentence.quotes);
        for quote in quotes.filter(|quote| quote.source == *place) {
            let text = ui.paint(Role::Faint, in_quotes(&quote.text));
            ui.line(format!("{}  {text}", ui.paint(Role::Id, place)));
        }
    }
    if let Some(left_out) = left_out_text(&answer.left_out) {
        ui.status(ui.paint(Role::Faint, left_out));
    }
    if let Some(failure) = &answer.failure {
        let message = format!("The answer is incomplete: {}", failure.message);
        ui.warning(message, failure.hints.first().map(String::as_str));
    }
}

fn print_memories(ui: &mut Ui, answer: &MemoryAnswer) {
    if !answer.known {
        ui.line(if answer.memories.is_empty() { NOT_KNOWN } else { NOT_SURE });
    }
    for (number, memory) in answer.memories.iter().enumerate() {
        if number == 1 && answer.known {
            ui.line("\nSee also:");
        }
        let title = ui.paint(Role::Title, Shown(&memory.title).one_line());
        let id = ui.paint(Role::Id, format!("[{}]", memory.id));
        let mut notes: Vec<String> = Vec::new();
        notes.extend(memory.updated.as_deref().map(day).map(str::to_owned));
        notes.extend((memory.status != "active").then(|| memory.status.clone()));
        notes.extend(memory.trust.map(|trust| trust.as_str().to_owned()));
        notes.extend(memory.replaced_by.as_ref().map(|id| format!("replaced by {id}")));
        notes.extend(memory.project.as_ref().map(|name| Shown(name).one_line()));
        notes.extend(same_id(memory.scope, &memory.also_in).filter(|_| memory.project.is_none()));
        ui.line(format!("{title} {id}{}", parenthesize(" ", &notes)));
        print_not_verified(ui, &memory.not_verified);
        if !memory.line.is_empty() {
            ui.line(format!("    {}", Shown(&memory.line).one_line()));
        }
        if let Some(RecalledQuote { text, speaker, place, at }) = &memory.proof {
            let when = if at.len() < 10 { String::new() } else { format!(" ({})", day(at)) };
            let quote = format!("{}: {}{when}", speaker.introduce(place), in_quotes(text));
            ui.note(4, Role::Faint, quote);
        }
    }
    if let Some(SaidInSession { text, place, at }) = &answer.said {
        let day = at.as_deref().and_then(|at| at.parse::<Timestamp>().ok());
        let who = day.map(|at| at.strftime("On %-d %B %Y you").to_string());
        let who = who.as_deref().unwrap_or("You");
        let text = shorten_quote(text);
        ui.line(format!("{who} said: “{text}” (nacre trace show {place})"));
    }
}

fn shorten_quote(text: &str) -> String {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Shown(&folded).one_line().chars().take(MAX_QUOTE_CHARS).collect()
}

fn in_quotes(text: &str) -> String {
    format!("\"{}\"", shorten_quote(text))
}

fn same_id(scope: StoreScope, also_in: &[StoreScope]) -> Option<String> {
    let others: Vec<&str> = also_in.iter().map(|scope| scope.as_str()).collect();
    (!others.is_empty()).then(|| format!("{}; also in {}", scope.as_str(), others.join(", ")))
}

fn left_out_text(doubts: &BTreeMap<SentenceDoubt, usize>) -> Option<String> {
    let why: Vec<String> =
        doubts.iter().map(|(doubt, n)| format!("{n} {}", doubt.reason())).collect();
    match doubts.values().sum() {
        0 => None,
        n => Some(format!("Left out {}: {}.", count(n, "sentence"), why.join(", "))),
    }
}
