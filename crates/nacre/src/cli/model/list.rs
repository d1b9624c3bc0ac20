//! `nacre model list`

use clap::Args;
use nacre_core::safefs::{Access, WriteScope};
use nacre_core::search::{Builtin, Embedder, minilm};
use serde::Serialize;
use serde_json::json;

use super::super::error::{CommandError, Exit};
use super::super::runtime::Runtime;
use super::super::ui::{Role, Ui};
use super::Installable;

/// List the models and say which are ready
#[derive(Debug, Args)]
pub(crate) struct ListArgs {}

#[derive(Serialize)]
struct ModelOutput {
    name: &'static str,
    state: &'static str,
    /// The name and the content: vectors of another id cannot be compared with its own.
    id: Option<String>,
    dims: Option<usize>,
    about: &'static str,
}

impl ModelOutput {
    fn ready(name: &'static str, model: &dyn Embedder, about: &'static str) -> Self {
        let (id, dims) = (Some(model.model().to_string()), Some(model.dims()));
        Self { name, state: "ready", id, dims, about }
    }
}

pub(crate) fn cmd_list(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &ListArgs,
) -> Result<Exit, CommandError> {
    let ListArgs {} = args;
    let builtin = Builtin::shipped()?;
    let about = "part of the program";
    let models = [ModelOutput::ready("builtin", &builtin, about), minilm_output(ui, runtime)?];
    if ui.is_json() {
        ui.json(&json!({ "models": models }))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = models
        .iter()
        .map(|model| {
            let role = if model.state == "ready" { Role::Good } else { Role::Faint };
            vec![
                (Role::Id, model.name.to_owned()),
                (role, model.state.to_owned()),
                (Role::Faint, model.about.to_owned()),
            ]
        })
        .collect();
    ui.table(&rows)?;
    Ok(Exit::Done)
}

fn minilm_output(ui: &mut Ui, runtime: &Runtime) -> Result<ModelOutput, CommandError> {
    let name = Installable::Minilm.as_str();
    let about = "all-MiniLM-L6-v2, slower and better; nacre model install minilm";
    let home = runtime.home()?;
    let scope = match WriteScope::open(home, Access::Private) {
        Err(error) if error.is_missing() => None,
        scope => Some(scope?),
    };
    let state = |state| ModelOutput { name, state, id: None, dims: None, about };
    let Some(scope) = scope else { return Ok(state("not installed")) };
    match minilm::installed(&scope) {
        Ok(Some(model)) => Ok(ModelOutput::ready(name, &model, "all-MiniLM-L6-v2")),
        Ok(None) => Ok(state("not installed")),
        Err(error) => {
            let error = CommandError::from(error);
            ui.warning(&error.message, error.hints.first().map(String::as_str));
            Ok(state("damaged"))
        }
    }
}
