//! What was wrong with the arguments, in the shape of every other error: what could not be done, why, and what to type.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use nacre_ops::OpError;

use super::help;

/// Names of commands that a hint offers.
const MAX_OFFERED: usize = 3;

/// Flags of every command that take a value in the next word.
const VALUED: [&str; 2] = ["--project", "--color"];

/// The error of ours for what the parser found.
pub(super) fn usage_error(error: &clap::Error, args: &[OsString]) -> OpError {
    let known = Known::of(args);
    let found = SENTENCES.iter().find(|(kind, _)| *kind == error.kind());
    // The rest says itself what is wrong, in one line.
    found.map_or_else(
        || OpError::usage(first_line(error)).hint(known.help()),
        |(_, sentence)| sentence(&known, error),
    )
}

/// What is said about an error of the parser.
type Sentence = fn(&Known, &clap::Error) -> OpError;

const SENTENCES: &[(ErrorKind, Sentence)] = &[
    (ErrorKind::InvalidSubcommand, Known::no_command),
    (ErrorKind::MissingSubcommand, Known::missing_command),
    (ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, Known::missing_command),
    (ErrorKind::UnknownArgument, Known::unknown_argument),
    (ErrorKind::InvalidValue, Known::invalid_value),
    (ErrorKind::ValueValidation, Known::refused_value),
    (ErrorKind::MissingRequiredArgument, Known::missing),
    (ErrorKind::ArgumentConflict, Known::conflict),
];

/// The command that the words name, as far as they name one.
struct Known {
    /// `nacre memory list`.
    path: String,
    root: clap::Command,
}

impl Known {
    fn of(args: &[OsString]) -> Self {
        let root = help::command();
        let (mut at, mut path) = (&root, String::from("nacre"));
        let mut words = args.iter().skip(1).map(|arg| arg.to_string_lossy());
        while let Some(word) = words.next() {
            if VALUED.contains(&&*word) {
                words.next();
            } else if !word.starts_with('-') {
                let Some(next) = at.find_subcommand(&*word) else { break };
                (at, path) = (next, format!("{path} {word}"));
            }
        }
        Self { path, root }
    }

    fn help(&self) -> String {
        format!("`{} --help` shows what it takes", self.path)
    }

    fn missing_command(&self, _: &clap::Error) -> OpError {
        OpError::usage(format!("`{}` needs a command", self.path)).hint(self.help())
    }

    fn no_command(&self, error: &clap::Error) -> OpError {
        let name = text(error, ContextKind::InvalidSubcommand);
        let error_of_ours = OpError::usage(format!("There is no command `{} {name}`", self.path));
        let mut offered = named_below(&self.root, "nacre", &name);
        if offered.is_empty() {
            let similar = texts(error, ContextKind::SuggestedSubcommand);
            offered.extend(similar.iter().rev().map(|name| format!("{} {name}", self.path)));
        }
        offered.truncate(MAX_OFFERED);
        match (offered.is_empty(), self.path.as_str()) {
            (false, _) => error_of_ours.hint(did_you_mean(&offered)),
            (true, "nacre") => error_of_ours.hint("`nacre commands` lists all commands"),
            (true, _) => error_of_ours.hint(format!("`{} --help` lists its commands", self.path)),
        }
    }

    fn unknown_argument(&self, error: &clap::Error) -> OpError {
        let argument = text(error, ContextKind::InvalidArg);
        let ours = OpError::usage(format!("`{}` does not take `{argument}`", self.path));
        match texts(error, ContextKind::SuggestedArg).first() {
            Some(similar) => ours.hint(did_you_mean(std::slice::from_ref(similar))),
            None => ours.hint(self.help()),
        }
    }

    fn invalid_value(&self, error: &clap::Error) -> OpError {
        let (argument, value) =
            (text(error, ContextKind::InvalidArg), text(error, ContextKind::InvalidValue));
        if value.is_empty() {
            return OpError::usage(format!("`{argument}` needs a value")).hint(self.help());
        }
        let ours = OpError::usage(format!("`{value}` is not a value of `{argument}`"));
        match texts(error, ContextKind::ValidValue).as_slice() {
            [] => ours.hint(self.help()),
            valid => ours.hint(format!("It takes one of: {}", valid.join(", "))),
        }
    }

    fn refused_value(&self, error: &clap::Error) -> OpError {
        let (argument, value) =
            (text(error, ContextKind::InvalidArg), text(error, ContextKind::InvalidValue));
        let mut ours = OpError::usage(format!("`{value}` is not a value of `{argument}`"));
        let cause = std::error::Error::source(error).map(ToString::to_string);
        ours.causes.extend(cause.filter(|cause| !cause.is_empty()));
        ours.hint(self.help())
    }

    fn missing(&self, error: &clap::Error) -> OpError {
        let missing = texts(error, ContextKind::InvalidArg);
        let named: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
        OpError::usage(format!("`{}` needs {}", self.path, named.join(" and "))).hint(self.help())
    }

    fn conflict(&self, error: &clap::Error) -> OpError {
        let argument = text(error, ContextKind::InvalidArg);
        let others = texts(error, ContextKind::PriorArg);
        let ours = match others.first() {
            Some(other) if *other == argument => format!("`{argument}` can be given only once"),
            Some(other) => format!("`{argument}` cannot be used with `{other}`"),
            None => format!("`{argument}` cannot be used with the other arguments"),
        };
        OpError::usage(ours).hint(self.help())
    }
}

/// The commands of that name below the first level, for a person who left the noun out.
fn named_below(command: &clap::Command, path: &str, name: &str) -> Vec<String> {
    let visible = command.get_subcommands().filter(|below| !below.is_hide_set());
    visible
        .flat_map(|below| {
            let path = format!("{path} {}", below.get_name());
            let here = below.find_subcommand(name).map(|_| format!("{path} {name}"));
            here.into_iter().chain(named_below(below, &path, name)).collect::<Vec<_>>()
        })
        .collect()
}

fn did_you_mean(offered: &[String]) -> String {
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

/// The first paragraph of the parser's own words.
fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines: Vec<&str> =
        text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    lines.join(" ").trim_start_matches("error: ").to_owned()
}
