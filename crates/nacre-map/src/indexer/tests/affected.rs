//! Who is affected by what changed, and that nothing is followed twice to tell it.

use proptest::prelude::*;

use super::super::delta_since;
use super::*;
use crate::artifact::Revision;

/// The files that are affected since a revision, with their depths.
fn told(desk: &Desk, since: Revision) -> Vec<(String, u32)> {
    let current = desk.look();
    let delta = delta_since(&current, since).unwrap();
    let found = current.affected(&desk.cache(), CacheWrites::On, &delta);
    found.into_iter().map(|file| (file.path, file.depth)).collect()
}

/// The same without anything that was kept.
fn told_anew(desk: &Desk, since: Revision) -> Vec<(String, u32)> {
    let current = desk.look();
    let delta = delta_since(&current, since).unwrap();
    let nowhere = cache_in(&desk.dir.path().join("nothing"));
    let found = current.affected(&nowhere, CacheWrites::Off, &delta);
    found.into_iter().map(|file| (file.path, file.depth)).collect()
}

fn graphs(desk: &Desk) -> Vec<(PathBuf, u64)> {
    let is_graph = |path: &PathBuf| path.to_string_lossy().contains("/graph-");
    let files = bytes_of(&desk.cache_folder()).into_iter();
    files.map(|(path, _, inode)| (path, inode)).filter(|(path, _)| is_graph(path)).collect()
}

fn chain() -> Desk {
    let desk = Desk::new();
    desk.write("lib.rs", "mod a;\nmod b;\nmod c;\nmod other;\n");
    desk.write("a.rs", "use crate::c::h;\npub fn f(x: u8) {\n    1;\n}\n");
    desk.write("b.rs", "use crate::a::f;\npub fn g() {}\n");
    desk.write("c.rs", "use crate::b::g;\npub fn h() {}\n");
    desk.write("other.rs", "pub fn o() {}\n");
    desk
}

fn owned(list: &[(&str, u32)]) -> Vec<(String, u32)> {
    list.iter().map(|(path, depth)| ((*path).to_owned(), *depth)).collect()
}

#[test]
fn a_new_shape_affects_those_who_import_it_and_a_new_body_nobody() {
    let desk = chain();
    let first = desk.look().revision();
    desk.write("a.rs", "use crate::c::h;\npub fn f(x: u8) {\n    2;\n}\n");
    assert_eq!(told(&desk, first), []);
    assert_eq!(graphs(&desk), [], "nothing was followed");
    desk.write("a.rs", "use crate::c::h;\npub fn f(x: u16) {\n    2;\n}\n");
    assert_eq!(told(&desk, first), owned(&[("b.rs", 1), ("lib.rs", 1), ("c.rs", 2)]));
}

#[test]
fn imports_are_followed_once_and_then_only_where_they_are_others() {
    let desk = chain();
    let first = desk.look().revision();
    desk.write("a.rs", "pub fn f(x: u16) {}\n");
    told(&desk, first);
    let kept = graphs(&desk);
    assert_eq!(kept.len(), 1);
    desk.write("a.rs", "pub fn f(x: u32) {}\n");
    desk.write("other.rs", "use crate::a::f;\npub fn o() {}\n");
    desk.write("b.rs", "pub fn g() {}\n");
    assert_eq!(told(&desk, first), owned(&[("lib.rs", 1), ("other.rs", 1)]));
    assert_eq!(graphs(&desk), kept, "what was kept still holds for all others");
    desk.write("new.rs", "use crate::a::f;\n");
    told(&desk, first);
    assert_ne!(graphs(&desk), kept, "another file may lead every import elsewhere");
}

#[test]
fn who_imported_a_file_that_is_gone_is_affected() {
    let desk = chain();
    let first = desk.look().revision();
    desk.write("other.rs", "pub fn o(x: u8) {}\n");
    told(&desk, first);
    desk.remove("a.rs");
    let expected = owned(&[("b.rs", 1), ("lib.rs", 1), ("c.rs", 2)]);
    assert_eq!(told(&desk, first), expected);
    desk.rename("c.rs", "d.rs");
    assert_eq!(told(&desk, first), owned(&[("b.rs", 1), ("lib.rs", 1), ("d.rs", 2)]));
}

#[test]
fn a_package_that_is_imported_as_a_whole_passes_on_what_any_of_its_files_imports() {
    let desk = Desk::new();
    desk.write("go.mod", "module sea\n");
    desk.write("deep/deep.go", "package deep\n\nfunc Dive(x int) {}\n");
    desk.write("mid/a.go", "package mid\n\nfunc A() {}\n");
    desk.write("mid/z.go", "package mid\n\nimport \"sea/deep\"\n\nfunc Z() { deep.Dive(1) }\n");
    desk.write("top/top.go", "package top\n\nimport \"sea/mid\"\n\nfunc T() { mid.Z() }\n");
    let first = desk.look().revision();
    desk.write("deep/deep.go", "package deep\n\nfunc Dive(x, y int) {}\n");
    assert_eq!(told(&desk, first), owned(&[("mid/z.go", 1), ("top/top.go", 2)]));
}

#[test]
fn a_graph_that_is_damaged_is_as_good_as_absent() {
    let desk = chain();
    let first = desk.look().revision();
    desk.write("a.rs", "pub fn f(x: u16) {}\n");
    let right = told(&desk, first);
    let (path, _) = graphs(&desk).remove(0);
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        fs::write(&path, &bytes).unwrap();
        assert_eq!(told(&desk, first), right, "byte {at}");
        fs::write(&path, &whole[..at]).unwrap();
        assert_eq!(told(&desk, first), right, "cut at {at}");
    }
}

const FILES: &[&str] =
    &["lib.rs", "a.rs", "b.rs", "p/one.go", "p/two.go", "q/q.go", "A.cs", "B.cs", "m.py", "n.py"];

const TEXTS: &[&str] = &[
    "mod a;\nmod b;\n",
    "use crate::b::f;\npub fn f(x: u8) {}\n",
    "use crate::a::f;\npub fn f(x: u16) {}\npub enum E { A }\nuse E::A;\n",
    "pub fn f(x: u32) {}\n",
    "package p\n\nfunc F(x int) {}\n",
    "package p\n\nimport \"sea/q\"\n\nfunc F(x, y int) {}\n",
    "package q\n\nimport \"sea/p\"\n\nfunc G(x int) {}\n",
    "namespace Sea { public class P { public void F(int x) {} } }\n",
    "using Sea;\nnamespace Land { public class P { public void F() {} } }\n",
    "using Land;\nnamespace Sea { public class Q { public void F(int y) {} } }\n",
    "import n\n\ndef f(x):\n    pass\n",
    "from m import f\n\ndef f(x, y):\n    pass\n",
];

proptest! {
    // Each case writes files and looks at them some ten times.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 8, ..ProptestConfig::default() })]

    #[test]
    fn what_was_kept_tells_what_following_everything_anew_tells(
        start in prop::collection::vec(0..TEXTS.len(), FILES.len()),
        steps in prop::collection::vec((0..FILES.len(), prop::option::weighted(0.9, 0..TEXTS.len())), 1..8),
    ) {
        let desk = Desk::new();
        desk.write("go.mod", "module sea\n");
        for (file, text) in FILES.iter().zip(start) {
            desk.write(file, TEXTS[text]);
        }
        let first = desk.look().revision();
        for (file, text) in steps {
            match text {
                Some(text) => desk.write(FILES[file], TEXTS[text]),
                None => drop(fs::remove_file(desk.root().join(FILES[file]))),
            }
            prop_assert_eq!(told(&desk, first), told_anew(&desk, first));
            let current = desk.look();
            let nowhere = cache_in(&desk.dir.path().join("nothing"));
            let anew = current.imported(&nowhere, CacheWrites::Off);
            prop_assert_eq!(current.imported(&desk.cache(), CacheWrites::On), anew);
        }
    }
}
