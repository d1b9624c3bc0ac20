//! Tests repositories with more rules than a refresh will read. Directories with unread rules are
//! left out.

use nacre_types::MapVerdict;

use super::super::explain;
use super::*;
use crate::artifact::RelativePath;

/// Maximum number of rules per file. A refresh reads six files of this size.
const MANY: usize = 5_000;

/// Returns `n_rules` rules. The last one excludes `private.txt`.
fn rules(n_rules: usize) -> String {
    let mut text: String = (1..n_rules).map(|number| format!("generated-{number}\n")).collect();
    text.push_str("private.txt\n");
    text
}

/// Creates directories that each contain an included file, an excluded file and the maximum number
/// of rules.
fn bomb(tree: &TestTree, folders: impl Iterator<Item = String>) {
    for folder in folders {
        tree.write(&format!("{folder}/.gitignore"), rules(MANY));
        tree.write(&format!("{folder}/code.rs"), "fn a() {}\n");
        tree.write(&format!("{folder}/private.txt"), "mine");
    }
}

fn paths_of(current: &Current) -> Vec<String> {
    current.artifact.files().into_iter().map(|(path, _)| path.to_owned()).collect()
}

#[test]
fn all_rules_of_a_look_have_one_budget_and_folders_beyond_it_are_left_out() {
    let tree = TestTree::new();
    bomb(&tree, (10..18).map(|number| format!("f{number}")));
    let mut expected: Vec<String> = Vec::new();
    for number in 10..18 {
        expected.push(format!("f{number}/.gitignore"));
        if number < 16 {
            expected.push(format!("f{number}/code.rs"));
        }
    }
    for n_threads in [1, 8] {
        let folder = tempfile::tempdir().unwrap();
        let options = RefreshOptions { n_threads, ..options() };
        let current = refresh(&cache_in(folder.path()), &tree.project(), &options).unwrap();
        assert_eq!(paths_of(&current), expected, "{n_threads} threads");
        assert_eq!(current.stats.skipped.unread_rules, 2);
    }
    let path = RelativePath::new("f17/code.rs").unwrap();
    let verdict = explain(&tree.look(), &options(), &path);
    assert_eq!(verdict, MapVerdict::RulesUnread { folder: "f17".to_owned() });
}

#[test]
fn a_change_of_the_rules_that_were_read_lets_others_be_read() {
    let tree = TestTree::new();
    bomb(&tree, (10..17).map(|number| format!("f{number}")));
    assert_eq!(tree.settle().stats.skipped.unread_rules, 1);
    tree.write("f16/more.rs", "fn b() {}\n");
    assert_eq!(
        seen(&tree.look()),
        tree.cold(),
        "a listing of it alone would have a budget of its own"
    );
    fs::remove_dir_all(tree.root().join("f13")).unwrap();
    let current = tree.look();
    assert_eq!(seen(&current), tree.cold());
    assert_eq!(current.stats.skipped.unread_rules, 0);
    tree.settle();
    tree.write("f13/.gitignore", rules(MANY));
    assert_eq!(seen(&tree.look()), tree.cold());
    assert_eq!(tree.settle().stats.skipped.unread_rules, 1);
    tree.write("f16/.gitignore", "private.txt\n");
    tree.write("f10/.gitignore", "private.txt\n");
    let current = tree.look();
    assert_eq!(seen(&current), tree.cold());
    assert!(!paths_of(&current).iter().any(|path| path.ends_with("private.txt")));
}

#[test]
fn rules_stand_in_so_many_nested_folders_and_no_more() {
    let tree = TestTree::new();
    let mut folder = "d".to_owned();
    for depth in 0..40 {
        tree.write(&format!("{folder}/.gitignore"), "private.txt\n");
        tree.write(&format!("{folder}/code.rs"), format!("fn f{depth}() {{}}\n"));
        tree.write(&format!("{folder}/private.txt"), "mine");
        folder.push_str("/d");
    }
    let current = tree.look();
    let paths = paths_of(&current);
    let n_code = paths.iter().filter(|path| path.ends_with("code.rs")).count();
    assert_eq!((n_code, current.stats.skipped.unread_rules), (25, 1));
    assert!(!paths.iter().any(|path| path.ends_with("private.txt")));
}

#[test]
fn one_file_with_too_many_rules_is_not_obeyed_in_part() {
    for text in [rules(MANY + 1), format!("#{}\nprivate.txt\n", "x".repeat(256 << 10))] {
        let tree = TestTree::with_git();
        tree.write("a/.gitignore", text);
        tree.write("a/private.txt", "mine");
        tree.write("a/kept.rs", "fn a() {}\n");
        tree.write("b.rs", "fn b() {}\n");
        tree.git(&["add", "a/kept.rs"]);
        let current = tree.look();
        assert_eq!(
            paths_of(&current),
            ["a/.gitignore", "a/kept.rs", "b.rs"],
            "tracked files belong"
        );
        assert_eq!(current.stats.skipped.unread_rules, 1);
        tree.write("a/.gitignore", "private.txt\n");
        assert_eq!(seen(&tree.look()), tree.cold());
        assert_eq!(tree.look().stats.skipped.unread_rules, 0);
    }
}

#[test]
fn comments_are_no_rules() {
    let tree = TestTree::new();
    tree.write(".gitignore", format!("{}private.txt\n", "# why\n\n".repeat(MANY)));
    tree.write("private.txt", "mine");
    assert_eq!(tree.paths(), [".gitignore"]);
}

#[test]
fn rules_that_are_too_much_to_be_matched_are_not_taken_for_none() {
    let tree = TestTree::new();
    let costly: String = (0..250).map(|number| format!("{}{number}\n", "?".repeat(990))).collect();
    tree.write("a/.gitignore", format!("{costly}private.txt\n"));
    tree.write("a/private.txt", "mine");
    let current = tree.look();
    assert_eq!(paths_of(&current), ["a/.gitignore"]);
    assert_eq!(current.stats.skipped.unread_rules, 1);
}

#[test]
fn patterns_that_cost_time_are_few_and_those_of_the_folders_above_count() {
    let costly = |n_rules: usize| -> String {
        (0..n_rules).map(|number| format!("*a*a*{number}*b\n")).collect()
    };
    let tree = TestTree::new();
    for (folder, n_rules) in [("a", 300), ("a/b", 200), ("c", 400), ("d", 401)] {
        tree.write(&format!("{folder}/.gitignore"), costly(n_rules));
        tree.write(&format!("{folder}/code.rs"), "fn a() {}\n");
    }
    let current = tree.look();
    let code: Vec<String> =
        paths_of(&current).into_iter().filter(|path| path.ends_with("code.rs")).collect();
    assert_eq!(
        (code, current.stats.skipped.unread_rules),
        (vec!["a/code.rs".to_owned(), "c/code.rs".to_owned()], 2)
    );
    let globs: Vec<String> = costly(500).lines().map(str::to_owned).collect();
    assert!(Sensitive::new(&globs[..300]).is_ok());
    assert!(Sensitive::new(&globs).is_err());
}
