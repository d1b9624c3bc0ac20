//! Converts argument parser errors to Nacre's error format: what failed, why, and a command to try.

use std::ffi::OsString;
use std::fmt::Display;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use nacre_ops::OpError;
use nacre_ops::config::is_like;

use super::help;

const MAX_OFFERED: usize = 3;

/// Global flags whose value is the next argument.
const VALUED: [&str; 2] = ["--project", "--color"];

#[expect(clippy::wildcard_enum_match_arm, reason = "the parser describes the other errors")]
pub(super) fn usage_error(error: &clap::Error, args: &[OsString]) -> OpError {
    let root = help::command();
    let path = find_command_path(&root, args);
    let help = format!("See `{path} --help`");
    let argument = text(error, ContextKind::InvalidArg);
    let value = text(error, ContextKind::InvalidValue);
    let (message, hint) = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let name = text(error, ContextKind::InvalidSubcommand);
            let hint = suggestion(&root, &path, &name, error);
            (format!("Unknown command `{path} {name}`"), hint)
        }
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            (format!("`{path}` requires a command"), help)
        }
        ErrorKind::UnknownArgument => {
            let similar = texts(error, ContextKind::SuggestedArg);
            let similar = similar.iter().find(|similar| is_like(&argument, similar));
            let hint = similar.map_or(help, |similar| did_you_mean(&[similar]));
            (format!("`{path}` does not take `{argument}`"), hint)
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            (format!("`{argument}` requires a value"), help)
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let hint = match texts(error, ContextKind::ValidValue).as_slice() {
                [] => help,
                valid => format!("Expected one of: {}", valid.join(", ")),
            };
            (format!("Invalid value `{value}` for `{argument}`"), hint)
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = texts(error, ContextKind::InvalidArg);
            let named: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
            (format!("`{path}` needs {}", named.join(" and ")), help)
        }
        ErrorKind::ArgumentConflict => {
            let message = match texts(error, ContextKind::PriorArg).first() {
                Some(other) if *other == argument => format!("`{argument}` can only be given once"),
                Some(other) => format!("`{argument}` cannot be used with `{other}`"),
                None => format!("`{argument}` cannot be used with the other arguments"),
            };
            (message, help)
        }
        _ => {
            let text = error.to_string();
            let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
            let first = lines.collect::<Vec<_>>().join(" ");
            (first.trim_start_matches("error: ").to_owned(), help)
        }
    };
    let mut ours = OpError::usage(message).hint(hint);
    if error.kind() == ErrorKind::ValueValidation {
        let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
        let cause = cause.replace("invalid digit found in string", "expected a whole number");
        ours.causes.extend(Some(cause).filter(|cause| !cause.is_empty()));
    }
    ours
}

/// Returns the longest valid command path in the arguments, such as `nacre memory list`.
fn find_command_path(root: &clap::Command, args: &[OsString]) -> String {
    let (mut at, mut path) = (root, String::from("nacre"));
    let mut words = args.iter().skip(1).map(|arg| arg.to_string_lossy());
    while let Some(word) = words.next() {
        if VALUED.contains(&&*word) {
            words.next();
        } else if !word.starts_with('-') {
            let Some(next) = at.find_subcommand(&*word) else { break };
            (at, path) = (next, format!("{path} {word}"));
        }
    }
    path
}

/// Suggests a command in place of an unknown one.
fn suggestion(root: &clap::Command, path: &str, name: &str, error: &clap::Error) -> String {
    if name == "remember" {
        return did_you_mean(&["nacre memory add"]);
    }
    let mut offered = find_below(root, "nacre", name);
    if root.find_subcommand(name).is_some_and(|found| !found.is_hide_set()) {
        offered.insert(0, format!("nacre {name}"));
    }
    if offered.is_empty() {
        // The parser also suggests words that share only a few letters.
        let mut similar = texts(error, ContextKind::SuggestedSubcommand);
        similar.retain(|similar| is_like(name, similar));
        offered.extend(similar.iter().rev().map(|name| format!("{path} {name}")));
    }
    offered.truncate(MAX_OFFERED);
    match (offered.is_empty(), path) {
        (false, _) => did_you_mean(&offered),
        (true, "nacre") => "`nacre commands` lists all commands".to_owned(),
        (true, _) => format!("`{path} --help` lists its commands"),
    }
}

/// Finds subcommands with this name at any level. For example, `add` finds `memory add`.
fn find_below(command: &clap::Command, path: &str, name: &str) -> Vec<String> {
    let visible = command.get_subcommands().filter(|below| !below.is_hide_set());
    visible
        .flat_map(|below| {
            let path = format!("{path} {}", below.get_name());
            let here = below.find_subcommand(name).map(|_| format!("{path} {name}"));
            here.into_iter().chain(find_below(below, &path, name)).collect::<Vec<_>>()
        })
        .collect()
}

fn did_you_mean(offered: &[impl Display]) -> String {
    let offered: Vec<String> = offered.iter().map(|name| format!("`{name}`")).collect();
    format!("Did you mean {}?", offered.join(" or "))
}

fn texts(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> String {
    texts(error, kind).into_iter().next().unwrap_or_default()
}
