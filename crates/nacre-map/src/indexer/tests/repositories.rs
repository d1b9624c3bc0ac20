//! Worktrees, submodules, nested repositories, noise and rules.

use super::super::{GitPlaces, project_root};
use super::*;

#[test]
fn noise_is_not_entered_unless_something_in_it_is_tracked() {
    let desk = Desk::with_git();
    desk.write("build/kept.rs", "fn a() {}\n");
    desk.write("src/main.rs", "fn main() {}\n");
    desk.git(&["add", "build/kept.rs"]);
    desk.write("build/new.rs", "fn b() {}\n");
    desk.write("node_modules/x/index.js", "x\n");
    desk.write("dist/app.js", "x\n");
    assert_eq!(desk.paths(), ["build/kept.rs", "build/new.rs", "src/main.rs"]);
}

#[test]
fn a_tracked_file_is_never_ignored_and_comes_back_when_it_does() {
    let desk = Desk::with_git();
    desk.write(".gitignore", "gen/\n");
    desk.write("gen/deep/kept.rs", "fn a() {}\n");
    desk.write("gen/deep/other.rs", "fn a() {}\n");
    desk.git(&["add", "-f", "gen/deep/kept.rs"]);
    assert_eq!(desk.paths(), [".gitignore", "gen/deep/kept.rs"]);
    desk.remove("gen/deep/kept.rs");
    assert_eq!(desk.paths(), [".gitignore"]);
    desk.write("gen/deep/kept.rs", "fn a() {}\n");
    assert_eq!(desk.paths(), [".gitignore", "gen/deep/kept.rs"]);
    fs::remove_dir_all(desk.root().join("gen")).unwrap();
    assert_eq!(desk.paths(), [".gitignore"]);
    desk.write("gen/deep/kept.rs", "fn a() {}\n");
    assert_eq!(desk.paths(), [".gitignore", "gen/deep/kept.rs"]);
}

#[test]
fn a_subfolder_belongs_to_its_repository_and_a_submodule_to_the_one_around_it() {
    let desk = Desk::with_git();
    let other = Desk::with_git();
    other.write("lib.rs", "fn lib() {}\n");
    other.write(".gitignore", "*.tmp\n");
    other.commit_all();
    desk.write("src/main.rs", "fn main() {}\n");
    desk.write(".gitignore", "lib.rs\n");
    desk.git(&["submodule", "--quiet", "add", &other.root().to_string_lossy(), "sub"]);
    desk.write("sub/x.tmp", "x");
    let expected = [".gitignore", ".gitmodules", "src/main.rs", "sub/.gitignore", "sub/lib.rs"];
    assert_eq!(desk.paths(), expected, "the rules around a submodule do not hold in it");
    assert_eq!(project_root(&desk.root().join("src")), Some(desk.root()));
    assert_eq!(project_root(&desk.root().join("sub")), Some(desk.root()));
    desk.commit_all();
    desk.git(&["mv", "sub", "moved"]);
    assert!(desk.paths().contains(&"moved/lib.rs".to_owned()));
    assert_eq!(seen(&desk.look()), desk.cold());
}

#[test]
fn a_repository_in_a_repository_is_another_project() {
    let desk = Desk::with_git();
    desk.write("a.rs", "fn a() {}\n");
    desk.write("nested/b.rs", "fn b() {}\n");
    assert_eq!(desk.paths(), ["a.rs", "nested/b.rs"]);
    git(&desk.root().join("nested"), &["init", "-q"]);
    assert_eq!(desk.paths(), ["a.rs"]);
    assert_eq!(desk.look().stats.skipped.nested, 1);
    assert_eq!(project_root(&desk.root().join("nested")), Some(desk.root().join("nested")));
    fs::remove_dir_all(desk.root().join("nested/.git")).unwrap();
    assert_eq!(desk.paths(), ["a.rs", "nested/b.rs"]);
}

#[test]
fn worktrees_are_projects_of_their_own_that_share_what_was_found_in_their_files() {
    let desk = Desk::with_git();
    desk.write("a.rs", "fn a() {}\n");
    desk.commit_all();
    desk.look();
    let n_packs = || {
        let files = bytes_of(&desk.cache_folder().join("analyses"));
        files.len()
    };
    let before = n_packs();
    let worktree = desk.dir.path().join("tree");
    desk.git(&["worktree", "add", "-q", "-b", "side", &worktree.to_string_lossy()]);
    let root = fs::canonicalize(&worktree).unwrap();
    assert_eq!(project_root(&root), Some(root.clone()));
    let project = Project::at(root);
    let current = refresh(&desk.cache(), &project, &options()).unwrap();
    assert_ne!(project.id, desk.project().id);
    assert_eq!(current.stats.file_count, 1);
    assert!(seen(&current)[0].2.is_some());
    assert_eq!(n_packs(), before, "nothing new was found in it");
    // A worktree that moves is another place with the same contents.
    let moved = desk.dir.path().join("moved");
    desk.git(&["worktree", "move", &worktree.to_string_lossy(), &moved.to_string_lossy()]);
    let project = Project::at(fs::canonicalize(moved).unwrap());
    let current = refresh(&desk.cache(), &project, &options()).unwrap();
    assert!(seen(&current)[0].2.is_some());
    assert_eq!(n_packs(), before);
}

#[test]
fn rules_that_change_change_what_belongs() {
    let desk = Desk::with_git();
    desk.write("a.log", "x");
    desk.write("src/b.log", "x");
    assert_eq!(desk.paths(), ["a.log", "src/b.log"]);
    desk.write("src/.gitignore", "*.log\n");
    assert_eq!(desk.paths(), ["a.log", "src/.gitignore"]);
    desk.write(".git/info/exclude", "a.*\n");
    assert_eq!(desk.paths(), ["src/.gitignore"]);
    desk.remove("src/.gitignore");
    assert_eq!(desk.paths(), ["src/b.log"]);
}

#[test]
fn every_version_of_the_index_of_git_is_read() {
    for version in ["2", "3", "4"] {
        let desk = Desk::with_git();
        desk.write(".gitignore", "*\n");
        for path in ["build/a.rs", "build/deep/b.rs", "build/deep/bb.rs", "c.rs", "d.rs"] {
            desk.write(path, "fn a() {}\n");
            desk.git(&["add", "-f", path]);
        }
        desk.git(&["add", "-N", "-f", ".gitignore"]);
        desk.git(&["update-index", "--index-version", version]);
        let expected =
            [".gitignore", "build/a.rs", "build/deep/b.rs", "build/deep/bb.rs", "c.rs", "d.rs"];
        assert_eq!(desk.paths(), expected, "version {version}");
        desk.git(&["update-index", "--split-index"]);
        desk.git(&["rm", "-q", "--cached", "c.rs"]);
        assert!(!desk.paths().contains(&"c.rs".to_owned()), "split, version {version}");
    }
}

#[test]
fn the_private_rules_of_a_repository_hold_and_a_change_of_them_is_noticed() {
    let desk = Desk::with_git();
    desk.write("a.rs", "fn a() {}\n");
    desk.write("notes.txt", "x\n");
    desk.write("kept/notes.txt", "x\n");
    desk.write("kept/.gitignore", "!notes.txt\n");
    desk.write(".git/info/exclude", "notes.txt\n");
    let expected = ["a.rs", "kept/.gitignore", "kept/notes.txt"];
    assert_eq!(desk.paths(), expected, "the rules of a folder speak last");
    desk.write(".git/info/exclude", "*.rs\n");
    assert_eq!(desk.paths(), ["kept/.gitignore", "kept/notes.txt", "notes.txt"]);
}

#[test]
fn a_persons_own_rules_hold_in_every_repository_and_come_last() {
    let desk = Desk::with_git();
    let other = Desk::with_git();
    other.write("lib.rs", "fn lib() {}\n");
    other.commit_all();
    desk.git(&["submodule", "--quiet", "add", &other.root().to_string_lossy(), "sub"]);
    for file in ["a.swp", "b.swp", "c.rs", "sub/d.swp", "tracked.swp"] {
        desk.write(file, "x\n");
    }
    desk.write(".git/info/exclude", "!b.swp\n");
    desk.git(&["add", "-f", "tracked.swp"]);
    let home = desk.dir.path().join("home");
    let ignore = home.join("git/ignore");
    fs::create_dir_all(home.join("git")).unwrap();
    fs::write(&ignore, "*.swp\n").unwrap();
    let places = GitPlaces {
        configs: vec![home.join(".gitconfig")],
        default_excludes: Some(ignore.clone()),
        home: Some(home.clone()),
    };
    let paths = || {
        let excludes = Excludes::find(&desk.root(), &places);
        let options = RefreshOptions { excludes, ..options() };
        let current = refresh(&desk.cache(), &desk.project(), &options).unwrap();
        let files = current.artifact.files();
        let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        paths.join(" ")
    };
    assert_eq!(paths(), ".gitmodules b.swp c.rs sub/lib.rs tracked.swp");
    let setting = format!("core.excludesFile={}", ignore.display());
    let told = desk.git(&["-c", &setting, "ls-files", "-co", "--exclude-standard"]);
    let mut told: Vec<&str> = told.lines().filter(|path| *path != "sub").collect();
    told.sort_unstable();
    assert_eq!(told.join(" "), ".gitmodules b.swp c.rs tracked.swp", "as git itself has it");
    fs::write(home.join("mine"), "c.rs\n").unwrap();
    fs::write(home.join("more"), "[core]\n\texcludesFile = ~/mine\n").unwrap();
    fs::write(home.join(".gitconfig"), "[include]\n\tpath = more\n").unwrap();
    let expected = ".gitmodules a.swp b.swp sub/d.swp sub/lib.rs tracked.swp";
    assert_eq!(paths(), expected, "a setting names another file");
    desk.git(&["config", "core.excludesFile", ""]);
    let everything = ".gitmodules a.swp b.swp c.rs sub/d.swp sub/lib.rs tracked.swp";
    assert_eq!(paths(), everything, "the repository itself wants none");
}

#[test]
fn rules_that_changed_twice_within_one_tick_of_the_clock_are_both_obeyed() {
    let desk = Desk::new();
    desk.write("a.log", "a");
    desk.write("b.txt", "b");
    for round in 0..30 {
        desk.write(".gitignore", "*.log\n");
        assert_eq!(desk.paths(), [".gitignore", "b.txt"], "round {round}");
        desk.write(".gitignore", "*.txt\n");
        assert_eq!(desk.paths(), [".gitignore", "a.log"], "round {round}");
    }
}

#[test]
fn a_tracked_file_that_a_rule_leaves_out_is_seen_when_it_comes_back() {
    let desk = Desk::with_git();
    desk.write("src/a.rs", "fn a() {}\n");
    desk.write("src/b.rs", "fn b() {}\n");
    desk.commit_all();
    desk.write(".gitignore", "b.rs\n");
    desk.remove("src/b.rs");
    assert_eq!(desk.paths(), [".gitignore", "src/a.rs"]);
    desk.git(&["checkout", "-q", "--", "src/b.rs"]);
    assert_eq!(desk.paths(), [".gitignore", "src/a.rs", "src/b.rs"]);
    assert_eq!(seen(&desk.look()), desk.cold());
}

#[test]
fn rules_that_leave_themselves_out_are_obeyed_when_they_come() {
    let desk = Desk::with_git();
    desk.write("sub/a.rs", "fn a() {}\n");
    desk.write("b.rs", "fn b() {}\n");
    assert_eq!(desk.paths(), ["b.rs", "sub/a.rs"]);
    desk.write("sub/.gitignore", "*\n");
    assert_eq!(desk.paths(), ["b.rs"]);
}
