//! Tests how changing one entry affects the file's text.

use super::super::*;
use super::document;

/// Applies a change and checks that the document's offsets are still correct.
fn edit(before: &str, change: impl Fn(&mut Document)) -> String {
    let mut edited = document(before);
    change(&mut edited);
    let fresh = document(edited.as_str());
    assert_eq!(places(&edited), places(&fresh), "{:?}", edited.as_str());
    edited.into_string()
}

pub(super) fn places(document: &Document) -> Vec<String> {
    let entries = document.index.entries.iter();
    let mut places: Vec<String> = entries
        .map(|it| {
            let key = it.key(&document.text);
            let (line, value, head_end, tail) = (it.line, it.value, it.head_end, it.tail);
            format!("{key:?} {line} {}..{value}..{head_end}..{} {tail:?}", it.start, it.end)
        })
        .collect();
    places.push(format!("{} {}", document.index.close, document.index.body));
    places
}

#[test]
fn texts_are_replaced_in_place() {
    let cases = [
        ("a: 1\nb:   old   # why\nc: 3\n", "a: 1\nb:   new   # why\nc: 3\n"),
        ("b: \"o\\\"ld\" # why\n", "b: new # why\n"),
        ("b: 'old'\n", "b: new\n"),
        ("b:\n", "b: new\n"),
        ("b:   # why\n", "b: new   # why\n"),
        ("b: ~ # why\n", "b: new # why\n"),
        ("b: [x, y] # why\n", "b: new # why\n"),
        ("b: one\n  two\n  # in\n\n# out\nc: 1\n", "b: new\n\n# out\nc: 1\n"),
        ("b: old\n  # kept\nc: 1\n", "b: new\n  # kept\nc: 1\n"),
        ("b: |+\n  x\n\n\nc: 1\n", "b: new\nc: 1\n"),
        ("b: |+\n  x\n# out\n\nc: 1\n", "b: new\n# out\n\nc: 1\n"),
        ("b:\n- x\n- y\nc: 1\n", "b: new\nc: 1\n"),
        ("b:\n  x: 1\n  y: 2\n\nc: 1\n", "b: new\n\nc: 1\n"),
        ("b: \"\\x41\" # lost\n", "b: new\n"),
        ("b: broken: old\n", "b: new\n"),
        ("\"b\" : old\n", "\"b\" : new\n"),
        ("a: 1\n# end\n", "a: 1\n# end\nb: new\n"),
        ("", "b: new\n"),
    ];
    for (before, after) in cases {
        let file = |entries: &str| format!("---\n{entries}---\nb: body\n");
        assert_eq!(edit(&file(before), |it| it.set_text("b", "new")), file(after));
        let windows = |entries: &str| file(entries).replace('\n', "\r\n");
        assert_eq!(edit(&windows(before), |it| it.set_text("b", "new")), windows(after));
    }
}

#[test]
fn equal_values_change_nothing() {
    let text = "---\nt: \"x\"  # c\nm: a\n  b\nn: 0.90\nl: [ 'a',\"b\" ]\nk:\n  -  a\n  - 'b'\ne:\ns: a\n---\nbody";
    let mut edited = document(text);
    edited.set_text("t", "x");
    edited.set_text("m", "a b");
    edited.set_number("n", 0.9);
    edited.set_list("l", &["a", "b"]);
    edited.set_list("k", &["a", "b"]);
    edited.set_list::<&str>("e", &[]);
    edited.set_list("s", &["a"]);
    edited.set_body("body");
    edited.remove("missing");
    assert_eq!(edited.as_str(), text);
}

#[test]
fn scalars_are_plain_only_when_nobody_can_misread_them() {
    let plain = [
        "word",
        "two words",
        "中文 标题",
        "it's \"fine\"",
        "a:b",
        "C#",
        "x [1] {2}",
        "2026-10-01T10:20:30Z",
        "2026-10-01T10:20:30.123456+02:00",
        "20260101-use-sqlite",
        "3 ways",
        "/etc/hosts",
        "_x",
        "(maybe)",
        "née",
        "back\\slash",
        "yes we can",
        "0xyz",
    ];
    for text in plain {
        assert_eq!(render::scalar(text), text);
    }
    let quoted = [
        ("", r#""""#),
        ("Use SQLite: not", r#""Use SQLite: not""#),
        ("a #b", r#""a #b""#),
        ("end:", r#""end:""#),
        (" a", r#"" a""#),
        ("a ", r#""a ""#),
        ("yes", r#""yes""#),
        ("Off", r#""Off""#),
        ("N", r#""N""#),
        ("NULL", r#""NULL""#),
        ("~", r#""~""#),
        ("12", r#""12""#),
        ("1_0.5e-3", r#""1_0.5e-3""#),
        ("0x1F", r#""0x1F""#),
        (".5", r#"".5""#),
        ("-1", r#""-1""#),
        ("+1", r#""+1""#),
        ("10:20:30", r#""10:20:30""#),
        ("2026-01-01", r#""2026-01-01""#),
        ("2026-1-1 10:00", r#""2026-1-1 10:00""#),
        ("2026-01-01T10:20:30", r#""2026-01-01T10:20:30""#),
        ("2026-01-01T10:20:30.Z", r#""2026-01-01T10:20:30.Z""#),
        ("- a", r#""- a""#),
        ("[a]", r#""[a]""#),
        ("*a", r#""*a""#),
        ("@a", r#""@a""#),
        ("---", r#""---""#),
        ("<<", r#""<<""#),
        ("\"a\\", r#""\"a\\""#),
        ("a\nb\tc\rd\0", r#""a\nb\tc\rd\u0000""#),
        ("a\u{202e}b\u{200b}c\u{2028}d\u{feff}e\u{85}", r#""a\u202eb\u200bc\u2028d\ufeffe\u0085""#),
        ("\u{e0041}\u{ffff}\u{10ffff}", r#""\U000e0041\uffff\U0010ffff""#),
    ];
    for (text, expected) in quoted {
        assert_eq!(render::scalar(text), expected);
    }
}

#[test]
fn numbers_are_short() {
    let cases = [(0.9, "0.9"), (1.0, "1"), (0.1 + 0.2, "0.30000000000000004"), (-2.5, "-2.5")];
    for (value, expected) in cases {
        let after = edit("---\nn: high # c\n---\n", |it| it.set_number("n", value));
        assert_eq!(after, format!("---\nn: {expected} # c\n---\n"));
    }
    let mut edited = Document::blank();
    edited.set_number("n", f64::NAN);
    assert!(edited.check().is_ok() && edited.number("n").is_err());
}

#[test]
fn lists_keep_their_style() {
    let new = ["b", "new, x", "a: b"];
    let flow = "k: [b, \"new, x\", \"a: b\"]";
    let cases = [
        ("k: [a,b] # c\n", format!("{flow} # c\n")),
        ("k: [a,\n  b]\n", format!("{flow}\n")),
        ("k: a\n", format!("{flow}\n")),
        ("k:\nx: 1\n", format!("{flow}\nx: 1\n")),
        ("k:\n- a\n  folded\nx: 1\n", format!("{flow}\nx: 1\n")),
        ("x: 1\n", format!("x: 1\n{flow}\n")),
        (
            "k:\n- a\n- 'b' # kept\nx: 1\n",
            "k:\n- 'b' # kept\n- new, x\n- \"a: b\"\nx: 1\n".to_owned(),
        ),
        (
            "k: # tags\n    - a\n    # of b\n    - b\n    # end\n\nx: 1\n",
            "k: # tags\n    # of b\n    - b\n    - new, x\n    - \"a: b\"\n    # end\n\nx: 1\n"
                .to_owned(),
        ),
    ];
    for (before, after) in cases {
        let file = |entries: &str| format!("---\n{entries}---\n");
        assert_eq!(edit(&file(before), |it| it.set_list("k", &new)), file(&after));
        let windows = |entries: &str| file(entries).replace('\n', "\r\n");
        assert_eq!(edit(&windows(before), |it| it.set_list("k", &new)), windows(&after));
    }
    let emptied = edit("---\nk:\n- a\n- b\nx: 1\n---\n", |it| it.set_list::<&str>("k", &[]));
    assert_eq!(emptied, "---\nk: []\nx: 1\n---\n");
}

#[test]
fn removing_takes_the_entry_and_nothing_else() {
    let cases = [
        ("a: 1\n# of b\nb: 2 # x\n  # in\n\nc: 3\n", "a: 1\n# of b\n\nc: 3\n"),
        ("b: |\n  x\n\n  y\nc: 3\n", "c: 3\n"),
        ("b:\n- x\n# in\n- y\n# out\n", "# out\n"),
        ("a: |+\n  x\nb: 2\n\n\nc: 3\n", "a: |+\n  x\nc: 3\n"),
        ("a: 1\n", "a: 1\n"),
    ];
    for (before, after) in cases {
        let file = |entries: &str| format!("---\n{entries}---\nbody\n");
        assert_eq!(edit(&file(before), |it| it.remove("b")), file(after));
    }
}

#[test]
fn the_body_takes_the_line_ending_of_the_file() {
    assert_eq!(edit("---\n---\nold", |it| it.set_body("a\nb\n")), "---\n---\na\nb\n");
    assert_eq!(edit("---\n---", |it| it.set_body("a")), "---\n---\na");
    assert_eq!(edit("---\r\n---", |it| it.set_body("a\nb\r\n")), "---\r\n---\r\na\r\nb\r\n");
    assert_eq!(edit("---\na: 1\n---\nold", |it| it.set_body("")), "---\na: 1\n---\n");
    assert_eq!(edit("---\n---", |it| it.set_body("")), "---\n---");
}

#[test]
fn keys_are_quoted_when_they_must_be() {
    let keys = ["a b", "yes", "x: y", "q\"", "", "nä\u{200b}", "1"];
    let after = edit("---\n---\n", |it| {
        for key in keys {
            it.set_text(key, "v");
            it.set_text(key, key);
        }
    });
    let edited = document(&after);
    assert_eq!(edited.keys().collect::<Vec<_>>(), keys);
    assert_eq!(edited.check(), Ok(()));
    for key in keys {
        assert_eq!(edited.text(key).unwrap().as_deref(), Some(key));
    }
}
