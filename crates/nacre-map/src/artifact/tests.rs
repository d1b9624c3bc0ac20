//! The laws of the artifact: what is written is read, and what is torn or strange is as good as absent.
#![expect(clippy::disallowed_methods, reason = "the tests play the crash and the stranger")]

use std::fs;
use std::path::{Path, PathBuf};

use nacre_core::safefs::Owner;
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::commit::identity_at;
use super::*;
use crate::languages::{
    Analysis, Depth, Import, ImportKind, Language, Outline, Problem, SymbolFacts, SymbolKind,
    Visibility,
};

fn one_new(key: AnalysisKey, analysis: &Analysis) -> [NewPack; 1] {
    let mut new = NewAnalyses::default();
    new.insert(key, &analysis.as_ref());
    [new.into_pack().unwrap()]
}

fn packed(analysis: &Analysis) -> Vec<u8> {
    let mut to = Encoder::default();
    super::blob::encode(&analysis.as_ref(), &mut to);
    to.into_bytes()
}

struct CacheFixture {
    dir: tempfile::TempDir,
    project: Project,
}

impl CacheFixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let project = Project::at(PathBuf::from("/somewhere/pearl"));
        Self { dir, project }
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join(self.project.id.to_string())
    }

    fn cache(&self) -> Cache {
        let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
        Cache::new(self.dir.path().to_owned(), owner)
    }

    fn keep(&self, artifact: &mut Artifact, commit: &Commit) -> Kept {
        self.cache().keep(&self.project, artifact, commit, &[]).unwrap()
    }

    fn open(&self) -> Option<Artifact> {
        self.cache().open(&self.project)
    }

    /// An artifact with one file a commit: the first in the file, the others in the log.
    fn filled(&self, n_commits: u64) -> Artifact {
        let mut artifact = Artifact::default();
        for number in 1..=n_commits {
            assert_eq!(self.keep(&mut artifact, &commit(number)), Kept::Yes);
        }
        artifact
    }
}

fn row(number: u64) -> FileRow {
    let stamp = Stamp { size: number, mtime_ns: -3, ctime_ns: i64::MAX, inode: u64::MAX };
    FileRow { stamp, hash: FileHash(number), lines: 7, marks: Marks::default() }
}

/// The commit that adds the file of its number.
fn commit(number: u64) -> Commit {
    let path = format!("f{number}.rs");
    let revision = Revision { epoch: 9, number };
    let added = |number| Change {
        path: format!("f{number}.rs"),
        before: None,
        after: Some(FileHash(number)),
        lines: (0, 7),
    };
    let identity =
        (2..=number).fold(1, |before, number| identity_after(before, [added(number).parts()]));
    let change = added(number);
    Commit {
        head: Head { revision, identity, created_ns: 1, ..Head::default() },
        files: vec![(path, Some(row(number)))],
        folders: vec![(String::new(), Some(FolderRow::default()))],
        changes: if number == 1 { Vec::new() } else { vec![change] },
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
    let sealed = |key: u8| fixture.cache().sealed(Seal::new(&[key; Seal::KEY_BYTES]));
    let mut artifact = Artifact::default();
    let key = AnalysisKey::new(FileHash(1), Language::Rust);
    let import = Import { text: "pearl".to_owned(), line: 1, kind: ImportKind::Path };
    let analysis = Analysis { imports: vec![import], ..Analysis::default() };
    let new = one_new(key, &analysis);
    for number in 1..=3 {
        sealed(1).keep(&fixture.project, &mut artifact, &commit(number), &new).unwrap();
    }
    sealed(1).keep_slice(&fixture.project, 5, b"f1.rs pearl").unwrap();
    let inside = InsideImports {
        nodes: Lists::from_iter([vec![]]),
        folders: vec![None],
        ..InsideImports::default()
    };
    let imports = Imports { inside, ..Imports::default() };
    sealed(1).keep_graph(&fixture.project, 6, &[FileHash(1)], &imports).unwrap();
    assert_eq!(paths(&sealed(1).open(&fixture.project).unwrap()), ["f1.rs", "f2.rs", "f3.rs"]);
    assert_eq!(sealed(1).analyses().get(key), Some(analysis));
    assert_eq!(sealed(1).slice(&fixture.project, 5).as_deref(), Some(&b"f1.rs pearl"[..]));
    let graph = sealed(1).graph(&fixture.project, 6).unwrap();
    assert_eq!(graph.hashes().collect::<Vec<_>>(), [FileHash(1)]);
    assert_eq!(graph.inside(&[]), imports.inside);
    let state = artifact.head().state();
    sealed(1).remember(&fixture.project, "agent", state).unwrap();
    assert_eq!(sealed(1).seen_by(&fixture.project, "agent"), Some(state));
    let kept = files(fixture.dir.path());
    // The two of the artifact, and a pack for each of the three changes, an answer, a graph and a client.
    assert_eq!(kept.len(), 8, "{kept:?}");
    let (id, client) = (fixture.project.id.to_string(), format!("{:016x}", xxh3_64(b"agent")));
    for path in &kept {
        let bytes = fs::read(path).unwrap();
        let name = path.display();
        for word in ["f1.rs", "f2.rs", "pearl", "NACREMAP", "00000009.3", &id] {
            assert!(
                !bytes.windows(word.len()).any(|part| part == word.as_bytes()),
                "{word} in {name}"
            );
        }
        for told in [&id, &client, "0000000000000005", "0000000000000006"] {
            assert!(!name.to_string().contains(told), "{told} is told by {name}");
        }
    }
    for other in [sealed(2), fixture.cache()] {
        assert!(other.open(&fixture.project).is_none(), "another key, or none, opens nothing");
        assert_eq!(other.analyses().get(key), None);
        assert_eq!(other.slice(&fixture.project, 5), None);
        assert!(other.graph(&fixture.project, 6).is_none());
        assert_eq!(other.seen_by(&fixture.project, "agent"), None);
    }
    // What one client has seen cannot be put in the place of what another has.
    sealed(1).remember(&fixture.project, "other", State::default()).unwrap();
    let file = |client| {
        fixture
            .dir
            .path()
            .join(sealed(1).client_file(&sealed(1).name_of(fixture.project.id), client))
    };
    fs::rename(file("other"), file("agent")).unwrap();
    assert_eq!(sealed(1).seen_by(&fixture.project, "agent"), None);
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
        // Of a terabyte that is not there; whoever made room for it would not get far.
        ("a huge file", |path| fs::File::create(path).unwrap().set_len(1 << 40).unwrap()),
    ];
    for is_sealed in [false, true] {
        for (what, put) in strange {
            let fixture = CacheFixture::new();
            let seal = is_sealed.then(|| Seal::new(&[1; Seal::KEY_BYTES]));
            let cache = || match &seal {
                Some(seal) => fixture.cache().sealed(seal.clone()),
                None => fixture.cache(),
            };
            let key = AnalysisKey::new(FileHash(1), Language::Rust);
            let new = one_new(key, &Analysis::default());
            let mut artifact = Artifact::default();
            for number in 1..=2 {
                cache().keep(&fixture.project, &mut artifact, &commit(number), &new).unwrap();
            }
            cache().keep_slice(&fixture.project, 5, b"f1.rs").unwrap();
            cache().keep_survey(&fixture.project, 7, b"f1.rs".to_vec()).unwrap();
            cache().remember(&fixture.project, "c", State::default()).unwrap();
            cache().keep_graph(&fixture.project, 6, &[], &Imports::default()).unwrap();
            for path in files(fixture.dir.path()) {
                fs::rename(&path, path.with_extension("kept")).unwrap();
                put(&path);
            }
            assert!(cache().open(&fixture.project).is_none(), "{what}");
            assert_eq!(cache().analyses().get(key), None, "{what}");
            assert_eq!(cache().slice(&fixture.project, 5), None, "{what}");
            assert_eq!(cache().survey(&fixture.project), None, "{what}");
            assert_eq!(cache().seen_by(&fixture.project, "c"), None, "{what}");
            assert!(cache().graph(&fixture.project, 6).is_none(), "{what}");
        }
    }
}

/// The files of a cache, without its lock.
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
    let (project, none): (_, [NewPack; 0]) = (&fixture.project, []);
    assert!(before.keep(project, &mut artifact, &commit(3), &none).is_err());
    assert!(before.keep(project, &mut Artifact::default(), &commit(1), &none).is_err());
    assert!(before.keep_analyses(&none).is_err());
    assert!(before.keep_slice(project, 1, b"x").is_err());
    assert!(before.keep_survey(project, 1, Vec::new()).is_err());
    assert!(before.keep_graph(project, 1, &[], &Imports::default()).is_err());
    assert!(before.remember(project, "c", State::default()).is_err());
    assert_eq!(left(), ["encrypted", "journal"], "not even an empty folder");
    // A folder that an older program made nonetheless goes with the next command.
    fs::create_dir(fixture.folder()).unwrap();
    fixture.cache().retire().unwrap();
    assert_eq!(left(), ["encrypted", "journal"]);
    before.reopen().unwrap();
    assert_eq!(
        before.keep(project, &mut Artifact::default(), &commit(1), &none).unwrap(),
        Kept::Yes
    );
}

#[test]
fn a_log_that_is_cut_anywhere_ends_with_its_last_whole_record() {
    let fixture = CacheFixture::new();
    fixture.filled(4);
    let log = fixture.folder().join("log-1");
    let whole = fs::read(&log).unwrap();
    let mut n_before = 4;
    for len in (0..whole.len()).rev() {
        fs::write(&log, &whole[..len]).unwrap();
        let artifact = fixture.open().unwrap();
        let n_files = paths(&artifact).len();
        assert!(n_files <= n_before && n_files >= 1, "cut at {len}");
        n_before = n_files;
    }
    assert_eq!(n_before, 1);
}

#[test]
fn the_first_writer_after_a_torn_record_writes_the_whole_anew() {
    let fixture = CacheFixture::new();
    fixture.filled(4);
    let log = fixture.folder().join("log-1");
    let whole = fs::read(&log).unwrap();
    fs::write(&log, &whole[..whole.len() - 3]).unwrap();
    let mut artifact = fixture.open().unwrap();
    assert_eq!(paths(&artifact).len(), 3);
    assert_eq!(fixture.keep(&mut artifact, &commit(4)), Kept::Yes);
    assert_eq!(paths(&fixture.open().unwrap()).len(), 4);
    assert!(!log.exists() && fixture.folder().join("base-2").exists());
}

#[test]
fn files_that_a_killed_writer_left_behind_harm_nobody() {
    let fixture = CacheFixture::new();
    fixture.filled(2);
    let older: Vec<(PathBuf, Vec<u8>)> = ["base-1", "log-1"]
        .map(|name| (fixture.folder().join(name), fs::read(fixture.folder().join(name)).unwrap()))
        .to_vec();
    // A torn log makes the next writer write the whole, and remove what was before.
    fs::write(fixture.folder().join("log-1"), b"torn").unwrap();
    let mut artifact = fixture.open().unwrap();
    fixture.keep(&mut artifact, &commit(3));
    let newer = paths(&fixture.open().unwrap());
    // Killed before the old files were removed, and in the middle of the next one.
    for (path, bytes) in &older {
        fs::write(path, bytes).unwrap();
    }
    fs::write(fixture.folder().join(".base-3.nacre-tmp"), b"half").unwrap();
    assert_eq!(paths(&fixture.open().unwrap()), newer);
    // A newest file that is torn: the one before it is read, and the next writer tidies up.
    fs::write(fixture.folder().join("base-7"), b"torn").unwrap();
    let mut artifact = fixture.open().unwrap();
    assert_eq!(paths(&artifact), newer);
    fs::write(fixture.folder().join("log-2"), b"torn").unwrap();
    artifact = fixture.open().unwrap_or(artifact);
    assert_eq!(fixture.keep(&mut artifact, &commit(4)), Kept::Yes);
    let mut left: Vec<String> = fs::read_dir(fixture.folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('.'))
        .collect();
    left.sort();
    assert_eq!(left, ["base-8"]);
}

#[test]
fn a_log_of_another_life_is_removed_before_its_file_is_written_anew() {
    let fixture = CacheFixture::new();
    fixture.filled(3);
    // Killed while the folder was removed, in the order of the names.
    fs::remove_file(fixture.folder().join("base-1")).unwrap();
    let mut anew = commit(1);
    anew.head.created_ns = 2;
    let mut artifact = Artifact::default();
    assert_eq!(fixture.keep(&mut artifact, &anew), Kept::Yes);
    assert!(!fixture.folder().join("log-1").exists());
    assert_eq!(paths(&fixture.open().unwrap()), ["f1.rs"]);
}

#[test]
fn a_record_that_does_not_follow_from_what_is_before_it_ends_the_log() {
    type Spoil = fn(&mut Commit);
    let strange: [(&str, Spoil); 6] = [
        ("created at another time", |commit| commit.head.created_ns = 2),
        ("of another epoch", |commit| commit.head.revision.epoch = 8),
        ("with a gap before it", |commit| commit.head.revision.number = 4),
        ("with the number of the one before", |commit| commit.head.revision.number = 2),
        ("of other files", |commit| commit.head.identity ^= 1),
        ("with changes that are not its own", |commit| commit.changes[0].after = None),
    ];
    for (what, spoil) in strange {
        let fixture = CacheFixture::new();
        let mut artifact = fixture.filled(2);
        let mut spoiled = commit(3);
        spoil(&mut spoiled);
        assert_eq!(fixture.keep(&mut artifact, &spoiled), Kept::Yes);
        let mut read = fixture.open().unwrap();
        assert_eq!(paths(&read), ["f1.rs", "f2.rs"], "a record {what}");
        assert_eq!(fixture.keep(&mut read, &commit(3)), Kept::Yes);
        assert_eq!(paths(&fixture.open().unwrap()), ["f1.rs", "f2.rs", "f3.rs"], "{what}");
        assert!(fixture.folder().join("base-2").exists(), "{what}: the whole was written anew");
    }
}

#[test]
fn only_who_read_the_last_state_writes_the_next() {
    let fixture = CacheFixture::new();
    fixture.filled(1);
    let (mut one, mut two) = (fixture.open().unwrap(), fixture.open().unwrap());
    assert_eq!(fixture.keep(&mut one, &commit(2)), Kept::Yes);
    assert_eq!(fixture.keep(&mut two, &commit(2)), Kept::Moved);
    let mut three = fixture.open().unwrap();
    assert_eq!(fixture.keep(&mut three, &commit(3)), Kept::Yes);
    assert_eq!(paths(&fixture.open().unwrap()).len(), 3);
}

#[test]
fn a_log_that_grows_long_is_folded_in_and_what_changed_is_still_known() {
    let fixture = CacheFixture::new();
    let mut artifact = fixture.filled(1);
    for number in 2..40 {
        let mut commit = commit(number);
        let names = (0..400).map(|idx| format!("data/{number}/some/longer/path/{idx}.txt"));
        commit.files.extend(names.map(|name| (name, Some(row(number)))));
        assert_eq!(fixture.keep(&mut artifact, &commit), Kept::Yes);
    }
    let read = fixture.open().unwrap();
    assert!(!fixture.folder().join("base-1").exists());
    assert_eq!(paths(&read), paths(&artifact));
    assert_eq!(read.history().changes.len(), 38);
}

#[test]
fn a_state_is_known_by_what_led_to_it_and_not_by_its_number_alone() {
    let fixture = CacheFixture::new();
    let mut held = fixture.filled(4);
    let log = fixture.folder().join("log-1");
    let check = |artifact: &Artifact| {
        for number in 1..=4 {
            let state = commit(number).head.state();
            assert!(artifact.knows(state), "{state}");
            assert!(!artifact.knows(State { identity: state.identity ^ 1, ..state }), "{state}");
            let elsewhere = Revision { epoch: 8, ..state.revision };
            assert!(!artifact.knows(State { revision: elsewhere, ..state }), "{state}");
        }
        assert!(!artifact.knows(commit(5).head.state()));
    };
    check(&held);
    check(&fixture.open().unwrap());
    // A torn log is folded in: now the file's own history tells.
    fs::write(&log, [fs::read(&log).unwrap(), b"torn".to_vec()].concat()).unwrap();
    held = fixture.open().unwrap();
    assert_eq!(fixture.keep(&mut held, &commit(5)), Kept::Yes);
    let folded = fixture.open().unwrap();
    assert!((1..=5).all(|number| folded.knows(commit(number).head.state())));
    let text = commit(5).head.state().to_string();
    assert_eq!(text.parse(), Ok(commit(5).head.state()));
    assert!("00000009.5".parse::<State>().is_err());
}

#[test]
fn a_history_that_is_too_long_forgets_whole_revisions_and_says_so() {
    let change = |n: u64| Change {
        path: format!("f{n}"),
        before: None,
        after: Some(FileHash(n)),
        lines: (0, 1),
    };
    let revisions = (0..210_000).map(|n| (2 + n / 70_000, change(n)));
    let mut history = History { since: 1, identity: 7, changes: revisions.collect() };
    let last = identity_at(7, &history.changes, 4);
    history.trim();
    assert_eq!((history.since, history.changes.len()), (2, 140_000));
    assert_eq!(
        identity_at(history.identity, &history.changes, 4),
        last,
        "none was lost on the way"
    );
    assert_eq!(History::decode(&history.encode()), Some(history));
}

#[test]
fn an_artifact_of_another_project_or_format_is_none() {
    let fixture = CacheFixture::new();
    fixture.filled(1);
    let other = Project { root: PathBuf::from("/elsewhere"), id: fixture.project.id };
    assert!(fixture.cache().open(&other).is_none());
    let base = fixture.folder().join("base-1");
    let mut bytes = fs::read(&base).unwrap();
    bytes[8] ^= 1;
    fs::write(&base, bytes).unwrap();
    assert!(fixture.open().is_none());
}

#[test]
fn analyses_are_merged_and_the_closest_look_wins() {
    let fixture = CacheFixture::new();
    let key = |number: u64| AnalysisKey::new(FileHash(number), Language::Rust);
    let one = |depth| Analysis { depth, ..Analysis::default() };
    for number in 0..30 {
        let mut new = NewAnalyses::default();
        new.insert(key(number), &one(Depth::Glance).as_ref());
        let depth = if number == 3 { Depth::Full } else { Depth::Glance };
        new.insert(key(1000), &one(depth).as_ref());
        fixture.cache().keep_analyses(&[new.into_pack().unwrap()]).unwrap();
    }
    let analyses = fixture.cache().analyses();
    assert!((0..30).all(|number| analyses.get(key(number)).is_some()));
    assert_eq!(analyses.depth(key(1000)), Some(Depth::Full));
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
    let mut new = NewAnalyses::default();
    (0..20).for_each(|number| new.insert(key(number), &analysis(number).as_ref()));
    fixture.cache().keep_analyses(&[new.into_pack().unwrap()]).unwrap();
    let pack = fixture.dir.path().join("analyses/1.pack");
    let whole = fs::read(&pack).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        write(&pack, &damaged);
        let analyses = fixture.cache().analyses();
        for number in 0..20 {
            let found = analyses.get(key(number));
            assert!(found.is_none() || found == Some(analysis(number)), "byte {at}");
        }
    }
}

/// Puts another file in the place of one, as the cache does: maps of the old one stay whole.
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
        let bytes = packed(&analysis);
        let outline = super::blob::decode_outline(&bytes, Language::Rust).unwrap();
        prop_assert_eq!(&outline, &analysis.outline());
        let brief = super::blob::decode_outline(&bytes, Language::C).unwrap();
        prop_assert_eq!(brief, Outline { symbols: Vec::new(), ..outline });
        prop_assert_eq!(super::blob::decode(&bytes), Some(analysis));
    }

    #[test]
    fn bytes_that_nobody_wrote_are_read_as_nothing_and_cost_nothing(
        bytes in prop::collection::vec(any::<u8>(), 0..200)
    ) {
        let _ = super::blob::decode(&bytes);
        let _ = super::blob::decode_outline(&bytes, Language::Rust);
        let _ = super::commit::History::decode(&bytes);
        let (_, n_read) = super::log::read(&bytes, Head::default(), |_, bytes| Some(bytes.into()));
        prop_assert!(n_read <= bytes.len() as u64);
    }
}
