//! Values of a key: read from TOML or from plain text, checked against its kind, written back.
//!
//! Plain text (a variable, a flag, `config set`) needs no quotes; only a list may also be written as a TOML array, for
//! texts that hold a comma.

use std::fmt;

use toml_edit::{Array, Item, Value as Toml};

use super::error::{BadValue, ConfigError, ConfigPlace, shown};
use super::keys::{KeySpec, Kind};
use super::nearest;

/// A command line longer than this is a mistake, and every message that shows it suffers.
const MAX_TEXT_CHARS: usize = 4096;

/// Enough for every token of a team; each one is searched for in every transcript.
const MAX_TEXTS: usize = 1000;

/// What a key holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Text(String),
    Int(i64),
    /// In thousandths.
    Decimal(i64),
    Flag(bool),
    Texts(Vec<String>),
}

impl Value {
    /// Returns the value as it stands in a TOML file.
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
    /// Writes a text without quotes, for a person or a script; a list as TOML.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Int(_) | Self::Decimal(_) | Self::Flag(_) | Self::Texts(_) => {
                f.write_str(&self.to_toml())
            }
        }
    }
}

/// What stands where something else was expected.
struct Mismatch {
    found: String,
    nearest: Option<&'static str>,
}

impl KeySpec {
    /// Reads a value that stands in a TOML text.
    pub(super) fn read(&self, item: &Item, place: &ConfigPlace) -> Result<Value, ConfigError> {
        self.kind.read_as(self.name, item, place)
    }

    /// Returns the error for a table, or anything else, where the value should stand.
    pub(super) fn mismatch(&self, item: &Item, place: &ConfigPlace) -> ConfigError {
        self.kind.mismatch_as(self.name, item, place)
    }

    /// Reads a value given as plain text.
    pub(super) fn parse(&self, text: &str, place: &ConfigPlace) -> Result<Value, ConfigError> {
        self.kind.parse_as(self.name, text, place)
    }
}

impl Kind {
    /// Reads the value of the key of that name, which stands in a TOML text.
    pub(super) fn read_as(
        &self,
        key: &str,
        item: &Item,
        place: &ConfigPlace,
    ) -> Result<Value, ConfigError> {
        self.read(item).map_err(|mismatch| self.bad_value(key, mismatch, place))
    }

    /// Reads the value of the key of that name, given as plain text.
    pub(super) fn parse_as(
        &self,
        key: &str,
        text: &str,
        place: &ConfigPlace,
    ) -> Result<Value, ConfigError> {
        self.parse(text).map_err(|mismatch| self.bad_value(key, mismatch, place))
    }

    pub(super) fn mismatch_as(&self, key: &str, item: &Item, place: &ConfigPlace) -> ConfigError {
        self.bad_value(key, plainly(type_of(item)), place)
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

impl fmt::Display for Kind {
    /// Writes what the kind expects, to follow "expected".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Choice(choices) => write!(f, "one of `{}`", choices.join("`, `")),
            Self::Int { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Decimal { max } => write!(f, "a number from 0 to {max}"),
            Self::Flag => write!(f, "`true` or `false`"),
            Self::Text => write!(f, "one line of text, at most {MAX_TEXT_CHARS} characters"),
            Self::Texts { min_chars } => {
                write!(f, "at most {MAX_TEXTS} texts of {min_chars} to {MAX_TEXT_CHARS} characters")
            }
        }
    }
}

impl Kind {
    fn read(&self, item: &Item) -> Result<Value, Mismatch> {
        let typed = match self {
            Self::Choice(_) | Self::Text => item.as_str().map(|text| Value::Text(text.to_owned())),
            Self::Int { .. } => item.as_integer().map(Value::Int),
            Self::Flag => item.as_bool().map(Value::Flag),
            Self::Decimal { .. } => {
                let whole = item.as_integer().and_then(|whole| whole.checked_mul(1000));
                whole.or_else(|| item.as_float().and_then(thousandths)).map(Value::Decimal)
            }
            // The texts may be secrets, so that even a misplaced one is not shown.
            Self::Texts { .. } => match item.as_array() {
                Some(array) => Some(Value::Texts(texts(array)?)),
                None => return Err(plainly(type_of(item))),
            },
        };
        self.check(typed.ok_or_else(|| plainly(&describe(item)))?)
    }

    fn parse(&self, text: &str) -> Result<Value, Mismatch> {
        let value = match self {
            Self::Choice(_) | Self::Text => Value::Text(text.to_owned()),
            Self::Flag => {
                let flag = text.trim().parse();
                Value::Flag(flag.map_err(|_| plainly(&format!("`{}`", shown(text))))?)
            }
            Self::Int { .. } => {
                let number = text.trim().parse();
                Value::Int(number.map_err(|_| plainly(&format!("`{}`", shown(text))))?)
            }
            Self::Decimal { .. } => {
                let number = text.trim().parse().ok().and_then(thousandths);
                Value::Decimal(number.ok_or_else(|| plainly(&format!("`{}`", shown(text))))?)
            }
            Self::Texts { .. } => Value::Texts(split(text)?),
        };
        self.check(value)
    }

    fn check(&self, value: Value) -> Result<Value, Mismatch> {
        match (self, &value) {
            (Self::Choice(choices), Value::Text(text)) if !choices.contains(&text.as_str()) => {
                let nearest = nearest::among(text, choices.iter().copied());
                Err(Mismatch { found: format!("`{}`", shown(text)), nearest })
            }
            (Self::Int { min, max }, Value::Int(number)) if number < min || max < number => {
                Err(plainly(&format!("{number}")))
            }
            (Self::Decimal { max }, Value::Decimal(number))
                if *number < 0 || max * 1000 < *number =>
            {
                Err(plainly(&decimal(*number)))
            }
            (Self::Text, Value::Text(text)) => check_text(text).map(|()| value),
            (Self::Texts { min_chars }, Value::Texts(texts)) => {
                check_texts(texts, *min_chars).map(|()| value)
            }
            (
                Self::Choice(_)
                | Self::Int { .. }
                | Self::Decimal { .. }
                | Self::Flag
                | Self::Text
                | Self::Texts { .. },
                _,
            ) => Ok(value),
        }
    }
}

fn check_text(text: &str) -> Result<(), Mismatch> {
    if text.chars().any(char::is_control) {
        return Err(plainly("a control character"));
    }
    match text.chars().count() {
        n_chars if MAX_TEXT_CHARS < n_chars => Err(plainly(&format!("{n_chars} characters"))),
        _ => Ok(()),
    }
}

fn check_texts(texts: &[String], min_chars: usize) -> Result<(), Mismatch> {
    if MAX_TEXTS < texts.len() {
        return Err(plainly(&format!("{} texts", texts.len())));
    }
    for text in texts {
        let n_chars = text.trim().chars().count();
        if n_chars < min_chars || MAX_TEXT_CHARS < n_chars {
            return Err(plainly(&format!("one of {n_chars}, without blanks around")));
        }
    }
    Ok(())
}

fn texts(array: &Array) -> Result<Vec<String>, Mismatch> {
    let text = |value: &Toml| match value.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(plainly(&format!("{} among them", value_type(value)))),
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
    match text.parse::<Toml>() {
        Ok(Toml::Array(array)) => texts(&array),
        Ok(
            Toml::String(_)
            | Toml::Integer(_)
            | Toml::Float(_)
            | Toml::Boolean(_)
            | Toml::Datetime(_)
            | Toml::InlineTable(_),
        )
        | Err(_) => Err(plainly("an array that is not TOML")),
    }
}

/// Returns a number in thousandths; none where it is too large to be meant.
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

fn plainly(found: &str) -> Mismatch {
    Mismatch { found: found.to_owned(), nearest: None }
}

/// Returns type and, where it is short, value of what was found.
pub(super) fn describe(item: &Item) -> String {
    match item {
        Item::Value(Toml::String(text)) => format!("the text `{}`", shown(text.value())),
        Item::Value(Toml::Integer(number)) => format!("the number {}", number.value()),
        Item::Value(Toml::Float(number)) => format!("the number {}", number.value()),
        Item::Value(Toml::Boolean(flag)) => format!("`{}`", flag.value()),
        Item::Value(Toml::Datetime(_) | Toml::Array(_) | Toml::InlineTable(_))
        | Item::None
        | Item::Table(_)
        | Item::ArrayOfTables(_) => type_of(item).to_owned(),
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
        Toml::String(_) => "a text",
        Toml::Integer(_) => "a number",
        Toml::Float(_) => "a fraction",
        Toml::Boolean(_) => "a truth value",
        Toml::Datetime(_) => "a date",
        Toml::Array(_) => "a list",
        Toml::InlineTable(_) => "a table",
    }
}

/// Returns the error for a section's name that is used as a key.
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
