//! Tests which files a change affects, and that no import is followed twice.

use nacre_types::MapRevision;
use proptest::prelude::*;

use super::super::delta_since;
use super::*;

/// Returns the files affected since a revision, with their depths.
fn told(tree: &TestTree, since: MapRevision) -> Vec<(String, u32)> {
    let current = tree.look();
    let delta = delta_since(&current, since).unwrap();
    let found = current.find_affected(&tree.cache(), CacheWrites::On, &delta, 2);
    found.into_iter().map(|file| (file.path, file.depth)).collect()
}

fn told_anew(tree: &TestTree, since: MapRevision) -> Vec<(String, u32)> {
    let current = tree.look();
    let delta = delta_since(&current, since).unwrap();
    let nowhere = cache_in(&tree.dir.path().join("nothing"));
    let found = current.find_affected(&nowhere, CacheWrites::Off, &delta, 1);
    found.into_iter().map(|file| (file.path, file.depth)).collect()
}

fn graphs(tree: &TestTree) -> Vec<(PathBuf, u64)> {
    let is_graph = |path: &PathBuf| path.to_string_lossy().contains("/imports-");
    let files = bytes_of(&tree.cache_folder()).into_iter();
    files.map(|(path, _, inode)| (path, inode)).filter(|(path, _)| is_graph(path)).collect()
}

fn chain() -> TestTree {
    let tree = TestTree::new();
    tree.write("lib.rs", "mod a;\nmod b;\nmod c;\nmod other;\n");
    tree.write("a.rs", "use crate::c::h;\npub fn f(x: u8) {\n    1;\n}\n");
    tree.write("b.rs", "use crate::a::f;\npub fn g() {}\n");
    tree.write("c.rs", "use crate::b::g;\npub fn h() {}\n");
    tree.write("other.rs", "pub fn o() {}\n");
    tree
}

fn owned(list: &[(&str, u32)]) -> Vec<(String, u32)> {
    list.iter().map(|(path, depth)| ((*path).to_owned(), *depth)).collect()
}

#[test]
fn a_new_shape_affects_those_who_import_it_and_a_new_body_nobody() {
    let tree = chain();
    let first = tree.look().revision();
    tree.write("a.rs", "use crate::c::h;\npub fn f(x: u8) {\n    2;\n}\n");
    assert_eq!(told(&tree, first), []);
    assert_eq!(graphs(&tree), [], "nothing was followed");
    tree.write("a.rs", "use crate::c::h;\npub fn f(x: u16) {\n    2;\n}\n");
    assert_eq!(told(&tree, first), owned(&[("b.rs", 1)]));
}

#[test]
fn imports_are_followed_once_for_each_state() {
    let tree = chain();
    let first = tree.look().revision();
    tree.write("a.rs", "pub fn f(x: u16) {}\n");
    told(&tree, first);
    let stored = graphs(&tree);
    told(&tree, first);
    assert_eq!(graphs(&tree), stored, "the same state needs no second look");
    tree.write("other.rs", "use crate::a::f;\npub fn o() {}\n");
    tree.write("b.rs", "pub fn g() {}\n");
    assert_eq!(told(&tree, first), owned(&[("other.rs", 1)]));
    assert_ne!(graphs(&tree), stored);
}

#[test]
fn who_imported_a_file_that_is_gone_is_affected() {
    let tree = chain();
    let first = tree.look().revision();
    tree.write("other.rs", "pub fn o(x: u8) {}\n");
    told(&tree, first);
    tree.remove("a.rs");
    let expected = owned(&[("b.rs", 1), ("lib.rs", 1)]);
    assert_eq!(told(&tree, first), expected);
    tree.rename("c.rs", "d.rs");
    assert_eq!(told(&tree, first), owned(&[("b.rs", 1), ("lib.rs", 1)]));
}

#[test]
fn a_package_of_go_is_affected_where_it_uses_the_symbol_and_hands_nothing_on() {
    let tree = TestTree::new();
    tree.write("go.mod", "module sea\n");
    tree.write("deep/deep.go", "package deep\n\nfunc Dive(x int) {}\n");
    tree.write("mid/a.go", "package mid\n\nfunc A() {}\n");
    tree.write("mid/z.go", "package mid\n\nimport \"sea/deep\"\n\nfunc Z() { deep.Dive(1) }\n");
    tree.write("top/top.go", "package top\n\nimport \"sea/mid\"\n\nfunc T() { mid.Z() }\n");
    let first = tree.look().revision();
    tree.write("deep/deep.go", "package deep\n\nfunc Dive(x, y int) {}\n");
    assert_eq!(told(&tree, first), owned(&[("mid/z.go", 1)]));
    let second = tree.look().revision();
    tree.rename("mid/z.go", "mid/y.go");
    assert_eq!(told(&tree, second), [], "the package is what others import");
}

/// A project, an edit to one of its files, and the files that the edit affects.
struct UseCase {
    files: &'static [(&'static str, &'static str)],
    edited: (&'static str, &'static str),
    affected: &'static [&'static str],
}

const USES: &[UseCase] = &[
    // Python: a name re-exported by a package, a module used by its name, and another function with
    // the same name.
    UseCase {
        files: &[
            ("sea/__init__.py", "from .tide import rise\n"),
            ("sea/tide.py", "def rise(a):\n    pass\n"),
            ("a.py", "from sea import rise\nrise(1)\n"),
            ("b.py", "import sea.tide\nsea.tide.rise(1)\n"),
            ("c.py", "from sea import tide\nprint('rise')  # rise\n"),
            ("d.py", "def rise():\n    pass\nrise()\n"),
        ],
        edited: ("sea/tide.py", "def rise(a, b):\n    pass\n"),
        affected: &["a.py", "b.py", "sea/__init__.py"],
    },
    // A method found by its type, by a variable named after the type, and by a subtype.
    UseCase {
        files: &[
            ("pearl.py", "class Pearl:\n    def grow(self):\n        pass\n"),
            ("black.py", "from pearl import Pearl\nclass BlackPearl(Pearl):\n    pass\n"),
            ("a.py", "from black import BlackPearl\nBlackPearl().grow()\n"),
            ("b.py", "def f(pearl):\n    pearl.grow()\n"),
            ("tree.py", "class Tree:\n    def grow(self):\n        pass\n"),
            ("c.py", "from tree import Tree\nTree().grow()\n"),
        ],
        edited: ("pearl.py", "class Pearl:\n    def grow(self, layers):\n        pass\n"),
        affected: &["a.py", "b.py"],
    },
    // An import inside a function also counts, whether from the declaring file or from one that
    // re-exports the name.
    UseCase {
        files: &[
            ("sea/__init__.py", ""),
            ("sea/tide/__init__.py", "from .rising import *\n"),
            ("sea/tide/rising.py", "class Rise:\n    pass\n"),
            (
                "sea/a.py",
                "def f():\n    if True:\n        from sea.tide import (\n            Ebb, Rise as Up)\n        Up()\n",
            ),
            ("sea/b.py", "def f():\n    from .tide import rising\n    return rising.Rise\n"),
            ("sea/c.py", "def f(Rise):\n    return Rise\n"),
        ],
        edited: ("sea/tide/rising.py", "class Rise(object):\n    pass\n"),
        affected: &["sea/a.py", "sea/b.py"],
    },
    // Two classes with the same name. The import determines which one is meant, directly, through
    // re-exports or by the module name.
    UseCase {
        files: &[
            ("forms/__init__.py", "from forms.fields import *\n"),
            ("forms/fields.py", "class Date:\n    def clean(self):\n        pass\n"),
            ("db/__init__.py", "from db.fields import *\nfrom db.query import all\n"),
            ("db/fields.py", "class Date:\n    def clean(self):\n        pass\n"),
            ("db/query.py", "from forms import fields\ndef all():\n    pass\n"),
            ("a.py", "from forms import Date\nDate().clean()\n"),
            ("b.py", "from db import Date\nimport forms\nDate().clean()\n"),
            ("c.py", "from db import fields\nfrom forms import other\nfields.Date().clean()\n"),
            (
                "d.py",
                "from db import Date as DbDate\nfrom forms import fields\nfields.Date().clean()\n",
            ),
            ("e.py", "from db.fields import Date\nclass Day(Date):\n    pass\n"),
            ("f.py", "from e import Day\nDay().clean()\n"),
            (
                "g.py",
                "from forms.fields import Date as FormDate\nclass Date(FormDate):\n    pass\n",
            ),
            ("h.py", "from g import Date\nDate().clean()\n"),
            (
                "j.py",
                "import g\nfrom forms import other\ng.Date\nclass Date:\n    def f(self):\n        Date()\n",
            ),
            ("i.py", "from outside import Date\nimport forms.fields\nDate().clean()\n"),
        ],
        edited: (
            "forms/fields.py",
            "class Date(object):\n    def clean(self, all):\n        pass\n",
        ),
        affected: &["a.py", "d.py", "g.py", "h.py", "i.py"],
    },
    // Scripts: a default export used under any name, and names that an index file re-exports with
    // `*`.
    UseCase {
        files: &[
            (
                "tide.ts",
                "export default function rise(a: number) {\n}\nexport function fall(a: number) {\n}\n",
            ),
            ("index.ts", "export * from './tide'\n"),
            ("a.ts", "import up from './tide'\nup(1)\n"),
            ("b.ts", "import { fall } from './index'\nfall(1)\n"),
            ("c.ts", "import { other } from './index'\nother.fall\n"),
        ],
        edited: (
            "tide.ts",
            "export default function rise(a: string) {\n}\nexport function fall(a: string) {\n}\n",
        ),
        affected: &["a.ts", "b.ts"],
    },
    // Scripts: a file that imports the name or the module uses it. A method with the same name is
    // unrelated, and nothing is re-exported implicitly.
    UseCase {
        files: &[
            (
                "tide.ts",
                "export function send(a: number) {\n}\nexport function other(a: number) {\n}\n",
            ),
            ("a.ts", "import { send } from './tide'\nexport const sent = send(1)\n"),
            ("b.ts", "import { other } from './tide'\nconst tide = other(1)\ntide.send(1)\n"),
            ("c.ts", "import * as sea from './tide'\nsea.send(1)\n"),
            ("d.ts", "import { sent } from './a'\nimport { send } from 'net'\nsend(sent)\n"),
            ("e.js", "const { send } = require('./tide')\nsend(1)\n"),
            ("f.ts", "export { send } from './tide'\n"),
            ("g.ts", "import { send } from './f'\nsend(2)\n"),
        ],
        edited: (
            "tide.ts",
            "export function send(a: string) {\n}\nexport function other(a: number) {\n}\n",
        ),
        affected: &["a.ts", "c.ts", "e.js", "f.ts", "g.ts"],
    },
    // Scripts: a method of a variable named after the end of the type name. A file with its own
    // method of that name is not affected.
    UseCase {
        files: &[
            (
                "harbour.ts",
                "export class DevHarbour {\n  close(a: number) {\n    return a\n  }\n}\n",
            ),
            (
                "make.ts",
                "import { DevHarbour } from './harbour'\nexport const make = () => new DevHarbour()\n",
            ),
            ("a.ts", "import { make } from './make'\nconst harbour = make()\nharbour.close(1)\n"),
            (
                "b.ts",
                "import type { DevHarbour } from './harbour'\nexport class Gate {\n  close(of: DevHarbour) {\n  }\n}\n",
            ),
            (
                "c.ts",
                "import { DevHarbour } from './harbour'\nexport class Deep extends DevHarbour {\n  close(a: number) {\n  }\n}\n",
            ),
        ],
        edited: (
            "harbour.ts",
            "export class DevHarbour {\n  close(a: string) {\n    return a\n  }\n}\n",
        ),
        affected: &["a.ts", "c.ts"],
    },
    // Go: a method call is a use; a field with the same name is not.
    UseCase {
        files: &[
            ("go.mod", "module sea\n"),
            (
                "tide/tide.go",
                "package tide\n\ntype Tide struct{}\n\nfunc (t Tide) Name(a int) {}\n",
            ),
            ("tide/mate.go", "package tide\n\nfunc f(x Tide) { x.Name(1) }\n"),
            ("a/a.go", "package a\n\nimport \"sea/tide\"\n\nfunc A(x tide.Tide) { x.Name(1) }\n"),
            (
                "b/b.go",
                "package b\n\nimport \"sea/tide\"\n\nvar t tide.Tide\n\nfunc B(x Ship) { print(x.Name) }\n",
            ),
        ],
        edited: (
            "tide/tide.go",
            "package tide\n\ntype Tide struct{}\n\nfunc (t Tide) Name(a, b int) {}\n",
        ),
        affected: &["a/a.go", "tide/mate.go"],
    },
    // Java: files in the same package need no import, and a class with the same name elsewhere is
    // unrelated.
    UseCase {
        files: &[
            (
                "src/main/java/sea/Tide.java",
                "package sea;\npublic class Tide {\n    public int rise(int a) { return a; }\n}\n",
            ),
            (
                "src/test/java/sea/TideTests.java",
                "package sea;\nclass TideTests {\n    void f(Tide t) { t.rise(1); }\n}\n",
            ),
            (
                "src/main/java/land/A.java",
                "package land;\nimport sea.Tide;\nclass A {\n    int f(Tide t) { return t.rise(1); }\n}\n",
            ),
            (
                "src/main/java/land/B.java",
                "package land;\nclass B {\n    int rise(int a) { return 1; }\n    int g() { return rise(1); }\n}\n",
            ),
        ],
        edited: (
            "src/main/java/sea/Tide.java",
            "package sea;\npublic class Tide {\n    public int rise(long a) { return 1; }\n}\n",
        ),
        affected: &["src/main/java/land/A.java", "src/test/java/sea/TideTests.java"],
    },
    // Java: two classes with the same name. The import or the file's own package determines which
    // one is meant.
    UseCase {
        files: &[
            (
                "web/src/main/java/web/Path.java",
                "package web;\npublic class Path {\n    public int find(int a) { return a; }\n}\n",
            ),
            (
                "flux/src/main/java/flux/Path.java",
                "package flux;\npublic class Path {\n    public int find(int a) { return a; }\n}\n",
            ),
            (
                "flux/src/test/java/flux/PathTests.java",
                "package flux;\nclass PathTests {\n    int f() { return new Path().find(1); }\n}\n",
            ),
            (
                "land/src/main/java/land/A.java",
                "package land;\nimport flux.Path;\nclass A {\n    int f(Path path) { return path.find(1); }\n}\n",
            ),
            (
                "land/src/main/java/land/B.java",
                "package land;\nimport web.Path;\nclass B {\n    int f() { return new Path().find(1); }\n}\n",
            ),
            (
                "land/src/main/java/land/C.java",
                "package land;\nimport web.*;\nclass C {\n    int f() { return new Path().find(1); }\n}\n",
            ),
            (
                "flux/src/main/java/flux/D.java",
                "package flux;\nclass D {\n    int f() { return new web.Path().find(1); }\n}\n",
            ),
        ],
        edited: (
            "web/src/main/java/web/Path.java",
            "package web;\npublic final class Path {\n    public int find(long a) { return 1; }\n}\n",
        ),
        affected: &[
            "flux/src/main/java/flux/D.java",
            "land/src/main/java/land/B.java",
            "land/src/main/java/land/C.java",
        ],
    },
    // Rust: a path without an import. Child modules can use private items.
    UseCase {
        files: &[
            ("Cargo.toml", "[package]\nname = \"sea\"\n"),
            ("src/lib.rs", "mod tide;\nmod a;\nmod b;\n"),
            ("src/tide.rs", "mod deep;\npub fn rise(a: u8) {}\nfn ebb(a: u8) {}\n"),
            ("src/tide/deep.rs", "fn f() { super::ebb(1) }\n"),
            ("src/a.rs", "fn f() { crate::tide::rise(1) }\n"),
            ("src/b.rs", "fn ebb() {}\nfn f() { ebb() }\n"),
        ],
        edited: ("src/tide.rs", "mod deep;\npub fn rise(a: u16) {}\nfn ebb(a: u16) {}\n"),
        affected: &["src/a.rs", "src/tide/deep.rs"],
    },
    // Rust: a path through another type refers to that type. Aliases, traits and variables of the
    // type count as the type.
    UseCase {
        files: &[
            ("Cargo.toml", "[package]\nname = \"sea\"\n"),
            ("src/lib.rs", "mod tide;\nmod a;\nmod b;\nmod c;\nmod d;\nmod e;\nmod f;\nmod g;\n"),
            (
                "src/tide.rs",
                "pub struct Tide;\nimpl Tide {\n    pub fn of(a: u8) -> Self {\n        Self\n    }\n}\nimpl Make for Tide {}\n",
            ),
            ("src/a.rs", "use crate::tide::Tide;\nfn f(t: Tide) {\n    Vec::of(1);\n}\n"),
            ("src/b.rs", "use crate::tide::Tide;\nfn f() -> Tide {\n    Tide::of(1)\n}\n"),
            ("src/c.rs", "use crate::tide::Tide as Flood;\nfn f() {\n    Flood::of(1);\n}\n"),
            ("src/d.rs", "use crate::tide::Tide;\nfn f() -> Tide {\n    Make::of(1)\n}\n"),
            (
                "src/e.rs",
                "use crate::tide::Tide;\nfn f(t: Tide) {\n    t.of(1);\n    Vec::of(1);\n}\n",
            ),
            (
                "src/f.rs",
                "pub struct Buf;\nimpl Buf {\n    fn of(a: u8) {}\n    fn f() {\n        Buf::of(1)\n    }\n}\n",
            ),
            (
                "src/g.rs",
                "use crate::tide::Tide;\ntype Ebb = Tide;\nfn f() {\n    Ebb::of(1);\n}\n",
            ),
        ],
        edited: (
            "src/tide.rs",
            "pub struct Tide;\nimpl Tide {\n    pub fn of(a: u16) -> Self {\n        Self\n    }\n}\nimpl Make for Tide {}\n",
        ),
        affected: &["src/b.rs", "src/c.rs", "src/d.rs", "src/e.rs", "src/g.rs"],
    },
    // Rust: a field with a method's name is not a call, but a method with type arguments is.
    UseCase {
        files: &[
            ("Cargo.toml", "[package]\nname = \"sea\"\n"),
            ("src/lib.rs", "mod tide;\nmod a;\nmod b;\n"),
            (
                "src/tide.rs",
                "pub struct Tide;\nimpl Tide {\n    pub fn rise<T>(&self, a: u8) {}\n}\n",
            ),
            ("src/a.rs", "use crate::tide::Tide;\nfn f(x: Tide) {\n    x.rise::<u8>(1);\n}\n"),
            (
                "src/b.rs",
                "use crate::tide::Tide;\nstruct B {\n    rise: Tide,\n}\nfn f(b: B) -> Tide {\n    b.rise\n}\n",
            ),
        ],
        edited: (
            "src/tide.rs",
            "pub struct Tide;\nimpl Tide {\n    pub fn rise<T>(&self, a: u16) {}\n}\n",
        ),
        affected: &["src/a.rs"],
    },
    // Rust: items inside a macro call count as items.
    UseCase {
        files: &[
            ("Cargo.toml", "[package]\nname = \"sea\"\n"),
            ("src/lib.rs", "cfg_sea! {\n    mod tide;\n    mod a;\n}\n"),
            (
                "src/tide.rs",
                "pub struct Tide;\n\ncfg_sea! {\n    impl Tide {\n        pub fn rise(&self, a: u8) {}\n    }\n}\n",
            ),
            ("src/a.rs", "use crate::tide::Tide;\nfn f(tide: Tide) {\n    tide.rise(1);\n}\n"),
        ],
        edited: (
            "src/tide.rs",
            "pub struct Tide;\n\ncfg_sea! {\n    impl Tide {\n        pub fn rise(&self, a: u16) {}\n    }\n}\n",
        ),
        affected: &["src/a.rs"],
    },
    // Rust: a trait method can be called on any type that implements the trait.
    UseCase {
        files: &[
            ("Cargo.toml", "[package]\nname = \"sea\"\n"),
            ("src/lib.rs", "mod tide;\nmod a;\n"),
            ("src/tide.rs", "pub trait Tide {\n    fn of(a: u8);\n}\n"),
            ("src/a.rs", "use crate::tide::Tide;\nfn f() {\n    Pearl::of(1);\n}\n"),
        ],
        edited: ("src/tide.rs", "pub trait Tide {\n    fn of(a: u16);\n}\n"),
        affected: &["src/a.rs"],
    },
];

#[test]
fn who_uses_a_symbol_is_told_by_name_and_import() {
    for case in USES {
        let tree = TestTree::new();
        for (path, text) in case.files {
            tree.write(path, text);
        }
        let first = tree.look().revision();
        tree.write(case.edited.0, case.edited.1);
        let found = told(&tree, first);
        let mut paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
        paths.sort_unstable();
        assert_eq!(paths, case.affected, "{}", case.edited.0);
    }
}

#[test]
fn a_graph_that_is_damaged_is_as_good_as_absent() {
    let tree = chain();
    let first = tree.look().revision();
    tree.write("a.rs", "pub fn f(x: u16) {}\n");
    let right = told(&tree, first);
    let (path, _) = graphs(&tree).remove(0);
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        fs::write(&path, &bytes).unwrap();
        assert_eq!(told(&tree, first), right, "byte {at}");
        fs::write(&path, &whole[..at]).unwrap();
        assert_eq!(told(&tree, first), right, "cut at {at}");
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
    // Each case writes files and refreshes the map about ten times.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 8, ..ProptestConfig::default() })]

    #[test]
    fn what_was_kept_tells_what_following_everything_anew_tells(
        start in prop::collection::vec(0..TEXTS.len(), FILES.len()),
        steps in prop::collection::vec((0..FILES.len(), prop::option::weighted(0.9, 0..TEXTS.len())), 1..8),
    ) {
        let tree = TestTree::new();
        tree.write("go.mod", "module sea\n");
        for (file, text) in FILES.iter().zip(start) {
            tree.write(file, TEXTS[text]);
        }
        let first = tree.look().revision();
        for (file, text) in steps {
            match text {
                Some(text) => tree.write(FILES[file], TEXTS[text]),
                None => drop(fs::remove_file(tree.root().join(FILES[file]))),
            }
            prop_assert_eq!(told(&tree, first), told_anew(&tree, first));
            let current = tree.look();
            let nowhere = cache_in(&tree.dir.path().join("nothing"));
            let anew = current.imports(&nowhere, CacheWrites::Off, 1);
            prop_assert_eq!(current.imports(&tree.cache(), CacheWrites::On, 2), anew);
        }
    }
}
