//! Tests that redacted JSON stays valid and keeps its shape, including JSON inside strings.

use std::fmt;

use proptest::prelude::*;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};

use super::corpus::{Dice, KINDS};
use super::redact;

/// The parts of a document that redaction must not change. Redaction may make different keys equal,
/// so maps are lists of pairs.
#[derive(Debug, PartialEq)]
enum Shape {
    Plain(String),
    /// A string, with its shape if it contains a JSON document.
    Text(Option<Box<Self>>),
    List(Vec<Self>),
    Map(Vec<(Self, Self)>),
}

fn text_shape(text: &str) -> Shape {
    let inner: Option<Shape> = serde_json::from_str(text).ok();
    Shape::Text(inner.filter(|shape| matches!(shape, Shape::List(_) | Shape::Map(_))).map(Box::new))
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor)
    }
}

struct ShapeVisitor;

impl<'de> Visitor<'de> for ShapeVisitor {
    type Value = Shape;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(Shape::Plain("null".to_owned()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Shape, E> {
        Ok(Shape::Plain(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Shape, E> {
        Ok(Shape::Plain(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Shape, E> {
        Ok(Shape::Plain(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Shape, E> {
        Ok(Shape::Plain(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Shape, E> {
        Ok(text_shape(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Shape, A::Error> {
        let mut list = Vec::new();
        while let Some(one) = seq.next_element()? {
            list.push(one);
        }
        Ok(Shape::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Shape, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Shape::Map(pairs))
    }
}

fn check_shape(document: &str) {
    let before: Shape = serde_json::from_str(document).unwrap();
    let clean = redact(document);
    match serde_json::from_str::<Shape>(&clean) {
        Ok(after) => assert_eq!(before, after, "{document}\nbecame\n{clean}"),
        Err(error) => panic!("{error}: {document}\nbecame\n{clean}"),
    }
    assert_eq!(redact(&clean), clean, "{document}");
}

const WORDS: &[&str] = &[
    "(name, password) VALUES (",
    "login('a', ",
    "auth=(",
    "mnemonic: ",
    "\\tripple harvest muffin dolphin cactus velvet orbit lantern puzzle tornado siege wagon",
    " || ",
    " | sudo -S ",
    "echo ",
    "<<< ",
    "cargo login ",
    "mongosh -p ",
    "credentials: a / ",
    " is the password",
    "password to ",
    ".fill(",
    "password",
    "token",
    "api_key",
    "API_KEY=",
    "SECRET_KEY",
    "--password ",
    "Authorization: Bearer ",
    "Cookie: a=",
    "Set-Cookie: ",
    "://",
    "user:",
    "@host",
    "\"",
    "'",
    "`",
    "\\",
    "\\\"",
    "\\\\\\\"",
    "\\n",
    "\n",
    "=",
    ": ",
    ":",
    ",",
    " ",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "value",
    "-----BEGIN ",
    "-----END ",
    "PRIVATE KEY-----",
    "[redacted:",
    "[redacted:token]",
    "_",
    "-",
    "/",
    "\\/",
    "$",
    "é",
    "日本",
    "\u{1b}[31m",
    "%3D",
    "\\u0026",
    "12345678",
    "Zx9qW3rT",
    "null",
    "machine a login b password ",
    "mysql -p",
    "curl -u a:",
    "&sig=",
    "\u{200b}",
    "\u{430}",
    "\\u0067",
    "\" + \"",
    "\n",
    "Z2hwXw",
    "\"\"\"",
    "(",
    ")",
    "correct horse battery staple",
    "name: ",
    "value: ",
    "password: |\n  ",
    "password:\n",
    "setPassword(",
    "sshpass -p",
    "hunter2x9",
    "kind: Secret\ndata:\n  a: ",
    "data: {",
    "aHVudGVyMng5",
    "Private-Lines: 2\n",
    "db:5432:a:b:",
    "%67",
    "\\x67",
    "&#103;",
    "\r",
    "> ",
    "', '",
    "].join(",
    "пароль",
    "cGFzc3dvcmQ9",
    "cABhAHMAcwB3AG8AcgBkAD0A",
];

/// Generates text that is likely to confuse a scanner.
pub(super) fn fragment() -> impl Strategy<Value = String> {
    let secret = (0..KINDS.len(), any::<u64>())
        .prop_map(|(kind, seed)| KINDS[kind].sample(&mut Dice::new(seed)).text);
    let words = prop::sample::select(WORDS);
    prop_oneof![3 => secret, 6 => words.prop_map(str::to_owned), 1 => any::<String>()]
}

pub(super) fn tangle() -> impl Strategy<Value = String> {
    prop::collection::vec(fragment(), 0..12).prop_map(|pieces| pieces.concat())
}

fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        2 => any::<i64>().prop_map(Value::from),
        6 => tangle().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((tangle(), inner.clone()), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            prop::collection::vec((name(), inner.clone()), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            inner.prop_map(|value| Value::from(value.to_string())),
        ]
    })
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "password",
        "apiKey",
        "token",
        "text",
        "authorization",
        "cookie",
        "private_key",
        "name",
        "value",
    ])
    .prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_document_keeps_its_shape(value in document()) {
        check_shape(&value.to_string());
        check_shape(&serde_json::to_string_pretty(&value).unwrap());
    }
}

#[test]
fn numbers_under_secret_names_stay() {
    check_shape(r#"{"password":12345678,"token":null,"api_key":[1234567890123]}"#);
    assert_eq!(redact(r#"{"password":12345678901}"#), r#"{"password":12345678901}"#);
}

#[test]
fn keys_inside_documents_inside_strings_keep_every_level_whole() {
    for (idx, kind) in KINDS.iter().enumerate() {
        let secret = kind.sample(&mut Dice::new(idx as u64)).text;
        let mut value = json!({ kind.name: secret, "n": 1 });
        for _ in 0..4 {
            value = json!({ "content": value.to_string(), "list": [secret, 2] });
            check_shape(&value.to_string());
        }
    }
}
