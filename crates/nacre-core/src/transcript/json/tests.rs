//! The pull reader against `serde_json`, and against hostile text.

use proptest::prelude::*;
use serde_json::Value;

use super::super::event::Bounds;
use super::text::decode;
use super::*;

fn string(json: &str) -> Parsed<String> {
    Cursor::new(json).string().map(|text| text.decode().into_owned())
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
    let mut cursor = Cursor::new(text);
    let mut wanted = None;
    let parsed = cursor.object(|key, value| {
        if key == "wanted" {
            wanted = value.maybe_string()?;
        }
        Ok(())
    });
    assert_eq!(parsed, Ok(()));
    assert_eq!(wanted.map(|text| text.decode().into_owned()).as_deref(), Some("yes"));
    assert_eq!(cursor.rest(), "");
}

#[test]
fn values_of_another_type_read_as_absent() {
    assert_eq!(Cursor::new("12").maybe_string(), Ok(None));
    assert_eq!(Cursor::new("\"x\"").number(), Ok(None));
    assert_eq!(Cursor::new("1.5").number(), Ok(None));
    assert_eq!(Cursor::new("[true]").truth(), Ok(false));
    assert_eq!(Cursor::new("true").truth(), Ok(true));
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(Cursor::new(&nested(128)).skip(), Ok(()));
    assert_eq!(Cursor::new(&nested(129)).skip(), Err(Malformed));
    let mut hostile = "{\"a\":".repeat(100_000);
    assert_eq!(Cursor::new(&hostile).skip(), Err(Malformed));
    hostile.insert(0, '[');
    assert_eq!(Cursor::new(&hostile).array(|_| Ok(())), Err(Malformed));
}

#[test]
fn the_rest_of_a_line_is_given_up_only_when_no_record_starts_in_it() {
    let read = |text: &'static str| {
        let mut cursor = Cursor::new(text);
        let parsed = cursor.object(|_, value| {
            value.skip()?;
            value.abandon();
            Ok(())
        });
        (parsed, cursor.rest())
    };
    assert_eq!(read(r#"{"a":1,"b":"#), (Ok(()), ""));
    assert_eq!(read(r#"{"a":1,"b":2}{"c":3}"#), (Ok(()), r#"{"c":3}"#));
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

/// Reads any value the way adapters do, into what `serde_json` makes of it.
fn read_value(cursor: &mut Cursor<'_>) -> Parsed<Value> {
    Ok(match cursor.next()? {
        Next::String => Value::from(cursor.string()?.decode().into_owned()),
        Next::Array => {
            let mut elements = Vec::new();
            cursor.array(|element| {
                elements.push(read_value(element)?);
                Ok(())
            })?;
            Value::from(elements)
        }
        Next::Object => {
            let mut members = serde_json::Map::new();
            cursor.object(|key, value| {
                let key = Text::written(key).decode().into_owned();
                members.insert(key, read_value(value)?);
                Ok(())
            })?;
            Value::Object(members)
        }
        Next::Scalar => serde_json::from_str(cursor.raw()?).unwrap(),
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
        let mut cursor = Cursor::new(&text);
        let read = read_value(&mut cursor);
        // `serde_json` cannot tell -0.0 and may round floats when it reads them back.
        let expected: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read, Ok(expected));
        prop_assert_eq!(cursor.rest(), "");
        let mut skipping = Cursor::new(&text);
        prop_assert_eq!(skipping.skip(), Ok(()));
        prop_assert_eq!(skipping.rest(), "");
    }

    #[test]
    fn no_beginning_of_an_object_is_whole(value in prop::collection::hash_map("[a-z]{1,4}", value(), 1..4), cut in any::<prop::sample::Index>()) {
        let text = serde_json::to_string(&value).unwrap();
        let torn = &text[..text.floor_char_boundary(cut.index(text.len()))];
        prop_assert_eq!(Cursor::new(torn).skip(), Err(Malformed));
    }

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC*|[\\[\\]{}\",:\\\\u0-9a-f ]{0,64}") {
        let _ = read_lenient(&mut Cursor::new(&text));
        let mut cursor = Cursor::new(&text);
        let _ = cursor.skip();
        let _ = cursor.rest();
        let _ = decode(&text);
    }

    #[test]
    fn the_ends_of_a_string_are_its_ends(text in "([a-z]{0,30}|[\"\\\\\n]|é|😀|\u{1}){0,400}", head in 1_usize..64, tail in 1_usize..64) {
        let json = serde_json::to_string(&text).unwrap();
        let ends = Cursor::new(&json).string().unwrap().ends(Bounds { head, tail });
        prop_assert_eq!(ends.full_bytes, text.len());
        prop_assert!(text.starts_with(&*ends.head));
        prop_assert!(text.ends_with(&*ends.tail));
        if ends.tail.is_empty() {
            prop_assert_eq!(&*ends.head, &*text);
        } else {
            prop_assert!(head <= ends.head.len());
        }
    }

    #[test]
    fn an_opening_splits_no_escape(parts in prop::collection::vec(0_usize..6, 0..60), length in 0_usize..60) {
        const WRITTEN: [&str; 6] = ["a", "\\\\", "\\n", "\\u0001", "\\ud83d\\ude00", "é"];
        let json = format!("\"{}\"", parts.iter().map(|idx| WRITTEN[*idx]).collect::<String>());
        let text: String = serde_json::from_str(&json).unwrap();
        let opening = Cursor::new(&json).string().unwrap().opening(length);
        prop_assert!(text.starts_with(&*opening) && length.min(text.len()) <= opening.len());
    }

    #[test]
    fn the_opening_of_a_string_is_its_beginning(text in "([a-z]{0,9}|[\"\\\\\n]|é|😀|\u{1}){0,90}", length in 0_usize..80) {
        let json = serde_json::to_string(&text).unwrap();
        let string = Cursor::new(&json).string().unwrap();
        let opening = string.opening(length);
        prop_assert!(text.starts_with(&*opening) && length.min(text.len()) <= opening.len());
        let word = &text[..text.floor_char_boundary(length)];
        prop_assert!(string.may_open_with(&["?", word]));
        prop_assert!(!string.may_open_with(&["?"]) || json.starts_with("\"\\"));
    }

    #[test]
    fn long_strings_keep_their_ends(run in "[a-z\n\"]{8,40}", times in 400_usize..2000) {
        let text = run.repeat(times);
        let json = serde_json::to_string(&text).unwrap();
        let ends = Cursor::new(&json).string().unwrap().ends(Bounds { head: 100, tail: 50 });
        prop_assert_eq!(ends.full_bytes, text.len());
        prop_assert!(text.starts_with(&*ends.head) && 100 <= ends.head.len());
        prop_assert!(text.ends_with(&*ends.tail));
    }
}

fn read_lenient(cursor: &mut Cursor<'_>) -> Parsed<()> {
    match cursor.next()? {
        Next::String => cursor.string().map(|text| drop(text.decode())),
        Next::Array => cursor.array(read_lenient),
        Next::Object => cursor.object(|_, value| read_lenient(value)),
        Next::Scalar => cursor.skip(),
    }
}
