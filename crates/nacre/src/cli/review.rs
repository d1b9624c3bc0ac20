//! `nacre review`: accepts or rejects candidates.

use std::path::Path;

use nacre_ops::{memory as memories, review as ops};
use nacre_types::{
    MemoryEditRequest, MemoryEntry, MemorySearchRequest, MemoryShowRequest, MemoryStatus,
    MemoryType, ReviewCandidate, ReviewDecideRequest, ReviewDecision, ReviewListReport,
    ReviewListRequest, Scope,
};

use super::memory::run_editor;
use super::prelude::*;
use super::render::{
    count, print_memory_row, print_more, quote_place, report_changes, warn_broken,
};

/// Maximum number of memories that a candidate may supersede, to choose from.
const MAX_SIMILAR: usize = 5;

const MAX_QUOTES: usize = 2;

const MAX_QUOTE_CHARS: usize = 300;

const QUESTION: &str =
    "[a]ccept, [e]dit, [r]eject, [s]upersede a memory, [n]ext, [b]ack, [q]uit, [?] help? ";

const HELP: &str = "\
a  accept
A  accept this and all following candidates that are not quarantined
e  edit first
r  reject: delete it permanently
s  accept, and supersede an older memory
n  decide later
b  back to the previous candidate
q  quit; decisions are kept";

/// Accept or reject candidates
///
/// A candidate is a memory that needs your confirmation, found by a sync or by `nacre import`.
/// Until you accept it, it is not used in briefs and ranks below active memories in answers. In a
/// terminal, asks about one candidate at a time, and one key decides; elsewhere lists them, newest
/// first.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ReviewArgs {
    #[command(subcommand)]
    command: Option<ReviewCommand>,
    /// List the candidates without asking
    #[arg(long)]
    list: bool,
    /// Review the candidates of all projects
    #[arg(long, conflicts_with = "scope")]
    all: bool,
    /// Show the statements imported from this file one by one
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
    /// Show at most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    scope: ScopeArg,
}

#[derive(Debug, Subcommand)]
enum ReviewCommand {
    /// Make candidates active
    Accept {
        /// The candidates' ids; import:FILE for all statements from a file
        #[arg(required_unless_present = "all")]
        ids: Vec<String>,
        /// Accept all candidates that are not quarantined
        #[arg(long, conflicts_with_all = ["ids", "supersedes"])]
        all: bool,
        /// The id of the memory that the candidate supersedes
        #[arg(long, value_name = "ID")]
        supersedes: Option<String>,
        #[command(flatten)]
        scope: ScopeArg,
    },
    /// Delete candidates permanently
    ///
    /// Only a hash of the text is kept, so later sessions do not bring the same claim back.
    Reject {
        /// The full ids of the candidates; import:FILE for all statements from a file
        #[arg(required = true)]
        ids: Vec<String>,
        #[command(flatten)]
        scope: ScopeArg,
    },
}

pub(crate) fn cmd_review(ui: &mut Ui, host: &Host, args: ReviewArgs) -> CommandResult {
    let ReviewArgs { command, list, all: all_projects, file, limit, scope } = args;
    let (ids, decision, supersedes, scope) = match command {
        Some(ReviewCommand::Accept { mut ids, all, supersedes, scope }) => {
            let scope = scope.mode();
            if all {
                // Quarantined candidates must be read, and accepted one at a time by id.
                let request =
                    ReviewListRequest { limit: Some(0), scope, ..ReviewListRequest::default() };
                let all = ops::waiting(host, &request)?;
                let trusted = all.candidates.into_iter().filter(|one| one.reason.is_none());
                ids = trusted.map(|candidate| candidate.memory.id).collect();
            }
            (ids, ReviewDecision::Accept, supersedes, scope)
        }
        Some(ReviewCommand::Reject { ids, scope }) => {
            (ids, ReviewDecision::Reject, None, scope.mode())
        }
        None => {
            let scope = scope.mode();
            let request = ReviewListRequest { limit, file, scope, all_projects };
            return review(ui, host, &request, list);
        }
    };
    if ids.is_empty() {
        ui.status("No candidates to review.");
        return Ok(Exit::DONE);
    }
    let request = ReviewDecideRequest { ids, decision, supersedes, scope };
    let report = ops::decide(host, &request, &ui.events())?;
    report_changes(ui, &report)
}

fn review(ui: &mut Ui, host: &Host, request: &ReviewListRequest, list: bool) -> CommandResult {
    let report = ops::list(host, request)?;
    if !request.all_projects {
        ui.shorten_ids(host, request.scope);
    }
    let (mut exit, mut n_left) = (Exit::DONE, report.total);
    if list || ui.is_json() || !ui.can_ask() || report.candidates.is_empty() {
        exit = ui.report(&report, print_list)?;
    } else {
        let picker = Picker { host, scope: request.scope, n_accepted: 0, n_rejected: 0 };
        n_left = picker.pick(ui, &report)?;
    }
    let lists_all = !request.all_projects && request.file.is_none() && request.scope.is_none();
    if lists_all && !ui.is_json() {
        let (limit, all_projects) = (Some(1), true);
        let all = ReviewListRequest { limit, all_projects, ..ReviewListRequest::default() };
        let n_more = ops::waiting(host, &all)?.total.saturating_sub(n_left);
        if n_more > 0 {
            let candidates = count(n_more, "candidate");
            ui.status(format!("{candidates} to review in other projects: nacre review --all"));
        }
    }
    Ok(exit)
}

fn print_list(ui: &mut Ui, report: &ReviewListReport) {
    for (number, candidate) in report.candidates.iter().enumerate() {
        if number > 0 {
            ui.line("");
        }
        print_candidate(ui, candidate);
    }
    match report.total {
        0 => ui.status("No candidates to review."),
        _ if report.candidates.iter().any(|candidate| candidate.project.is_some()) => ui.status(
            "\nDecide: nacre --project NAME review accept ID, nacre --project NAME review reject ID",
        ),
        _ => ui.status("\nDecide: nacre review accept ID, nacre review reject ID"),
    }
    print_more(ui, report.total - report.candidates.len());
    warn_broken(ui, &report.broken);
}

fn print_candidate(ui: &mut Ui, candidate: &ReviewCandidate) {
    let ReviewCandidate { memory, project, body, quotes, reason } = candidate;
    if ui.is_watched() {
        ui.paragraph("", Role::Title, &memory.title);
        let mut notes = vec![memory.kind.as_deref().unwrap_or(memory.r#type.as_str()).to_owned()];
        notes.extend(memory.trust.map(|trust| trust.as_str().to_owned()));
        notes.extend(memory.stated().map(|time| ui.when(time)));
        notes.push(ui.short_id(&memory.id).to_owned());
        ui.note(0, Role::Faint, notes.join(", "));
    } else {
        print_memory_row(ui, memory);
    }
    if let Some(project) = project {
        ui.note(4, Role::Faint, format!("project {project}"));
    }
    if let Some(reason) = reason {
        ui.note(4, Role::Warning, format!("quarantined: {reason}"));
    }
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (whole, quotes) = (plain(body), &quotes[..quotes.len().min(MAX_QUOTES)]);
    // A body that only repeats a quote is not printed, and neither is a quote within the body.
    let is_quoted = quotes.iter().any(|quote| plain(&quote.text).contains(&whole));
    for line in body.lines().filter(|line| !is_quoted && !line.trim().is_empty()) {
        ui.paragraph("    ", Role::Plain, line);
    }
    for quote in quotes {
        let words = plain(&quote.text);
        if is_quoted || !whole.contains(&words) {
            let cut: String = words.chars().take(MAX_QUOTE_CHARS).collect();
            let more = if cut.len() < words.len() { "…" } else { "" };
            ui.paragraph("    > ", Role::Plain, &format!("{cut}{more}"));
        }
        ui.note(6, Role::Faint, quote_place(ui, &quote.place, &quote.at));
    }
    if quotes.is_empty() {
        ui.note(4, Role::Warning, "no quote as evidence");
    }
}

struct Picker<'a> {
    host: &'a Host,
    scope: Option<Scope>,
    n_accepted: usize,
    n_rejected: usize,
}

impl Picker<'_> {
    /// Asks about each candidate, and returns how many are left.
    fn pick(mut self, ui: &mut Ui, report: &ReviewListReport) -> Result<usize> {
        let mut candidates = report.candidates.clone();
        let (n_shown, mut at) = (candidates.len(), 0);
        while let Some(candidate) = candidates.get_mut(at) {
            ui.line(format!("\nCandidate {} of {n_shown}", at + 1));
            print_candidate(ui, candidate);
            let Some(key) = ui.ask_key(QUESTION)? else { break };
            let next = match key.trim() {
                "a" => self.decide(ui, candidate, ReviewDecision::Accept, None).map(|()| at + 1),
                "A" => self.accept_rest(ui, &candidates[at..]).map(|n_decided| at + n_decided),
                "e" => self.edit(ui, candidate).map(|()| at),
                "r" => self.decide(ui, candidate, ReviewDecision::Reject, None).map(|()| at + 1),
                "s" => self.supersede(ui, candidate).map(|n_decided| at + n_decided),
                "n" | "" => Ok(at + 1),
                "b" => Ok(at.saturating_sub(1)),
                "q" => break,
                _ => {
                    ui.line(HELP);
                    Ok(at)
                }
            };
            match next {
                Ok(next) => at = next,
                // An invalid id or an editor failure does not end the review.
                Err(error) => ui.warning(&error.message, error.hints.first().map(String::as_str)),
            }
        }
        let Self { n_accepted, n_rejected, .. } = self;
        let n_left = report.total.saturating_sub(n_accepted + n_rejected);
        ui.status(format!("{n_accepted} accepted, {n_rejected} rejected, {n_left} left"));
        Ok(n_left)
    }

    /// Runs `act` with the host and scope of the candidate's project.
    fn with_host<T>(
        &self,
        candidate: &ReviewCandidate,
        act: impl FnOnce(&Host, Option<Scope>) -> Result<T>,
    ) -> Result<T> {
        match &candidate.project {
            Some(name) => act(&self.host.in_project(name)?, None),
            None => act(self.host, self.scope),
        }
    }

    fn decide(
        &mut self,
        ui: &mut Ui,
        candidate: &ReviewCandidate,
        decision: ReviewDecision,
        supersedes: Option<String>,
    ) -> Result<()> {
        let report = self.with_host(candidate, |host, scope| {
            let ids = vec![candidate.memory.id.clone()];
            let request = ReviewDecideRequest { ids, decision, supersedes, scope };
            ops::decide(host, &request, &ui.events())
        })?;
        let n_decided = usize::from(!report.ids.is_empty());
        match decision {
            ReviewDecision::Accept => self.n_accepted += n_decided,
            ReviewDecision::Reject => self.n_rejected += n_decided,
        }
        report_changes(ui, &report).map(|_| ())
    }

    /// Accepts the candidates that are not quarantined, and returns how many to go forward.
    fn accept_rest(&mut self, ui: &mut Ui, rest: &[ReviewCandidate]) -> Result<usize> {
        let trusted: Vec<_> = rest.iter().filter(|one| one.reason.is_none()).collect();
        let question = format!("Accept {}?", count(trusted.len(), "candidate"));
        if !ui.confirm(&question)? {
            return Ok(0);
        }
        for candidate in trusted {
            self.decide(ui, candidate, ReviewDecision::Accept, None)?;
        }
        Ok(rest.len())
    }

    /// Offers the memories most similar to the candidate, and accepts it as the replacement of one.
    /// Returns how many candidates were decided.
    fn supersede(&mut self, ui: &mut Ui, candidate: &ReviewCandidate) -> Result<usize> {
        let similar: Vec<MemoryEntry> = self.with_host(candidate, |host, scope| {
            // The first clause names the topic. Punctuation could be read as a filter or a phrase.
            let title = candidate.memory.title.split([',', ';', ':']).next().unwrap_or_default();
            let is_word = |c: char| c.is_alphanumeric() || c.is_whitespace();
            let query = title.replace(|c| !is_word(c), " ");
            let request = MemorySearchRequest { query, scope, ..MemorySearchRequest::default() };
            let hits = memories::search(host, &request)?.hits.into_iter().map(|hit| hit.memory);
            let is_claim = |memory: &MemoryEntry| {
                memory.status == MemoryStatus::Active.as_str()
                    && memory.r#type != MemoryType::Summary
            };
            Ok(hits.filter(is_claim).take(MAX_SIMILAR).collect())
        })?;
        for (number, memory) in similar.iter().enumerate() {
            ui.paragraph(&format!("  {}  ", number + 1), Role::Title, &memory.title);
            ui.note(5, Role::Faint, ui.short_id(&memory.id).to_owned());
        }
        let key = ui.ask_key("Number of the memory it supersedes, [i]d of another, [n]one? ")?;
        let key = key.unwrap_or_default();
        let number = key.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let older = match number.and_then(|number| similar.get(number)) {
            Some(memory) => Some(memory.id.clone()),
            None if key.trim() == "i" => ui.ask("Id: ")?.map(|id| id.trim().to_owned()),
            None => None,
        };
        let Some(older) = older else { return Ok(0) };
        self.decide(ui, candidate, ReviewDecision::Accept, Some(older))?;
        Ok(1)
    }

    fn edit(&self, ui: &mut Ui, candidate: &mut ReviewCandidate) -> Result<()> {
        let shown = self.with_host(candidate, |host, scope| {
            let (id, editor) = (candidate.memory.id.clone(), host.editor()?);
            let request = MemoryEditRequest { id: id.clone(), discard: false, scope };
            let run = |draft: &Path| run_editor(host, editor, draft);
            memories::edit(host, &request, &run, &ui.events())?;
            let request = MemoryShowRequest { id, scope, ..MemoryShowRequest::default() };
            memories::show(host, &request, &ui.events())
        })?;
        (candidate.memory, candidate.body) = (shown.memory, shown.body);
        Ok(())
    }
}
