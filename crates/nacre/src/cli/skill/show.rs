//! `nacre skill show`

use clap::Args;
use nacre_core::base::Shown;
use serde_json::json;

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use super::{shelf, skill_json};
use nacre_ops::Host;
use nacre_ops::OpError;

/// Show a skill as an agent reads it
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The skill's name
    name: String,
    /// The words that it is called with
    #[arg(long, value_name = "TEXT", default_value = "")]
    arguments: String,
}

pub(super) fn cmd_show(ui: &mut Ui, host: &Host, args: &ShowArgs) -> Result<Exit, OpError> {
    let ShowArgs { name, arguments } = args;
    let Some(skill) = shelf(host).find(name) else {
        return Err(OpError::failed(format!("There is no skill `{name}`"))
            .hint("`nacre skill list` shows every skill"));
    };
    let instructions = skill.instructions(arguments);
    if ui.is_json() {
        let mut value = skill_json(&skill);
        value["instructions"] = json!(instructions);
        ui.json(&value)?;
        return Ok(Exit::Done);
    }
    ui.line(ui.paint(Role::Title, Shown(&skill.description).one_line()))?;
    let mut facts = vec![skill.name.clone(), skill.origin.as_str().to_owned()];
    facts.extend(skill.path.as_ref().map(|path| path.display().to_string()));
    facts.extend(skill.license.clone());
    if let Some(tools) = &skill.allowed_tools {
        let names: Vec<&str> = tools.iter().map(String::as_str).collect();
        facts.push(format!("only {}", names.join(" ")));
    }
    ui.line(ui.paint(Role::Faint, Shown(&facts.join(" · ")).one_line()))?;
    ui.line("")?;
    ui.text(&instructions)?;
    Ok(Exit::Done)
}
