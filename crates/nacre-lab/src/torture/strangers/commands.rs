//! Every `nacre` command, with arguments that make it do real work.

use std::time::Duration;

use super::Verbs;
use super::memories::{CLAIM, ORDER, PERSONS};
use super::traces::TRACE;
use super::victims::Victims;
use crate::torture::tally::Tally;

const SCRIPT: &str = "{script}";

pub(super) struct Verb {
    pub(super) args: &'static [&'static str],
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Git,
    Model,
    /// Reads an agent's database. Runs only at sites with a database.
    Trace,
    Other,
    /// Prints a briefing for the user, which must not contain untrusted text.
    Brief,
}

const fn git(args: &'static [&'static str]) -> Verb {
    Verb { args, kind: Kind::Git }
}

const fn model(args: &'static [&'static str]) -> Verb {
    Verb { args, kind: Kind::Model }
}

const fn trace(args: &'static [&'static str]) -> Verb {
    Verb { args, kind: Kind::Trace }
}

const fn other(args: &'static [&'static str]) -> Verb {
    Verb { args, kind: Kind::Other }
}

const VERBS: &[Verb] = &[
    other(&["init"]),
    other(&["status"]),
    other(&["doctor"]),
    other(&["doctor", "--evidence"]),
    other(&["doctor", "--fix"]),
    other(&["memory", "add", "Use tabs", "--body", "They are shorter."]),
    other(&["memory", "list"]),
    git(&["memory", "show", "20260101-a-claim", "--history"]),
    other(&["memory", "search", "deploy"]),
    other(&["memory", "search", "deploy", "--all-projects"]),
    other(&["memory", "related", "20260101-a-claim"]),
    other(&["memory", "edit", "20260101-a-claim"]),
    other(&["memory", "archive", "20260101-a-claim"]),
    other(&["memory", "restore", "20260101-a-claim"]),
    other(&["memory", "forget", "20260101-nothing", "--yes"]),
    other(&["memory", "reset", "--yes"]),
    model(&["ask", "How do we deploy?"]),
    Verb { args: &["brief"], kind: Kind::Brief },
    Verb { args: &["brief", "--task", "deploy"], kind: Kind::Brief },
    Verb { args: &["export", "--agents-md", "--dry-run"], kind: Kind::Brief },
    Verb { args: &["hook", "claude", "start"], kind: Kind::Brief },
    Verb { args: &["hook", "claude", "prompt"], kind: Kind::Brief },
    other(&["import"]),
    other(&["import", "--dry-run", "."]),
    other(&["review"]),
    other(&["review", "accept", "20260101-a-claim"]),
    other(&["review", "reject", "20260101-a-claim"]),
    other(&["index"]),
    other(&["index", "--rebuild"]),
    other(&["trace"]),
    other(&["trace", "show", "nothing"]),
    other(&["trace", "search", "deploy"]),
    other(&["trace", "import", "trace.jsonl"]),
    model(&["sync"]),
    git(&["maintain", "--force"]),
    other(&["report"]),
    trace(&["trace", "import", TRACE]),
    git(&["run", "--scripted", SCRIPT, "Where is it?"]),
    model(&["run", "Where is it?"]),
    git(&["chat", "-p", "--scripted", SCRIPT, "Where is it?"]),
    model(&["chat", "-p", "Where is it?"]),
    other(&["chat", "--list"]),
    other(&["chat", "--search", "queue"]),
    other(&["runs"]),
    other(&["runs", "sync-20260101-000000-aaaaaa"]),
    other(&["undo", "sync-20260101-000000-aaaaaa"]),
    other(&["undo", "--last"]),
    other(&["undo", "--list"]),
    git(&["trust", "--diff"]),
    git(&["trust", "--all", "--dry-run"]),
    other(&["feedback", "20260101-a-claim", "useful"]),
    other(&["queue"]),
    other(&["server", "token", "add", "ana"]),
    other(&["server", "token"]),
    other(&["server", "token", "revoke", "nothing"]),
    other(&["server", "audit"]),
    other(&["push", "--dry-run"]),
    other(&["pull", "--dry-run"]),
    other(&["queue", "--retry", "nothing"]),
    other(&["queue", "--skip", "nothing"]),
    git(&["explore"]),
    git(&["context", "--task", "find the parser"]),
    git(&["search-code", "find the parser"]),
    git(&["search-code", "--regex", "fn \\w+"]),
    git(&["delta"]),
    git(&["delta", "--since", "git:HEAD"]),
    git(&["delta", "--since", "git:HEAD", "--budget", "4000"]),
    git(&["refresh"]),
    git(&["watch"]),
    git(&["explain", "a.txt"]),
    other(&["events"]),
    other(&["model", "--used"]),
    other(&["events", "cancel", "nothing"]),
    other(&["connect", "list"]),
    other(&["connect", "auto", "--dry-run"]),
    other(&["connect", "doctor"]),
    other(&["mcp"]),
    other(&["dashboard", "--print"]),
    other(&["serve", "--check"]),
    other(&["server"]),
    other(&["server", "migrate"]),
    other(&["up", "--docker"]),
    other(&["down"]),
    other(&["logs"]),
    other(&["model"]),
    model(&["model", "test"]),
    other(&["skill"]),
    other(&["skill", "evil"]),
    other(&["project"]),
    other(&["project", "add", "."]),
    other(&["project", "remove", "site"]),
    other(&["config"]),
    other(&["config", "get", "memory.scope"]),
    other(&["config", "--path"]),
    other(&["config", "set", "memory.max_results", "5"]),
];

/// Commands that do not read anything from a repository.
const APART: &[&str] = &["completions"];

pub(super) fn verbs() -> impl Iterator<Item = &'static Verb> {
    VERBS.iter()
}

impl Verb {
    pub(super) fn belongs_to(&self, verbs: Verbs) -> bool {
        match verbs {
            Verbs::All => self.kind != Kind::Trace,
            Verbs::Git => self.kind == Kind::Git,
            Verbs::Model => self.kind == Kind::Model,
            Verbs::Trace => self.kind == Kind::Trace,
        }
    }

    /// Returns how long to run a command that would otherwise never end.
    pub(super) fn stop_after(&self) -> Option<Duration> {
        (self.args[0] == "watch").then_some(Duration::from_millis(500))
    }

    pub(super) fn args_at(&self, victims: &Victims) -> Vec<String> {
        let script = victims.script().display().to_string();
        self.args.iter().map(|arg| arg.replace(SCRIPT, &script)).collect()
    }

    pub(super) fn find_forbidden(&self, said: &str) -> Option<&'static str> {
        let at = |word: &str| said.find(word);
        if self.args[0] == "ask"
            && at(PERSONS).is_some_and(|own| at(CLAIM).is_some_and(|it| it < own))
        {
            return Some(CLAIM);
        }
        let words: &[&'static str] = match self.kind {
            Kind::Brief => &[ORDER, CLAIM],
            Kind::Git => &["secret.txt", "the person's own"],
            Kind::Model | Kind::Trace | Kind::Other => &[],
        };
        words.iter().copied().find(|word| said.contains(word))
    }
}

pub(super) fn check_table(tally: &mut Tally) {
    let reference = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md"));
    let named = |line: &str| Some(line.strip_prefix("## `nacre ")?.strip_suffix('`')?.to_owned());
    let all: Vec<String> = reference.lines().filter_map(named).collect();
    for command in &all {
        let is_group = all.iter().any(|other| other.starts_with(&format!("{command} ")));
        let is_tried = VERBS.iter().any(|verb| {
            let said = verb.args.join(" ");
            said == *command || said.starts_with(&format!("{command} "))
        });
        if !is_group && !is_tried && !APART.contains(&command.as_str()) {
            tally.bad_of("a command is missing from the table:", command);
        }
    }
    if all.len() < 40 {
        tally.bad("docs/cli.md lists too few commands");
    }
}
