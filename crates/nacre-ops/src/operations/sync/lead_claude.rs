//! The lead inside Claude Code: whether a person allowed that, with which model, and what it is given.

use std::borrow::Cow;
use std::sync::Arc;

use nacre_api::wire::{self, ErrorCode};
use nacre_core::agent_config::lead_guard_command;
use nacre_core::base::redact::ExtraWords;
use nacre_core::config::{LeadRuntime, edit};
use nacre_core::memory::Store;
use nacre_engine::agents::{ClaudeLead, LEAD_DENIED};
use nacre_engine::flows::models::ModelClient;
use nacre_engine::model::{Effort, KnownProgram, ModelRef, Models, Role, Usage};

use crate::error::OpError;
use crate::host::{Host, allowed_name, clock, limit_hint, patience};

/// The key that holds a person's answer.
const AGENT: &str = "reading.agent";

/// What the answer is where no agent may be asked.
const NONE: &str = "none";

/// What a sync runs its leads with: what was asked for, else what the person set.
pub(super) fn lead_runtime(host: &Host, asked: Option<wire::LeadRuntime>) -> LeadRuntime {
    match asked {
        Some(wire::LeadRuntime::Nacre) => LeadRuntime::Nacre,
        Some(wire::LeadRuntime::Claude) => LeadRuntime::Claude,
        // Only what the person set counts: a repository has no say in it.
        None => host.own.lead.runtime,
    }
}

/// The agent that a person has not been asked about yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeadQuestion {
    /// What people call it.
    pub label: &'static str,
    pub sessions_per_day: u64,
}

/// Returns what to ask a person before Claude Code is the lead; nothing where they answered, or it is not installed.
pub fn lead_question(host: &Host, asked: Option<wire::LeadRuntime>) -> Option<LeadQuestion> {
    let known = KnownProgram::claude();
    let is_wanted = lead_runtime(host, asked) == LeadRuntime::Claude;
    let is_open = !host.environment.is_child() && !is_chosen(host) && {
        let answer = allowed_name(host);
        answer != NONE && answer != known.provider
    };
    let is_installed = crate::host::program_path(host, known.command).is_some();
    let sessions_per_day = host.own.reading.sessions_per_day;
    (is_wanted && is_open && is_installed)
        .then_some(LeadQuestion { label: known.label, sessions_per_day })
}

/// Keeps a person's answer, and goes by it from now on.
pub fn allow_lead(host: &Host, is_allowed: bool) -> Result<(), OpError> {
    let answer = if is_allowed { KnownProgram::claude().provider } else { NONE };
    host.edit_home_text("config.toml", "sync", |text, origin| {
        Ok(edit::set(text, origin, AGENT, answer)?)
    })?;
    host.allow_agent(answer);
    Ok(())
}

/// Whether a person named Claude Code as the model of the lead, which is a yes.
fn is_chosen(host: &Host) -> bool {
    let provider = KnownProgram::claude().provider;
    let model = |role: &str| host.own.roles.get(role).and_then(|table| table.model.as_deref());
    let set = model(Role::Lead.as_str()).or_else(|| model("default"));
    set.and_then(|name| name.split('/').next()) == Some(provider)
}

/// Claude Code, allowed and installed.
pub(super) struct LeadProgram {
    model: ModelRef,
    effort: Effort,
}

impl LeadProgram {
    /// Looks whether Claude Code may be asked, and with which model: that of the role `lead` where it is one of its own.
    pub(super) fn open(host: &Host, models: &Models) -> Result<Self, OpError> {
        let known = KnownProgram::claude();
        models.installed(known)?;
        let role = models.settings_of(Role::Lead).ok();
        let own = role.filter(|role| role.model.provider() == known.provider);
        if own.is_none() && allowed_name(host) != known.provider {
            let label = known.label;
            let error = OpError::failed(format!("{label} may not be asked before you said yes"));
            return Err(match allowed_name(host) {
                NONE => error.hint("nacre config set reading.agent claude-code"),
                _ => error.hint("nacre sync --runtime claude --yes"),
            });
        }
        let model = match own {
            Some(role) => role.model.clone(),
            None => known.reader_name().parse().map_err(|_| OpError::failed("No model"))?,
        };
        Ok(Self { model, effort: own.map_or(Effort::Unset, |role| role.effort) })
    }

    /// The lead of one run. Limits are looked at before it is started.
    pub(super) fn lead(
        &self,
        (host, store): (&Host, &Store),
        asker: &ModelClient<'_>,
        seed: u64,
    ) -> Result<ClaudeLead, OpError> {
        let program = host.environment.program.as_deref().ok_or_else(|| {
            OpError::failed(
                "The path of this program is not known, and without it there is no guard",
            )
        })?;
        asker.budget().allows(&self.model, Usage::default()).map_err(|reached| {
            let message = format!("No model may be asked: {reached}");
            let hint = limit_hint(&reached);
            OpError { code: ErrorCode::LimitReached, ..OpError::failed(message) }.hint(hint)
        })?;
        let folder = store.path().join("memory");
        Ok(ClaudeLead {
            models: Arc::clone(asker.models()),
            model: self.model.clone(),
            effort: self.effort,
            limits: patience(host).1,
            clock: clock(host),
            seed,
            wall: ClaudeLead::WALL.min(host.settings().limits.model_time),
            cost: asker.budget().money_left(),
            guard: lead_guard_command(program, &folder),
            denied: denied(store, asker.models().words())?,
            folder,
            keeps_session: host.own.lead.persist_sessions_in_workspace,
        })
    }
}

/// What Claude Code does not read: summaries, and memories that hold what must not leave this machine. A tool of our own takes
/// such words out; its tools read files as they are.
fn denied(store: &Store, words: &ExtraWords) -> Result<Vec<String>, OpError> {
    let mut denied: Vec<String> = LEAD_DENIED.iter().map(|name| (*name).to_owned()).collect();
    for at in store.located()? {
        let bytes = store.read_file(&at.path)?;
        if let Cow::Owned(_) = words.redact(&String::from_utf8_lossy(&bytes)) {
            let path = at.path.as_str();
            denied.push(path.strip_prefix("memory/").unwrap_or(path).to_owned());
        }
    }
    Ok(denied)
}
