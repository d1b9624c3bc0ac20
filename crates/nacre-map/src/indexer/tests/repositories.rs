//! Tests for worktrees, submodules, nested repositories, generated directories and rules.

use super::super::{GitPlaces, project_root};
use super::*;

#[test]
fn noise_is_not_entered_unless_something_in_it_is_tracked() {
    let tree = TestTree::with_git();
    tree.write("build/kept.rs", "fn a() {}\n");
    tree.write("src/main.rs", "fn main() {}\n");
    tree.git(&["add", "build/kept.rs"]);
    tree.write("build/new.rs", "fn b() {}\n");
    tree.write("node_modules/x/index.js", "x\n");
    tree.write("dist/app.js", "x\n");
    assert_eq!(tree.paths(), ["build/kept.rs", "build/new.rs", "src/main.rs"]);
}

#[test]
fn a_tracked_file_is_never_ignored_and_comes_back_when_it_does() {
    let tree = TestTree::with_git();
    tree.write(".gitignore", "gen/\n");
    tree.write("gen/deep/kept.rs", "fn a() {}\n");
    tree.write("gen/deep/other.rs", "fn a() {}\n");
    tree.git(&["add", "-f", "gen/deep/kept.rs"]);
    assert_eq!(tree.paths(), [".gitignore", "gen/deep/kept.rs"]);
    tree.remove("gen/deep/kept.rs");
    assert_eq!(tree.paths(), [".gitignore"]);
    tree.write("gen/deep/kept.rs", "fn a() {}\n");
    assert_eq!(tree.paths(), [".gitignore", "gen/deep/kept.rs"]);
    fs::remove_dir_all(tree.root().join("gen")).unwrap();
    assert_eq!(tree.paths(), [".gitignore"]);
    tree.write("gen/deep/kept.rs", "fn a() {}\n");
    assert_eq!(tree.paths(), [".gitignore", "gen/deep/kept.rs"]);
}

#[test]
fn a_subfolder_belongs_to_its_repository_and_a_submodule_to_the_one_around_it() {
    let tree = TestTree::with_git();
    let other = TestTree::with_git();
    other.write("lib.rs", "fn lib() {}\n");
    other.write(".gitignore", "*.tmp\n");
    other.commit_all();
    tree.write("src/main.rs", "fn main() {}\n");
    tree.write(".gitignore", "lib.rs\n");
    tree.git(&["submodule", "--quiet", "add", &other.root().to_string_lossy(), "sub"]);
    tree.write("sub/x.tmp", "x");
    let expected = [".gitignore", ".gitmodules", "src/main.rs", "sub/.gitignore", "sub/lib.rs"];
    assert_eq!(tree.paths(), expected, "the rules around a submodule do not hold in it");
    assert_eq!(project_root(&tree.root().join("src")), Some(tree.root()));
    assert_eq!(project_root(&tree.root().join("sub")), Some(tree.root()));
    tree.commit_all();
    tree.git(&["mv", "sub", "moved"]);
    assert!(tree.paths().contains(&"moved/lib.rs".to_owned()));
    assert_eq!(seen(&tree.look()), tree.cold());
}

#[test]
fn a_repository_in_a_repository_is_another_project() {
    let tree = TestTree::with_git();
    tree.write("a.rs", "fn a() {}\n");
    tree.write("nested/b.rs", "fn b() {}\n");
    assert_eq!(tree.paths(), ["a.rs", "nested/b.rs"]);
    git(&tree.root().join("nested"), &["init", "-q"]);
    assert_eq!(tree.paths(), ["a.rs"]);
    assert_eq!(tree.look().stats.skipped.nested, 1);
    assert_eq!(project_root(&tree.root().join("nested")), Some(tree.root().join("nested")));
    fs::remove_dir_all(tree.root().join("nested/.git")).unwrap();
    assert_eq!(tree.paths(), ["a.rs", "nested/b.rs"]);
}

#[test]
fn worktrees_are_projects_of_their_own_that_share_what_was_found_in_their_files() {
    let tree = TestTree::with_git();
    tree.write("a.rs", "fn a() {}\n");
    tree.commit_all();
    tree.look();
    let n_packs = || {
        let files = bytes_of(&tree.cache_folder().join("analyses"));
        files.len()
    };
    let before = n_packs();
    let worktree = tree.dir.path().join("tree");
    tree.git(&["worktree", "add", "-q", "-b", "side", &worktree.to_string_lossy()]);
    let root = fs::canonicalize(&worktree).unwrap();
    assert_eq!(project_root(&root), Some(root.clone()));
    let project = Project::at(root);
    let current = refresh(&tree.cache(), &project, &options()).unwrap();
    assert_ne!(project.id, tree.project().id);
    assert_eq!(current.stats.file_count, 1);
    assert!(seen(&current)[0].2.is_some());
    assert_eq!(n_packs(), before, "nothing new was found in it");
    // A moved worktree is a different project with the same contents.
    let moved = tree.dir.path().join("moved");
    tree.git(&["worktree", "move", &worktree.to_string_lossy(), &moved.to_string_lossy()]);
    let project = Project::at(fs::canonicalize(moved).unwrap());
    let current = refresh(&tree.cache(), &project, &options()).unwrap();
    assert!(seen(&current)[0].2.is_some());
    assert_eq!(n_packs(), before);
}

#[test]
fn rules_that_change_change_what_belongs() {
    let tree = TestTree::with_git();
    tree.write("a.log", "x");
    tree.write("src/b.log", "x");
    assert_eq!(tree.paths(), ["a.log", "src/b.log"]);
    tree.write("src/.gitignore", "*.log\n");
    assert_eq!(tree.paths(), ["a.log", "src/.gitignore"]);
    tree.write(".git/info/exclude", "a.*\n");
    assert_eq!(tree.paths(), ["src/.gitignore"]);
    tree.remove("src/.gitignore");
    assert_eq!(tree.paths(), ["src/b.log"]);
}

#[test]
fn every_version_of_the_index_of_git_is_read() {
    for version in ["2", "3", "4"] {
        let tree = TestTree::with_git();
        tree.write(".gitignore", "*\n");
        for path in ["build/a.rs", "build/deep/b.rs", "build/deep/bb.rs", "c.rs", "d.rs"] {
            tree.write(path, "fn a() {}\n");
            tree.git(&["add", "-f", path]);
        }
        tree.git(&["add", "-N", "-f", ".gitignore"]);
        tree.git(&["update-index", "--index-version", version]);
        let expected =
            [".gitignore", "build/a.rs", "build/deep/b.rs", "build/deep/bb.rs", "c.rs", "d.rs"];
        assert_eq!(tree.paths(), expected, "version {version}");
        tree.git(&["update-index", "--split-index"]);
        tree.git(&["rm", "-q", "--cached", "c.rs"]);
        assert!(!tree.paths().contains(&"c.rs".to_owned()), "split, version {version}");
    }
}

#[test]
fn the_private_rules_of_a_repository_hold_and_a_change_of_them_is_noticed() {
    let tree = TestTree::with_git();
    tree.write("a.rs", "fn a() {}\n");
    tree.write("notes.txt", "x\n");
    tree.write("kept/notes.txt", "x\n");
    tree.write("kept/.gitignore", "!notes.txt\n");
    tree.write(".git/info/exclude", "notes.txt\n");
    let expected = ["a.rs", "kept/.gitignore", "kept/notes.txt"];
    assert_eq!(tree.paths(), expected, "the rules of a folder speak last");
    tree.write(".git/info/exclude", "*.rs\n");
    assert_eq!(tree.paths(), ["kept/.gitignore", "kept/notes.txt", "notes.txt"]);
}

#[test]
fn a_persons_own_rules_hold_in_every_repository_and_come_last() {
    let tree = TestTree::with_git();
    let other = TestTree::with_git();
    other.write("lib.rs", "fn lib() {}\n");
    other.commit_all();
    tree.git(&["submodule", "--quiet", "add", &other.root().to_string_lossy(), "sub"]);
    for file in ["a.swp", "b.swp", "c.rs", "sub/d.swp", "tracked.swp"] {
        tree.write(file, "x\n");
    }
    tree.write(".git/info/exclude", "!b.swp\n");
    tree.git(&["add", "-f", "tracked.swp"]);
    let home = tree.dir.path().join("home");
    let ignore = home.join("git/ignore");
    fs::create_dir_all(home.join("git")).unwrap();
    fs::write(&ignore, "*.swp\n").unwrap();
    let places = GitPlaces {
        configs: vec![home.join(".gitconfig")],
        default_excludes: Some(ignore.clone()),
        home: Some(home.clone()),
    };
    let paths = || {
        let excludes = Excludes::find(&tree.root(), &places);
        let options = RefreshOptions { excludes, ..options() };
        let current = refresh(&tree.cache(), &tree.project(), &options).unwrap();
        let files = current.artifact.files();
        let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        paths.join(" ")
    };
    assert_eq!(paths(), ".gitmodules b.swp c.rs sub/lib.rs tracked.swp");
    let setting = format!("core.excludesFile={}", ignore.display());
    let told = tree.git(&["-c", &setting, "ls-files", "-co", "--exclude-standard"]);
    let mut told: Vec<&str> = told.lines().filter(|path| *path != "sub").collect();
    told.sort_unstable();
    assert_eq!(told.join(" "), ".gitmodules b.swp c.rs tracked.swp", "as git itself has it");
    fs::write(home.join("mine"), "c.rs\n").unwrap();
    fs::write(home.join("more"), "[core]\n\texcludesFile = ~/mine\n").unwrap();
    fs::write(home.join(".gitconfig"), "[include]\n\tpath = more\n").unwrap();
    let expected = ".gitmodules a.swp b.swp sub/d.swp sub/lib.rs tracked.swp";
    assert_eq!(paths(), expected, "a setting names another file");
    tree.git(&["config", "core.excludesFile", ""]);
    let everything = ".gitmodules a.swp b.swp c.rs sub/d.swp sub/lib.rs tracked.swp";
    assert_eq!(paths(), everything, "the repository itself wants none");
}

#[test]
fn rules_that_changed_twice_within_one_tick_of_the_clock_are_both_obeyed() {
    let tree = TestTree::new();
    tree.write("a.log", "a");
    tree.write("b.txt", "b");
    for round in 0..30 {
        tree.write(".gitignore", "*.log\n");
        assert_eq!(tree.paths(), [".gitignore", "b.txt"], "round {round}");
        tree.write(".gitignore", "*.txt\n");
        assert_eq!(tree.paths(), [".gitignore", "a.log"], "round {round}");
    }
}

#[test]
fn a_tracked_file_that_a_rule_leaves_out_is_seen_when_it_comes_back() {
    let tree = TestTree::with_git();
    tree.write("src/a.rs", "fn a() {}\n");
    tree.write("src/b.rs", "fn b() {}\n");
    tree.commit_all();
    tree.write(".gitignore", "b.rs\n");
    tree.remove("src/b.rs");
    assert_eq!(tree.paths(), [".gitignore", "src/a.rs"]);
    tree.git(&["checkout", "-q", "--", "src/b.rs"]);
    assert_eq!(tree.paths(), [".gitignore", "src/a.rs", "src/b.rs"]);
    assert_eq!(seen(&tree.look()), tree.cold());
}

#[test]
fn rules_that_leave_themselves_out_are_obeyed_when_they_come() {
    let tree = TestTree::with_git();
    tree.write("sub/a.rs", "fn a() {}\n");
    tree.write("b.rs", "fn b() {}\n");
    assert_eq!(tree.paths(), ["b.rs", "sub/a.rs"]);
    tree.write("sub/.gitignore", "*\n");
    assert_eq!(tree.paths(), ["b.rs"]);
}
