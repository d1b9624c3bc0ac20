//! `nacre watch`
//!
//! One thread does everything that is told, so that no line is torn; others only say that it is time.

mod question;
mod turns;

use std::time::Duration;

use clap::Args;
use nacre_map::artifact::{Revision, State};
use nacre_map::indexer::{Keeping, Trust};
use nacre_map::watch::{Live, Mode, Now, Watch};
use serde::Serialize;

use self::question::Asked;
use self::turns::{Turn, Turns};
use super::exit::Exit;
use super::explore::Answers;
use super::map::{DeltaOutput, Map, PageArgs, Since};
use super::ui::Ui;
use nacre_ops::Host;
use nacre_ops::OpError;

/// Print each change of the code as it happens, one JSON object a line
///
/// Only folders that belong to the map are watched. Where the system allows no more watches, a line says so, and the
/// code is looked at every interval instead.
///
/// With `--serve` it answers questions as well: one JSON object a line on standard input, with the words of the
/// command line, such as {"id":1,"command":"explore","detail":"normal"}. What is asked is `explore`, `context` or
/// `delta`; the answer is one line, what the command prints with `--json`, and has the `id` of its question. It is
/// of the code as it was when the question was read, and of nothing older.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// The project: a folder inside of it, or a registered name [default: the one around the current folder]
    #[arg(value_name = "PROJECT")]
    place: Option<String>,
    /// How often to look, in milliseconds, where the system tells of no changes
    #[arg(long, value_name = "MS", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(50..))]
    interval: u64,
    /// Look every interval even where the system would tell of changes
    #[arg(long)]
    poll: bool,
    /// Answer questions from standard input, and end with it
    #[arg(long)]
    serve: bool,
    /// End after so many changes; 0 for never
    #[arg(long, value_name = "N", default_value_t = 0)]
    count: usize,
}

/// What is told of the watch itself.
#[derive(Serialize)]
struct NoticeOutput {
    command: &'static str,
    notice: Notice,
    mode: &'static str,
    revision: Revision,
    watched_folders: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Notice {
    /// From here on, every change is told.
    Watching,
    /// From here on, changes are looked for.
    Polling,
    /// More happened than the system could tell; everything was looked at.
    Overflow,
}

/// A watch under way.
struct Watching<'w> {
    ui: &'w mut Ui,
    host: &'w Host,
    map: Map,
    live: Live,
    answers: Answers,
    /// The state up to which changes were told.
    seen: State,
    /// The last of them that was kept.
    since: Revision,
}

pub(crate) fn cmd_watch(ui: &mut Ui, host: &Host, args: &WatchArgs) -> Result<Exit, OpError> {
    let WatchArgs { place, interval, poll, serve, count } = args;
    ui.choose_json();
    let map = Map::open_with(host, place.as_deref(), (Trust::Stamps, Keeping::Kept), "watch")?;
    let root = &map.current.project.root;
    let turns = Turns::new(Duration::from_millis(*interval));
    let live = Live::new(if *poll { Watch::polling(root) } else { Watch::new(root, turns.bell()) });
    let (seen, since) = (map.current.artifact.head().state(), map.revision());
    let answers = Answers::default();
    let mut watching = Watching { ui, host, map, live, answers, seen, since };
    watching.begin()?;
    if *serve {
        turns.listen();
    }
    let mut n_told = 0;
    loop {
        n_told += usize::from(watching.tell_change()?);
        if *count != 0 && *count <= n_told {
            return Ok(Exit::Done);
        }
        let asked = match turns.next(&watching.live) {
            Turn::Changed => None,
            Turn::Asked(line) => Some(Asked::parse(&line)),
            Turn::TooLong => Some(Asked::too_long()),
            Turn::End => return Ok(Exit::Done),
        };
        watching.keep_up()?;
        if let Some(asked) = asked {
            watching.answer(asked)?;
        }
    }
}

impl Watching<'_> {
    /// The first look and what follows it have one deadline; where it is over, the folders are watched a turn later.
    fn begin(&mut self) -> Result<(), OpError> {
        if !self.map.options.deadline.is_over() {
            match self.map.catch_up(&mut self.live) {
                Ok(now) => self.tell_of(now)?,
                Err(error) if error.is_late() => {}
                Err(error) => return Err(error.into()),
            }
        }
        let is_told = self.live.mode() == Mode::Events;
        self.notice(if is_told { Notice::Watching } else { Notice::Polling }, None)
    }

    /// Brings the map up to date, and tells what the watch has to say of itself.
    fn keep_up(&mut self) -> Result<(), OpError> {
        let now = self.map.keep_up(self.host, &mut self.live)?;
        self.tell_of(now)
    }

    fn tell_of(&mut self, now: Now) -> Result<(), OpError> {
        if now.is_lost {
            self.notice(Notice::Overflow, None)?;
        }
        match now.fault {
            Some(fault) => self.notice(Notice::Polling, Some(fault.to_string())),
            None => Ok(()),
        }
    }

    fn notice(&mut self, notice: Notice, why: Option<String>) -> Result<(), OpError> {
        let mode = match self.live.mode() {
            Mode::Events => "events",
            Mode::Polling => "polling",
        };
        let revision = self.map.current.revision();
        let watched_folders = self.live.watch().n_watched();
        let command = "watch";
        self.ui.json_line(&NoticeOutput {
            command,
            notice,
            mode,
            revision,
            watched_folders,
            why,
        })?;
        self.ui.flush();
        Ok(())
    }

    /// Tells what changed since it was last told; says whether anything did.
    fn tell_change(&mut self) -> Result<bool, OpError> {
        let artifact = &self.map.current.artifact;
        let state = artifact.head().state();
        if self.seen == state {
            return Ok(false);
        }
        // A state that could not be kept is lost; who was told of it is told again, from the last that was kept.
        let is_known = artifact.knows(self.seen);
        let since = Since::Revision(if is_known { self.seen.revision } else { self.since });
        let (since, delta) = match self.map.delta(&since) {
            Ok(delta) => (since, delta),
            // The artifact was built anew in between.
            Err(_) => (Since::Beginning, self.map.delta(&Since::Beginning)?),
        };
        let affected = self.map.affected(&delta);
        let output = DeltaOutput::new(&since, delta, affected, &PageArgs::default());
        self.ui.json_line(&self.map.envelope("watch", Some(output), None::<()>))?;
        self.ui.flush();
        (self.seen, self.since) = (state, self.map.revision());
        Ok(true)
    }

    fn answer(&mut self, asked: Asked) -> Result<(), OpError> {
        let line = asked.answered(self.ui, self.host, &mut self.map, &mut self.answers);
        self.ui.line(line)?;
        self.ui.flush();
        Ok(())
    }
}
