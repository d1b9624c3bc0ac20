//! The map of a project's code, opened: what all commands about it take, and the envelope of their answers.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use nacre_map::artifact::{Cache, Project, Revision};
use nacre_map::indexer::{
    Affected, CacheStatus, ChangeKind, Current, Deadline, Delta, Excludes, FileChange, Keeping,
    RefreshError, RefreshOptions, RefreshStats, Sensitive, Trust, delta_of_all, delta_since,
    delta_since_git, project_root, refresh,
};
use nacre_map::watch::{Live, Now};
use serde::Serialize;

use super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::host::map_cache;
use nacre_ops::host::own_root;

/// No name of a client is longer.
const MAX_CLIENT_BYTES: usize = 100;

/// What every command about the map takes.
#[derive(Debug, Args)]
pub(crate) struct MapArgs {
    /// The project: a folder inside of it, or a registered name [default: the one around the current folder]
    #[arg(value_name = "PROJECT")]
    pub(crate) place: Option<String>,
    /// Read every file again instead of believing its times
    #[arg(long)]
    pub(crate) refresh: bool,
    /// Fail when the map was not up to date, and write nothing
    #[arg(long, conflicts_with = "refresh")]
    pub(crate) strict: bool,
    /// How to print the answer
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
}

/// Who asks.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ClientArgs {
    /// Remember that this client has seen the answer, for `--since client:NAME`
    #[arg(long, value_name = "NAME")]
    pub(crate) client: Option<String>,
}

/// How an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

/// A project's map, up to date.
#[derive(Debug)]
pub(crate) struct Map {
    pub(crate) cache: Cache,
    pub(crate) options: RefreshOptions,
    pub(crate) current: Current,
    /// What the settings name that no map shows.
    deny: Vec<String>,
    /// The project whose settings hold for it, where there is one.
    settings_of: Option<PathBuf>,
}

/// The answer of every command about the map.
#[derive(Serialize)]
pub(crate) struct Envelope<'e, S: Serialize> {
    pub(crate) command: &'static str,
    pub(crate) project_root: &'e Path,
    pub(crate) project_id: String,
    pub(crate) cache_status: CacheStatus,
    pub(crate) revision: Revision,
    pub(crate) stats: RefreshStats,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) delta: Option<DeltaOutput>,
    /// What the command itself has to say.
    #[serde(flatten)]
    pub(crate) slice: Option<S>,
}

/// What changed, as much of it as was asked for; the counts are of all.
#[derive(Serialize)]
pub(crate) struct DeltaOutput {
    since: String,
    added: usize,
    modified: usize,
    removed: usize,
    renamed: usize,
    files: Vec<FileChange>,
    /// The path to go on after, when there is more.
    next: Option<String>,
    affected: Vec<Affected>,
}

/// Which part of a delta is wanted.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PageArgs {
    /// List at most this many files; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 0)]
    limit: usize,
    /// Go on after this path, the `next` of the answer before
    #[arg(long, value_name = "PATH")]
    after: Option<String>,
}

impl Map {
    /// Finds the project and brings its map up to date.
    pub(crate) fn open(
        ui: &mut Ui,
        host: &Host,
        args: &MapArgs,
        command: &str,
    ) -> Result<Self, OpError> {
        match args.format {
            Some(Format::Json) => ui.choose_json(),
            Some(Format::Text) | None => {}
        }
        let trust = if args.refresh { Trust::Nothing } else { Trust::Stamps };
        let keeping = if args.strict { Keeping::Dropped } else { Keeping::Kept };
        let map = Self::open_with(host, args.place.as_deref(), (trust, keeping), command)?;
        if args.strict && map.current.status != CacheStatus::Hit {
            return Err(not_fresh(&map.current));
        }
        if !map.current.is_kept && !args.strict {
            ui.warning("The map could not be kept; the next look does the same work again", None);
        }
        map.warn_of_postponed(ui);
        Ok(map)
    }

    pub(crate) fn open_with(
        host: &Host,
        place: Option<&str>,
        (trust, keeping): (Trust, Keeping),
        command: &str,
    ) -> Result<Self, OpError> {
        let project = Project::at(root_of(host, place)?);
        let (cache, keeping) = map_cache(host, command, keeping)?;
        // A map that was asked for by its place has the settings of that place.
        let settings_of = match place {
            Some(_) => Some(project.root.clone()),
            None => host.project.as_ref().map(|project| project.path.clone()),
        };
        let deny = host.settings_of(settings_of.as_deref())?.map.deny;
        let options = RefreshOptions {
            now_ns: nanos(host.now()),
            looked_ns: nanos((host.environment.clock)()),
            trust,
            keeping,
            sensitive: Sensitive::new(&deny)?,
            excludes: Excludes::find(&project.root, &host.environment.git_places()),
            git: host.git(),
            n_threads: std::thread::available_parallelism().map_or(2, usize::from).min(8),
            deadline: deadline(host),
        };
        let current = refresh(&cache, &project, &options)?;
        Ok(Self { cache, options, current, deny, settings_of })
    }

    /// Brings the map up to date again, by what keeps it live and by the settings as they are now.
    pub(crate) fn keep_up(&mut self, host: &Host, live: &mut Live) -> Result<Now, OpError> {
        self.options.now_ns = nanos(host.now());
        self.options.looked_ns = nanos((host.environment.clock)());
        self.options.git = host.fresh_git();
        self.options.deadline = deadline(host);
        let root = &self.current.project.root;
        self.options.excludes = Excludes::find(root, &host.environment.git_places());
        // Settings that make no sense hold from when they do.
        let settings = host.settings_now(self.settings_of.as_deref());
        let settings = settings.map(|settings| settings.map);
        if settings.as_ref().is_some_and(|now| now.at_rest != host.settings().map.at_rest) {
            return Err(other_cache());
        }
        if let Some(deny) = settings.map(|settings| settings.deny)
            && deny != self.deny
            && let Ok(sensitive) = Sensitive::new(&deny)
        {
            (self.deny, self.options.sensitive) = (deny, sensitive);
        }
        Ok(self.catch_up(live)?)
    }

    /// Brings the map up to date with the options as they are: until the deadline of the look before.
    pub(crate) fn catch_up(&mut self, live: &mut Live) -> Result<Now, RefreshError> {
        live.now(&self.cache, &mut self.current, &self.options)
    }

    /// Whether anything about the map as it is now is written. What could not be kept itself is nothing to build on: the next
    /// change gets the same number. Nor is an answer kept that there was no time to make as it should be.
    pub(crate) fn keeping(&self) -> Keeping {
        let is_sound = self.current.is_kept && !self.options.deadline.is_over();
        if is_sound { self.options.keeping } else { Keeping::Dropped }
    }

    /// Says so when there was no time for some files.
    pub(crate) fn warn_of_postponed(&self, ui: &mut Ui) {
        let count = self.current.stats.postponed_files;
        if count != 0 {
            let hint = "Run it again: each look reads more of them. `limits.map_seconds` is how long one may take";
            ui.warning(format!("There was no time to read {count} files"), Some(hint));
        }
    }

    /// The revision that an answer names: of one that could not be kept, the last that was, because the next change gets its
    /// number. Who then asks what changed since is told too much rather than too little.
    pub(crate) fn revision(&self) -> Revision {
        let now = self.current.revision();
        match self.current.is_kept {
            true => now,
            false => self.current.before.unwrap_or(Revision { number: 0, ..now }),
        }
    }

    /// The answer of a command, around what it has to say itself.
    pub(crate) fn envelope<S: Serialize>(
        &self,
        command: &'static str,
        delta: Option<DeltaOutput>,
        slice: Option<S>,
    ) -> Envelope<'_, S> {
        Envelope {
            command,
            project_root: &self.current.project.root,
            project_id: self.current.project.id.to_string(),
            cache_status: self.current.status,
            revision: self.revision(),
            stats: self.current.stats,
            delta,
            slice,
        }
    }

    /// Remembers that a client has seen the map as it is now, unless nothing is to be written.
    pub(crate) fn seen_by(&self, ui: &mut Ui, client: &str) -> Result<(), OpError> {
        check_client(client)?;
        if self.options.keeping == Keeping::Dropped {
            return Ok(());
        }
        let state = self.current.artifact.head().state();
        let is_kept = self.keeping() == Keeping::Kept
            && self.cache.remember(&self.current.project, client, state).is_ok();
        if !is_kept {
            ui.warning("What the client has seen could not be kept", None);
        }
        Ok(())
    }

    /// What changed since the last commit or, where there is none, since the map was first made.
    pub(crate) fn delta_by_default(&self) -> Result<(Since, Delta), OpError> {
        let since = Since::Git("HEAD".to_owned());
        if let Ok(delta) = self.delta(&since) {
            return Ok((since, delta));
        }
        let since = Since::Revision(Revision { number: 1, ..self.current.revision() });
        let delta = self.delta(&since)?;
        Ok((since, delta))
    }

    /// Who is affected by what changed.
    pub(crate) fn affected(&self, delta: &Delta) -> Vec<Affected> {
        self.current.affected(&self.cache, self.keeping(), delta)
    }

    /// What changed since a revision, a commit or what a client has seen.
    pub(crate) fn delta(&self, since: &Since) -> Result<Delta, OpError> {
        let current = &self.current;
        match since {
            Since::Beginning => Ok(delta_of_all(current)),
            Since::Revision(revision) => Ok(delta_since(current, *revision)?),
            Since::Git(reference) => {
                let RefreshOptions { sensitive, git, .. } = &self.options;
                Ok(delta_since_git(current, sensitive, git, reference)?)
            }
            Since::Client(name) => {
                check_client(name)?;
                let seen = self.cache.seen_by(&current.project, name);
                let seen = seen.filter(|seen| current.artifact.knows(*seen));
                let delta = seen.map(|seen| delta_since(current, seen.revision));
                // A client that has seen nothing, or nothing that is still known, gets everything.
                Ok(delta.and_then(Result::ok).unwrap_or_else(|| delta_of_all(current)))
            }
        }
    }
}

/// Where a delta begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    Beginning,
    Revision(Revision),
    Git(String),
    Client(String),
}

impl std::str::FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("git", reference)) => Ok(Self::Git(reference.to_owned())),
            Some(("client", name)) => Ok(Self::Client(name.to_owned())),
            _ if text == "0" => Ok(Self::Beginning),
            _ => text.parse().map(Self::Revision).map_err(|_| {
                "give a revision such as 6af1b3c4.17, git:REF, client:NAME, or 0 for everything"
                    .to_owned()
            }),
        }
    }
}

impl std::fmt::Display for Since {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Beginning => f.write_str("0"),
            Self::Revision(revision) => revision.fmt(f),
            Self::Git(reference) => write!(f, "git:{reference}"),
            Self::Client(name) => write!(f, "client:{name}"),
        }
    }
}

impl DeltaOutput {
    /// Cuts the asked page out of a delta, with the counts of all of it.
    pub(crate) fn new(
        since: &Since,
        delta: Delta,
        affected: Vec<Affected>,
        page: &PageArgs,
    ) -> Self {
        let counts = delta.counts();
        let is_after =
            |file: &FileChange| page.after.as_ref().is_none_or(|after| *after < file.path);
        let mut files: Vec<FileChange> = delta.files.into_iter().filter(is_after).collect();
        let is_cut = page.limit != 0 && page.limit < files.len();
        if is_cut {
            files.truncate(page.limit);
        }
        let next = files.last().filter(|_| is_cut).map(|file| file.path.clone());
        Self {
            since: since.to_string(),
            added: counts.added,
            modified: counts.modified,
            removed: counts.removed,
            renamed: counts.renamed,
            files,
            next,
            affected,
        }
    }

    /// Whether this is the end of what there is to tell.
    pub(crate) fn is_last(&self) -> bool {
        self.next.is_none()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.added + self.modified + self.removed + self.renamed == 0
    }

    /// Prints the changes as lines.
    pub(crate) fn print(&self, ui: &mut Ui) -> Result<(), OpError> {
        let Self { since, added, modified, removed, renamed, files, next, affected } = self;
        ui.line(format!(
            "{added} added, {modified} modified, {removed} removed, {renamed} renamed since {since}"
        ))?;
        for file in files {
            print_file(ui, file)?;
        }
        if let Some(next) = next {
            ui.status(format!("… more; go on with `--after {next}`"))?;
        }
        for file in affected {
            let depth = ui.paint(Role::Faint, format!("affected, {} away", file.depth));
            ui.line(format!("! {}  {depth}", shown_name(&file.path)))?;
        }
        Ok(())
    }
}

fn print_file(ui: &mut Ui, file: &FileChange) -> Result<(), OpError> {
    let from = file.from.as_ref().map(|from| format!(" from {}", shown_name(from)));
    let line =
        format!("{} {}{}", sign(file.change), shown_name(&file.path), from.unwrap_or_default());
    ui.line(line)?;
    for symbol in file.symbols.iter().flat_map(|symbols| &symbols.changed) {
        let what = if symbol.is_signature { "" } else { " (body)" };
        let name = nacre_core::base::ShownLine(&symbol.name).to_string();
        ui.line(format!("    {} {} {name}{what}", sign(symbol.change), symbol.kind.as_str()))?;
    }
    Ok(())
}

fn shown_name(path: &str) -> String {
    nacre_core::base::ShownLine(path).to_string()
}

fn sign(change: ChangeKind) -> char {
    match change {
        ChangeKind::Added => '+',
        ChangeKind::Modified => '~',
        ChangeKind::Removed => '-',
        ChangeKind::Renamed => '>',
    }
}

/// When the look that begins now has taken as long as it may.
fn deadline(host: &Host) -> Deadline {
    let (passed, most) = (host.stopwatch(), host.settings().limits.map_time);
    Deadline::new(move || most < passed())
}

fn nanos(time: jiff::Timestamp) -> i64 {
    i64::try_from(time.as_nanosecond()).unwrap_or(i64::MAX)
}

fn check_client(name: &str) -> Result<(), OpError> {
    if name.is_empty() || MAX_CLIENT_BYTES < name.len() {
        return Err(OpError::usage("A client's name has 1 to 100 bytes"));
    }
    Ok(())
}

/// The root of the project that was asked for: its repository, or the folder itself.
fn root_of(host: &Host, place: Option<&str>) -> Result<PathBuf, OpError> {
    let folder = match place {
        Some(place) => match host.projects.find(place) {
            Some(project) => project.path.clone(),
            None => host.environment.absolute(Path::new(place)),
        },
        None => match &host.project {
            Some(project) => project.path.clone(),
            None => host.environment.folder.clone(),
        },
    };
    if !folder.is_dir() {
        return Err(OpError::failed(format!("`{}` is no folder", folder.display()))
            .hint("Name a folder of the project, or one of `nacre project list`"));
    }
    let root = project_root(&folder).unwrap_or_else(|| folder.clone());
    let root = own_root(&host.person, root, folder)?;
    let is_home = host.environment.home.as_ref().is_some_and(|home| *home == root);
    if is_home || root.parent().is_none() {
        return Err(OpError::failed(format!("`{}` is no project", root.display()))
            .hint("Go into a repository, or name one: `nacre delta PATH`"));
    }
    Ok(root)
}

/// A cache that another setting has cleared is nothing to go on from.
fn other_cache() -> OpError {
    OpError::failed("The setting `map.at_rest` is another one since the watch began")
        .hint("Start `nacre watch` again")
}

fn not_fresh(current: &Current) -> OpError {
    let n_changed = current.stats.rehashed_entries;
    OpError::failed(format!("The map is not up to date: {n_changed} files had to be read again"))
        .hint("Leave out `--strict`, or run `nacre refresh` first")
}
