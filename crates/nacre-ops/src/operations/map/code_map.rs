//! The map of a project's code, open and up to date.

use std::path::{Path, PathBuf};

use nacre_api::wire::{ErrorCode, MapCommand, MapHeader};
use nacre_map::artifact::{Cache, FileRow, Project, Revision};
use nacre_map::indexer::{
    CacheStatus, CacheWrites, Counting, Current, Deadline, Excludes, FileBags, ReadProgress,
    RefreshError, RefreshOptions, Sensitive, Verify, WordCounting, project_root, refresh,
};
use nacre_map::slices::MadePaths;
use nacre_map::watch::{Live, Now};

use super::wire;
use crate::cancel::Cancel;
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, map_cache, own_root};

/// No name of a client is longer.
const MAX_CLIENT_BYTES: usize = 100;

/// More threads than this wait for the disk.
const MAX_THREADS: usize = 8;

/// A project's map, up to date.
#[derive(Debug)]
pub(super) struct CodeMap {
    pub(super) cache: Cache,
    pub(super) options: RefreshOptions,
    pub(super) current: Current,
    /// What the settings keep out of the map.
    deny: Vec<String>,
    /// The project whose settings hold for it, where there is one.
    pub(super) settings_of: Option<PathBuf>,
}

/// Which map to open, and how far what is stored is trusted and written.
#[derive(Clone, Copy, Debug)]
pub(super) struct MapAccess<'a> {
    pub(super) project: Option<&'a str>,
    pub(super) trust: Verify,
    pub(super) keeping: CacheWrites,
    /// When the words of new texts are counted.
    pub(super) words: WordCounting,
    /// Ends the look early.
    pub(super) cancel: Option<&'a Cancel>,
    /// Is told how far it is.
    pub(super) events: Option<&'a Events>,
}

/// A copy of a repository's files, outside of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct MapCopy<'a> {
    pub(super) root: &'a Path,
    pub(super) cache: &'a Path,
    /// The root of the repository.
    pub(super) settings_of: &'a Path,
    pub(super) cancel: &'a Cancel,
}

impl<'a> MapAccess<'a> {
    /// As most operations do: times of files are trusted, and what was learned is stored.
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

    /// As a request asks for it.
    pub(super) fn requested(project: Option<&'a str>, refresh: bool, strict: bool) -> Self {
        Self {
            project,
            trust: if refresh { Verify::Contents } else { Verify::Stamps },
            keeping: if strict { CacheWrites::Off } else { CacheWrites::On },
            words: WordCounting::Later,
            cancel: None,
            events: None,
        }
    }

    fn is_strict(&self) -> bool {
        self.keeping == CacheWrites::Off
    }
}

impl CodeMap {
    /// Opens a map for a question: a strict one fails where the map was not up to date, others warn of what is missing.
    pub(super) fn open_to_ask(
        host: &Host,
        access: MapAccess<'_>,
        command: MapCommand,
        events: &Events,
    ) -> Result<Self, OpError> {
        if access.is_strict() && access.trust == Verify::Contents {
            return Err(OpError::usage("`strict` and `refresh` exclude each other"));
        }
        events.step("Reading the code");
        let access = MapAccess { events: Some(events), words: counting_for(command), ..access };
        let map = Self::open(host, access, command.as_str())?;
        if access.is_strict() && map.current.status != CacheStatus::Hit {
            return Err(not_up_to_date(&map.current));
        }
        if !access.is_strict() {
            map.warn_of_loss(events);
        }
        map.warn_of_postponed(events);
        Ok(map)
    }

    /// Warns where what was learned is lost.
    pub(super) fn warn_of_loss(&self, events: &Events) {
        if !self.current.is_kept {
            events
                .warning("The map could not be kept; the next look does the same work again", None);
        }
    }

    /// Finds the project and brings its map up to date.
    pub(super) fn open(host: &Host, access: MapAccess<'_>, command: &str) -> Result<Self, OpError> {
        let MapAccess { project: place, trust, keeping, words, cancel, events } = access;
        let project = Project::at(root_of(host, place)?);
        let (cache, keeping) = map_cache(host, command, keeping)?;
        let settings_of = settings_of(host, place, &project.root);
        let deny = host.settings_of(settings_of.as_deref())?.map.deny;
        let options = RefreshOptions {
            trust,
            keeping,
            words,
            excludes: Excludes::find(&project.root, &host.environment.git_places()),
            progress: events.map(progress).unwrap_or_default(),
            ..options(host, &deny, cancel)?
        };
        let current = refresh(&cache, &project, &options)?;
        Ok(Self { cache, options, current, deny, settings_of })
    }

    /// Opens the map of a copy, which has no repository, in a cache of its own. The settings are those of the repository that it
    /// is a copy of; rules that leave files out do not hold, because git tracked all of them.
    pub(super) fn open_copy(host: &Host, copy: &MapCopy<'_>) -> Result<Self, OpError> {
        let deny = host.settings_of(Some(copy.settings_of))?.map.deny;
        let options = options(host, &deny, Some(copy.cancel))?;
        let cache = Cache::new(copy.cache.to_owned(), host.owner("bench"));
        let current = refresh(&cache, &Project::at(copy.root.to_owned()), &options)?;
        Ok(Self { cache, options, current, deny, settings_of: Some(copy.settings_of.to_owned()) })
    }

    /// Brings the map up to date again, by what a watch noticed and by the settings as they are now.
    pub(super) fn update(&mut self, host: &Host, live: &mut Live) -> Result<Now, OpError> {
        self.options.now_ns = nanos(host.now());
        self.options.looked_ns = nanos((host.environment.clock)());
        self.options.git = host.fresh_git();
        self.options.deadline = deadline(host, None);
        let root = &self.current.project.root;
        self.options.excludes = Excludes::find(root, &host.environment.git_places());
        // Settings that are not valid take effect once they are.
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
    pub(super) fn catch_up(&mut self, live: &mut Live) -> Result<Now, RefreshError> {
        live.now(&self.cache, &mut self.current, &self.options)
    }

    /// Whether anything about the map as it is now may be stored. A state that could not be stored itself is no base to build
    /// on: the next change gets the same number. Nor is an answer stored that there was no time to finish.
    pub(super) fn keeping(&self) -> CacheWrites {
        let is_sound = self.current.is_kept && !self.options.deadline.is_over();
        if is_sound { self.options.keeping } else { CacheWrites::Off }
    }

    /// The words of all files, in the order of the artifact; those that no look has counted are counted now.
    pub(super) fn bags(&self, files: &[(&str, FileRow)]) -> FileBags {
        let counting = Counting {
            keeping: self.keeping(),
            n_threads: self.options.n_threads,
            deadline: &self.options.deadline,
        };
        self.current.bags(&self.cache, files, counting)
    }

    /// Which files the project declares to be made by a program.
    pub(super) fn made_paths(&self) -> MadePaths {
        let mut rules = Vec::new();
        self.current.artifact.each(|path, _| {
            if MadePaths::are_in(path) {
                rules.push(path.to_owned());
            }
        });
        MadePaths::read(rules.iter().map(String::as_str), &|path| self.current.text(path))
    }

    /// Warns when there was no time for some files.
    pub(super) fn warn_of_postponed(&self, events: &Events) {
        let count = self.current.stats.postponed_files;
        if count != 0 {
            let hint = "Run it again: each look reads more of them. `limits.map_seconds` is how long one may take";
            events.warning(format!("There was no time to read {count} files"), Some(hint));
        }
    }

    /// The revision that an answer names: of a state that could not be stored, the last one that was, because the next change
    /// gets its number. A caller that asks what changed since then gets too much rather than too little.
    pub(super) fn revision(&self) -> Revision {
        let now = self.current.revision();
        match self.current.is_kept {
            true => now,
            false => self.current.before.unwrap_or(Revision { number: 0, ..now }),
        }
    }

    /// What an answer says first.
    pub(super) fn header(&self, command: MapCommand) -> MapHeader {
        MapHeader {
            command,
            project_root: self.current.project.root.display().to_string(),
            project_id: self.current.project.id.to_string(),
            cache_status: wire::cache_status(self.current.status),
            revision: wire::revision(self.revision()),
            stats: wire::stats(&self.current.stats),
        }
    }

    /// Analyses files by their grammars that were only glanced at; returns whether there were any.
    pub(super) fn deepen(&mut self, paths: &[&str]) -> bool {
        let is_kept = self.options.keeping == CacheWrites::On;
        is_kept && 0 < self.current.deepen(&self.cache, paths, &self.options)
    }

    /// Remembers that a client has seen the map as it is now, unless nothing is to be written.
    pub(super) fn mark_seen(&self, client: &str, events: &Events) -> Result<(), OpError> {
        check_client(client)?;
        if self.options.keeping == CacheWrites::Off {
            return Ok(());
        }
        let state = self.current.artifact.head().state();
        let is_kept = self.keeping() == CacheWrites::On
            && self.cache.remember(&self.current.project, client, state).is_ok();
        if !is_kept {
            events.warning("What the client has seen could not be kept", None);
        }
        Ok(())
    }
}

/// When the words of new texts are counted: only some questions are answered by words, and no other waits for them.
pub(super) fn counting_for(command: MapCommand) -> WordCounting {
    match command {
        MapCommand::Context | MapCommand::SearchCode => WordCounting::Now,
        MapCommand::Explore
        | MapCommand::Delta
        | MapCommand::Refresh
        | MapCommand::Explain
        | MapCommand::Watch => WordCounting::Later,
    }
}

/// How every map is brought up to date: stamps are trusted, and what was learned is stored.
fn options(
    host: &Host,
    deny: &[String],
    cancel: Option<&Cancel>,
) -> Result<RefreshOptions, OpError> {
    Ok(RefreshOptions {
        now_ns: nanos(host.now()),
        looked_ns: nanos((host.environment.clock)()),
        trust: Verify::Stamps,
        keeping: CacheWrites::On,
        words: WordCounting::Later,
        sensitive: Sensitive::new(deny)?,
        excludes: Excludes::default(),
        git: host.git(),
        n_threads: std::thread::available_parallelism().map_or(2, usize::from).min(MAX_THREADS),
        deadline: deadline(host, cancel.cloned()),
        progress: ReadProgress::default(),
    })
}

pub(super) fn check_client(name: &str) -> Result<(), OpError> {
    if name.is_empty() || MAX_CLIENT_BYTES < name.len() {
        return Err(OpError::usage("A client's name has 1 to 100 bytes"));
    }
    Ok(())
}

/// Whose settings hold for a map: one that was asked for by its place has the settings of that place.
pub(super) fn settings_of(host: &Host, place: Option<&str>, root: &Path) -> Option<PathBuf> {
    match place {
        Some(_) => Some(root.to_owned()),
        None => host.project.as_ref().map(|project| project.path.clone()),
    }
}

/// Tells how many files were read.
pub(super) fn progress(events: &Events) -> ReadProgress {
    let events = events.clone();
    ReadProgress::new(move |done, total| events.progress(done as u64, total as u64, 0))
}

/// When the map has taken as long to be brought up to date as it may, or nobody waits for it any more.
fn deadline(host: &Host, cancel: Option<Cancel>) -> Deadline {
    let (passed, most) = (host.stopwatch(), host.settings().limits.map_time);
    let is_cancelled = move || cancel.as_ref().is_some_and(Cancel::is_cancelled);
    Deadline::new(move || most < passed() || is_cancelled())
}

fn nanos(time: jiff::Timestamp) -> i64 {
    i64::try_from(time.as_nanosecond()).unwrap_or(i64::MAX)
}

/// The root of the project that was asked for: its repository, or the folder itself.
pub(super) fn root_of(host: &Host, place: Option<&str>) -> Result<PathBuf, OpError> {
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
        let error = OpError::failed(format!("`{}` is no folder", folder.display()))
            .hint("Name a folder of the project, or one of `nacre project list`");
        return Err(OpError { code: ErrorCode::NotFound, ..error });
    }
    let root = project_root(&folder).unwrap_or_else(|| folder.clone());
    let root = own_root(&host.person, root, folder)?;
    let is_home = host.environment.home.as_ref().is_some_and(|home| *home == root);
    if is_home || root.parent().is_none() {
        let error = OpError::failed(format!("`{}` is no project", root.display()))
            .hint("Go into a repository, or name one: `nacre delta PATH`");
        return Err(OpError { code: ErrorCode::NoProject, ..error });
    }
    Ok(root)
}

/// A cache that another setting has cleared cannot be continued.
fn other_cache() -> OpError {
    OpError::failed("The setting `map.at_rest` has changed since the watch began")
        .hint("Start `nacre watch` again")
}

fn not_up_to_date(current: &Current) -> OpError {
    let n_changed = current.stats.rehashed_entries;
    OpError::failed(format!("The map is not up to date: {n_changed} files had to be read again"))
        .hint("Leave out `--strict`, or run `nacre refresh` first")
}
