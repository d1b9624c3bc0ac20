//! Tests which words are extracted from files and which words a question finds.

use proptest::prelude::*;

use super::*;

fn counts(text: &str, word: &str) -> Option<(u32, u32)> {
    let bytes = render_bag(text.as_bytes(), true);
    let bag = Bag::read(&bytes).unwrap();
    let found = bag.get(TaskQuery::new(word).asked[0].word)?;
    Some((found.all, found.defined))
}

#[test]
fn identifiers_are_split_where_people_see_words() {
    let cases = [
        ("HTTPServer2", "http server 2"),
        ("get_prep_lookup", "get prep lookup"),
        ("getAllClassNames", "get all class names"),
        ("$scope.userID", "scope user id"),
        ("Über_größe", "Über größe"),
        ("", ""),
    ];
    for (text, expected) in cases {
        let words: Vec<String> = part_words(text).into_iter().map(|(word, _)| word).collect();
        assert_eq!(words.join(" "), expected, "{text}");
    }
}

#[test]
fn words_are_counted_with_their_other_endings_and_as_whole_identifiers() {
    let text = "parse parses parsing parsed parser\nlet user_name = userName;\n";
    assert_eq!(counts(text, "parse"), Some((5, 0)));
    assert_eq!(counts(text, "user_name"), Some((2, 1)));
    assert_eq!(counts(text, "username"), None);
    assert_eq!(counts(text, "absent"), None);
}

#[test]
fn what_a_text_defines_is_counted_twice() {
    let cases = [
        ("pub fn open_store() { open_store() }", "open_store", (2, 1)),
        ("func (s *Store) Flush(all bool) error {", "Flush", (1, 1)),
        ("func (s *Store) Flush(all bool) error {", "Store", (1, 0)),
        ("impl<T> Pearl<T> {", "Pearl", (1, 1)),
        ("class ShellLayer(Base):", "ShellLayer", (1, 1)),
        ("    public static Map<K, V> growPearl(int n) {", "growPearl", (1, 1)),
        ("    return growPearl(1);", "growPearl", (1, 0)),
    ];
    for (text, word, expected) in cases {
        assert_eq!(counts(text, word), Some(expected), "{text}");
    }
}

#[test]
fn bytes_that_are_no_text_have_no_words() {
    let bytes = render_bag(b"a\0b", true);
    assert!(Bag::read(&bytes).unwrap().is_empty());
    assert!(Bag::read(b"").is_none());
}

#[test]
fn a_question_asks_for_words_that_stand_together_as_one() {
    let asked: Vec<String> =
        TaskQuery::new("fix the JoinMap").asked.iter().map(|asked| asked.text.clone()).collect();
    let expected = "JoinMap fix the join map fixthe thejoin fixthejoin thejoinmap";
    let distinct: Vec<&str> = {
        let mut seen = std::collections::BTreeSet::new();
        asked.iter().map(String::as_str).filter(|text| seen.insert(*text)).collect()
    };
    for text in expected.split(' ') {
        assert!(distinct.contains(&text), "{text} in {distinct:?}");
    }
}

#[test]
fn a_question_asks_for_what_the_code_may_say_instead() {
    let cases = [
        ("delete the session", "deletion", Kin::Form),
        ("when I remove a record", "delete", Kin::Synonym),
        ("old pictures in a folder", "img", Kin::Synonym),
        ("old pictures in a folder", "directory", Kin::Synonym),
    ];
    for (task, word, kin) in cases {
        let question = TaskQuery::new(task);
        let place = question.find(WordHash::part(stem(word.as_bytes())));
        assert_eq!(place.map(|place| question.asked[place].kin), Some(kin), "{word} for {task}");
    }
}

#[test]
fn words_around_a_question_are_not_asked_for() {
    let question = TaskQuery::new("How does it happen that something nice is wanted?");
    let is_said = |asked: &&Asked| asked.kin == Kin::Said && !asked.is_whole && !asked.is_filler();
    let said: Vec<&str> =
        question.asked.iter().filter(is_said).map(|asked| asked.text.as_str()).collect();
    assert_eq!(said, Vec::<&str>::new());
}

#[test]
fn words_that_are_looked_for_together_are_found_as_one_by_one() {
    let text = "fn prune(dir: &Path) { delete(dir); let folders = purge(dir); }";
    let bytes = render_bag(text.as_bytes(), true);
    let bag = Bag::read(&bytes).unwrap();
    let question = TaskQuery::new("erase old folders");
    let mut together = Vec::new();
    bag.each(&question.words, |place, counts| together.push((place, counts)));
    together.sort_by_key(|(place, _)| *place);
    let one_by_one: Vec<(usize, Counts)> = question
        .asked
        .iter()
        .enumerate()
        .filter_map(|(place, asked)| Some((place, bag.get(asked.word)?)))
        .collect();
    assert!(2 < together.len());
    assert_eq!(together, one_by_one);
}

proptest! {
    #[test]
    fn any_bytes_can_be_counted_and_read_again(bytes in prop::collection::vec(any::<u8>(), 0..400), is_code: bool) {
        let bag = render_bag(&bytes, is_code);
        prop_assert!(Bag::read(&bag).is_some());
        prop_assert_eq!(render_bag(&bytes, is_code), bag);
        let _ = Bag::read(&bytes);
    }

    #[test]
    fn words_are_counted_as_often_as_they_stand_there(text in "([abcC_]{1,3}|[ \\n(=]|fn |tides|HTTPTide){0,80}") {
        // Longer identifiers are assumed to be generated, so only their parts are counted.
        prop_assume!(identifiers(text.as_bytes()).all(|one| one.len() <= 80));
        let mut counted = std::collections::HashMap::<WordHash, u32>::new();
        each_identifier(text.as_bytes(), |word| *counted.entry(word).or_default() += 1);
        let bag = render_bag(text.as_bytes(), true);
        let bag = Bag::read(&bag).unwrap();
        prop_assert_eq!(bag.len(), counted.len());
        for (word, count) in counted {
            let found = bag.get(word).unwrap();
            prop_assert!(found.all == count || 6 <= found.all && found.all < count, "{} {}", found.all, count);
        }
    }

    #[test]
    fn a_text_has_the_trigrams_of_all_its_lines_in_either_case(text in "[a-zA-Zſ\u{212a}é_ (\r\n]{0,200}") {
        let bag = render_bag(text.as_bytes(), true);
        let trigrams = Bag::read(&bag).unwrap().trigrams;
        for line in text.split('\n') {
            for line in [line.to_owned(), line.to_lowercase(), line.to_ascii_uppercase()] {
                prop_assert!(Trigram::all(line.as_bytes()).all(|one| trigrams.may_have(one)), "{line}");
            }
        }
    }
}

#[test]
fn trigrams_rule_out_what_a_text_does_not_have() {
    let text = "pub fn open_store(path: &Path) -> Store {\n".repeat(3);
    let bag = render_bag(text.as_bytes(), true);
    let bag = Bag::read(&bag).unwrap();
    let may_have = |text: &str| Trigram::all(text.as_bytes()).all(|one| bag.trigrams.may_have(one));
    assert!(may_have("en_st") && may_have("OPEN_STORE("));
    assert!(!may_have("closed") && !may_have("window"));
    let binary = render_bag(b"a\0bcdef", true);
    assert!(!Bag::read(&binary).unwrap().trigrams.is_text());
}

#[test]
fn two_words_that_people_write_for_one_thing_are_asked_for_as_that() {
    let asks = |task: &str, word: &str| {
        TaskQuery::new(task)
            .asked
            .iter()
            .any(|asked| asked.text == word && asked.kin == Kin::Synonym)
    };
    assert!(asks("a person must sign out everywhere", "logout"));
    assert!(!asks("keep the milliseconds of a DataSource", "sql"), "an identifier means itself");
}
