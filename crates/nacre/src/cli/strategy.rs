//! How sessions are read: the flag, else the setting; and the models that may be asked for it.

use clap::{Args, ValueEnum};
use nacre_core::catalog::key_of;
use nacre_core::config::StrategyChoice;
use nacre_core::transcript::Trace;
use nacre_engine::agent::state::SpentOn;
use nacre_engine::flows::models::{AskError, AskRules, Asker, FlowModels, ProjectModels};
use nacre_engine::flows::strategy::{HowRead, ReadError, Reader};
use nacre_engine::model::{Models, Role};

use super::error::{CommandError, Exit};
use super::models::{model_settings, no_answer};
use super::runtime::Runtime;
use super::spending::{limit_hint, open_models};
use super::ui::Ui;

/// How sessions are read.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct StrategyArgs {
    /// How to read: by rules, by a model in windows, by a model that explores by code, or by what there is
    #[arg(long, value_name = "STRATEGY")]
    strategy: Option<StrategyName>,
}

impl StrategyArgs {
    /// Whether no model is wanted at all.
    pub(crate) fn is_offline(self) -> bool {
        self.strategy == Some(StrategyName::Offline)
    }
}

/// A strategy on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StrategyName {
    Auto,
    Offline,
    Windows,
    Rlm,
}

/// Who reads sessions, for as long as a command runs.
pub(crate) struct Reading {
    choice: StrategyChoice,
    models: Option<FlowModels>,
    rlm_above_tokens: usize,
}

impl Reading {
    /// Looks up what is set. A model that is set and cannot be asked is told before anything is done.
    pub(crate) fn open(
        runtime: &Runtime,
        args: StrategyArgs,
        role: Role,
    ) -> Result<Self, CommandError> {
        let set = runtime.settings().roles.get(Role::Extract.as_str());
        let flag = args.strategy.map(|name| match name {
            StrategyName::Auto => StrategyChoice::Auto,
            StrategyName::Offline => StrategyChoice::Offline,
            StrategyName::Windows => StrategyChoice::Windows,
            StrategyName::Rlm => StrategyChoice::Rlm,
        });
        let choice = flag.or(set.and_then(|table| table.strategy)).unwrap_or_default();
        let above = set.and_then(|table| table.rlm_above_tokens);
        Ok(Self {
            choice,
            models: flow_models(runtime, choice, role)?,
            rlm_above_tokens: above.unwrap_or(Reader::RLM_ABOVE_TOKENS),
        })
    }

    /// The reader of the sessions of one project.
    pub(crate) fn reader<'a>(&'a self, rules: &'a AskRules) -> Reader<'a> {
        let Self { choice, models, rlm_above_tokens } = self;
        let models = models.as_ref().map(|flow| ProjectModels { flow, rules });
        Reader { choice: *choice, models, rlm_above_tokens: *rlm_above_tokens }
    }
}

impl Reading {
    /// Somebody to ask about one session, counted for the project around.
    pub(crate) fn asker<'a>(
        &'a self,
        runtime: &Runtime,
        rules: &'a AskRules,
        trace: &Trace,
    ) -> Result<Option<Asker<'a>>, CommandError> {
        let project = runtime.project.as_ref().map(|project| project.path.display().to_string());
        let on = SpentOn { project, session: key_of(trace) };
        let asker = self.reader(rules).asker(on, runtime.now());
        asker.map_err(|error| CommandError::from_error(Exit::Failed, &error, None))
    }
}

/// The models that flows may ask; none where none is set or none is wanted.
fn flow_models(
    runtime: &Runtime,
    choice: StrategyChoice,
    role: Role,
) -> Result<Option<FlowModels>, CommandError> {
    if choice == StrategyChoice::Offline {
        return Ok(None);
    }
    let models = Models::new(model_settings(runtime)?);
    if !choice.demands_a_model() && models.settings_of(role).is_err() {
        return Ok(None);
    }
    models.route(role)?;
    open_models(runtime, models).map(Some)
}

/// Says so where a limit kept the model away from a session; how the command ends then.
pub(crate) fn told_limit(ui: &mut Ui, how: &HowRead) -> Exit {
    let (Some(key), Some(why)) = (how.limit, &how.fallback) else { return Exit::Done };
    ui.warning(
        format!("The session was read by the rules alone: {why}"),
        Some(&format!("nacre config set {key} N")),
    );
    Exit::Partial
}

impl From<AskError> for CommandError {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Roles(error) => error.into(),
            AskError::Model(error) => no_answer(&error),
            AskError::OverLimit(reached) => {
                let hint = limit_hint(&reached);
                Self::from_error(Exit::Partial, &AskError::OverLimit(reached), Some(hint))
            }
            AskError::Answer(_) | AskError::Lost => {
                let hint = "Set another model, or read by rules: --strategy offline";
                Self::from_error(Exit::Failed, &error, Some(hint.to_owned()))
            }
        }
    }
}

impl From<ReadError> for CommandError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Trace(error) => error.into(),
            ReadError::Ask(error) => error.into(),
        }
    }
}
