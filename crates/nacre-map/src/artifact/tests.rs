//! Tests for the artifact cache: round trips, and how damaged or unexpected files are treated as
//! missing.
#![expect(clippy::disallowed_methods, reason = "the tests damage files and put strange ones there")]

use std::fs;
use std::path::{Path, PathBuf};

use nacre_base::fs::Owner;
use nacre_types::MapRevision;
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::*;
use crate::languages::{
    Analysis, Depth, Import, ImportKind, Language, Problem, SymbolFacts, SymbolKind, Visibility,
};

fn blobs(key: AnalysisKey, analysis: &Analysis) -> Blobs {
    Blobs::from([(key.at(analysis.depth), serde_json::to_vec(analysis).unwrap())])
}

fn analysis_in(cache: &Cache, key: AnalysisKey) -> Option<Analysis> {
    let analyses = cache.analyses();
    let depths = [Depth::Full, Depth::Glance, Depth::None];
    let bytes = depths.into_iter().find_map(|depth| analyses.get(key.at(depth)))?;
    serde_json::from_slice(bytes).unwrap()
}

struct CacheFixture {
    dir: tempfile::TempDir,
    project: Project,
}

impl CacheFixture {
    fn new() -> Self {
        let project = Project::at(PathBuf::from("/somewhere/pearl"));
        Self { dir: tempfile::tempdir().unwrap(), project }
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join(&self.project.id)
    }

    fn cache(&self) -> Cache {
        let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
        Cache::new(self.dir.path().to_owned(), owner)
    }

    fn store(&self, artifact: &mut Artifact, commit: Commit) -> bool {
        store(&self.cache(), &self.project, artifact, commit, &Blobs::new())
    }

    fn open(&self) -> Option<Artifact> {
        self.cache().open(&self.project)
    }

    /// Creates an artifact with one file per commit.
    fn filled(&self, n_commits: u64) -> Artifact {
        let mut artifact = Artifact::default();
        for number in 1..=n_commits {
            assert!(self.store(&mut artifact, commit(number)));
        }
        artifact
    }
}

fn store(
    cache: &Cache,
    project: &Project,
    artifact: &mut Artifact,
    commit: Commit,
    analyses: &Blobs,
) -> bool {
    artifact.apply(commit);
    cache.store(project, artifact, analyses).unwrap()
}

fn row(number: u64) -> FileRow {
    let stamp = Stamp { size: number, mtime_ns: -3, ctime_ns: i64::MAX, inode: u64::MAX };
    FileRow { stamp, hash: FileHash(number), lines: 7, ..FileRow::default() }
}

fn commit(number: u64) -> Commit {
    let path = format!("f{number}.rs");
    let revision = MapRevision { epoch: 9, number };
    let added = |number| ContentChange {
        path: format!("f{number}.rs"),
        before: None,
        after: Some(FileHash(number)),
    };
    let identity = (2..=number).fold(1, |before, number| identity_after(before, [&added(number)]));
    Commit {
        head: Head { revision, identity, created_ns: 1, ..Head::default() },
        files: vec![(path, Some(row(number)))],
        folders: vec![(String::new(), Some(FolderRow::default()))],
        changes: if number == 1 { Vec::new() } else { vec![added(number)] },
    }
}

fn paths(artifact: &Artifact) -> Vec<String> {
    artifact.files().into_iter().map(|(path, _)| path.to_owned()).collect()
}

#[test]
fn what_was_kept_is_read_and_found() {
    let fixture = CacheFixture::new();
    fixture.filled(3);
    let artifact = fixture.open().unwrap();
    assert_eq!(paths(&artifact), ["f1.rs", "f2.rs", "f3.rs"]);
    assert_eq!(artifact.find("f2.rs"), Some(row(2)));
    assert_eq!(artifact.find("f"), None);
    let history = artifact.history();
    assert_eq!((history.since, history.changes.len()), (1, 2));
}

#[test]
fn a_sealed_cache_keeps_what_a_plain_one_keeps_and_shows_none_of_it() {
    let fixture = CacheFixture::new();
    let project = &fixture.project;
    let sealed = |key: u8| fixture.cache().with_seal(Seal::new(&[key; Seal::KEY_BYTES]));
    let mut artifact = Artifact::default();
    let key = AnalysisKey::new(FileHash(1), Language::Rust);
    let import = Import { text: "pearl".to_owned(), line: 1, kind: ImportKind::Path };
    let analysis = Analysis { imports: vec![import], ..Analysis::default() };
    for number in 1..=3 {
        let new = blobs(key, &analysis);
        assert!(store(&sealed(1), project, &mut artifact, commit(number), &new));
    }
    let text = "f1.rs pearl".to_owned();
    sealed(1).store_derived(project, Derived::Overview, 5, &text).unwrap();
    assert_eq!(paths(&sealed(1).open(project).unwrap()), ["f1.rs", "f2.rs", "f3.rs"]);
    assert_eq!(analysis_in(&sealed(1), key), Some(analysis));
    assert_eq!(sealed(1).load_derived(project, Derived::Overview, 5), Some(text));
    let state = artifact.head().state();
    sealed(1).remember(project, "agent", state).unwrap();
    assert_eq!(sealed(1).seen_by(project, "agent"), Some(state));
    let stored = files(fixture.dir.path());
    // The artifact, three packs (one per change), an overview and a client state.
    assert_eq!(stored.len(), 6, "{stored:?}");
    let (id, client) = (project.id.clone(), format!("{:016x}", xxh3_64(b"agent")));
    for path in &stored {
        let bytes = fs::read(path).unwrap();
        let name = path.display();
        for word in ["f1.rs", "f2.rs", "pearl", "head", "NACREPCK", &id] {
            let is_shown = bytes.windows(word.len()).any(|part| part == word.as_bytes());
            assert!(!is_shown, "{word} in {name}");
        }
        for shown in [&id, &client, "0000000000000005"] {
            assert!(!name.to_string().contains(shown), "{shown} is shown by {name}");
        }
    }
    for other in [sealed(2), fixture.cache()] {
        assert!(other.open(project).is_none(), "another key, or none, opens nothing");
        assert_eq!(analysis_in(&other, key), None);
        assert_eq!(other.load_derived::<String>(project, Derived::Overview, 5), None);
        assert_eq!(other.seen_by(project, "agent"), None);
    }
    // A client's state is not accepted under another client's name.
    sealed(1).remember(project, "other", MapState::default()).unwrap();
    let file = |client: &str| {
        let key = xxh3_64(client.as_bytes());
        fixture.dir.path().join(sealed(1).name_derived_file(project, Derived::Client, key))
    };
    fs::rename(file("other"), file("agent")).unwrap();
    assert_eq!(sealed(1).seen_by(project, "agent"), None);
    sealed(1).clear().unwrap();
    assert_eq!(files(fixture.dir.path()), Vec::<PathBuf>::new());
}

#[test]
fn what_a_stranger_puts_in_the_place_of_a_file_is_not_followed_waited_for_or_read_whole() {
    type Put = fn(&Path);
    let strange: [(&str, Put); 4] = [
        ("a pipe", |path| {
            let made = std::process::Command::new("mkfifo").arg(path).status();
            assert!(made.unwrap().success());
        }),
        ("a link", |path| {
            fs::rename(path.with_extension("kept"), path.with_extension("true")).unwrap();
            std::os::unix::fs::symlink(path.with_extension("true"), path).unwrap();
        }),
        ("a folder", |path| fs::create_dir(path).unwrap()),
        // A sparse file of one terabyte, which does not fit in memory.
        ("a huge file", |path| fs::File::create(path).unwrap().set_len(1 << 40).unwrap()),
    ];
    for is_sealed in [false, true] {
        for (what, put) in strange {
            let fixture = CacheFixture::new();
            let seal = is_sealed.then(|| Seal::new(&[1; Seal::KEY_BYTES]));
            let cache = || match &seal {
                Some(seal) => fixture.cache().with_seal(seal.clone()),
                None => fixture.cache(),
            };
            let key = AnalysisKey::new(FileHash(1), Language::Rust);
            let (project, mut artifact) = (&fixture.project, Artifact::default());
            for number in 1..=2 {
                let new = blobs(key, &Analysis::default());
                assert!(store(&cache(), project, &mut artifact, commit(number), &new));
            }
            cache().store_derived(project, Derived::Overview, 5, &1).unwrap();
            cache().remember(project, "c", MapState::default()).unwrap();
            for path in files(fixture.dir.path()) {
                fs::rename(&path, path.with_extension("kept")).unwrap();
                put(&path);
            }
            assert!(cache().open(project).is_none(), "{what}");
            assert_eq!(analysis_in(&cache(), key), None, "{what}");
            assert_eq!(cache().load_derived::<u8>(project, Derived::Overview, 5), None, "{what}");
            assert_eq!(cache().seen_by(project, "c"), None, "{what}");
        }
    }
}

/// Lists the files in the cache, except the lock.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("journal") {
            files.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    files
}

#[test]
fn who_started_in_the_clear_writes_nothing_after_the_switch() {
    let fixture = CacheFixture::new();
    let mut artifact = fixture.filled(2);
    let before = fixture.cache();
    fixture.cache().retire().unwrap();
    let left = || {
        let names = fs::read_dir(fixture.dir.path()).unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(left(), ["encrypted", "journal"]);
    let (project, new) = (&fixture.project, Blobs::from([(1, vec![1])]));
    artifact.apply(commit(3));
    assert!(before.store(project, &mut artifact, &Blobs::new()).is_err());
    assert!(before.store(project, &mut Artifact::default(), &Blobs::new()).is_err());
    assert!(before.store_analyses(&new).is_err());
    assert!(before.store_words(project, &new, &|_| true).is_err());
    assert!(before.store_derived(project, Derived::Overview, 1, &1).is_err());
    assert!(before.remember(project, "c", MapState::default()).is_err());
    assert_eq!(left(), ["encrypted", "journal"], "not even an empty folder");
    // If an older program creates the directory again, the next command removes it.
    fs::create_dir(fixture.folder()).unwrap();
    fixture.cache().retire().unwrap();
    assert_eq!(left(), ["encrypted", "journal"]);
    before.reopen().unwrap();
    assert!(fixture.store(&mut Artifact::default(), commit(1)));
}

/// Damages each byte of the file in turn, and truncates the file at every position.
#[test]
fn a_damaged_artifact_is_none_and_is_replaced_with_all_that_was_beside_it() {
    let fixture = CacheFixture::new();
    fixture.filled(2);
    let file = fixture.folder().join("artifact");
    let whole = fs::read(&file).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        write(&file, &damaged);
        assert!(fixture.open().is_none(), "byte {at}");
        write(&file, &whole[..at]);
        assert!(fixture.open().is_none(), "cut at {at}");
    }
    fs::write(fixture.folder().join("base-1"), "of an older version").unwrap();
    fixture.filled(3);
    assert_eq!(paths(&fixture.open().unwrap()), ["f1.rs", "f2.rs", "f3.rs"]);
    let names = fs::read_dir(fixture.folder()).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["artifact"]);
}

#[test]
fn only_who_read_the_last_state_writes_the_next() {
    let fixture = CacheFixture::new();
    fixture.filled(1);
    let (mut one, mut two) = (fixture.open().unwrap(), fixture.open().unwrap());
    assert!(fixture.store(&mut one, commit(2)));
    assert!(!fixture.store(&mut two, commit(2)));
    assert!(!fixture.store(&mut Artifact::default(), commit(1)));
    let mut three = fixture.open().unwrap();
    assert!(fixture.store(&mut three, commit(3)));
    assert_eq!(paths(&fixture.open().unwrap()).len(), 3);
}

#[test]
fn a_state_is_known_by_what_led_to_it_and_not_by_its_number_alone() {
    let fixture = CacheFixture::new();
    let held = fixture.filled(4);
    for artifact in [held, fixture.open().unwrap()] {
        for number in 1..=4 {
            let state = commit(number).head.state();
            assert!(artifact.knows(state), "{state:?}");
            assert!(
                !artifact.knows(MapState { identity: state.identity ^ 1, ..state }),
                "{state:?}"
            );
            let elsewhere = MapRevision { epoch: 8, ..state.revision };
            assert!(!artifact.knows(MapState { revision: elsewhere, ..state }), "{state:?}");
        }
        assert!(!artifact.knows(commit(5).head.state()));
    }
}

#[test]
fn a_history_that_is_too_long_forgets_whole_revisions_and_says_so() {
    let change =
        |n: u64| ContentChange { path: format!("f{n}"), before: None, after: Some(FileHash(n)) };
    let fixture = CacheFixture::new();
    let mut artifact = fixture.filled(1);
    let mut states = Vec::new();
    for number in 2..=4 {
        let changes: Vec<ContentChange> =
            (0..70_000).map(|n| change(number * 70_000 + n)).collect();
        let head = *artifact.head();
        let revision = MapRevision { number, ..head.revision };
        let identity = identity_after(head.identity, &changes);
        let commit =
            Commit { head: Head { revision, identity, ..head }, changes, ..Commit::default() };
        states.push(commit.head.state());
        assert!(fixture.store(&mut artifact, commit));
    }
    let read = fixture.open().unwrap();
    let history = read.history();
    assert_eq!((history.since, history.changes.len()), (2, 140_000));
    assert!(states.iter().all(|state| read.knows(*state)), "none was lost on the way");
    assert!(!read.knows(commit(1).head.state()));
}

#[test]
fn an_artifact_of_another_project_or_format_is_none() {
    let fixture = CacheFixture::new();
    fixture.filled(1);
    let other = Project { root: PathBuf::from("/elsewhere"), id: fixture.project.id.clone() };
    assert!(fixture.cache().open(&other).is_none());
    let file = fixture.folder().join("artifact");
    let bytes = fs::read(&file).unwrap();
    let mut text = bytes[..bytes.len() - 8].to_vec();
    assert_eq!(text[..3], *b"[5,");
    text[1] = b'9';
    let check = xxh3_64(&text).to_le_bytes();
    write(&file, &[text, check.to_vec()].concat());
    assert!(fixture.open().is_none());
}

#[test]
fn analyses_are_merged_and_the_closest_look_wins() {
    let fixture = CacheFixture::new();
    let key = |number: u64| AnalysisKey::new(FileHash(number), Language::Rust);
    let one = |depth| Analysis { depth, ..Analysis::default() };
    for number in 0..30 {
        let depth = if number == 3 { Depth::Full } else { Depth::Glance };
        let mut new = blobs(key(number), &one(Depth::Glance));
        new.extend(blobs(key(1000), &one(depth)));
        fixture.cache().store_analyses(&new).unwrap();
    }
    let cache = fixture.cache();
    assert!((0..30).all(|number| analysis_in(&cache, key(number)).is_some()));
    assert_eq!(analysis_in(&cache, key(1000)), Some(one(Depth::Full)));
    let n_packs = fs::read_dir(fixture.dir.path().join("analyses")).unwrap().count();
    assert!(n_packs <= 4, "{n_packs} packs");
}

#[test]
fn a_damaged_pack_costs_what_is_damaged() {
    let fixture = CacheFixture::new();
    let key = |number: u64| AnalysisKey::new(FileHash(number), Language::Go);
    let analysis = |number: u64| Analysis {
        depth: Depth::Full,
        imports: vec![Import { text: format!("i{number}"), line: 1, kind: ImportKind::Module }],
        ..Analysis::default()
    };
    let new = (0..20).flat_map(|number| blobs(key(number), &analysis(number))).collect();
    fixture.cache().store_analyses(&new).unwrap();
    let pack = fixture.dir.path().join("analyses/1.pack");
    let whole = fs::read(&pack).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        write(&pack, &damaged);
        let cache = fixture.cache();
        for number in 0..20 {
            let found = analysis_in(&cache, key(number));
            assert!(found.is_none() || found == Some(analysis(number)), "byte {at}");
        }
    }
}

/// Replaces a file by renaming, as the cache does. Memory maps of the old file stay valid.
fn write(path: &Path, bytes: &[u8]) {
    let next = path.with_extension("next");
    fs::write(&next, bytes).unwrap();
    fs::rename(next, path).unwrap();
}

fn an_analysis() -> impl Strategy<Value = Analysis> {
    let depth = prop::sample::select(vec![Depth::None, Depth::Glance, Depth::Full]);
    let kinds = vec![
        ImportKind::Module,
        ImportKind::Child,
        ImportKind::Path,
        ImportKind::System,
        ImportKind::Reexport,
        ImportKind::Type,
    ];
    let import = (".{0,12}", any::<u32>(), prop::sample::select(kinds))
        .prop_map(|(text, line, kind)| Import { text, line, kind });
    let problem = prop::option::of(prop::sample::select(vec![
        Problem::NotText,
        Problem::TooLarge,
        Problem::Broken,
        Problem::TooMany,
        Problem::Unreadable,
    ]));
    let symbols = prop::collection::vec(a_symbol(), 0..4);
    let imports = prop::collection::vec(import, 0..4);
    (depth, imports, symbols, any::<bool>(), any::<bool>(), problem).prop_map(
        |(depth, imports, symbols, is_entry, is_test, problem)| Analysis {
            depth,
            imports,
            symbols,
            is_entry,
            is_test,
            problem,
        },
    )
}

fn a_symbol() -> impl Strategy<Value = SymbolFacts> {
    let kinds = vec![
        SymbolKind::Function,
        SymbolKind::Method,
        SymbolKind::Class,
        SymbolKind::Struct,
        SymbolKind::Enum,
        SymbolKind::Interface,
        SymbolKind::Implementation,
        SymbolKind::Module,
        SymbolKind::Type,
        SymbolKind::Constant,
        SymbolKind::Macro,
    ];
    let visibilities = vec![Visibility::Public, Visibility::Internal, Visibility::Private];
    let about = (".{0,12}", prop::sample::select(kinds), prop::sample::select(visibilities));
    (about, any::<(u32, u32)>(), ".{0,20}", any::<(u64, u64)>()).prop_map(
        |((name, kind, visibility), (first_line, last_line), signature, hashes)| SymbolFacts {
            name,
            kind,
            first_line,
            last_line,
            visibility,
            signature,
            signature_hash: hashes.0,
            body_hash: hashes.1,
        },
    )
}

proptest! {
    #[test]
    fn an_analysis_is_read_as_it_was_written(analysis in an_analysis()) {
        let bytes = serde_json::to_vec(&analysis).unwrap();
        prop_assert_eq!(serde_json::from_slice::<Analysis>(&bytes).unwrap(), analysis);
    }

    #[test]
    fn bytes_that_nobody_wrote_are_read_as_nothing(
        bytes in prop::collection::vec(any::<u8>(), 0..200)
    ) {
        let fixture = CacheFixture::new();
        fixture.cache().store_analyses(&Blobs::from([(1, vec![1])])).unwrap();
        fixture.filled(1);
        write(&fixture.dir.path().join("analyses/1.pack"), &bytes);
        let checked = [&bytes[..], &xxh3_64(&bytes).to_le_bytes()].concat();
        write(&fixture.folder().join("artifact"), &checked);
        prop_assert!(fixture.cache().analyses().get(1).is_none());
        prop_assert!(fixture.open().is_none());
    }
}
