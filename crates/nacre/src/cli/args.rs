//! Arguments that several commands share, and a value parser for the enums of `nacre-types`.

use std::error::Error;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use nacre_ops::host::agent_names;
use nacre_types::{LearningKind, MemoryType, Scope, SearchMode};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Parses an enum value by its JSON name. On the command line, `_` is written as `-`.
pub(crate) fn one_of<T>(names: impl Into<PossibleValuesParser>) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    names.into().try_map(|name| parse_name(&name))
}

fn parse_name<T: DeserializeOwned>(name: &str) -> Result<T, Box<dyn Error + Send + Sync>> {
    let parse = |name: String| serde_json::from_value(Value::String(name));
    Ok(parse(name.to_owned()).or_else(|_| parse(name.replace('-', "_")))?)
}

pub(crate) fn value_with_help(name: &'static str, help: &'static str) -> PossibleValue {
    PossibleValue::new(name).help(help)
}

// Not a doc comment, because clap would show it in place of each command's own help.
#[derive(Debug, Args)]
pub(crate) struct NoArgs {}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ScopeArg {
    /// Which stores to use [default: the setting memory.scope]
    #[arg(long, value_name = "SCOPE", value_parser = scope_parser())]
    scope: Option<Scope>,
}

impl ScopeArg {
    pub(crate) fn mode(self) -> Option<Scope> {
        self.scope
    }
}

fn scope_parser() -> impl TypedValueParser<Value = Scope> {
    one_of([
        value_with_help("project_fallback_global", "The project first, then your global memories"),
        value_with_help("project_only", "Only the project"),
        value_with_help("global_only", "Only your global memories"),
    ])
}

pub(crate) fn mode_parser() -> impl TypedValueParser<Value = SearchMode> {
    one_of([
        value_with_help("hybrid", "Words and meaning"),
        value_with_help("lexical", "Only words"),
        value_with_help("semantic", "Only meaning"),
    ])
}

pub(crate) fn agent_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(agent_names())
}

/// A memory type or a learning kind. One filter covers both, because lists show them in one column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypeFilter {
    pub(crate) r#type: MemoryType,
    pub(crate) kind: Option<LearningKind>,
}

pub(crate) fn type_parser() -> impl TypedValueParser<Value = TypeFilter> {
    let names = MemoryType::NAMES.iter().chain(LearningKind::NAMES);
    PossibleValuesParser::new(names).try_map(|name| match parse_name::<LearningKind>(&name) {
        Ok(kind) => Ok(TypeFilter { r#type: MemoryType::Learning, kind: Some(kind) }),
        Err(_) => parse_name(&name).map(|r#type| TypeFilter { r#type, kind: None }),
    })
}
