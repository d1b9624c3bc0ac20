//! Parses values from TOML or plain text, validates them, and formats them.
//!
//! Values from variables, flags and `config set` are plain text and need no quotes. A list may also
//! be written as a TOML array, for strings that contain commas.

use std::fmt;

use serde::Serialize;
use toml_edit::{Array, Item, Value as Toml};

use super::error::{BadValue, ConfigError, ConfigPlace, Result, nearest, shorten};
use super::keys::ValueKind;

/// Longer strings are likely mistakes and would make error messages unreadable.
const MAX_TEXT_CHARS: usize = 4096;

/// Enough for all of a team's tokens. The number is limited because every transcript is searched
/// for each string.
const MAX_TEXTS: usize = 1000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Value {
    Text(String),
    Int(i64),
    /// The number multiplied by 1000.
    Decimal(i64),
    Flag(bool),
    Texts(Vec<String>),
}

impl Value {
    pub fn to_toml(&self) -> String {
        match self {
            Self::Text(text) => Toml::from(text).to_string(),
            Self::Int(number) => number.to_string(),
            Self::Decimal(thousandths) => decimal(*thousandths),
            Self::Flag(flag) => flag.to_string(),
            Self::Texts(texts) => Toml::from(texts.iter().collect::<Array>()).to_string(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Text(text) = self { f.write_str(text) } else { f.write_str(&self.to_toml()) }
    }
}

struct Mismatch {
    found: String,
    nearest: Option<&'static str>,
}

impl ValueKind {
    pub(super) fn read_as(&self, key: &str, item: &Item, place: &ConfigPlace) -> Result<Value> {
        self.read(item).map_err(|mismatch| self.bad_value(key, mismatch, place))
    }

    pub(super) fn parse_as(&self, key: &str, text: &str, place: &ConfigPlace) -> Result<Value> {
        self.parse(text).map_err(|mismatch| self.bad_value(key, mismatch, place))
    }

    pub(super) fn mismatch(&self, key: &str, item: &Item, place: &ConfigPlace) -> ConfigError {
        self.bad_value(key, new_mismatch(type_of(item)), place)
    }

    fn bad_value(&self, key: &str, mismatch: Mismatch, place: &ConfigPlace) -> ConfigError {
        let Mismatch { found, nearest } = mismatch;
        BadValue {
            key: key.to_owned(),
            place: place.clone(),
            expected: self.to_string(),
            found,
            nearest: nearest.map(str::to_owned),
        }
        .into()
    }
}

impl fmt::Display for ValueKind {
    /// Describes the kind so that it can follow "expected" in a message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Choice(choices) => write!(f, "one of `{}`", choices.join("`, `")),
            Self::Int { min, max } if min == max => write!(f, "{min}"),
            Self::Int { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Decimal { max } => write!(f, "a number from 0 to {max}"),
            Self::Flag => write!(f, "`true` or `false`"),
            Self::Text => write!(f, "one line of text with at most {MAX_TEXT_CHARS} characters"),
            Self::Texts { min_chars } => {
                write!(
                    f,
                    "at most {MAX_TEXTS} strings of {min_chars} to {MAX_TEXT_CHARS} characters"
                )
            }
        }
    }
}

impl ValueKind {
    fn read(&self, item: &Item) -> Result<Value, Mismatch> {
        let typed = match self {
            Self::Choice(_) | Self::Text => item.as_str().map(|text| Value::Text(text.to_owned())),
            Self::Int { .. } => item.as_integer().map(Value::Int),
            Self::Flag => item.as_bool().map(Value::Flag),
            Self::Decimal { .. } => {
                let whole = item.as_integer().and_then(|whole| whole.checked_mul(1000));
                whole.or_else(|| item.as_float().and_then(thousandths)).map(Value::Decimal)
            }
            // The strings may be secrets, so invalid ones are not printed.
            Self::Texts { .. } => match item.as_array() {
                Some(array) => Some(Value::Texts(texts(array)?)),
                None => return Err(new_mismatch(type_of(item))),
            },
        };
        self.check(typed.ok_or_else(|| new_mismatch(&describe(item)))?)
    }

    fn parse(&self, text: &str) -> Result<Value, Mismatch> {
        let value = match self {
            Self::Choice(_) | Self::Text => Value::Text(text.to_owned()),
            Self::Flag => {
                let flag = text.trim().parse();
                Value::Flag(flag.map_err(|_| new_mismatch(&format!("`{}`", shorten(text))))?)
            }
            Self::Int { .. } => {
                let number = text.trim().parse();
                Value::Int(number.map_err(|_| new_mismatch(&format!("`{}`", shorten(text))))?)
            }
            Self::Decimal { .. } => {
                let number = text.trim().parse().ok().and_then(thousandths);
                Value::Decimal(number.ok_or_else(|| new_mismatch(&format!("`{}`", shorten(text))))?)
            }
            Self::Texts { .. } => Value::Texts(split(text)?),
        };
        self.check(value)
    }

    fn check(&self, value: Value) -> Result<Value, Mismatch> {
        match (self, &value) {
            (Self::Choice(choices), Value::Text(text)) if !choices.contains(&text.as_str()) => {
                let nearest = nearest::among(text, choices.iter().copied());
                return Err(Mismatch { found: format!("`{}`", shorten(text)), nearest });
            }
            (Self::Int { min, max }, Value::Int(number)) if number < min || max < number => {
                return Err(new_mismatch(&format!("{number}")));
            }
            (Self::Decimal { max }, Value::Decimal(number))
                if *number < 0 || max * 1000 < *number =>
            {
                return Err(new_mismatch(&decimal(*number)));
            }
            (Self::Text, Value::Text(text)) => check_text(text)?,
            (Self::Texts { min_chars }, Value::Texts(texts)) => check_texts(texts, *min_chars)?,
            (_, _) => {}
        }
        Ok(value)
    }
}

fn check_text(text: &str) -> Result<(), Mismatch> {
    if text.chars().any(char::is_control) {
        return Err(new_mismatch("a control character"));
    }
    match text.chars().count() {
        n_chars if MAX_TEXT_CHARS < n_chars => Err(new_mismatch(&format!("{n_chars} characters"))),
        _ => Ok(()),
    }
}

fn check_texts(texts: &[String], min_chars: usize) -> Result<(), Mismatch> {
    if MAX_TEXTS < texts.len() {
        return Err(new_mismatch(&format!("{} texts", texts.len())));
    }
    for text in texts {
        let n_chars = text.trim().chars().count();
        if n_chars < min_chars || MAX_TEXT_CHARS < n_chars {
            return Err(new_mismatch(&format!(
                "a string of {n_chars} characters, not counting surrounding spaces"
            )));
        }
    }
    Ok(())
}

fn texts(array: &Array) -> Result<Vec<String>, Mismatch> {
    let text = |value: &Toml| match value.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(new_mismatch(&format!("{} among them", value_type(value)))),
    };
    array.iter().map(text).collect()
}

fn split(text: &str) -> Result<Vec<String>, Mismatch> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    if !text.starts_with('[') {
        return Ok(text.split(',').map(|part| part.trim().to_owned()).collect());
    }
    match text.parse::<Toml>().ok().as_ref().and_then(Toml::as_array) {
        Some(array) => texts(array),
        None => Err(new_mismatch("an array that is not valid TOML")),
    }
}

fn thousandths(number: f64) -> Option<i64> {
    let is_sensible = number.is_finite() && number.abs() < 1e9;
    is_sensible.then(|| (number * 1000.0).round() as i64)
}

fn decimal(thousandths: i64) -> String {
    let (sign, size) = (if thousandths < 0 { "-" } else { "" }, thousandths.unsigned_abs());
    let digits = format!("{sign}{}.{:03}", size / 1000, size % 1000);
    let short = digits.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
}

fn new_mismatch(found: &str) -> Mismatch {
    Mismatch { found: found.to_owned(), nearest: None }
}

pub(super) fn describe(item: &Item) -> String {
    if let Some(text) = item.as_str() {
        return format!("the text `{}`", shorten(text));
    }
    let number = item.as_integer().map(|number| number.to_string());
    let number = number.or_else(|| item.as_float().map(|number| number.to_string()));
    match (number, item.as_bool()) {
        (Some(number), _) => format!("the number {number}"),
        (None, Some(flag)) => format!("`{flag}`"),
        (None, None) => type_of(item).to_owned(),
    }
}

fn type_of(item: &Item) -> &'static str {
    match item {
        Item::None => "nothing",
        Item::Value(value) => value_type(value),
        Item::Table(_) => "a table",
        Item::ArrayOfTables(_) => "a list of tables",
    }
}

fn value_type(value: &Toml) -> &'static str {
    match value {
        Toml::String(_) => "a string",
        Toml::Integer(_) => "a number",
        Toml::Float(_) => "a float",
        Toml::Boolean(_) => "a boolean",
        Toml::Datetime(_) => "a date",
        Toml::Array(_) => "a list",
        Toml::InlineTable(_) => "a table",
    }
}

pub(super) fn not_a_table(section: &str, place: ConfigPlace, item: &Item) -> ConfigError {
    BadValue {
        key: section.to_owned(),
        place,
        expected: format!("a table `[{section}]`"),
        found: describe(item),
        nearest: None,
    }
    .into()
}
