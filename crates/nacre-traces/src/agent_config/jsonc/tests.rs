//! Property tests that adding and removing an entry restores the original bytes, whatever the
//! formatting.

use proptest::prelude::*;

use super::change::{append, put, remove_entry, tidy, without_child};
use super::parse::{Document, value_at};
use super::parse_object;
use crate::agent_config::json::Json;
use crate::agent_config::undo::Undo;

fn server() -> Json {
    let args = Json::List(vec![Json::text("mcp")]);
    Json::Map(vec![("command", Json::text("/usr/bin/nacre")), ("args", args)])
}

fn put_in(text: &str) -> (String, Undo) {
    put(text, &["mcpServers", "nacre"], &server()).unwrap()
}

fn taken_out(text: &str, undo: &Undo) -> String {
    let text = remove_entry(text, &["mcpServers", "nacre"], undo).unwrap();
    tidy(&text, undo).unwrap()
}

#[track_caller]
fn check(before: &str, expected: &str) {
    let (after, undo) = put_in(before);
    assert_eq!(after, expected);
    assert_eq!(taken_out(&after, &undo), before);
}

#[test]
fn the_style_of_the_text_is_taken_over() {
    check(
        "{\n  \"a\": 1\n}\n",
        "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"nacre\": {\n      \"command\": \"/usr/bin/nacre\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n",
    );
    check(
        "{\r\n\t\"mcpServers\": {\r\n\t\t\"x\": {}, // mine\r\n\t},\r\n}",
        "{\r\n\t\"mcpServers\": {\r\n\t\t\"x\": {}, // mine\r\n\t\t\"nacre\": {\r\n\t\t\t\"command\": \"/usr/bin/nacre\",\r\n\t\t\t\"args\": [\"mcp\"]\r\n\t\t},\r\n\t},\r\n}",
    );
    check(
        "{\"a\":1}",
        "{\"a\":1,\"mcpServers\":{\"nacre\":{\"command\":\"/usr/bin/nacre\",\"args\":[\"mcp\"]}}}",
    );
}

#[test]
fn a_comment_stays_with_its_line() {
    let (after, undo) = put_in("{\n  \"a\": 1 // one\n  // \"b\": 2\n}\n");
    assert!(
        after.starts_with("{\n  \"a\": 1, // one\n  // \"b\": 2\n  \"mcpServers\": {"),
        "{after}"
    );
    assert_eq!(taken_out(&after, &undo), "{\n  \"a\": 1 // one\n  // \"b\": 2\n}\n");
}

#[test]
fn an_empty_file_and_empty_objects_come_back() {
    for text in [
        "",
        "\n",
        " \n\n",
        "\u{feff}",
        "{}",
        "{ }",
        "{\n}\n",
        "{\"mcpServers\": {}}",
        "{\"mcpServers\":{ }}\n",
        "{ /* none yet */ }",
        "{\n  \"mcpServers\": {\n    // none yet\n  }\n}",
        "{\"mcpServers\": {/**/}}",
        "{ // none\n}",
    ] {
        let (after, undo) = put_in(text);
        let (_, root) = parse_object(&after).unwrap().unwrap();
        let node = root.at(&["mcpServers", "nacre"]).unwrap();
        assert_eq!(value_at(&after, node), server().to_value(), "{after}");
        assert_eq!(taken_out(&after, &undo), text, "{after}");
    }
}

#[test]
fn what_stood_in_our_place_comes_back() {
    let text = "{\"mcpServers\": {\"nacre\": {\"command\": \"old\" /* why */}, \"x\": 1}}";
    let (after, undo) = put_in(text);
    assert!(!after.contains("old"));
    assert_eq!(taken_out(&after, &undo), text);
}

#[test]
fn edits_made_since_stay() {
    let (after, undo) = put_in("{\n  \"a\": 1\n}\n");
    let edited = after.replace("\"a\": 1,", "\"a\": 2,\n  \"b\": 3,");
    assert_eq!(taken_out(&edited, &undo), "{\n  \"a\": 2,\n  \"b\": 3\n}\n");
    let added = after.replace("\"nacre\": {", "\"x\": {},\n    \"nacre\": {");
    assert_eq!(
        taken_out(&added, &undo),
        "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"x\": {}\n  }\n}\n"
    );
}

#[test]
fn texts_that_are_not_json_are_refused_with_their_line() {
    for (text, line) in [
        ("{\n  a: 1\n}", 2),
        ("{\"a\": 'x'}", 1),
        ("{\"a\": 1", 1),
        ("{\"a\" 1}", 1),
        ("[1] 2", 1),
        ("{\n\n\"a\": tru\n}", 3),
        ("{ /* open", 1),
        ("{\"a\": \"x\n\"}", 1),
        ("// only words", 1),
        ("{\"a\":,}", 1),
    ] {
        let error = put(text, &["mcpServers", "nacre"], &server()).unwrap_err();
        assert!(error.to_string().starts_with(&format!("line {line}: ")), "{text:?}: {error}");
    }
    let deep = format!("{{\"a\": {}", "[".repeat(100_000));
    assert!(Document::parse(&deep).is_err());
    for text in ["[]", "1", "{\"mcpServers\": []}", "{\"mcpServers\": null}"] {
        assert!(put(text, &["mcpServers", "nacre"], &server()).is_err(), "{text}");
    }
}

/// Generates whitespace and comments like those in handwritten files.
fn trivia() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        3 => Just(" ".to_owned()),
        3 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just(" // a note, {\n".to_owned()),
        1 => Just("/* \" ] */".to_owned()),
    ]
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("1".to_owned()),
        Just("true".to_owned()),
        Just("null".to_owned()),
        Just("-1.5e3".to_owned()),
        Just(r#""te\"xt, } é""#.to_owned()),
    ]
}

fn joined(
    children: Vec<(String, String, String)>,
    brackets: (&str, &str),
    rest: &(String, bool),
) -> String {
    let mut text = brackets.0.to_owned();
    let n_children = children.len();
    for (idx, (before, child, after)) in children.into_iter().enumerate() {
        let is_last = idx + 1 == n_children;
        text += &format!("{before}{child}{after}{}", if is_last && !rest.1 { "" } else { "," });
    }
    text + &rest.0 + brackets.1
}

fn value() -> impl Strategy<Value = String> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        let items = prop::collection::vec((trivia(), inner.clone(), trivia()), 0..4);
        let lists = (items, trivia(), any::<bool>())
            .prop_map(|(items, rest, comma)| joined(items, ("[", "]"), &(rest, comma)));
        prop_oneof![lists, object(inner)]
    })
}

fn object(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let key = prop_oneof![Just("a"), Just("b c"), Just("mcpServers"), Just("hooks"), Just("é")];
    let member = (trivia(), key, trivia(), inner, trivia());
    let member = member.prop_map(|(before, key, between, value, after)| {
        // An entry can be added only if `mcpServers` is an object.
        let value =
            if key == "mcpServers" && !value.starts_with('{') { "{}".to_owned() } else { value };
        let value = if key == "hooks" && !value.starts_with('[') { "[]".to_owned() } else { value };
        (before, format!("\"{key}\":{between}{value}"), after)
    });
    (prop::collection::vec(member, 0..5), trivia(), any::<bool>())
        .prop_map(|(members, rest, comma)| joined(members, ("{", "}"), &(rest, comma)))
}

fn document() -> impl Strategy<Value = String> {
    (trivia(), object(value()), trivia(), any::<bool>()).prop_map(
        |(before, object, after, has_mark)| {
            format!("{}{before}{object}{after}", if has_mark { "\u{feff}" } else { "" })
        },
    )
}

fn others(text: &str) -> serde_json::Value {
    let (_, root) = parse_object(text).unwrap().unwrap();
    let mut value = value_at(text, &root);
    let members = value.as_object_mut().unwrap();
    if let Some(servers) = members.get_mut("mcpServers").and_then(|servers| servers.as_object_mut())
    {
        servers.remove("nacre");
        if servers.is_empty() {
            members.remove("mcpServers");
        }
    }
    value
}

proptest! {
    #[test]
    fn put_in_and_taken_out_is_the_same_text(text in document()) {
        let (after, undo) = put_in(&text);
        let (_, root) = parse_object(&after).unwrap().unwrap();
        let node = root.at(&["mcpServers", "nacre"]).unwrap();
        prop_assert_eq!(value_at(&after, node), server().to_value());
        prop_assert_eq!(others(&after), others(&text));
        prop_assert_eq!(taken_out(&after, &undo), text);
    }

    #[test]
    fn appended_and_taken_out_is_the_same_text(text in document()) {
        let (after, undo) = append(&text, &["hooks"], &server()).unwrap();
        let (_, root) = parse_object(&after).unwrap().unwrap();
        let list = root.at(&["hooks"]).unwrap();
        let last = list.children().len() - 1;
        prop_assert_eq!(value_at(&after, &list.children()[last].value), server().to_value());
        let without = without_child(&after, list, last);
        prop_assert_eq!(tidy(&without, &undo).unwrap(), text);
    }

    #[test]
    fn no_text_is_a_panic(text in "[\\[\\]{}\",:/*\n a0é\\\\-]{0,40}") {
        if let Ok((after, undo)) = put(&text, &["mcpServers", "nacre"], &server()) {
            prop_assert_eq!(taken_out(&after, &undo), text);
        }
    }
}
