//! Tests that words are counted when they are first needed and depend only on the file's content.

use super::*;
use crate::words::{Bag, TaskQuery, WordHash};

fn word(text: &str) -> WordHash {
    TaskQuery::new(text).asked[0].word
}

/// Returns how often a word occurs in each file, using only stored counts.
fn count_stored(tree: &TestTree, text: &str) -> Vec<(String, Option<u32>)> {
    let current = tree.look();
    let words = tree.cache().words(&tree.project());
    let files = current.artifact.files().into_iter();
    let count = |path: &str, row: &FileRow| {
        Some(Bag::read(words.get(file_key(path, row)?)?)?.get(word(text))?.all)
    };
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
    assert_eq!(count_stored(&tree, "pearl"), found(Some(2)));
    tick(tree.dir.path());
    tree.write("a.rs", "fn open_shell() {}\n");
    assert_eq!(count_stored(&tree, "pearl"), found(None));
}

/// Returns the names and sizes of the stored word packs.
fn packs(tree: &TestTree) -> Vec<(String, u64)> {
    let folder = tree.cache_folder().join(tree.project().id);
    let entries = fs::read_dir(&folder).into_iter().flatten().map(Result::unwrap);
    let files = entries.map(|entry| {
        (entry.file_name().to_string_lossy().into_owned(), entry.metadata().unwrap().len())
    });
    let mut packs: Vec<(String, u64)> =
        files.filter(|(name, _)| name.starts_with("words-")).collect();
    packs.sort();
    packs
}

#[test]
fn who_does_not_ask_for_words_neither_counts_nor_keeps_any() {
    let tree = TestTree::new();
    tree.write("a.rs", "fn open_pearl() {}\n");
    tree.glance();
    assert_eq!(packs(&tree), []);
    let current = tree.glance();
    let cold = tree.cold_words();
    assert_eq!(counted_and(&current, &tree.cache(), CacheWrites::On), cold);
    assert_eq!(packs(&tree).len(), 1);
}

#[test]
fn an_edit_writes_the_words_of_what_was_edited_and_no_others() {
    let tree = TestTree::new();
    for number in 0..200 {
        let text = (0..400).map(|line| format!("fn tide_{number}_{line}() {{}}\n"));
        tree.write(&format!("src/f{number}.rs"), text.collect::<String>());
    }
    tree.look();
    let before = packs(&tree);
    tick(tree.dir.path());
    tree.write("src/f7.rs", "fn edited() {}\n");
    tree.look();
    let after = packs(&tree);
    let new: Vec<_> = after.iter().filter(|pack| !before.contains(pack)).collect();
    assert!(before.iter().all(|pack| after.contains(pack)), "{before:?} {after:?}");
    assert!(new.len() == 1 && new[0].1 < 300, "{new:?}");
}

#[test]
fn words_that_were_lost_are_counted_again() {
    let tree = TestTree::new();
    tree.write("a.rs", "fn open_pearl() {}\n");
    let before = count_words(&tree.look(), &tree.cache());
    let folder = tree.cache_folder().join(tree.project().id);
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("words-") {
            fs::write(path, "damaged").unwrap();
        }
    }
    assert_eq!(count_stored(&tree, "pearl"), [("a.rs".to_owned(), None)]);
    assert_eq!(count_words(&tree.look(), &tree.cache()), before);
}

#[test]
fn many_small_packs_become_one_without_what_is_gone() {
    let tree = TestTree::new();
    for edit in 0..60 {
        tree.write("a.rs", format!("fn edit_{edit}() {{}}\n{}", " ".repeat(edit)));
        tree.look();
    }
    let n_packs = packs(&tree).len();
    assert!((1..=3).contains(&n_packs), "{n_packs}");
    assert_eq!(count_stored(&tree, "edit"), [("a.rs".to_owned(), Some(1))]);
}
