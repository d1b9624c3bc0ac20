//! Tests overviews and contexts for a small project.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use nacre_types::{ContextSlice, MapDetail, Overview, SymbolForm, WhyRelevant};
use proptest::prelude::*;

use super::*;
use crate::artifact::{FileFacts, FileHash, FileOutline, FileRow, Imports, Lists, RelativePath};
use crate::languages::{Language, analyse};
use crate::resolve::{Manifest, Resolver, is_manifest};
use crate::words::{Bag, render_bag};

const PROJECT: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"sea\"\n"),
    ("README.md", "# Sea\n"),
    ("docs/README.md", "# Docs\n"),
    ("src/lib.rs", "pub mod pearl;\npub mod deep;\npub use pearl::Pearl;\n"),
    (
        "src/pearl.rs",
        "use crate::deep::tide::Tide;\nuse serde::Serialize;\n\n/// A pearl.\npub struct Pearl {\n    layers: u32,\n}\n\nimpl Pearl {\n    pub fn grow(&mut self, tide: &Tide) -> u32 {\n        self.layers += tide.height();\n        self.layers\n    }\n\n    fn polish(&self) -> u32 {\n        self.layers\n    }\n}\n",
    ),
    ("src/deep/mod.rs", "pub mod tide;\n"),
    (
        "src/deep/tide.rs",
        "use serde::Serialize;\n\npub struct Tide;\n\nimpl Tide {\n    pub fn height(&self) -> u32 {\n        let token = \"ghp_0123456789abcdefghijklmnopqrstuvwxyzAB\";\n        token.len() as u32\n    }\n}\n\npub fn unrelated(port: u16) -> u16 {\n    port\n}\n",
    ),
    ("src/main.rs", "use sea::Pearl;\nuse clap::Parser;\nfn main() {}\n"),
    ("tests/growing.rs", "use sea::pearl::Pearl;\n#[test]\nfn a_pearl_grows() {}\n"),
    ("broken.rs", "fn ( {\n"),
];

fn facts(files: &[(&str, &str)]) -> (Vec<FileFacts>, Vec<Manifest>) {
    let mut facts: Vec<FileFacts> = files
        .iter()
        .map(|(path, text)| {
            let language = Language::of_path(path);
            FileFacts {
                path: RelativePath::new(path).unwrap(),
                hash: FileHash::of(text.as_bytes()),
                language,
                lines: u32::try_from(text.lines().count()).unwrap(),
                analysis: language
                    .map(|language| analyse(language, text.as_bytes()))
                    .unwrap_or_default(),
            }
        })
        .collect();
    facts.sort_by(|one, other| one.path.cmp(&other.path));
    let manifests = files.iter().filter(|(path, _)| is_manifest(path.rsplit('/').next().unwrap()));
    let manifest = |(path, text): &(&str, &str)| Manifest {
        path: RelativePath::new(path).unwrap(),
        text: (*text).to_owned(),
    };
    let manifests = manifests.map(manifest).collect();
    (facts, manifests)
}

/// A project's facts, and each file's imports.
struct Known {
    files: Vec<FileFacts>,
    /// Each file's words.
    bags: Vec<Vec<u8>>,
    imported: Lists,
}

impl Known {
    fn of(texts: &[(&str, &str)]) -> Self {
        let (files, manifests) = facts(texts);
        let bag = |file: &FileFacts| {
            let text = texts.iter().find(|(path, _)| *path == file.path.as_str()).unwrap().1;
            render_bag(text.as_bytes(), file.language.is_some())
        };
        let bags = files.iter().map(bag).collect();
        let survey = survey(&files, &manifests, &[], 1);
        Self { files, bags, imported: survey.imported }
    }

    fn names(&self, path: &str) -> String {
        let file = self.files.iter().find(|file| file.path.as_str() == path).unwrap();
        let names: Vec<&str> =
            file.analysis.symbols.iter().map(|symbol| symbol.name.as_str()).collect();
        names.join("\n")
    }
}

fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(|| Known::of(PROJECT))
}

fn outlines(facts: &[FileFacts]) -> Vec<FileOutline<'_>> {
    facts
        .iter()
        .map(|file| FileOutline {
            path: file.path.as_str(),
            language: file.language,
            outline: file.outline().unwrap_or_default(),
        })
        .collect()
}

fn imports(facts: &[FileFacts], manifests: &[Manifest], n_threads: usize) -> Imports {
    let outlines = outlines(facts);
    Resolver::new(&outlines, manifests).follow_all(n_threads)
}

/// Returns the rules in the `.gitattributes` files, which must all be the same.
fn made_in(facts: &[FileFacts]) -> MadePaths {
    let paths = facts.iter().map(|file| file.path.as_str());
    MadePaths::read(paths, &|_| Some("src/deep/** linguist-generated\n".to_owned()))
}

/// `churn` contains the path once for each commit that changed it.
fn survey(facts: &[FileFacts], manifests: &[Manifest], churn: &[&str], n_threads: usize) -> Survey {
    let mut n_commits: BTreeMap<String, u32> = BTreeMap::new();
    for path in churn {
        *n_commits.entry((*path).to_owned()).or_default() += 1;
    }
    let imports = imports(facts, manifests, n_threads);
    Survey::new(&outlines(facts), imports, &made_in(facts), &n_commits)
}

fn seen_of(
    files: &[(&str, &str)],
    detail: MapDetail,
    churn: &[&str],
    budget: Option<usize>,
) -> Result<Overview, TooSmall> {
    let (facts, manifests) = facts(files);
    let texts: BTreeMap<&str, &str> = files.iter().copied().collect();
    let survey = survey(&facts, &manifests, churn, 2);
    let row = |file: &FileFacts| FileRow { lines: file.lines, ..FileRow::default() };
    let files: Vec<(&str, FileRow)> =
        facts.iter().map(|file| (file.path.as_str(), row(file))).collect();
    let find = |path: &str| facts.iter().find(|file| file.path.as_str() == path);
    let request = OverviewRequest {
        detail,
        files: &files,
        analysis: &|path| find(path).map(|file| file.analysis.clone()),
        text: &|path| texts.get(path).map(|text| (*text).to_owned()),
        budget,
        cost: &|overview| tokens(&overview_text(overview)),
    };
    overview(&survey, &request)
}

fn seen(detail: MapDetail, churn: &[&str], budget: Option<usize>) -> Result<Overview, TooSmall> {
    seen_of(PROJECT, detail, churn, budget)
}

fn text_of(path: &RelativePath) -> Option<String> {
    PROJECT.iter().find(|(known, _)| *known == path.as_str()).map(|(_, text)| (*text).to_owned())
}

fn asked(task: &str, files: &[&str], budget: usize) -> Result<ContextSlice, TooSmall> {
    let files: Vec<String> = files.iter().map(|path| (*path).to_owned()).collect();
    let memory = BTreeMap::new();
    answered(known(), &evidence(task, &files, &memory), budget, &text_of)
}

const WITHOUT_MEANING: Weights = Weights { meaning: 0.0, ..WEIGHTS };

/// Returns the evidence for ranking the small project, compared by words alone.
fn evidence<'e>(
    task: &'e str,
    files: &'e [String],
    memory: &'e BTreeMap<String, f64>,
) -> Evidence<'e> {
    let names = &|path: &str| known().names(path);
    Evidence { task, files, memory, names, weights: &WITHOUT_MEANING, n_threads: 2 }
}

/// Ranks the files and packs the result, just as a command would.
fn answered(
    known: &Known,
    evidence: &Evidence<'_>,
    budget: usize,
    text: &dyn Fn(&RelativePath) -> Option<String>,
) -> Result<ContextSlice, TooSmall> {
    let paths = known.files.iter().map(|file| file.path.as_str()).collect();
    let bag = |idx: usize| Bag::read(&known.bags[idx]);
    let ranked =
        rank(&Sketch::new(paths, &bag, &made_in(&known.files), known.imported.clone()), evidence);
    let cost = |slice: &ContextSlice| tokens(&context_text(slice));
    let request =
        ContextRequest { task: evidence.task, budget, is_files_only: false, text, cost: &cost };
    context(&ranked, &known.files, &request)
}

#[test]
fn an_overview_tells_what_a_project_is() {
    let log = ["src/pearl.rs", "src/deep/tide.rs", "src/pearl.rs"];
    insta::assert_snapshot!(overview_text(&seen(MapDetail::Compact, &log, None).unwrap()), @"
    commands 2
      build cargo build (Cargo.toml)
      test cargo test (Cargo.toml)
    languages rust 7 files 43 lines
    areas 3
      src 3 files 24 lines
      src/deep 2 files 15 lines
      . 1 files 1 lines
    apart tests 1 files
    entry_points 4
      readme README.md
      program src/main.rs (sea)
      library src/lib.rs (sea)
      manifest Cargo.toml
    hot_paths 2
      src/pearl.rs heat 3096 importers 2 commits 2
      src/deep/tide.rs heat 2794 importers 2 commits 1
    top_imports 2
      serde 2
      clap 1
    graph nodes 10 edges 6 unresolved 0
    modules 3
      src/deep 2
      src 3 -> src/deep
      . 1
    public_surface 2
      src/deep/tide.rs 3
        3 pub struct Tide
        6 pub fn height(&self) -> u32
        12 pub fn unrelated(port: u16) -> u16
      src/pearl.rs 2
        5 pub struct Pearl
        10 pub fn grow(&mut self, tide: &Tide) -> u32
    tests 1
      tests/growing.rs
    problem broken 1
    ");
}

#[test]
fn an_index_that_only_hands_on_is_no_hot_path() {
    let files = [
        ("app/a.py", "from app import db\n"),
        ("app/b.py", "from app import db, conf\n"),
        ("app/conf/__init__.py", "class Settings:\n    pass\n"),
        ("app/db/__init__.py", "from app.db.query import Query\n"),
        ("app/db/query.py", "class Query:\n    pass\n"),
    ];
    let overview = seen_of(&files, MapDetail::Verbose, &[], None).unwrap();
    let hot: Vec<&str> = overview.hot_paths.items.iter().map(|hot| hot.path.as_str()).collect();
    assert_eq!(hot, ["app/db/query.py", "app/conf/__init__.py", "app/a.py", "app/b.py"]);
}

#[test]
fn entry_points_are_files_of_the_root_and_not_of_any_folder_that_ends_like_it() {
    let overview = seen(MapDetail::Verbose, &[], None).unwrap();
    let paths: Vec<&str> =
        overview.entry_points.items.iter().map(|one| one.path.as_str()).collect();
    assert!(!paths.contains(&"docs/README.md"), "{paths:?}");
    assert_eq!(paths[..2], ["README.md", "src/main.rs"]);
}

#[test]
fn edges_are_imports_that_lead_to_a_file_and_nothing_else() {
    let Known { files, imported, .. } = known();
    let edges = imported.iter().enumerate().flat_map(|(from, all)| {
        all.iter().map(move |to| format!("{} -> {}", files[from].path, files[*to as usize].path))
    });
    let edges: Vec<String> = edges.collect();
    insta::assert_snapshot!(edges.join("\n"), @"
    src/deep/mod.rs -> src/deep/tide.rs
    src/lib.rs -> src/deep/mod.rs
    src/lib.rs -> src/pearl.rs
    src/main.rs -> src/lib.rs
    src/pearl.rs -> src/deep/tide.rs
    tests/growing.rs -> src/pearl.rs
    ");
    let overview = seen(MapDetail::Compact, &[], None).unwrap();
    assert_eq!(overview.module_graph.edges, edges.len());
}

#[test]
fn a_module_is_its_own_files_wherever_its_folders_stand_between_them() {
    let text = "pub fn f() {}\n";
    let paths = [
        "a-b/x.rs",
        "a/a.rs",
        "a/m/x.rs",
        "a/m/y.rs",
        "a/m-n/x.rs",
        "a/z.rs",
        "b.rs",
        "c/x.rs",
        "d.rs",
    ];
    let files: Vec<(&str, &str)> = paths.iter().map(|path| (*path, text)).collect();
    let overview = seen_of(&files, MapDetail::Verbose, &[], None).unwrap();
    let modules = &overview.module_graph.modules.items;
    let mut counts: Vec<(&str, usize)> =
        modules.iter().map(|module| (module.module.as_str(), module.files)).collect();
    counts.sort_unstable();
    let expected = [("", 2), ("a", 2), ("a-b", 1), ("a/m", 2), ("a/m-n", 1), ("c", 1)];
    assert_eq!(counts, expected);
}

#[test]
fn a_list_that_is_cut_says_how_long_it_is() {
    let files: Vec<(String, String)> =
        (0..300).map(|n| (format!("src/m{n}.rs"), format!("pub fn f{n}() {{}}\n"))).collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let overview = seen_of(&files, MapDetail::Compact, &[], None).unwrap();
    let surface = &overview.public_surface;
    assert_eq!((surface.items.len(), surface.total), (8, 300));
    assert!(overview_text(&overview).contains("public_surface 8 of 300"));
}

#[test]
fn a_survey_is_the_same_on_any_number_of_threads() {
    let (facts, manifests) = facts(PROJECT);
    let churn = ["src/pearl.rs", "src/lib.rs", "src/pearl.rs"];
    let one = survey(&facts, &manifests, &churn, 1);
    for n_threads in [2, 3, 64] {
        assert_eq!(survey(&facts, &manifests, &churn, n_threads), one);
    }
}

#[test]
fn a_context_has_what_the_task_needs_and_lists_what_did_not_fit() {
    insta::assert_snapshot!(context_text(&asked("how does a pearl grow", &[], 400).unwrap()), @"
    src/pearl.rs  grow pearl
      5-7
    pub struct Pearl {
        layers: u32,
    }
      9-18 impl Pearl
      10-13
        pub fn grow(&mut self, tide: &Tide) -> u32 {
            self.layers += tide.height();
            self.layers
        }
      15-17
        fn polish(&self) -> u32 {
            self.layers
        }
    tests/growing.rs  grow pearl
      3-3
    fn a_pearl_grows() {}
    src/lib.rs  pearl
      1-1
    pub mod pearl;
      2-2 pub mod deep
    src/main.rs  pearl
      3-3 fn main()
    src/deep/mod.rs
      1-1 pub mod tide
    src/deep/tide.rs
      3-3 pub struct Tide
      5-10 impl Tide
      6-9 pub fn height(&self) -> u32
      12-14 function unrelated
    left_out symbols 0 files 0
    ");
    insta::assert_snapshot!(context_text(&asked("how does a pearl grow", &[], 110).unwrap()), @"
    src/pearl.rs  grow pearl
      10-13 pub fn grow(&mut self, tide: &Tide) -> u32
    tests/growing.rs  grow pearl
      3-3 fn a_pearl_grows()
    src/lib.rs  pearl
      1-1 pub mod pearl
    left_out symbols 10 files 3
      src/main.rs 1
      src/deep/mod.rs 1
    ");
}

#[test]
fn a_file_that_is_named_comes_first_and_whole() {
    let slice = asked("", &["src/deep/tide.rs"], 600).unwrap();
    assert_eq!(slice.files[0].path, "src/deep/tide.rs");
    let height = slice.files[0].symbols.iter().find(|one| one.name == "Tide::height").unwrap();
    assert_eq!(height.form, SymbolForm::Body);
}

#[test]
fn no_secret_of_a_literal_leaves_in_a_slice() {
    let slice = asked("", &["src/deep/tide.rs"], 600).unwrap();
    let text = context_text(&slice);
    assert!(text.contains("let token"), "{text}");
    assert!(!text.contains("ghp_0123456789"), "{text}");
    assert!(text.contains("[redacted:"), "{text}");
}

#[test]
fn a_file_that_has_changed_is_told_by_its_signatures() {
    let files = ["src/deep/tide.rs".to_owned()];
    let memory = BTreeMap::new();
    let asked_for = RefCell::new(0);
    let gone = |_: &RelativePath| {
        *asked_for.borrow_mut() += 1;
        None
    };
    let evidence = evidence("", &files, &memory);
    let slice = answered(known(), &evidence, 600, &gone).unwrap();
    assert!(0 < *asked_for.borrow());
    let forms = slice.files.iter().flat_map(|file| &file.symbols).map(|symbol| symbol.form);
    assert!(
        forms.clone().all(|form| form == SymbolForm::Signature),
        "{:?}",
        forms.collect::<Vec<_>>()
    );
}

#[test]
fn what_memory_knows_of_a_file_brings_it_in() {
    let memory = BTreeMap::from([("src/main.rs".to_owned(), 1.0)]);
    let evidence = evidence("polish", &[], &memory);
    let slice = answered(known(), &evidence, 600, &text_of).unwrap();
    let main = slice.files.iter().find(|file| file.path == "src/main.rs").unwrap();
    assert!(main.why.contains(&WhyRelevant::Memory));
}

#[test]
fn a_task_that_shares_no_word_with_the_code_is_found_by_meaning() {
    let files = [
        ("src/login.rs", "pub fn authenticate_user(password: &str) -> bool {\n    true\n}\n"),
        ("src/chart.rs", "pub fn draw_axis(width: u32) -> u32 {\n    width\n}\n"),
    ];
    let memory = BTreeMap::new();
    let task = "sign in with credentials";
    let known = Known::of(&files);
    let names = |path: &str| known.names(path);
    let evidence = Evidence { names: &names, weights: &WEIGHTS, ..evidence(task, &[], &memory) };
    let slice = answered(&known, &evidence, 600, &|_| None).unwrap();
    assert_eq!(slice.files[0].path, "src/login.rs");
    assert_eq!(slice.files[0].why, [WhyRelevant::Meaning]);
}

#[test]
fn a_budget_that_nothing_fits_into_is_refused() {
    assert_eq!(asked("grow", &[], 1).unwrap_err(), TooSmall { budget: 1, needed: 10 });
    assert!(seen(MapDetail::Compact, &[], Some(3)).is_err());
}

#[test]
fn words_are_found_in_names_whatever_their_case_and_ending() {
    assert_eq!(
        super::relevance::words("parsing HTTPRequest, read_config of the Parser"),
        ["pars", "http", "request", "read", "config", "of", "th", "pars"]
    );
}

#[test]
fn the_count_of_tokens_is_not_below_what_tokenizers_say() {
    // The highest of the token counts from cl100k_base, o200k_base and Claude's published
    // tokenizer.
    for (text, at_least) in [
        ("pub fn grow(&mut self, by: usize) -> usize {\n        self.layers += by;\n", 24),
        ("from django.utils.translation import gettext_lazy as _\n", 13),
        ("#define S_ISUID 04000\n", 9),
        ("export const polish = async (pearl: Pearl): Promise<Pearl> => pearl;\n", 20),
        ("なぜ真珠は育つのか", 12),
    ] {
        assert!(at_least <= tokens(text), "{text}: {}", tokens(text));
    }
    assert_eq!(tokens(""), 0);
}

proptest! {
    #[test]
    fn no_budget_is_ever_exceeded(
        budget in 1_usize..3_000,
        task in "(grow|tide|pearl|height|polish|how|port| ){0,6}",
        named in proptest::sample::subsequence(PROJECT.iter().map(|(path, _)| *path).collect::<Vec<_>>(), 0..4),
        churn in prop::collection::vec(prop::sample::select(vec!["src/pearl.rs", "src/lib.rs"]), 0..5),
    ) {
        if let Ok(slice) = asked(&task, &named, budget) {
            prop_assert!(tokens(&context_text(&slice)) <= budget);
            let again = asked(&task, &named, budget).unwrap();
            prop_assert_eq!(serde_json::to_string(&slice).unwrap(), serde_json::to_string(&again).unwrap());
        }
        for detail in [MapDetail::Compact, MapDetail::Verbose] {
            if let Ok(overview) = seen(detail, &churn, Some(budget)) {
                prop_assert!(tokens(&overview_text(&overview)) <= budget);
                let again = seen(detail, &churn, Some(budget)).unwrap();
                prop_assert_eq!(&overview, &again);
            }
        }
    }

    #[test]
    fn what_is_told_and_what_is_left_out_is_everything_that_is_relevant(budget in 60_usize..2_000) {
        let all = asked("pearl tide", &[], 100_000).unwrap();
        prop_assert_eq!(all.left_out.symbols, 0);
        let n_symbols = |slice: &ContextSlice| slice.files.iter().map(|file| file.symbols.len()).sum::<usize>();
        let part = asked("pearl tide", &[], budget).unwrap();
        prop_assert_eq!(n_symbols(&part) + part.left_out.symbols, n_symbols(&all));
    }

    #[test]
    fn any_text_has_a_count_between_nothing_and_its_bytes(text in ".{0,200}") {
        prop_assert!(tokens(&text) <= text.len());
    }
}

#[test]
fn an_overview_with_another_content_has_another_format() {
    let told = serde_json::to_string(&seen(MapDetail::Verbose, &["src/pearl.rs"], None).unwrap());
    let told = xxhash_rust::xxh3::xxh3_64(told.unwrap().as_bytes());
    // When this changes, increase `OVERVIEW_FORMAT`, because overviews from older versions are
    // still stored.
    insta::assert_snapshot!(format!("{OVERVIEW_FORMAT} {told:016x}"), @"6 64ec4650c72866cc");
}
