//! Opens and updates a project's code map, and formats reports about it. The server keeps a few
//! maps open and watches their files, so that a call checks only the paths that have changed.

use nacre_base::Shown;
use nacre_engine::model::Cancel;
use nacre_map::artifact::{Cache, FileRow, Project};
use nacre_map::indexer::{
    CacheWrites, Counting, Current, Deadline, Excludes, FileBags, ReadProgress, RefreshError,
    RefreshOptions, Sensitive, Verify, WordCounting, project_root, refresh,
};
use nacre_map::slices::MadePaths;
pub(super) use nacre_map::slices::tokens as cost;
use nacre_map::watch::{Live, Now, Watch};
use nacre_types::{CacheStatus, MapCommand, MapHeader, MapRevision};
use serde::Serialize;

use crate::host::{map_cache, own_root};
use crate::json::{ascii_json, json_line};
use crate::prelude::*;

const MAX_CLIENT_BYTES: usize = 100;

/// Maximum number of threads. Additional threads would only wait for the disk.
const MAX_THREADS: usize = 8;

#[derive(Debug)]
pub(super) struct CodeMap {
    pub(super) cache: Cache,
    pub(super) options: RefreshOptions,
    pub(super) current: Current,
    deny: Vec<String>,
    settings_of: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct MapAccess<'a> {
    pub(super) project: Option<&'a str>,
    pub(super) trust: Verify,
    pub(super) keeping: CacheWrites,
    pub(super) words: WordCounting,
    pub(super) cancel: Option<&'a Cancel>,
    pub(super) events: Option<&'a Events>,
}

impl<'a> MapAccess<'a> {
    /// Trusts unchanged modification times, and writes to the cache.
    pub(super) fn usual(project: Option<&'a str>) -> Self {
        Self {
            project,
            trust: Verify::Stamps,
            keeping: CacheWrites::On,
            words: WordCounting::Later,
            cancel: None,
            events: None,
        }
    }

    pub(super) fn from_request(project: Option<&'a str>, refresh: bool, strict: bool) -> Self {
        let trust = if refresh { Verify::Contents } else { Verify::Stamps };
        let keeping = if strict { CacheWrites::Off } else { CacheWrites::On };
        Self { trust, keeping, ..Self::usual(project) }
    }

    fn is_strict(&self) -> bool {
        self.keeping == CacheWrites::Off
    }
}

impl CodeMap {
    /// Opens a map for a query. If the map is out of date, fails if access is strict, and emits a
    /// warning otherwise.
    fn open_to_ask(
        host: &Host,
        access: MapAccess<'_>,
        command: MapCommand,
        events: &Events,
    ) -> Result<Self> {
        if access.is_strict() && access.trust == Verify::Contents {
            return Err(OpError::usage("`strict` and `refresh` cannot be combined"));
        }
        events.step("Reading the code");
        let access = MapAccess { events: Some(events), words: counting_for(command), ..access };
        let map = Self::open(host, access, command.label())?;
        if access.is_strict() && map.current.status != CacheStatus::Hit {
            let n_changed = map.current.stats.rehashed_entries;
            let message = format!("The map is out of date: {n_changed} files had to be read again");
            return Err(
                OpError::failed(message).hint("Omit `--strict`, or run `nacre refresh` first")
            );
        }
        if !access.is_strict() {
            map.warn_of_loss(events);
        }
        map.warn_of_postponed(events);
        Ok(map)
    }

    fn warn_of_loss(&self, events: &Events) {
        if !self.current.is_kept {
            events
                .warning("Could not save the map, so the next command must repeat this work", None);
        }
    }

    pub(super) fn open(host: &Host, access: MapAccess<'_>, command: &str) -> Result<Self> {
        let MapAccess { project: place, trust, keeping, words, cancel, events } = access;
        let project = Project::at(root_of(host, place)?);
        let (cache, keeping) = map_cache(host, command, keeping)?;
        let settings_of = settings_of(host, place, &project.root);
        let deny = host.settings_of(settings_of.as_deref())?.map.deny;
        let options = RefreshOptions {
            now_ns: nanos(host.now()),
            looked_ns: nanos((host.environment.clock)()),
            trust,
            keeping,
            words,
            sensitive: Sensitive::new(&deny)?,
            excludes: Excludes::find(&project.root, &host.environment.git_places()),
            git: host.git(),
            n_threads: std::thread::available_parallelism().map_or(2, usize::from).min(MAX_THREADS),
            deadline: deadline(host, cancel.cloned()),
            progress: events.map(progress).unwrap_or_default(),
        };
        let current = refresh(&cache, &project, &options)?;
        Ok(Self { cache, options, current, deny, settings_of })
    }

    pub(super) fn update(&mut self, host: &Host, live: &mut Live) -> Result<Now> {
        self.options.now_ns = nanos(host.now());
        self.options.looked_ns = nanos((host.environment.clock)());
        self.options.git = host.fresh_git();
        self.options.deadline = deadline(host, None);
        let root = &self.current.project.root;
        self.options.excludes = Excludes::find(root, &host.environment.git_places());
        // Invalid settings are ignored until they are corrected.
        let settings = host.settings_now(self.settings_of.as_deref());
        let settings = settings.map(|settings| settings.map);
        if settings.as_ref().is_some_and(|now| now.at_rest != host.settings().map.at_rest) {
            // The cache was cleared by a process with other settings, so it can no longer be used.
            return Err(OpError::failed(
                "The setting `map.at_rest` has changed since `nacre watch` started",
            )
            .hint("Restart `nacre watch`"));
        }
        if let Some(deny) = settings.map(|settings| settings.deny)
            && deny != self.deny
            && let Ok(sensitive) = Sensitive::new(&deny)
        {
            (self.deny, self.options.sensitive) = (deny, sensitive);
        }
        Ok(self.catch_up(live)?)
    }

    pub(super) fn catch_up(&mut self, live: &mut Live) -> Result<Now, RefreshError> {
        live.now(&self.cache, &mut self.current, &self.options)
    }

    /// Returns whether derived data may be cached. It must not be cached after the deadline, or if
    /// the map itself could not be stored, because the map's revision number will then be reused.
    pub(super) fn keeping(&self) -> CacheWrites {
        let is_sound = self.current.is_kept && !self.options.deadline.is_over();
        if is_sound { self.options.keeping } else { CacheWrites::Off }
    }

    pub(super) fn bags(&self, files: &[(&str, FileRow)]) -> FileBags {
        let counting = Counting {
            keeping: self.keeping(),
            n_threads: self.options.n_threads,
            deadline: &self.options.deadline,
        };
        self.current.bags(&self.cache, files, counting)
    }

    pub(super) fn read_made_paths(&self) -> MadePaths {
        let files = self.current.artifact.files();
        MadePaths::read(files.iter().map(|(path, _)| *path), &|path| self.current.text(path))
    }

    pub(super) fn warn_of_postponed(&self, events: &Events) {
        let count = self.current.stats.postponed_files;
        if count != 0 {
            let hint = "Run it again: each run reads more files. `limits.map_seconds` sets the time \
             limit";
            events.warning(
                format!("{count} files were not read because of the time limit"),
                Some(hint),
            );
        }
    }

    /// Returns the current revision. If it could not be stored, returns the last stored revision,
    /// because the number of the current one will be reused.
    pub(super) fn revision(&self) -> MapRevision {
        let now = self.current.revision();
        if self.current.is_kept {
            return now;
        }
        self.current.before.unwrap_or(MapRevision { number: 0, ..now })
    }

    pub(super) fn header(&self, command: MapCommand) -> MapHeader {
        MapHeader {
            command,
            project_root: self.current.project.root.display().to_string(),
            project_id: self.current.project.id.clone(),
            cache_status: self.current.status,
            revision: self.revision(),
            stats: self.current.stats,
        }
    }

    /// Parses files with their grammars if they have only been analyzed line by line so far.
    /// Returns whether there were any such files.
    pub(super) fn deepen(&mut self, paths: &[&str]) -> bool {
        let is_kept = self.options.keeping == CacheWrites::On;
        is_kept && 0 < self.current.deepen(&self.cache, paths, &self.options)
    }

    pub(super) fn mark_seen(&self, client: Option<&str>, events: &Events) -> Result<()> {
        let Some(client) = client else { return Ok(()) };
        check_client(client)?;
        if self.options.keeping == CacheWrites::Off {
            return Ok(());
        }
        let state = self.current.artifact.head().state();
        let is_kept = self.keeping() == CacheWrites::On
            && self.cache.remember(&self.current.project, client, state).is_ok();
        if !is_kept {
            events.warning("Could not record which revision the client has received", None);
        }
        Ok(())
    }
}

/// Words are counted only for commands that need them, because counting is slow.
fn counting_for(command: MapCommand) -> WordCounting {
    let needs_words = matches!(command, MapCommand::Context | MapCommand::SearchCode);
    if needs_words { WordCounting::Now } else { WordCounting::Later }
}

pub(super) fn check_client(name: &str) -> Result<()> {
    if name.is_empty() || MAX_CLIENT_BYTES < name.len() {
        return Err(OpError::usage("A client name must be 1 to 100 bytes long"));
    }
    Ok(())
}

fn settings_of(host: &Host, place: Option<&str>, root: &Path) -> Option<PathBuf> {
    match place {
        Some(_) => Some(root.to_owned()),
        None => host.project.as_ref().map(|project| project.path.clone()),
    }
}

fn progress(events: &Events) -> ReadProgress {
    let events = events.clone();
    ReadProgress::new(move |done, total| events.progress(done as u64, total as u64, 0))
}

fn deadline(host: &Host, cancel: Option<Cancel>) -> Deadline {
    let (passed, most) = (host.stopwatch(), host.settings().limits.map_time);
    let is_cancelled = move || cancel.as_ref().is_some_and(Cancel::is_cancelled);
    Deadline::new(move || most < passed() || is_cancelled())
}

fn nanos(time: jiff::Timestamp) -> i64 {
    i64::try_from(time.as_nanosecond()).unwrap_or(i64::MAX)
}

fn root_of(host: &Host, place: Option<&str>) -> Result<PathBuf> {
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
        return Err(OpError::not_found(format!("`{}` is not a directory", folder.display()))
            .hint("Name a directory in the project, or a project listed by `nacre project`"));
    }
    let root = project_root(&folder).unwrap_or_else(|| folder.clone());
    let root = own_root(&host.person, root, folder)?;
    let is_home = host.environment.home.as_ref().is_some_and(|home| *home == root);
    if is_home || root.parent().is_none() {
        let message = format!("`{}` is not a project", root.display());
        return Err(OpError::new(ErrorCode::NoProject, message)
            .hint("Change to a repository, or name one: `nacre delta PATH`"));
    }
    Ok(root)
}

pub fn files(host: &Host, cancel: &Cancel) -> Result<Vec<String>> {
    let access = MapAccess { cancel: Some(cancel), ..MapAccess::usual(None) };
    let map = CodeMap::open(host, access, "chat")?;
    Ok(map.current.artifact.files().into_iter().map(|(path, _)| path.to_owned()).collect())
}

type KeptMap = (CodeMap, Live);

pub(super) fn ask<T>(
    host: &Host,
    access: MapAccess<'_>,
    command: MapCommand,
    events: &Events,
    answer: impl FnOnce(&mut CodeMap) -> Result<T>,
) -> Result<T> {
    let is_usual = access.trust == Verify::Stamps && access.keeping == CacheWrites::On;
    if !is_usual || !host.shared.keeps_work() {
        return answer(&mut CodeMap::open_to_ask(host, access, command, events)?);
    }
    let root = root_of(host, access.project)?;
    let settings_of = settings_of(host, access.project, &Project::at(root.clone()).root);
    let kept = host.shared.take_work::<KeptMap>(&root);
    let kept = kept.filter(|(map, _)| map.settings_of == settings_of);
    let mut kept = match kept.and_then(|kept| refresh_kept(kept, host, command, events)) {
        Some(kept) => kept,
        None => {
            let map = CodeMap::open_to_ask(host, access, command, events)?;
            // Every call polls the watch, so the callback does nothing.
            let live = Live::new(Watch::new(&map.current.project.root, || {}));
            (map, live)
        }
    };
    let answered = answer(&mut kept.0);
    host.shared.keep_work(&root, kept);
    answered
}

/// Returns `None` if the map must be opened again.
fn refresh_kept(
    kept: KeptMap,
    host: &Host,
    command: MapCommand,
    events: &Events,
) -> Option<KeptMap> {
    let (mut map, mut live) = kept;
    events.step("Reading the code");
    map.options.progress = progress(events);
    map.options.words = counting_for(command);
    map.update(host, &mut live).ok()?;
    map.warn_of_loss(events);
    map.warn_of_postponed(events);
    Some((map, live))
}

#[derive(Clone, Debug)]
pub struct Answer<R> {
    pub report: R,
    /// One line of JSON, or text. Ends with a newline.
    pub payload: String,
}

pub(super) fn json_payload(report: &impl Serialize) -> String {
    json_line(report) + "\n"
}

/// Formats a report as indented JSON, which is its longest form.
pub(super) fn longest_payload(report: &impl Serialize) -> String {
    ascii_json(serde_json::to_string_pretty(report).unwrap_or_default()) + "\n"
}

pub(super) fn text_payload(header: &MapHeader, text: &str) -> String {
    let MapHeader { command, project_root, revision, cache_status, stats, .. } = header;
    let postponed = match stats.postponed_files {
        0 => String::new(),
        count => format!(" not read yet {count}"),
    };
    let text = format!(
        "{} {project_root} revision {revision} cache {} files {}{postponed}\n{text}",
        command.label(),
        cache_status.as_str(),
        stats.file_count,
    );
    Shown(&text).to_string()
}

/// Returns the largest number up to `max` that fits, if any does.
pub(super) fn largest(max: usize, fits: &dyn Fn(usize) -> bool) -> Option<usize> {
    if !fits(0) {
        return None;
    }
    let (mut low, mut high) = (0, max + 1);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if fits(middle) { low = middle } else { high = middle }
    }
    Some(low)
}
