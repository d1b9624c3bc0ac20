//! The words of files are kept with the look that read them, and say of a text what its bytes say.

use super::super::bag_keys::bag_key;
use super::*;
use crate::words::{Question, Word};

fn word(text: &str) -> Word {
    Question::new(text).asked[0].word
}

/// How often each file has a word, by what is kept alone.
fn kept(tree: &TestTree, text: &str) -> Vec<(String, Option<u32>)> {
    let current = tree.look();
    let bags = tree.cache().bags(&tree.project());
    let files = current.artifact.files().into_iter();
    let count =
        |path: &str, row: &FileRow| Some(bags.get(bag_key(path, row)?)?.get(word(text))?.all);
    files.map(|(path, row)| (path.to_owned(), count(path, &row))).collect()
}

#[test]
fn words_are_kept_by_the_look_that_reads_a_file_and_change_with_it() {
    let tree = TestTree::new();
    tree.write("a.rs", "fn open_pearl() { pearl() }\n");
    tree.write("notes.md", "A pearl.\n");
    tree.write("data.bin", b"\0pearl");
    let found = |count| {
        let of = |path: &str, count| (path.to_owned(), count);
        vec![of("a.rs", count), of("data.bin", None), of("notes.md", Some(1))]
    };
    assert_eq!(kept(&tree, "pearl"), found(Some(2)));
    tick(tree.dir.path());
    tree.write("a.rs", "fn open_shell() {}\n");
    assert_eq!(kept(&tree, "pearl"), found(None));
}

#[test]
fn words_that_were_lost_are_counted_again() {
    let tree = TestTree::new();
    tree.write("a.rs", "fn open_pearl() {}\n");
    let before = counted(&tree.look(), &tree.cache());
    let folder = tree.cache_folder().join(tree.project().id.to_string());
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("words-") {
            fs::write(path, "damaged").unwrap();
        }
    }
    assert_eq!(kept(&tree, "pearl"), [("a.rs".to_owned(), None)]);
    assert_eq!(counted(&tree.look(), &tree.cache()), before);
}

#[test]
fn many_small_packs_become_one_without_what_is_gone() {
    let tree = TestTree::new();
    for edit in 0..60 {
        tree.write("a.rs", format!("fn edit_{edit}() {{}}\n{}", " ".repeat(edit)));
        tree.look();
    }
    let folder = tree.cache_folder().join(tree.project().id.to_string());
    let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let n_packs = names.filter(|name| name.to_string_lossy().starts_with("words-")).count();
    assert!((1..=25).contains(&n_packs), "{n_packs}");
    assert_eq!(kept(&tree, "edit"), [("a.rs".to_owned(), Some(1))]);
}
