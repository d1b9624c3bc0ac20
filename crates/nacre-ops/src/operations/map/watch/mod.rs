//! Reports each change of the code as it happens, and answers questions in between.
//!
//! One thread does all the work and reports it, so that no line is torn; others only say that it is time.

mod question;
mod turns;

use std::io::BufRead;
use std::time::Duration;

use nacre_api::wire::{
    DeltaReport, ErrorReport, MapCommand, Since, WatchAnswer, WatchLine, WatchMode, WatchNotice,
    WatchNoticeKind, WatchQuestion, WatchReply, WatchRequest,
};
use nacre_map::artifact::{Revision, State};
use nacre_map::watch::{Live, Mode, Now, Watch};

use self::question::Question;
use self::turns::{Turn, Turns};
use super::changes::Page;
use super::code_map::{CodeMap, MapAccess};
use super::explore::RecentOverviews;
use super::{context, delta, explore, wire};
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

/// Checking a whole project more often than this would leave no time for anything else.
pub const MIN_INTERVAL_MS: u64 = 50;

const DEFAULT_INTERVAL_MS: u64 = 2_000;

/// Watches until that many changes were reported, the questions end, or a line cannot be handed over. `questions` are lines of
/// JSON, each a `WatchQuestion` with an `id` where its answer should have one; `emit` gets each line at once.
pub fn watch(
    host: &Host,
    request: &WatchRequest,
    questions: Option<Box<dyn BufRead + Send>>,
    emit: &mut dyn FnMut(&WatchLine) -> Result<(), OpError>,
    events: &Events,
) -> Result<(), OpError> {
    let WatchRequest { project, interval_ms, poll, count } = request;
    let turns = Turns::new(interval(*interval_ms)?);
    let map = CodeMap::open(host, MapAccess::usual(project.as_deref()), "watch")?;
    let root = &map.current.project.root;
    let live = Live::new(if *poll { Watch::polling(root) } else { Watch::new(root, turns.bell()) });
    let (seen, since) = (map.current.artifact.head().state(), map.revision());
    let recent = RecentOverviews::default();
    let mut watching = Watching { host, map, live, recent, seen, since, emit, events };
    watching.begin()?;
    if let Some(questions) = questions {
        turns.listen(questions);
    }
    let mut n_changes = 0;
    loop {
        n_changes += usize::from(watching.report_change()?);
        if *count != 0 && *count <= n_changes {
            return Ok(());
        }
        let question = match turns.next(&watching.live) {
            Turn::Changed => None,
            Turn::Asked(line) => Some(Question::parse(&line)),
            Turn::TooLong => Some(Question::too_long()),
            Turn::End => return Ok(()),
        };
        watching.update()?;
        if let Some(question) = question {
            watching.answer(question)?;
        }
    }
}

fn interval(millis: Option<u64>) -> Result<Duration, OpError> {
    let millis = millis.unwrap_or(DEFAULT_INTERVAL_MS);
    if millis < MIN_INTERVAL_MS {
        let message = format!("An interval has at least {MIN_INTERVAL_MS} milliseconds");
        return Err(OpError::usage(message));
    }
    Ok(Duration::from_millis(millis))
}

/// A watch under way.
struct Watching<'w> {
    host: &'w Host,
    map: CodeMap,
    live: Live,
    recent: RecentOverviews,
    /// The state up to which changes were reported.
    seen: State,
    /// The last of them that was stored.
    since: Revision,
    emit: &'w mut dyn FnMut(&WatchLine) -> Result<(), OpError>,
    events: &'w Events,
}

impl Watching<'_> {
    /// The first look and what follows it have one deadline; where it is over, the folders are watched a turn later.
    fn begin(&mut self) -> Result<(), OpError> {
        if !self.map.options.deadline.is_over() {
            match self.map.catch_up(&mut self.live) {
                Ok(now) => self.report(now)?,
                Err(error) if error.is_late() => {}
                Err(error) => return Err(error.into()),
            }
        }
        let notice = match self.live.mode() {
            Mode::Events => WatchNoticeKind::Watching,
            Mode::Polling => WatchNoticeKind::Polling,
        };
        self.notice(notice, None)
    }

    /// Brings the map up to date, and reports what became of the watch itself.
    fn update(&mut self) -> Result<(), OpError> {
        let now = self.map.update(self.host, &mut self.live)?;
        self.report(now)
    }

    fn report(&mut self, now: Now) -> Result<(), OpError> {
        if now.is_lost {
            self.notice(WatchNoticeKind::Overflow, None)?;
        }
        match now.fault {
            Some(fault) => self.notice(WatchNoticeKind::Polling, Some(fault.to_string())),
            None => Ok(()),
        }
    }

    fn notice(&mut self, notice: WatchNoticeKind, why: Option<String>) -> Result<(), OpError> {
        let mode = match self.live.mode() {
            Mode::Events => WatchMode::Events,
            Mode::Polling => WatchMode::Polling,
        };
        (self.emit)(&WatchLine::Notice(WatchNotice {
            command: MapCommand::Watch,
            notice,
            mode,
            revision: wire::revision(self.map.current.revision()),
            watched_folders: self.live.watch().n_watched(),
            why,
        }))
    }

    /// Reports what changed since the last report; returns whether anything did.
    fn report_change(&mut self) -> Result<bool, OpError> {
        let artifact = &self.map.current.artifact;
        let state = artifact.head().state();
        if self.seen == state {
            return Ok(false);
        }
        // A state that could not be stored is lost; its changes are reported again, from the last that was stored.
        let is_known = artifact.knows(self.seen);
        let revision = if is_known { self.seen.revision } else { self.since };
        let since = Since::Revision(wire::revision(revision));
        let (since, delta) = match self.map.delta(&since) {
            Ok(delta) => (since, delta),
            // The artifact was built again in between.
            Err(_) => (Since::Beginning, self.map.delta(&Since::Beginning)?),
        };
        let delta = self.map.page(since, delta, Page::default());
        let report = DeltaReport { map: self.map.header(MapCommand::Watch), delta };
        (self.emit)(&WatchLine::Change(Box::new(report)))?;
        (self.seen, self.since) = (state, self.map.revision());
        Ok(true)
    }

    fn answer(&mut self, question: Question) -> Result<(), OpError> {
        let Question { id, asked } = question;
        let reply = asked.and_then(|asked| self.reply(&asked));
        let reply = reply.unwrap_or_else(|error| WatchReply::Error(ErrorReport::from(error)));
        (self.emit)(&WatchLine::Answer(WatchAnswer { id, reply }))
    }

    fn reply(&mut self, question: &WatchQuestion) -> Result<WatchReply, OpError> {
        let Self { host, map, recent, events, .. } = self;
        Ok(match question {
            WatchQuestion::Explore(question) => {
                WatchReply::Explore(Box::new(explore::answer(map, recent, question, events)?))
            }
            WatchQuestion::Context(question) => {
                WatchReply::Context(Box::new(context::answer(host, map, question, events)?))
            }
            WatchQuestion::Delta(question) => {
                WatchReply::Delta(Box::new(delta::answer(map, question, events)?))
            }
        })
    }
}
