//! Trees that somebody made to hurt: bounded, counted, and no crash.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;

use super::*;

#[test]
fn links_pipes_sockets_and_closed_folders_are_counted_and_never_followed() {
    let desk = Desk::new();
    desk.write("a.rs", "fn a() {}\n");
    desk.write("closed/b.rs", "fn b() {}\n");
    let root = desk.root();
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
    let current = desk.look();
    let skipped = current.stats.skipped;
    assert_eq!((skipped.links, skipped.special), (2, 2));
    let is_root = fs::read_dir(root.join("closed")).is_ok();
    assert_eq!(skipped.unreadable, u32::from(!is_root));
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(desk.paths(), ["a.rs", "closed/b.rs"], "a folder that opens is noticed");
}

#[test]
fn what_no_grammar_can_read_is_not_tried_again() {
    let desk = Desk::new();
    desk.write("large.rs", vec![b'x'; crate::languages::MAX_TEXT_BYTES + 1]);
    desk.write("hard.sh", format!("grow() {{ :; }}\n{}", "((((a)".repeat(20_000)));
    desk.write("fine.rs", "fn a() {}\n");
    let mut current = desk.look();
    let paths = ["large.rs", "hard.sh", "fine.rs"];
    assert_eq!(current.shallow(&paths), Vec::<String>::new());
    let n_packs = || fs::read_dir(desk.cache_folder().join("analyses")).unwrap().count();
    let before = n_packs();
    assert_eq!(current.deepen(&desk.cache(), &paths, &options()), 0);
    assert_eq!(n_packs(), before, "a look that finds nothing writes nothing");
}

#[test]
fn names_with_line_breaks_are_names_and_names_that_are_no_text_are_counted() {
    let desk = Desk::new();
    desk.write("new\nline.rs", "fn a() {}\n");
    desk.write(" ", "x");
    let odd = std::ffi::OsStr::from_bytes(b"bad\xff.rs");
    fs::write(desk.root().join(odd), "fn b() {}\n").unwrap();
    fs::create_dir(desk.root().join(std::ffi::OsStr::from_bytes(b"dir\xfe"))).unwrap();
    assert_eq!(desk.paths(), [" ", "new\nline.rs"]);
    assert_eq!(desk.look().stats.skipped.unnamable, 2);
}

#[test]
fn a_deep_tree_ends_somewhere_and_says_so() {
    let desk = Desk::new();
    let mut folder = desk.root();
    for depth in 0..200 {
        folder.push(format!("d{depth}"));
        fs::create_dir(&folder).unwrap();
    }
    fs::write(folder.join("deep.rs"), "fn a() {}\n").unwrap();
    desk.write("top.rs", "fn a() {}\n");
    let current = desk.look();
    assert_eq!((current.stats.file_count, current.stats.skipped.too_deep), (1, 1));
}

#[test]
fn a_huge_file_is_known_by_its_stamp() {
    let desk = Desk::new();
    desk.write("huge.js", "x");
    let file = fs::File::options().write(true).open(desk.root().join("huge.js")).unwrap();
    // A hole: a gigabyte of one line that takes no room.
    file.set_len(1 << 30).unwrap();
    let current = desk.look();
    assert_eq!((current.stats.file_count, current.stats.unread_files), (1, 1));
    let first = current.artifact.head().revision;
    tick(desk.dir.path());
    file.set_len((1 << 30) + 1).unwrap();
    let delta = super::super::delta_since(&desk.look(), first).unwrap();
    assert_eq!(delta.counts().modified, 1);
}

#[test]
fn many_files_in_one_folder_are_all_there() {
    let desk = Desk::new();
    let folder = desk.root().join("many");
    fs::create_dir(&folder).unwrap();
    for number in 0..20_000 {
        fs::write(folder.join(format!("f{number}.txt")), "x").unwrap();
    }
    assert_eq!(desk.look().stats.file_count, 20_000);
    desk.write("many/one_more.txt", "x");
    assert_eq!(desk.look().stats.file_count, 20_001);
}

#[test]
fn a_file_that_changes_while_it_is_read_is_read_again() {
    let desk = Desk::new();
    desk.write("a.rs", "fn a() {}\n");
    let path = desk.root().join("a.rs");
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
            desk.look();
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(seen(&desk.look()), desk.cold());
}

#[test]
fn secrets_are_never_read_and_never_told_of() {
    let desk = Desk::with_git();
    desk.write(".env", "PASSWORD=1");
    desk.write("src/.env.local", "PASSWORD=1");
    desk.write("keys/id_rsa", "PASSWORD=1");
    desk.write("src/secret_redaction.py", "def redact(): pass\n");
    desk.git(&["add", "-A", "-f"]);
    let current = desk.look();
    assert_eq!(desk.paths(), ["src/secret_redaction.py"]);
    assert_eq!(current.stats.skipped.denied, 3);
    for (path, bytes, _) in bytes_of(&desk.cache_folder()) {
        for word in ["PASSWORD", ".env", "id_rsa"] {
            let is_told = bytes.windows(word.len()).any(|part| part == word.as_bytes());
            assert!(!is_told, "{word} in {}", path.display());
        }
    }
    let more =
        RefreshOptions { sensitive: Sensitive::new(&["*.py".to_owned()]).unwrap(), ..options() };
    let current = refresh(&desk.cache(), &desk.project(), &more).unwrap();
    assert_eq!(current.stats.file_count, 0, "other rules hold at once");
}

#[test]
fn a_folder_that_became_a_link_to_itself_is_gone_with_all_that_was_in_it() {
    let desk = Desk::new();
    for path in ["a.rs", "top/src/b.rs", "top/src/deep/c.rs", "top/src/deep/d.rs", "z/e.rs"] {
        desk.write(path, "fn x() {}\n");
    }
    desk.settled();
    for folder in ["top/src", "top"] {
        desk.rename(folder, &format!("moved-{}", folder.len()));
        let to = desk.root().join(format!("moved-{}", folder.len()));
        symlink(to, desk.root().join(folder)).unwrap();
        assert_eq!(seen(&desk.look()), desk.cold(), "{folder}");
        assert_eq!(seen(&desk.settled()), desk.cold(), "{folder}");
    }
}

#[test]
fn a_folder_that_is_gone_is_an_error_that_names_it() {
    let desk = Desk::new();
    let project = Project::at(desk.root().join("nothing"));
    let error = refresh(&desk.cache(), &project, &options()).unwrap_err();
    assert!(error.to_string().contains("nothing"), "{error}");
}

#[test]
fn an_answer_comes_although_nothing_can_be_kept() {
    let desk = Desk::new();
    desk.write("a.rs", "fn a() {}\n");
    desk.write("../cache", "a file where the folder should be");
    let current = desk.look();
    assert_eq!((current.stats.file_count, current.is_kept), (1, false));
}
