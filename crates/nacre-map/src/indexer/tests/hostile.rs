//! Tests for malicious trees: work is bounded, omitted files are counted, and nothing crashes.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;

use super::*;

#[test]
fn links_pipes_sockets_and_closed_folders_are_counted_and_never_followed() {
    let tree = TestTree::new();
    tree.write("a.rs", "fn a() {}\n");
    tree.write("closed/b.rs", "fn b() {}\n");
    let root = tree.root();
    symlink(&root, root.join("loop")).unwrap();
    symlink("/etc/passwd", root.join("passwd.rs")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        root.join("pipe.rs"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let _socket = UnixListener::bind(root.join("socket.rs")).unwrap();
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let current = tree.look();
    let skipped = current.stats.skipped;
    assert_eq!((skipped.links, skipped.special), (2, 2));
    let is_root = fs::read_dir(root.join("closed")).is_ok();
    assert_eq!(skipped.unreadable, u32::from(!is_root));
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(tree.paths(), ["a.rs", "closed/b.rs"], "a folder that opens is noticed");
}

#[test]
fn what_no_grammar_can_read_is_not_tried_again() {
    let tree = TestTree::new();
    tree.write("large.rs", vec![b'x'; crate::languages::MAX_TEXT_BYTES + 1]);
    tree.write("hard.sh", format!("grow() {{ :; }}\n{}", "((((a)".repeat(20_000)));
    tree.write("fine.rs", "fn a() {}\n");
    let mut current = tree.look();
    let paths = ["large.rs", "hard.sh", "fine.rs"];
    assert_eq!(current.shallow(&paths), Vec::<String>::new());
    let n_packs = || fs::read_dir(tree.cache_folder().join("analyses")).unwrap().count();
    let before = n_packs();
    assert_eq!(current.deepen(&tree.cache(), &paths, &options()), 0);
    assert_eq!(n_packs(), before, "a look that finds nothing writes nothing");
}

#[test]
fn names_with_line_breaks_are_names_and_names_that_are_no_text_are_counted() {
    let tree = TestTree::new();
    tree.write("new\nline.rs", "fn a() {}\n");
    tree.write(" ", "x");
    let odd = std::ffi::OsStr::from_bytes(b"bad\xff.rs");
    fs::write(tree.root().join(odd), "fn b() {}\n").unwrap();
    fs::create_dir(tree.root().join(std::ffi::OsStr::from_bytes(b"dir\xfe"))).unwrap();
    assert_eq!(tree.paths(), [" ", "new\nline.rs"]);
    assert_eq!(tree.look().stats.skipped.unnamable, 2);
}

#[test]
fn a_deep_tree_ends_somewhere_and_says_so() {
    let tree = TestTree::new();
    let mut folder = tree.root();
    for depth in 0..200 {
        folder.push(format!("d{depth}"));
        fs::create_dir(&folder).unwrap();
    }
    fs::write(folder.join("deep.rs"), "fn a() {}\n").unwrap();
    tree.write("top.rs", "fn a() {}\n");
    let current = tree.look();
    assert_eq!((current.stats.file_count, current.stats.skipped.too_deep), (1, 1));
}

#[test]
fn a_huge_file_is_known_by_its_stamp() {
    let tree = TestTree::new();
    tree.write("huge.js", "x");
    let file = fs::File::options().write(true).open(tree.root().join("huge.js")).unwrap();
    // A sparse file with a single one-gigabyte line, which takes up no disk space.
    file.set_len(1 << 30).unwrap();
    let current = tree.look();
    assert_eq!((current.stats.file_count, current.stats.unread_files), (1, 1));
    let first = current.artifact.head().revision;
    tick(tree.dir.path());
    file.set_len((1 << 30) + 1).unwrap();
    let delta = super::super::delta_since(&tree.look(), first).unwrap();
    assert_eq!(delta.count(nacre_types::CodeChange::Modified), 1);
}

#[test]
fn many_files_in_one_folder_are_all_there() {
    let tree = TestTree::new();
    let folder = tree.root().join("many");
    fs::create_dir(&folder).unwrap();
    for number in 0..20_000 {
        fs::write(folder.join(format!("f{number}.txt")), "x").unwrap();
    }
    assert_eq!(tree.look().stats.file_count, 20_000);
    tree.write("many/one_more.txt", "x");
    assert_eq!(tree.look().stats.file_count, 20_001);
}

#[test]
fn a_file_that_changes_while_it_is_read_is_read_again() {
    let tree = TestTree::new();
    tree.write("a.rs", "fn a() {}\n");
    let path = tree.root().join("a.rs");
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0_u32;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                fs::write(&path, format!("fn a{number}() {{}}\n").repeat(2000)).unwrap();
                number += 1;
            }
        });
        for _ in 0..50 {
            tree.look();
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(seen(&tree.look()), tree.cold());
}

#[test]
fn secrets_are_never_read_and_never_told_of() {
    let tree = TestTree::with_git();
    tree.write(".env", "PASSWORD=1");
    tree.write("src/.env.local", "PASSWORD=1");
    tree.write("keys/id_rsa", "PASSWORD=1");
    tree.write("src/secret_redaction.py", "def redact(): pass\n");
    tree.git(&["add", "-A", "-f"]);
    let current = tree.look();
    assert_eq!(tree.paths(), ["src/secret_redaction.py"]);
    assert_eq!(current.stats.skipped.denied, 3);
    for (path, bytes, _) in bytes_of(&tree.cache_folder()) {
        for word in ["PASSWORD", ".env", "id_rsa"] {
            let is_told = bytes.windows(word.len()).any(|part| part == word.as_bytes());
            assert!(!is_told, "{word} in {}", path.display());
        }
    }
    let more =
        RefreshOptions { sensitive: Sensitive::new(&["*.py".to_owned()]).unwrap(), ..options() };
    let current = refresh(&tree.cache(), &tree.project(), &more).unwrap();
    assert_eq!(current.stats.file_count, 0, "other rules hold at once");
}

#[test]
fn a_folder_that_became_a_link_to_itself_is_gone_with_all_that_was_in_it() {
    let tree = TestTree::new();
    for path in ["a.rs", "top/src/b.rs", "top/src/deep/c.rs", "top/src/deep/d.rs", "z/e.rs"] {
        tree.write(path, "fn x() {}\n");
    }
    tree.settle();
    for folder in ["top/src", "top"] {
        tree.rename(folder, &format!("moved-{}", folder.len()));
        let to = tree.root().join(format!("moved-{}", folder.len()));
        symlink(to, tree.root().join(folder)).unwrap();
        assert_eq!(seen(&tree.look()), tree.cold(), "{folder}");
        assert_eq!(seen(&tree.settle()), tree.cold(), "{folder}");
    }
}

#[test]
fn a_folder_that_is_gone_is_an_error_that_names_it() {
    let tree = TestTree::new();
    let project = Project::at(tree.root().join("nothing"));
    let error = refresh(&tree.cache(), &project, &options()).unwrap_err();
    assert!(error.to_string().contains("nothing"), "{error}");
}

#[test]
fn an_answer_comes_although_nothing_can_be_kept() {
    let tree = TestTree::new();
    tree.write("a.rs", "fn a() {}\n");
    tree.write("../cache", "a file where the folder should be");
    let current = tree.look();
    assert_eq!((current.stats.file_count, current.is_kept), (1, false));
}
