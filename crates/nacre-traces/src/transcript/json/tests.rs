//! Compares the pull parser with `serde_json` and runs it on hostile text.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn string(json: &str) -> Parsed<String> {
    JsonCursor::new(json).string().map(|text| decode(text).into_owned())
}

#[test]
fn escapes_are_decoded() {
    assert_eq!(string(r#""a\"b\\c\/\b\f\n\r\t""#).as_deref(), Ok("a\"b\\c/\u{8}\u{c}\n\r\t"));
    assert_eq!(string(r#""\u00e9\u20ac\ud83d\ude00""#).as_deref(), Ok("é€😀"));
    assert_eq!(string(r#""\\""#).as_deref(), Ok("\\"));
    assert_eq!(string(r#""\\\"""#).as_deref(), Ok("\\\""));
}

#[test]
fn a_lone_surrogate_is_replaced_and_costs_nothing_else() {
    assert_eq!(string(r#""a\ud83d b""#).as_deref(), Ok("a\u{fffd} b"));
    assert_eq!(string(r#""\ude00\ud83d\n""#).as_deref(), Ok("\u{fffd}\u{fffd}\n"));
    assert_eq!(string(r#""\ud83d\ud83d\ude00""#).as_deref(), Ok("\u{fffd}😀"));
}

#[test]
fn an_escape_that_is_none_is_kept() {
    assert_eq!(string(r#""C:\qdir \u12""#).as_deref(), Ok("C:\\qdir \\u12"));
}

#[test]
fn what_nobody_asks_for_is_skipped() {
    let text = r#" { "a" : [1, {"b": "]}"}, null] , "wanted" : "yes", "c": -1.5e3, "d": {} } "#;
    let mut cursor = JsonCursor::new(text);
    let mut wanted = None;
    let parsed = cursor.object(|key, value| {
        if key == "wanted" {
            wanted = Some(value.string()?);
        }
        Ok(())
    });
    assert_eq!(parsed, Ok(()));
    assert_eq!(wanted, Some("yes"));
    assert_eq!(cursor.rest(), "");
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(JsonCursor::new(&nested(128)).skip(), Ok(()));
    assert_eq!(JsonCursor::new(&nested(129)).skip(), Err(Malformed));
    let mut hostile = "{\"a\":".repeat(100_000);
    assert_eq!(JsonCursor::new(&hostile).skip(), Err(Malformed));
    hostile.insert(0, '[');
    assert_eq!(JsonCursor::new(&hostile).array(|_| Ok(())), Err(Malformed));
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[\"\\\\{}\\[\\]\n\u{2028}é]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map("[a-z\"\\\\]{0,8}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Reads any value as the adapters do, and converts it to a `serde_json` value.
fn read_value(cursor: &mut JsonCursor) -> Parsed<Value> {
    Ok(match cursor.peek()? {
        b'"' => Value::from(decode(cursor.string()?)),
        b'[' => {
            let mut elements = Vec::new();
            cursor.array(|element| {
                elements.push(read_value(element)?);
                Ok(())
            })?;
            Value::from(elements)
        }
        b'{' => {
            let mut members = serde_json::Map::new();
            cursor.object(|key, value| {
                let key = decode(key).into_owned();
                members.insert(key, read_value(value)?);
                Ok(())
            })?;
            Value::Object(members)
        }
        _ => serde_json::from_str(cursor.raw()?).unwrap(),
    })
}

proptest! {
    #[test]
    fn every_json_text_is_read_as_serde_reads_it(value in value(), is_pretty in any::<bool>()) {
        let text = if is_pretty {
            serde_json::to_string_pretty(&value).unwrap()
        } else {
            value.to_string()
        };
        let mut cursor = JsonCursor::new(&text);
        let read = read_value(&mut cursor);
        // `serde_json` may lose the sign of -0.0 and round floats when it reads them back.
        let expected: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read, Ok(expected));
        prop_assert_eq!(cursor.rest(), "");
        let mut skipping = JsonCursor::new(&text);
        prop_assert_eq!(skipping.skip(), Ok(()));
        prop_assert_eq!(skipping.rest(), "");
    }

    #[test]
    fn no_beginning_of_an_object_is_whole(value in prop::collection::hash_map("[a-z]{1,4}", value(), 1..4), cut in any::<prop::sample::Index>()) {
        let text = serde_json::to_string(&value).unwrap();
        let torn = &text[..text.floor_char_boundary(cut.index(text.len()))];
        prop_assert_eq!(JsonCursor::new(torn).skip(), Err(Malformed));
    }

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC*|[\\[\\]{}\",:\\\\u0-9a-f ]{0,64}") {
        let _ = read_lenient(&mut JsonCursor::new(&text));
        let mut cursor = JsonCursor::new(&text);
        let _ = cursor.skip();
        let _ = cursor.rest();
        let _ = decode(&text);
    }
}

fn read_lenient(cursor: &mut JsonCursor) -> Parsed<()> {
    match cursor.peek()? {
        b'"' => cursor.string().map(|text| drop(decode(text))),
        b'[' => cursor.array(read_lenient),
        b'{' => cursor.object(|_, value| read_lenient(value)),
        _ => cursor.skip(),
    }
}

/// Finds the end of a string one byte at a time.
fn plain_end(bytes: &[u8], start: usize) -> Parsed<usize> {
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return Ok(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    Err(Malformed)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn a_string_ends_where_it_ends_byte_by_byte(
        parts in prop::collection::vec(
            prop_oneof![
                3 => Just(b"\\".to_vec()), 3 => Just(b"\\\"".to_vec()), 1 => Just(b"\"".to_vec()),
                2 => prop::collection::vec(b'a'..b'f', 0..40), 1 => (1..140_usize).prop_map(|n| vec![b'\\'; n]),
            ],
            0..40,
        ),
        start in 0..4_usize,
    ) {
        let bytes = parts.concat();
        if start <= bytes.len() {
            prop_assert_eq!(string_end(&bytes, start), plain_end(&bytes, start));
        }
    }
}
