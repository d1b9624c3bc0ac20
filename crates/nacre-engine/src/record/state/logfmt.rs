//! Data as one line of `key=value` pairs, whatever a value holds.
//!
//! Values are quoted like JSON texts, and what a terminal would act on is escaped, so that a line can neither be
//! forged nor steer the screen of whoever reads it. Written straight from the data: every event becomes such a line.

use std::fmt::{self, Display, Write as _};

use nacre_core::base::is_hidden_char;
use serde::Serialize;
use serde::ser::{self, Impossible, SerializeMap, SerializeSeq, SerializeStruct, Serializer};

/// A key of more names than this has its value as JSON.
const MAX_DEPTH: usize = 4;

/// Returns the fields of an object as one line.
pub fn logfmt(fields: &impl Serialize) -> String {
    let mut line = String::new();
    push_fields(&mut line, fields);
    line.trim_start().to_owned()
}

/// Appends the fields of an object, each behind a space. What is no object has no fields.
pub(super) fn push_fields(line: &mut String, fields: &impl Serialize) {
    let mut key = String::new();
    // Only a map with keys that are no texts fails, and it fails at its beginning.
    let _ = fields.serialize(Pairs { line, key: &mut key, depth: 0 });
}

/// Writes one value under `key`; at depth 0 there is no key yet.
struct Pairs<'a> {
    line: &'a mut String,
    key: &'a mut String,
    depth: usize,
}

/// A value that has no such form.
#[derive(Debug)]
struct NoPair;

impl Display for NoPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a field of an object")
    }
}

impl std::error::Error for NoPair {}

impl ser::Error for NoPair {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

impl Pairs<'_> {
    fn push(self, text: &str) -> Result<(), NoPair> {
        if self.depth > 0 {
            push_key(self.line, self.key);
            push_text(self.line, text);
        }
        Ok(())
    }

    /// For what needs no quotes.
    fn push_plain(self, value: impl Display) -> Result<(), NoPair> {
        if self.depth > 0 {
            push_key(self.line, self.key);
            write!(self.line, "{value}").map_err(|_| NoPair)?;
        }
        Ok(())
    }

    /// Writes a field of this value under its longer key.
    fn push_field(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Result<(), NoPair> {
        let n_bytes = self.key.len();
        if self.depth > 0 {
            self.key.push('.');
        }
        self.key.push_str(name);
        let field = Pairs { line: self.line, key: self.key, depth: self.depth + 1 };
        let pushed = if field.depth > MAX_DEPTH {
            serde_json::to_string(value).map_err(|_| NoPair).and_then(|json| field.push(&json))
        } else {
            value.serialize(field)
        };
        self.key.truncate(n_bytes);
        pushed
    }
}

/// The parts of a list, as JSON.
struct List<'a> {
    pairs: Pairs<'a>,
    json: String,
}

impl SerializeSeq for List<'_> {
    type Ok = ();
    type Error = NoPair;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoPair> {
        self.json.push(if self.json.is_empty() { '[' } else { ',' });
        self.json.push_str(&serde_json::to_string(value).map_err(|_| NoPair)?);
        Ok(())
    }

    /// An empty list is left out.
    fn end(mut self) -> Result<(), NoPair> {
        if self.json.is_empty() {
            return Ok(());
        }
        self.json.push(']');
        self.pairs.push(&self.json)
    }
}

/// A map, whose keys come before their values.
struct Entries<'a> {
    pairs: Pairs<'a>,
    name: String,
}

impl SerializeMap for Entries<'_> {
    type Ok = ();
    type Error = NoPair;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NoPair> {
        self.name = match serde_json::to_value(key) {
            Ok(serde_json::Value::String(name)) => name,
            _ => return Err(NoPair),
        };
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoPair> {
        self.pairs.push_field(&self.name, value)
    }

    fn end(self) -> Result<(), NoPair> {
        Ok(())
    }
}

impl SerializeStruct for Pairs<'_> {
    type Ok = ();
    type Error = NoPair;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), NoPair> {
        self.push_field(name, value)
    }

    fn end(self) -> Result<(), NoPair> {
        Ok(())
    }
}

/// Numbers and the like, which need no quotes.
macro_rules! plain {
    ($($method:ident($type:ty)),* $(,)?) => {
        $(fn $method(self, value: $type) -> Result<(), NoPair> {
            self.push_plain(value)
        })*
    };
}

impl<'a> Serializer for Pairs<'a> {
    type Ok = ();
    type Error = NoPair;
    type SerializeSeq = List<'a>;
    type SerializeMap = Entries<'a>;
    type SerializeStruct = Self;
    type SerializeTuple = Impossible<(), NoPair>;
    type SerializeTupleStruct = Impossible<(), NoPair>;
    type SerializeTupleVariant = Impossible<(), NoPair>;
    type SerializeStructVariant = Impossible<(), NoPair>;

    plain! {
        serialize_bool(bool), serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64),
        serialize_f32(f32), serialize_f64(f64),
    }

    fn serialize_char(self, value: char) -> Result<(), NoPair> {
        self.push(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), NoPair> {
        self.push(value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), NoPair> {
        self.push(&String::from_utf8_lossy(value))
    }

    fn serialize_none(self) -> Result<(), NoPair> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NoPair> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), NoPair> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), NoPair> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), NoPair> {
        self.push(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NoPair> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), NoPair> {
        self.push_field(variant, value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List<'a>, NoPair> {
        Ok(List { pairs: self, json: String::new() })
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, NoPair> {
        Err(NoPair)
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, NoPair> {
        Err(NoPair)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, NoPair> {
        Err(NoPair)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Entries<'a>, NoPair> {
        Ok(Entries { pairs: self, name: String::new() })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, NoPair> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, NoPair> {
        Err(NoPair)
    }
}

fn push_key(line: &mut String, key: &str) {
    line.push(' ');
    line.extend(key.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')));
    line.push('=');
}

fn push_text(line: &mut String, text: &str) {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '/' | '-' | '+');
    if !text.is_empty() && text.chars().all(is_plain) {
        line.push_str(text);
        return;
    }
    line.push('"');
    for c in text.chars() {
        push_escaped(line, c);
    }
    line.push('"');
}

fn push_escaped(line: &mut String, c: char) {
    match c {
        '"' => line.push_str("\\\""),
        '\\' => line.push_str("\\\\"),
        '\n' => line.push_str("\\n"),
        '\t' => line.push_str("\\t"),
        '\r' => line.push_str("\\r"),
        hidden if is_hidden_char(hidden) => {
            for unit in hidden.encode_utf16(&mut [0; 2]) {
                // Writing to a `String` cannot fail.
                let _ = write!(line, "\\u{unit:04x}");
            }
        }
        plain => line.push(plain),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_quoted_where_they_must_be() {
        for (fields, expected) in [
            (json!({ "tool": "file_read", "n": 3 }), "n=3 tool=file_read"),
            (json!({ "why": "two words", "none": null }), r#"why="two words""#),
            (json!({ "why": "" }), r#"why="""#),
            (
                json!({ "usage": { "input": 4, "deep": { "er": { "est": 1 } } } }),
                r"usage.deep.er.est=1 usage.input=4",
            ),
            (
                json!({ "why": "a\nlevel=error \"x\" \u{1b}[2J \u{202e}" }),
                r#"why="a\nlevel=error \"x\" \u001b[2J \u202e""#,
            ),
            (json!({ "list": ["a", 1] }), r#"list="[\"a\",1]""#),
            (json!({ "a b=c": "x" }), "abc=x"),
            (
                json!({ "a": { "b": { "c": { "d": { "e": { "f": 1 } } } } } }),
                r#"a.b.c.d.e="{\"f\":1}""#,
            ),
            (json!([1, 2]), ""),
            (json!("text"), ""),
        ] {
            assert_eq!(logfmt(&fields), expected);
        }
    }

    proptest! {
        #[test]
        fn a_value_is_one_line_that_can_be_read_back(text in any::<String>()) {
            let line = logfmt(&json!({ "k": text }));
            prop_assert!(!line.contains(is_hidden_char));
            let written = line.strip_prefix("k=").unwrap();
            let read = match written.starts_with('"') {
                true => serde_json::from_str::<String>(written).unwrap(),
                false => written.to_owned(),
            };
            prop_assert_eq!(read, text);
        }
    }
}
