//! Everything that the screen knows. It is changed by `update` and drawn by `view`; it does nothing by itself.

pub(crate) mod approval;
pub(crate) mod areas;
pub(crate) mod cell;
pub(crate) mod items;
mod layout;
pub(crate) mod panel;
pub(crate) mod prompt;
pub(crate) mod requests;
mod transcript;
pub(crate) mod usage;

use std::collections::{BTreeMap, VecDeque};

use nacre_api::wire::{
    ApprovalPolicy, ChatSession, ChecklistItem, RecalledNote, RpcCall, RpcRequest, SkillEntry,
    TaskMessage,
};

use self::approval::Asked;
use self::areas::Areas;
use self::cell::{CellId, CellKind, Tone};
use self::layout::Paper;
use self::panel::Panel;
use self::prompt::{Prompt, Turn};
use self::requests::{Purpose, Requests};
use self::transcript::Transcript;
use self::usage::SessionUsage;
use super::completion::Completion;
use super::editor::Editor;
use super::event::Effect;
use super::history::History;
use super::keys::Place;
use super::paste::Pasted;
use super::text::clean_line;
use super::theme::{Theme, ThemeName};

pub(crate) use self::transcript::Scroll;

/// How long a short message stays.
const FLASH_MS: u64 = 4_000;

/// How often the time of a running turn is drawn anew.
const TURN_TICK_MS: u64 = 500;

/// Columns beside the transcript, for the mark of what is selected.
pub(crate) const GUTTER: usize = 2;

/// What the screen is opened with.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScreenOptions {
    pub(crate) theme: ThemeName,
    /// Whether the terminal shows more than the usual colors.
    pub(crate) has_true_color: bool,
    /// Which session to begin with.
    pub(crate) start: Start,
    /// The folder that is worked in.
    pub(crate) workspace: Option<String>,
    /// For a new session.
    pub(crate) model: Option<String>,
    /// For a new session.
    pub(crate) policy: Option<ApprovalPolicy>,
    /// The first words of the person.
    pub(crate) prompt: Option<String>,
}

/// Which session to begin with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Start {
    #[default]
    New,
    /// The one whose id begins so; without it the latest of the folder.
    Resume(Option<String>),
}

/// A short message on the last line.
#[derive(Clone, Debug)]
pub(crate) struct Flash {
    pub(crate) text: String,
    pub(crate) tone: Tone,
    until: u64,
}

/// Everything that the screen knows.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// Milliseconds since the screen was opened.
    pub(crate) now: u64,
    pub(crate) columns: u16,
    pub(crate) rows: u16,
    pub(crate) theme: Theme,
    pub(crate) options: ScreenOptions,
    pub(crate) session: Option<ChatSession>,
    pub(crate) transcript: Transcript,
    pub(crate) editor: Editor,
    pub(crate) pasted: Vec<Pasted>,
    pub(crate) n_pasted: usize,
    pub(crate) history: History,
    pub(crate) completion: Option<Completion>,
    pub(crate) files: Vec<String>,
    pub(crate) skills: Vec<SkillEntry>,
    /// The cell that is selected, while the person is in the transcript.
    pub(crate) browsed: Option<CellId>,
    pub(crate) panel: Option<Panel>,
    pub(crate) approvals: VecDeque<Asked>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) turn: Option<Turn>,
    /// The last message that was seen of each task that is not over.
    pub(crate) seen: BTreeMap<String, u64>,
    /// Tasks that ended last: what is said of them again is not news.
    pub(crate) over: VecDeque<String>,
    /// What the next turn told before the end of this one.
    pub(crate) early: VecDeque<TaskMessage>,
    pub(crate) plan: Vec<ChecklistItem>,
    pub(crate) is_plan_hidden: bool,
    pub(crate) recalled: Vec<RecalledNote>,
    pub(crate) usage: SessionUsage,
    pub(crate) requests: Requests,
    pub(crate) flash: Option<Flash>,
    pub(crate) last_escape: Option<u64>,
    pub(crate) last_interrupt: Option<u64>,
    pub(crate) last_key: Option<u64>,
    /// Nothing comes from the agent any more.
    pub(crate) is_closed: bool,
    pub(crate) effects: Vec<Effect>,
}

impl State {
    pub(crate) fn new(options: ScreenOptions, columns: u16, rows: u16) -> Self {
        let theme = Theme { name: options.theme, has_true_color: options.has_true_color };
        let paper = Paper { columns: usize::from(columns).saturating_sub(GUTTER), theme };
        Self {
            now: 0,
            columns,
            rows,
            theme,
            options,
            session: None,
            transcript: Transcript::new(paper),
            editor: Editor::default(),
            pasted: Vec::new(),
            n_pasted: 0,
            history: History::default(),
            completion: None,
            files: Vec::new(),
            skills: Vec::new(),
            browsed: None,
            panel: None,
            approvals: VecDeque::new(),
            prompts: Vec::new(),
            turn: None,
            seen: BTreeMap::new(),
            over: VecDeque::new(),
            early: VecDeque::new(),
            plan: Vec::new(),
            is_plan_hidden: false,
            recalled: Vec::new(),
            usage: SessionUsage::default(),
            requests: Requests::default(),
            flash: None,
            last_escape: None,
            last_interrupt: None,
            last_key: None,
            is_closed: false,
            effects: Vec::new(),
        }
    }

    /// Where keys go.
    pub(crate) fn place(&self) -> Place {
        match (&self.panel, self.approvals.front(), self.browsed) {
            (Some(Panel::List(_)), ..) => Place::List,
            (Some(Panel::Page(_)), ..) => Place::Page,
            // Whoever writes the reason writes.
            (None, Some(asked), _) if asked.reason.is_none() => Place::Approval,
            (None, None, Some(_)) => Place::Browse,
            (None, Some(_), _) | (None, None, None) => Place::Input,
        }
    }

    /// Sends a request, and remembers what its answer is for.
    pub(crate) fn send(&mut self, call: RpcCall, purpose: Purpose) {
        if self.is_closed {
            self.flash(Tone::Bad, "The agent is gone; `/quit` leaves");
            return;
        }
        let id = self.requests.add(purpose);
        self.effects.push(Effect::Send(Box::new(RpcRequest { id, call })));
    }

    pub(crate) fn flash(&mut self, tone: Tone, text: &str) {
        let until = self.now.saturating_add(FLASH_MS);
        self.flash = Some(Flash { text: clean_line(text), tone, until });
    }

    /// A line in the transcript.
    pub(crate) fn note(&mut self, tone: Tone, text: &str) {
        self.transcript.push(CellKind::notice(tone, text));
    }

    pub(crate) fn session_id(&self) -> Option<String> {
        self.session.as_ref().map(|session| session.id.clone())
    }

    /// Time went by: what is over goes.
    pub(crate) fn set_now(&mut self, now: u64) {
        self.now = self.now.max(now);
        if self.flash.as_ref().is_some_and(|flash| flash.until <= self.now) {
            self.flash = None;
        }
    }

    /// When the screen changes though nothing happens; `None` where it stays as it is.
    pub(crate) fn next_change(&self) -> Option<u64> {
        let flash = self.flash.as_ref().map(|flash| flash.until);
        let turn = self.turn.as_ref().map(|_| self.now + TURN_TICK_MS);
        let armed = self.approvals.front().and_then(|asked| asked.armed_at(self.last_key));
        let armed = armed.filter(|armed| self.now < *armed);
        flash.into_iter().chain(turn).chain(armed).min()
    }

    /// Gets everything ready that a frame shows, and notes what of a question is on the screen now.
    pub(crate) fn settle(&mut self) -> Areas {
        let columns = usize::from(self.columns);
        let whole = Paper { columns: columns.saturating_sub(2 * GUTTER).max(1), theme: self.theme };
        if let Some(Panel::Page(page)) = &mut self.panel {
            page.lay_out(whole);
        }
        if let Some(asked) = self.approvals.front_mut() {
            asked.lay_out(whole);
        }
        let areas = Areas::of(self);
        if let Some(panel) = &mut self.panel {
            panel.keep_inside(areas.panel_rows());
        }
        if let Some(asked) = self.approvals.front_mut() {
            asked.show(areas.dialog_rows(), self.now);
        }
        let paper = Paper { columns: columns.saturating_sub(GUTTER).max(1), theme: self.theme };
        self.transcript.settle(paper, usize::from(areas.transcript.height));
        areas
    }

    /// Leaves the session: nothing of it is shown any more.
    pub(crate) fn leave_session(&mut self) {
        self.session = None;
        self.transcript.clear();
        self.approvals.clear();
        self.prompts.clear();
        self.seen.clear();
        self.over.clear();
        self.early.clear();
        self.turn = None;
        self.plan.clear();
        self.recalled.clear();
        self.usage = SessionUsage::default();
        self.browsed = None;
        self.panel = None;
    }
}
