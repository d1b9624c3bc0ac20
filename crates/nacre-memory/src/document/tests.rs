//! Tests for the file format, with one case per rule. Properties that apply to all files are in
//! `props`.

mod edits;
mod props;

use super::*;

fn document(text: &str) -> Document {
    Document::parse(text.to_owned()).unwrap_or_else(|broken| panic!("{broken}: {text:?}"))
}

fn text(value: &str) -> Option<String> {
    let document = document(&format!("---\nkey:{value}\n---\n"));
    document.text("key").unwrap_or_else(|broken| panic!("{broken}: {value:?}")).map(Cow::into_owned)
}

fn list(value: &str) -> Vec<String> {
    let document = document(&format!("---\nkey:{value}\nnext: 1\n---\n"));
    document.list("key").unwrap_or_else(|broken| panic!("{broken}: {value:?}")).unwrap()
}

fn fault(text: &str) -> (usize, Fault) {
    let broken = Document::parse(text.to_owned()).and_then(|document| document.check());
    let broken = broken.expect_err(text);
    (broken.line, broken.fault)
}

#[test]
fn parts_of_a_file() {
    let whole =
        "\u{feff}---  \r\ntitle: A\r\n\r\n# note\r\ntags: [a]\r\n--- \r\nbody\r\n---\r\nmore";
    let document = document(whole);
    assert_eq!(document.as_str(), whole);
    assert_eq!(document.body(), "body\r\n---\r\nmore");
    assert_eq!(document.keys().collect::<Vec<_>>(), ["title", "tags"]);
    assert_eq!((document.line_of("title"), document.line_of("tags")), (Some(2), Some(5)));
    assert!(document.has("tags") && !document.has("note") && !document.has("more"));
    assert_eq!(document.text("title").unwrap().as_deref(), Some("A"));
    assert_eq!(document.text("missing"), Ok(None));
    assert_eq!(document.list("missing"), Ok(None));
    assert_eq!(document.number("missing"), Ok(None));
    assert_eq!(document.into_string(), whole);
}

#[test]
fn blank_is_what_parsing_its_text_gives() {
    let parsed = document("---\n---\n");
    assert_eq!(Document::blank().as_str(), parsed.as_str());
    assert_eq!(format!("{:?}", Document::blank()), format!("{parsed:?}"));
    assert_eq!(document("---\n---").body(), "");
}

#[test]
fn scalars_stay_as_written() {
    let cases: &[(&str, Option<&str>)] = &[
        (" plain text", Some("plain text")),
        ("   padded   ", Some("padded")),
        (" yes", Some("yes")),
        (" 012", Some("012")),
        (" 2026-01-01", Some("2026-01-01")),
        (" -5", Some("-5")),
        (" C# and F#", Some("C# and F#")),
        (" value # comment", Some("value")),
        (" http://x.y:80/#a", Some("http://x.y:80/#a")),
        (" 使用 SQLite — für alle", Some("使用 SQLite — für alle")),
        (" it's, [really] {fine}", Some("it's, [really] {fine}")),
        (" \"a: b # c\" # d", Some("a: b # c")),
        (r#" "q\"\\\/\n\u00e9\U0001F600""#, Some("q\"\\/\né😀")),
        (r#" "\ud83d\ude00\x41\e""#, Some("😀A\u{1b}")),
        (" 'it''s: \"x\" \\n'", Some("it's: \"x\" \\n")),
        (" ''", Some("")),
        ("\ttabbed", Some("tabbed")),
        (" a\tb", Some("a\tb")),
        ("", None),
        (" # only a comment", None),
        (" ~", None),
        (" null", None),
        (" Null", None),
        (" 'null'", Some("null")),
        (" one\n  two\n\n  three", Some("one two\nthree")),
        (" \"one\n  # two\"", Some("one # two")),
        (" one\n  # comment", Some("one")),
        ("\n  one", Some("one")),
        (" |\n  a\n\n   b # c\n  # d", Some("a\n\n b # c\n# d\n")),
        (" |-\n  a\n  \tb", Some("a\n\tb")),
        (" |+\n  a\n\n", Some("a\n\n\n")),
        (" >-\n  a\n  b\n\n  c", Some("a b\nc")),
        (" |  # comment\n  a", Some("a\n")),
    ];
    for (value, expected) in cases {
        assert_eq!(text(value).as_deref(), *expected, "{value:?}");
        if value.contains("|") || value.contains(">") {
            continue;
        }
        let windows = document(&format!("---\r\nkey:{}\r\n---\r\n", value.replace('\n', "\r\n")));
        assert_eq!(windows.text("key").unwrap().as_deref(), *expected, "{value:?}");
    }
}

#[test]
fn lists_in_every_style() {
    let cases: &[(&str, &[&str])] = &[
        (" [a, \"b, c\", 'd''e', 12, yes]", &["a", "b, c", "d'e", "12", "yes"]),
        (" [ a , b , ] # comment", &["a", "b"]),
        (" []", &[]),
        (" [a, ~, b]", &["a", "b"]),
        (" [a:b, http://c.d/#e, 中文]", &["a:b", "http://c.d/#e", "中文"]),
        (" [a,\n  b, # comment\n  c]", &["a", "b", "c"]),
        (" [\n  a,\n  b\n]", &["a", "b"]),
        ("", &[]),
        (" ~", &[]),
        (" alone", &["alone"]),
        (" \"a, b\"", &["a, b"]),
        ("\n- a\n- 'b'", &["a", "b"]),
        ("\n  - a # x\n  # comment\n\n  - \"b\"\n  -\n", &["a", "b"]),
        (" # comment\n- a", &["a"]),
        ("\n- a\n  folded\n- b", &["a folded", "b"]),
        ("\n- |\n  a\n- b", &["a\n", "b"]),
        (" |\n  a", &["a\n"]),
    ];
    for (value, expected) in cases {
        assert_eq!(list(value), *expected, "{value:?}");
    }
}

#[test]
fn numbers() {
    let number = |value: &str| document(&format!("---\nn: {value}\n---\n")).number("n");
    assert_eq!(number("0.9"), Ok(Some(0.9)));
    assert_eq!(number("1 # sure"), Ok(Some(1.0)));
    assert_eq!(number("'2e3'"), Ok(Some(2000.0)));
    assert_eq!(number("-0.5"), Ok(Some(-0.5)));
    assert_eq!(number("~"), Ok(None));
    for value in ["high", ".inf", "nan", "inf", "''", "1_000", "0x10"] {
        let fault = Fault::NotNumber { key: "n".to_owned() };
        assert_eq!(number(value), Err(Broken { line: 2, fault }), "{value}");
    }
}

#[test]
fn values_of_the_wrong_shape() {
    let document =
        document("---\nmap:\n  a: 1\nflow: {a: 1}\nlists: [[a]]\nopen: [a\nbad: a: b\n---\n");
    let fault = |key: &str| document.text(key).unwrap_err();
    assert_eq!(fault("map"), Broken { line: 2, fault: Fault::NotText { key: "map".to_owned() } });
    assert_eq!(fault("flow").fault, Fault::NotText { key: "flow".to_owned() });
    assert_eq!(fault("lists").fault, Fault::NotText { key: "lists".to_owned() });
    let not_list = Fault::NotList { key: "lists".to_owned() };
    assert_eq!(document.list("lists"), Err(Broken { line: 5, fault: not_list }));
    assert!(document.list("map").is_err());
    for (key, line) in [("open", 6), ("bad", 7)] {
        for broken in [document.text(key).unwrap_err(), document.list(key).unwrap_err()] {
            assert!(matches!(broken.fault, Fault::Yaml { .. }), "{broken}");
            assert_eq!(broken.line, line, "{broken}");
        }
    }
    for value in ["[a:, b]", "[a]#b", "\"a\"#b", "[a, b: c]", "[a,,b]", "\"a\" b"] {
        let document = self::document(&format!("---\nkey: {value}\n---\n"));
        assert!(document.list("key").is_err(), "{value}");
    }
}

#[test]
fn each_fault_has_its_line() {
    let duplicate = Fault::DuplicateKey { key: "a".to_owned(), first_line: 2 };
    let cases = [
        ("", 1, Fault::Empty),
        ("\u{feff}", 1, Fault::Empty),
        ("\n---\n---\n", 1, Fault::NoOpeningFence),
        ("# Title\n", 1, Fault::NoOpeningFence),
        ("----\n---\n", 1, Fault::NoOpeningFence),
        ("--- x\n---\n", 1, Fault::NoOpeningFence),
        ("---", 1, Fault::NoClosingFence),
        ("---\na: 1\n", 1, Fault::NoClosingFence),
        ("---\na: 1\n ---\n----\n--- x\n", 1, Fault::NoClosingFence),
        ("---\na: 1\n---\nbody\0", 4, Fault::Nul),
        ("---\na: 1\nb: x\u{1b}[0m\n---\n", 3, Fault::Unprintable('\u{1b}')),
        ("---\na: 1\rb: 2\n---\n", 2, Fault::Unprintable('\r')),
        ("---\na: é\n# \u{9f}\n---\n", 3, Fault::Unprintable('\u{9f}')),
        ("---\na: 1\nprose\n---\n", 3, Fault::NotAnEntry),
        ("---\n  a: 1\n---\n", 2, Fault::NotAnEntry),
        ("---\n- a\n---\n", 2, Fault::NotAnEntry),
        ("---\na: b\n- c\n---\n", 3, Fault::NotAnEntry),
        ("---\na: b\n]\n---\n", 3, Fault::NotAnEntry),
        ("---\n{a: b}\n---\n", 2, Fault::NotAnEntry),
        ("---\n? a: b\n---\n", 2, Fault::NotAnEntry),
        ("---\na:b\n---\n", 2, Fault::NotAnEntry),
        ("---\n...\n---\n", 2, Fault::NotAnEntry),
        ("---\n... x: 1\n---\n", 2, Fault::NotAnEntry),
        ("---\na #b: 1\n---\n", 2, Fault::NotAnEntry),
        ("---\n\"a\n---\n", 2, Fault::NotAnEntry),
        ("---\n: a\n---\n", 2, Fault::NotAnEntry),
        ("---\na:\n\tb: 1\n---\n", 3, Fault::TabIndent),
        ("---\na: 1\n\"a\": 2\n---\n", 3, duplicate.clone()),
        ("---\na: 1\n\n\"\\u0061\": 2\n---\n", 4, duplicate),
        ("---\n<<: x\n---\n", 2, Fault::MergeKey),
        ("---\na: 1\nb: &x 1\n---\n", 3, Fault::Anchor),
        ("---\na: *x\n---\n", 2, Fault::Alias),
        ("---\na: !!str x\n---\n", 2, Fault::Tag),
        ("---\n&a b: x\n---\n", 2, Fault::Anchor),
        ("---\na: 1\n<<<<<<< HEAD\nb: 1\n=======\n---\n", 3, Fault::ConflictMarker),
        ("---\n=======\n---\n", 2, Fault::ConflictMarker),
        ("---\n>>>>>>> x\n---\n", 2, Fault::ConflictMarker),
        ("<<<<<<< HEAD\n---\n", 1, Fault::ConflictMarker),
        ("---\n---\na\n<<<<<<< H\nx\n=======\ny\n>>>>>>> b\n", 4, Fault::ConflictMarker),
        ("---\n---\n<<<<<<< H\n=======\n<<<<<<< H\n>>>>>>> b\n", 3, Fault::ConflictMarker),
        ("---\n---\n<<<<<<< H\n<<<<<<< H\n=======\n>>>>>>> b\n", 3, Fault::ConflictMarker),
        ("---\n---\r\n<<<<<<< H\r\n=======\r\n>>>>>>> b\r\n", 3, Fault::ConflictMarker),
    ];
    for (text, line, expected) in cases {
        assert_eq!(fault(text), (line, expected), "{text:?}");
    }
}

#[test]
fn what_only_the_check_finds() {
    let cases = [
        ("---\na:\n  - &x 1\n---\n", 3, Fault::Anchor),
        ("---\na: 1\nb: [*x]\n---\n", 3, Fault::Alias),
        ("---\na:\n  b: !!str 1\n---\n", 3, Fault::Tag),
        ("---\na:\n  b: !mine 1\n---\n", 3, Fault::Tag),
        ("---\na:\n  b: 1\n  <<: {c: 2}\n---\n", 4, Fault::MergeKey),
    ];
    for (text, line, expected) in cases {
        assert!(Document::parse(text.to_owned()).is_ok(), "{text:?}");
        assert_eq!(fault(text), (line, expected), "{text:?}");
    }
    for text in
        ["---\na: 'x\n---\n", "---\na:\n  b: 1\n  b: 2\n---\n", "---\na: b\n# c\n  d\n---\n"]
    {
        assert!(matches!(fault(text), (_, Fault::Yaml { .. })), "{text:?}");
    }
}

#[test]
fn what_the_check_lets_pass() {
    let cases = [
        "---\n---\n",
        "---\n\"<<\": an ordinary key\n---\n",
        "---\n# nothing but a comment\n\n---\n",
        "---\n\"quoted key\": 1\n'other': [a]\nмой ключ: да\nx.y-z : 1\n---\n",
        "---\nextra:\n  deep: {a: [1, 2, .nan], b: ~}\n  list:\n  - x: 1\n    y: |\n      - *not an alias\n---\n",
        "---\na: |\n  <<<<<<< x\n  ---\n  & * !\n---\n",
        "---\na: [\n  b\n]\nc: {\n  d: 1\n}\n---\n",
        "---\n---\nTitle\n=======\n\n>>>>>>> quoted\n",
        "---\n---\n```\n<<<<<<< a\n=======\n>>>>>>> b\n```\n",
        "---\n---\n~~~~ diff\n~~~\n<<<<<<< a\n=======\n>>>>>>> b\n~~~~\n",
        "---\n---\n>>>>>>> a\n=======\n<<<<<<< b\n",
    ];
    for text in cases {
        assert_eq!(document(text).check(), Ok(()), "{text:?}");
    }
}

#[test]
fn a_code_block_that_ends_hides_no_conflict() {
    let text = "---\n---\n```rust\n```\n```inline```\n<<<<<<< a\n=======\n>>>>>>> b\n";
    assert_eq!(fault(text), (6, Fault::ConflictMarker));
}

#[test]
fn sizes_are_bounded() {
    let long_body = format!("---\n---\n{}", "x\n".repeat(MAX_FILE_BYTES / 2));
    assert_eq!(fault(&long_body), (MAX_FILE_BYTES / 2 - 1, Fault::FileTooLong));
    assert_eq!(Document::from_bytes(long_body.into_bytes()).unwrap_err().fault, Fault::FileTooLong);
    let full = format!("---\n---\n{}", "x".repeat(MAX_FILE_BYTES - 8));
    assert_eq!(document(&full).check(), Ok(()));
    let comments = |n: usize| format!("---\n{}---\n", "# 4567\n".repeat(n));
    assert_eq!(document(&comments(MAX_FRONTMATTER_BYTES / 7)).check(), Ok(()));
    assert_eq!(fault(&comments(MAX_FRONTMATTER_BYTES / 7 + 1)), (2342, Fault::FrontmatterTooLong));
    let keys = |n: usize| {
        let keys: String = (0..n).map(|key| format!("k{key}: 1\n")).collect();
        format!("---\n{keys}---\n")
    };
    assert_eq!(document(&keys(MAX_ENTRIES)).check(), Ok(()));
    assert_eq!(fault(&keys(MAX_ENTRIES + 1)), (MAX_ENTRIES + 2, Fault::TooManyEntries));
}

#[test]
fn nesting_is_bounded() {
    let bombs = [
        format!("a: {}", "[".repeat(10_000)),
        format!("a: {}", "{x: ".repeat(3_000)),
        format!("a:\n  {}x", "- ".repeat(5_000)),
        format!("a:\n  {}x", "? ".repeat(5_000)),
        format!("a:{}", (1..100).map(|n| format!("\n{}b:", " ".repeat(n))).collect::<String>()),
        format!("a: [{}", "\n  [".repeat(2_000)),
    ];
    for bomb in bombs {
        assert_eq!(yaml::check_depth(&bomb, 2).unwrap_err().fault, Fault::TooDeep);
        let document = document(&format!("---\n{bomb}\n---\n"));
        assert_eq!(document.check().unwrap_err().fault, Fault::TooDeep);
        assert_eq!(document.text("a").unwrap_err().fault, Fault::TooDeep);
        assert_eq!(document.list("a").unwrap_err().fault, Fault::TooDeep);
    }
    let deep = |n: usize| format!("---\na: {}{}\n---\n", "[".repeat(n), "]".repeat(n));
    assert_eq!(document(&deep(MAX_DEPTH - 1)).check(), Ok(()));
    assert_eq!(fault(&deep(MAX_DEPTH)), (2, Fault::TooDeep));
}

#[test]
fn bytes_that_are_not_text_have_a_line() {
    let broken = Document::from_bytes(b"---\na: 1\nb: \xff\n---\n".to_vec()).unwrap_err();
    assert_eq!(broken, Broken { line: 3, fault: Fault::NotUtf8 });
    let document = Document::from_bytes(b"---\na: 1\n---\nx".to_vec()).unwrap();
    assert_eq!(document.body(), "x");
}

#[test]
fn messages_name_the_line_and_the_thing() {
    let message = |text: &str| {
        Document::parse(text.to_owned())
            .and_then(|document| document.check())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        message("---\na: 1\na: 2\n---\n"),
        "Line 3: the key `a` is already defined on line 2"
    );
    assert_eq!(
        message("---\na: \u{7}\n---\n"),
        "Line 2: the frontmatter contains the character `\\u{7}`"
    );
    assert_eq!(
        message("---\nb: 1\na: x: y\n---\n"),
        "Line 3: the frontmatter is not valid YAML: mapping values are not allowed in this context"
    );
}
