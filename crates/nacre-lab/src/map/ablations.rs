//! Measures how well the ranking finds the files that a task later changed, first with all kinds of
//! evidence and then without each kind in turn.
//!
//! Each line of the task file is `{"task": "…", "files": ["…"]}`. Reports, averaged
//! over tasks, the fraction of those files found in the first 5, 10 and 20 results, and the
//! fraction of tasks for which all files are in the first 10.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nacre_base::fs::Owner;
use nacre_base::git::GitProgram;
use nacre_map::artifact::{Cache, Lists, Project, RelativePath};
use nacre_map::indexer::{
    CacheWrites, Counting, Current, Deadline, Excludes, FileBags, ReadProgress, RefreshOptions,
    Sensitive, Verify, WordCounting, refresh,
};
use nacre_map::slices::{Evidence, MadePaths, Sketch, WEIGHTS, Weights, rank};

use crate::Outcome;

#[derive(serde::Deserialize)]
struct Task {
    task: String,
    files: Vec<String>,
}

struct Ranking {
    current: Current,
    bags: FileBags,
    imported: Lists,
    made: MadePaths,
    tasks: Vec<Task>,
}

fn ablations() -> Vec<(&'static str, Weights)> {
    let all = WEIGHTS;
    vec![
        ("all", all),
        (
            "no forms, synonyms or neighbors",
            Weights { form: 0.0, synonym: 0.0, neighbor: 0.0, ..all },
        ),
        ("no other forms", Weights { form: 0.0, ..all }),
        ("no synonyms", Weights { synonym: 0.0, ..all }),
        ("no semantic neighbors", Weights { neighbor: 0.0, ..all }),
        ("no symbol names", Weights { defined: 0.0, ..all }),
        ("no paths", Weights { folder: 0.0, name: 0.0, ..all }),
        ("no whole identifiers", Weights { whole: 0.0, ..all }),
        ("no coverage", Weights { coverage: 0.0, ..all }),
        ("full weight for tests and generated", Weights { aside: 1.0, prose: 1.0, ..all }),
        ("no meaning", Weights { meaning: 0.0, ..all }),
        ("no imports", Weights { near: 0.0, ..all }),
        ("words alone", Weights { meaning: 0.0, near: 0.0, ..all }),
    ]
}

/// Measure how well the ranking finds the files that a task later changed, omitting each kind of
/// evidence in turn
#[derive(Debug, clap::Args)]
pub(crate) struct AblationsArgs {
    /// TASKS.jsonl ROOT, in pairs
    #[arg(required = true)]
    projects: Vec<String>,
    /// Before the scores, list each task's first ten results and the changed files missing from
    /// them
    #[arg(long)]
    places: bool,
}

pub(super) fn run(args: &AblationsArgs) -> Outcome {
    let shows_places = args.places;
    let projects: Vec<Ranking> =
        args.projects.chunks_exact(2).map(|pair| open(&pair[0], Path::new(&pair[1]))).collect();
    let n_rows = if shows_places { 1 } else { usize::MAX };
    for (name, weights) in ablations().into_iter().take(n_rows) {
        let mut shares = Vec::new();
        let mut times = Vec::new();
        for project in &projects {
            shares.push(project.measure(&weights, shows_places, &mut times));
        }
        times.sort_unstable();
        let shown =
            |shares: &[f64; 4]| shares.map(|share| format!("{:5.1}", share * 100.0)).join(" ");
        let each: Vec<String> = shares.iter().map(shown).collect();
        let count = f64::from(u32::try_from(shares.len().max(1)).unwrap());
        let mean = [0, 1, 2, 3].map(|at| shares.iter().map(|one| one[at]).sum::<f64>() / count);
        let middle = times.get(times.len() / 2).copied().unwrap_or(Duration::ZERO);
        println!("{name:38} {}  mean {}  p50 {middle:.1?}", each.join("  "), shown(&mean));
    }
    Ok(true)
}

fn open(tasks: &str, root: &Path) -> Ranking {
    let folder = std::env::temp_dir().join("nacre-localize");
    let owner = Owner { pid: 1, command: "localize".to_owned(), since: String::new() };
    let cache = Cache::new(folder, owner);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let now_ns = i64::try_from(now).unwrap();
    let deadline = Deadline::never();
    let options = RefreshOptions {
        now_ns,
        looked_ns: now_ns,
        trust: Verify::Stamps,
        keeping: CacheWrites::On,
        words: WordCounting::Now,
        sensitive: Sensitive::new(&[]).unwrap(),
        excludes: Excludes::default(),
        git: GitProgram::new(std::env::var_os("PATH").unwrap_or_default()),
        n_threads: 2,
        deadline: deadline.clone(),
        progress: ReadProgress::default(),
    };
    let project = Project::at(std::fs::canonicalize(root).unwrap());
    let clock = Instant::now();
    let current = refresh(&cache, &project, &options).unwrap();
    let looked = clock.elapsed();
    let counting = Counting { keeping: CacheWrites::On, n_threads: 2, deadline: &deadline };
    let bags = current.bags(&cache, &current.artifact.files(), counting);
    let (size, source) = (bags.n_bytes(), current.stats.total_bytes);
    println!(
        "{}: {} files, update {looked:.1?}, {size} bytes of words for {source}",
        root.display(),
        current.stats.file_count
    );
    let imported = current.imports(&cache, CacheWrites::On, 2).files();
    let made = {
        let files = current.artifact.files();
        let paths = files.iter().map(|(path, _)| *path);
        MadePaths::read(paths, &|path| current.text(path))
    };
    let tasks = std::fs::read_to_string(tasks).unwrap();
    let tasks = tasks.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    Ranking { current, bags, imported, made, tasks }
}

impl Ranking {
    fn measure(
        &self,
        weights: &Weights,
        shows_places: bool,
        times: &mut Vec<Duration>,
    ) -> [f64; 4] {
        let files = self.current.artifact.files();
        let bag = |idx: usize| self.bags.of(idx);
        let mut shares = [0.0; 4];
        for Task { task, files: changed } in &self.tasks {
            let clock = Instant::now();
            let paths = files.iter().map(|(path, _)| *path).collect();
            let sketch = Sketch::new(paths, &bag, &self.made, self.imported.clone());
            let names = |path: &str| self.current.names_at(path);
            let memory = BTreeMap::new();
            let evidence = Evidence {
                task,
                files: &[],
                memory: &memory,
                names: &names,
                weights,
                n_threads: 2,
            };
            let ranked = rank(&sketch, &evidence);
            times.push(clock.elapsed());
            for (share, limit) in shares.iter_mut().zip([5, 10, 20]) {
                let first: Vec<&str> =
                    ranked.paths().take(limit).map(RelativePath::as_str).collect();
                let n_found = changed.iter().filter(|path| first.contains(&path.as_str())).count();
                *share += f64::from(u32::try_from(n_found).unwrap())
                    / f64::from(u32::try_from(changed.len().max(1)).unwrap());
            }
            let first: Vec<&str> = ranked.paths().take(10).map(RelativePath::as_str).collect();
            let has_all = changed.iter().all(|path| first.contains(&path.as_str()));
            shares[3] += if has_all { 1.0 } else { 0.0 };
            if shows_places && !has_all {
                println!("{task}");
                for path in changed {
                    let place = ranked.paths().position(|other| other.as_str() == path);
                    println!("  {:>4} {path}", place.map_or(0, |place| place + 1));
                }
                first.iter().for_each(|path| println!("       {path}"));
            }
        }
        shares.map(|share| share / f64::from(u32::try_from(self.tasks.len().max(1)).unwrap()))
    }
}
