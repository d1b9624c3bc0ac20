//! Tests that after any sequence of changes to a repository, the stored map equals one built from
//! scratch.

use proptest::prelude::*;

use super::*;

/// File names that match rules, are in noise directories or differ between branches.
const FILES: &[&str] = &[
    "a.rs",
    "src/b.rs",
    "src/deep/c.py",
    "build/d.rs",
    "out.log",
    "logs/e.txt",
    "src/deep/f.go",
    ".env",
];

/// Strings of equal length, so that file sizes do not reveal a change.
const TEXTS: &[&str] = &["fn one() {}\n", "fn two() {}\n", "fn six() {}\n", "def ten(): \n"];

const RULES: &[&str] = &["*.log\n", "logs/\n", "src/deep/\n", "*.rs\n!a.rs\n", ""];

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Write {
        file: usize,
        text: usize,
    },
    /// Writes a different string of the same length and resets the modification time.
    Disguise {
        file: usize,
        text: usize,
    },
    Touch {
        file: usize,
    },
    Remove {
        file: usize,
    },
    Rename {
        from: usize,
        to: usize,
    },
    RemoveFolder,
    Rules {
        folder: usize,
        rules: usize,
    },
    Track {
        file: usize,
    },
    Commit,
    Switch {
        branch: usize,
    },
    /// Refreshes without requesting words.
    Look,
    /// Refreshes and requests words. Words that are not stored yet are counted and stored.
    Ask,
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let file = || 0..FILES.len();
    let text = || 0..TEXTS.len();
    prop_oneof![
        4 => (file(), text()).prop_map(|(file, text)| Step::Write { file, text }),
        3 => (file(), text()).prop_map(|(file, text)| Step::Disguise { file, text }),
        1 => file().prop_map(|file| Step::Touch { file }),
        2 => file().prop_map(|file| Step::Remove { file }),
        2 => (file(), file()).prop_map(|(from, to)| Step::Rename { from, to }),
        1 => Just(Step::RemoveFolder),
        2 => (0..2_usize, 0..RULES.len()).prop_map(|(folder, rules)| Step::Rules { folder, rules }),
        2 => file().prop_map(|file| Step::Track { file }),
        1 => Just(Step::Commit),
        2 => (0..2_usize).prop_map(|branch| Step::Switch { branch }),
        3 => Just(Step::Look),
        2 => Just(Step::Ask),
    ]
}

pub(crate) fn take(tree: &TestTree, step: &Step) {
    let full = |file: usize| tree.root().join(FILES[file]);
    match step {
        Step::Write { file, text } => tree.write(FILES[*file], TEXTS[*text]),
        Step::Disguise { file, text } if full(*file).exists() => {
            let before = full(*file).metadata().unwrap().modified().unwrap();
            tree.write(FILES[*file], TEXTS[*text]);
            set_modified(&full(*file), before);
        }
        Step::Touch { file } if full(*file).exists() => {
            set_modified(&full(*file), UNIX_EPOCH + Duration::from_secs(1_700_000_000));
        }
        Step::Remove { file } if full(*file).exists() => tree.remove(FILES[*file]),
        Step::Rename { from, to } if full(*from).exists() => tree.rename(FILES[*from], FILES[*to]),
        Step::RemoveFolder => drop(fs::remove_dir_all(tree.root().join("src"))),
        Step::Rules { folder, rules } => {
            let folder = ["", "src/"][*folder];
            tree.write(&format!("{folder}.gitignore"), RULES[*rules]);
        }
        Step::Track { file } if full(*file).exists() => {
            tree.git(&["add", "-f", FILES[*file]]);
        }
        Step::Commit => tree.commit_all(),
        Step::Switch { branch } => {
            let name = ["main", "other"][*branch];
            tree.git(&["checkout", "-q", "-f", "-B", name]);
            tree.git(&["reset", "-q", "--hard"]);
        }
        Step::Look => drop(tree.glance()),
        Step::Ask => drop(counted_and(&tree.look(), &tree.cache(), CacheWrites::On)),
        Step::Disguise { .. }
        | Step::Touch { .. }
        | Step::Remove { .. }
        | Step::Rename { .. }
        | Step::Track { .. } => {}
    }
}

proptest! {
    // Each case runs git about twenty times.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 8, ..ProptestConfig::default() })]

    #[test]
    fn an_artifact_is_what_a_build_from_nothing_makes(steps in prop::collection::vec(step(), 1..20)) {
        let tree = TestTree::with_git();
        tree.write("a.rs", TEXTS[0]);
        tree.commit_all();
        let mut before = state(&tree.look());
        let mut revision = tree.look().artifact.head().revision;
        for step in &steps {
            take(&tree, step);
            if matches!(step, Step::Look | Step::Ask) {
                let current = tree.glance();
                prop_assert_eq!(seen(&current), tree.cold());
                prop_assert_eq!(count_words(&current, &tree.cache()), tree.cold_words());
                // The reported changes turn the old state into the new one.
                let delta = super::super::delta_since(&current, revision).unwrap();
                prop_assert_eq!(applied(before, &delta), state(&current));
                before = state(&current);
                revision = current.artifact.head().revision;
            }
        }
        let last = tree.look();
        prop_assert_eq!(seen(&last), tree.cold());
        let settled = tree.settle();
        prop_assert_eq!(seen(&settled), tree.cold());
        prop_assert_eq!(count_words(&settled, &tree.cache()), tree.cold_words());
        let packs = merged_packs(&settled, &tree.cache(), &tree.cache_folder());
        prop_assert_eq!(packs, tree.cold_packs());
    }
}

type State = std::collections::BTreeMap<String, crate::artifact::FileHash>;

fn state(current: &Current) -> State {
    current.artifact.files().into_iter().map(|(path, row)| (path.to_owned(), row.hash)).collect()
}

fn applied(mut state: State, delta: &super::super::Delta) -> State {
    for file in &delta.files {
        if let Some(from) = &file.from {
            state.remove(from);
        }
        match file.new_hash {
            Some(hash) => state.insert(file.path.clone(), hash),
            None => state.remove(&file.path),
        };
    }
    state
}
