//! The screen's state, which `update` changes and `view` draws.

pub(crate) mod areas;
pub(crate) mod cell;
mod layout;
pub(crate) mod panel;
mod transcript;
pub(crate) mod turn;

use std::collections::{BTreeMap, VecDeque};

use nacre_types::{
    ApprovalPolicy, ChatSession, ChecklistItem, RecalledNote, RpcCall, RpcRequest, SessionRequest,
    SkillEntry, TaskMessage,
};

use self::areas::Areas;
use self::cell::{CellId, CellKind};
use self::layout::Paper;
use self::panel::{ApprovalDialog, Panel};
use self::transcript::Transcript;
use self::turn::{Prompt, Purpose, Requests, RunningTurn, SessionUsage};
use super::commands::Completion;
use super::editor::Editor;
use super::event::Effect;
use super::input::{History, Pasted};
use super::keys::KeyContext;
use super::text::clean_line;
use super::theme::{Role, Theme};

pub(crate) use self::transcript::Scroll;

const FLASH_MS: u64 = 4_000;

const TURN_TICK_MS: u64 = 500;

/// Columns next to the transcript that are reserved for the selection mark.
pub(crate) const GUTTER: usize = 2;

#[derive(Clone, Debug, Default)]
pub(crate) struct ScreenOptions {
    pub(crate) theme: Theme,
    /// The session to resume; `None` starts a new session.
    pub(crate) resume: Option<SessionRequest>,
    pub(crate) workspace: Option<String>,
    /// The model of a new session.
    pub(crate) model: Option<String>,
    /// The approval policy of a new session.
    pub(crate) policy: Option<ApprovalPolicy>,
    pub(crate) prompt: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Flash {
    pub(crate) text: String,
    pub(crate) tone: Role,
    pub(crate) until: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ScreenState {
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
    /// The selected cell while the user is browsing the transcript.
    pub(crate) browsed: Option<CellId>,
    pub(crate) panel: Option<Panel>,
    pub(crate) approvals: VecDeque<ApprovalDialog>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) turn: Option<RunningTurn>,
    /// The last received sequence number of each unfinished task.
    pub(crate) seen: BTreeMap<String, u64>,
    /// Tasks that ended recently. Repeated messages from these tasks are ignored.
    pub(crate) over: VecDeque<String>,
    /// Messages from the next turn that arrived before the current turn ended.
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
    pub(crate) is_closed: bool,
    pub(crate) effects: Vec<Effect>,
}

impl ScreenState {
    pub(crate) fn new(options: ScreenOptions, columns: u16, rows: u16) -> Self {
        let theme = options.theme;
        let paper = Paper { columns: usize::from(columns).saturating_sub(GUTTER), theme };
        let transcript = Transcript::new(paper);
        Self { columns, rows, theme, options, transcript, ..Self::default() }
    }

    pub(crate) fn place(&self) -> KeyContext {
        match (&self.panel, self.approvals.front(), self.browsed) {
            (Some(Panel::List(_)), ..) => KeyContext::List,
            (Some(Panel::Page(_)), ..) => KeyContext::Page,
            // While the user types a reason, keys edit it as they would the input.
            (None, Some(question), _) if question.reason.is_none() => KeyContext::Approval,
            (None, None, Some(_)) => KeyContext::Browse,
            (None, Some(_), _) | (None, None, None) => KeyContext::Input,
        }
    }

    pub(crate) fn send(&mut self, call: RpcCall, purpose: Purpose) {
        if self.is_closed {
            self.flash(Role::Bad, "The connection to the agent was lost; `/quit` quits");
            return;
        }
        let id = self.requests.add(purpose);
        self.effects.push(Effect::Send(Box::new(RpcRequest { id, call })));
    }

    pub(crate) fn flash(&mut self, tone: Role, text: &str) {
        let until = self.now.saturating_add(FLASH_MS);
        self.flash = Some(Flash { text: clean_line(text), tone, until });
    }

    pub(crate) fn note(&mut self, tone: Role, text: &str) {
        self.transcript.push(CellKind::notice(tone, text));
    }

    pub(crate) fn session_id(&self) -> Option<String> {
        self.session.as_ref().map(|session| session.id.clone())
    }

    /// Returns when the screen next changes without an event.
    pub(crate) fn next_change(&self) -> Option<u64> {
        let flash = self.flash.as_ref().map(|flash| flash.until);
        let turn = self.turn.as_ref().map(|_| self.now + TURN_TICK_MS);
        let armed = self.approvals.front().and_then(|question| question.arm_time(self.last_key));
        let armed = armed.filter(|armed| self.now < *armed);
        flash.into_iter().chain(turn).chain(armed).min()
    }

    /// Lays out everything for the next frame, and records how much of a question is visible to the
    /// user.
    pub(crate) fn settle(&mut self) -> Areas {
        let columns = usize::from(self.columns);
        let whole = Paper { columns: columns.saturating_sub(2 * GUTTER).max(1), theme: self.theme };
        if let Some(Panel::Page(page)) = &mut self.panel {
            page.lay_out(whole);
        }
        if let Some(question) = self.approvals.front_mut() {
            question.lay_out(whole);
        }
        let areas = Areas::of(self);
        if let Some(panel) = &mut self.panel {
            panel.keep_inside(areas.panel_rows());
        }
        if let Some(question) = self.approvals.front_mut() {
            question.show(areas.dialog_rows(), self.now);
        }
        let paper = Paper { columns: columns.saturating_sub(GUTTER).max(1), theme: self.theme };
        self.transcript.settle(paper, usize::from(areas.transcript.height));
        areas
    }

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
