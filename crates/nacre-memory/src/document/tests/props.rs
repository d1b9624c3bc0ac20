//! Properties that hold for all files, checked on generated ones.

use std::collections::BTreeMap;
use std::fmt;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::super::*;
use super::edits::places;

/// Characters to generate text from: YAML's special characters are as frequent as letters.
const SPICE: &str =
    r#"[a-dn~ :#,\[\]{}&*!|>'"%@`?.\\/0-9_é中\u{85}\u{a0}\u{2028}\u{feff}\u{200b}\t=<+-]{0,12}"#;

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-zA-Zé中0-9][a-zA-Zé中0-9 .:#'\"/_-]{0,12}[a-zA-Z0-9]",
        2 => SPICE,
        1 => "'([^'\\p{Cc}]|''){0,8}'",
        1 => r#""([^"\\\p{Cc}]|\\["\\/bfnrt]|\\u00[0-9a-f]{2}|\\U0001f60[0-9]){0,8}""#,
        1 => Just("null".to_owned()),
        1 => Just(String::new()),
    ]
}

/// Generates what follows a key's colon, which may continue on more lines.
fn value() -> impl Strategy<Value = String> {
    let comment =
        prop_oneof![3 => Just(String::new()), 1 => SPICE.prop_map(|it| format!(" #{it}"))];
    let dash =
        prop_oneof![Just("\n- "), Just("\n  - "), Just("\n -  "), Just("\n  # "), Just("\n")];
    let below = prop_oneof![Just("\n  "), Just("\n   # "), Just("\n\n "), Just("\n# ")];
    let block = prop_oneof![Just("|"), Just(">-"), Just("|+"), Just(">2"), Just("| # c")];
    prop_oneof![
        4 => (word(), comment.clone()).prop_map(|(it, comment)| format!(" {it}{comment}")),
        3 => (vec(word(), 0..4), comment.clone())
            .prop_map(|(items, comment)| format!(" [{}]{comment}", items.join(", "))),
        2 => vec((dash, word(), comment), 1..4).prop_map(|items| {
            items.into_iter().map(|(dash, item, comment)| format!("{dash}{item}{comment}")).collect()
        }),
        1 => (word(), vec((below, word()), 0..3)).prop_map(|(first, more)| {
            let more: String = more.into_iter().map(|(below, it)| format!("{below}{it}")).collect();
            format!(" {first}{more}")
        }),
        1 => (block, vec(SPICE, 0..4)).prop_map(|(block, lines)| {
            let lines: String = lines.into_iter().map(|line| format!("\n  {line}")).collect();
            format!(" {block}{lines}\n")
        }),
    ]
}

#[derive(Debug, Clone, Copy)]
enum Break {
    Lf,
    CrLf,
}

/// Generates a file that may or may not be valid.
fn file() -> impl Strategy<Value = String> {
    let bom = prop_oneof![3 => Just(""), 1 => Just("\u{feff}")];
    let line_break = prop_oneof![3 => Just(Break::Lf), 1 => Just(Break::CrLf)];
    let gap = prop_oneof![6 => Just(""), 1 => Just("\n"), 1 => Just("# gap\n\n")];
    (bom, line_break, vec((gap, value()), 0..6), "(\n|[a-z#-]{1,4}){0,6}").prop_map(
        |(bom, line_break, entries, body)| {
            let entries: String = entries
                .into_iter()
                .enumerate()
                .map(|(idx, (gap, value))| format!("{gap}k{idx}:{value}\n"))
                .collect();
            let text = format!("{bom}---\n{entries}---\n{body}");
            match line_break {
                Break::Lf => text,
                Break::CrLf => text.replace('\n', "\r\n"),
            }
        },
    )
}

fn accepted() -> impl Strategy<Value = Document> {
    file().prop_filter_map("refused", |text| Document::parse(text).ok())
}

/// Calls every read method, to check that none panics.
fn read_all(document: &Document) {
    for key in document.keys().map(str::to_owned).collect::<Vec<_>>() {
        let _ = (document.text(&key), document.list(&key), document.number(&key));
    }
    let _ = document.check();
}

/// Complete frontmatter read by the YAML parser. Keys that start with `t` contain strings, and all
/// others contain lists.
#[derive(Debug, Default)]
struct Whole {
    texts: BTreeMap<String, Option<String>>,
    lists: BTreeMap<String, Vec<String>>,
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(WholeVisitor)
    }
}

struct WholeVisitor;

impl<'de> Visitor<'de> for WholeVisitor {
    type Value = Whole;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a frontmatter")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Whole, A::Error> {
        let mut whole = Whole::default();
        while let Some(key) = entries.next_key::<String>()? {
            if key.starts_with('t') {
                whole.texts.insert(key, entries.next_value()?);
            } else {
                let items: Vec<Option<String>> = entries.next_value()?;
                whole.lists.insert(key, items.into_iter().flatten().collect());
            }
        }
        Ok(whole)
    }
}

fn read_whole<T: serde::de::DeserializeOwned>(document: &Document) -> Result<T, String> {
    let frontmatter = document.index.frontmatter(&document.text);
    serde_saphyr::from_str(frontmatter).map_err(|error| error.to_string())
}

/// What the hand-written decoder returns, if it supports the value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ByHand {
    Text,
    List,
}

fn by_hand(value: &str) -> Option<ByHand> {
    let document = Document::parse(format!("---\nk:{value}\n---\n")).ok()?;
    let [entry] = document.index.entries.as_slice() else { return None };
    if document.token(entry).is_some() {
        return Some(ByHand::Text);
    }
    let is_flow = entry.tail != Tail::Content && list::flow(entry.head(&document.text)).is_some();
    (is_flow || list::block(entry, &document.text).is_some()).then_some(ByHand::List)
}

/// Checks that only `key`'s entry differs, and that both documents' offsets are correct.
fn check_rest(before: &Document, after: &Document, key: &str) -> Result<Document, TestCaseError> {
    let others = |document: &Document| -> Vec<String> {
        let entries = document.index.entries.iter().filter(|it| it.key(&document.text) != key);
        entries.map(|it| it.raw(&document.text).to_owned()).collect()
    };
    prop_assert_eq!(others(before), others(after));
    prop_assert_eq!(before.body(), after.body());
    let fresh = Document::parse(after.as_str().to_owned());
    let fresh =
        fresh.map_err(|broken| TestCaseError::fail(format!("{broken}: {:?}", after.text)))?;
    prop_assert_eq!(places(after), places(&fresh));
    Ok(fresh)
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), word(), SPICE]
}

fn any_key() -> impl Strategy<Value = String> {
    prop_oneof![4 => "k[0-6]", 1 => any_text()]
}

fn text_of(document: &Document, key: &str) -> Result<Option<String>, Broken> {
    document.text(key).map(|text| text.map(Cow::into_owned))
}

fn values(document: &Document) -> BTreeMap<String, (Option<String>, Option<Vec<String>>)> {
    let keys = document.keys().map(str::to_owned);
    keys.map(|key| {
        let text = text_of(document, &key).ok().flatten();
        let list = document.list(&key).ok().flatten();
        (key, (text, list))
    })
    .collect()
}

fn check_untouched_values(before: &Document, after: &Document, key: &str) -> TestCaseResult {
    let (mut before, mut after) = (values(before), values(after));
    before.remove(key);
    after.remove(key);
    prop_assert_eq!(before, after);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>(), spice in vec(SPICE, 0..8)) {
        for text in [text.clone(), format!("---\n{text}\n---\n"), spice.join("\n"),
                     format!("---\n{}\n---\n{text}", spice.join("\n"))] {
            if let Ok(document) = Document::parse(text.clone()) {
                prop_assert_eq!(document.as_str(), &text);
                read_all(&document);
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..200)) {
        let _ = Document::from_bytes(bytes.clone());
        let fenced = [b"---\nk: ".as_slice(), &bytes, b"\n---\n"].concat();
        if let Ok(document) = Document::from_bytes(fenced) {
            read_all(&document);
        }
    }

    #[test]
    fn accepted_files_come_back_byte_for_byte(text in file()) {
        if let Ok(document) = Document::parse(text.clone()) {
            read_all(&document);
            prop_assert_eq!(document.into_string(), text);
        }
    }

    #[test]
    fn readings_by_hand_agree_with_the_parser(values in vec(value(), 1..8)) {
        let mut frontmatter = String::new();
        for (idx, value) in values.iter().enumerate() {
            match by_hand(value) {
                Some(ByHand::Text) => frontmatter += &format!("t{idx}:{value}\n"),
                Some(ByHand::List) => frontmatter += &format!("l{idx}:{value}\n"),
                None => {}
            }
        }
        if frontmatter.is_empty() {
            return Ok(());
        }
        let document = super::document(&format!("---\n{frontmatter}---\n"));
        let whole: Whole = read_whole(&document).map_err(TestCaseError::fail)?;
        prop_assert_eq!(document.keys().count(), whole.texts.len() + whole.lists.len());
        for (key, text) in &whole.texts {
            prop_assert_eq!(text_of(&document, key), Ok(text.clone()));
            prop_assert_eq!(document.list(key), Ok(Some(text.iter().cloned().collect())));
        }
        for (key, list) in &whole.lists {
            prop_assert_eq!(document.list(key), Ok(Some(list.clone())));
        }
    }

    #[test]
    fn what_is_called_sound_the_parser_takes(document in accepted()) {
        if document.check().is_ok() {
            let taken = yaml::check(document.index.frontmatter(document.as_str()));
            prop_assert!(taken.is_ok(), "{taken:?}: {:?}", document.as_str());
        }
    }

    #[test]
    fn entries_mean_alone_what_they_mean_in_the_file(document in accepted()) {
        let Ok(whole) = read_whole::<BTreeMap<String, Option<String>>>(&document) else {
            return Ok(());
        };
        // The YAML parser supports anchors, but this crate rejects them.
        if document.check().is_err() {
            return Ok(());
        }
        prop_assert_eq!(document.keys().count(), whole.len());
        for (key, text) in &whole {
            prop_assert_eq!(text_of(&document, key), Ok(text.clone()));
        }
    }

    #[test]
    fn a_text_that_was_set_is_read_back(
        before in accepted(), key in any_key(), value in any_text(),
    ) {
        let mut after = before.clone();
        after.set_text(&key, &value);
        let fresh = check_rest(&before, &after, &key)?;
        for document in [&after, &fresh] {
            prop_assert_eq!(text_of(document, &key), Ok(Some(value.clone())));
        }
        check_untouched_values(&before, &fresh, &key)?;
        let text = after.as_str().to_owned();
        after.set_text(&key, &value);
        prop_assert_eq!(after.as_str(), text);
    }

    #[test]
    fn a_list_that_was_set_is_read_back(
        before in accepted(), key in any_key(), items in vec(any_text(), 0..5),
    ) {
        let mut after = before.clone();
        after.set_list(&key, &items);
        let fresh = check_rest(&before, &after, &key)?;
        for document in [&after, &fresh] {
            prop_assert_eq!(document.list(&key), Ok(Some(items.clone())));
        }
        check_untouched_values(&before, &fresh, &key)?;
    }

    #[test]
    fn a_number_that_was_set_is_read_back(
        before in accepted(), key in any_key(), value in proptest::num::f64::NORMAL,
    ) {
        let mut after = before.clone();
        after.set_number(&key, value);
        let fresh = check_rest(&before, &after, &key)?;
        prop_assert_eq!(fresh.number(&key), Ok(Some(value)));
    }

    #[test]
    fn a_removed_key_is_gone_and_the_rest_stays(before in accepted(), key in any_key()) {
        let mut after = before.clone();
        after.remove(&key);
        let fresh = check_rest(&before, &after, &key)?;
        prop_assert!(!fresh.has(&key));
        check_untouched_values(&before, &fresh, &key)?;
    }

    #[test]
    fn a_body_that_was_set_is_read_back(before in accepted(), body in "[a-z\n -]{0,20}") {
        let mut after = before.clone();
        after.set_body(&body);
        let fresh = super::document(after.as_str());
        prop_assert_eq!(fresh.body().replace("\r\n", "\n"), body);
        prop_assert_eq!(values(&fresh), values(&before));
        prop_assert!(!after.as_str().contains("\r\n") || !after.body().replace("\r\n", "").contains('\n'));
    }

    #[test]
    fn the_parser_reads_what_was_rendered(
        texts in vec(any_text(), 1..6), lists in vec(vec(any_text(), 0..5), 0..4),
    ) {
        let mut document = Document::blank();
        for (idx, text) in texts.iter().enumerate() {
            document.set_text(&format!("t{idx}"), text);
        }
        for (idx, list) in lists.iter().enumerate() {
            document.set_list(&format!("l{idx}"), list);
        }
        prop_assert_eq!(document.check(), Ok(()));
        let whole: Whole = read_whole(&document).map_err(TestCaseError::fail)?;
        prop_assert!(whole.texts.into_values().eq(texts.into_iter().map(Some)));
        prop_assert!(whole.lists.into_values().eq(lists));
    }

    #[test]
    fn a_reader_without_types_finds_texts_only(text in any_text()) {
        let mut document = Document::blank();
        document.set_text("t", &text);
        let inferred: BTreeMap<String, Inferred> = read_whole(&document).map_err(TestCaseError::fail)?;
        prop_assert_eq!(inferred.into_values().next(), Some(Inferred(text)));
    }
}

/// A value whose type is inferred by the parser. Only strings can be deserialized into it.
#[derive(Debug, PartialEq)]
struct Inferred(String);

impl<'de> Deserialize<'de> for Inferred {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl Visitor<'_> for TextVisitor {
            type Value = Inferred;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text")
            }

            fn visit_str<E>(self, text: &str) -> Result<Inferred, E> {
                Ok(Inferred(text.to_owned()))
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}
