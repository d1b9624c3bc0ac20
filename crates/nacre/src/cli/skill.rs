//! `nacre skill`: lists and shows skills.

use nacre_ops::skill as ops;
use nacre_types::{EmptyRequest, SkillListReport, SkillShowReport};

use super::prelude::*;

/// List this project's skills, yours and Nacre's, or show one as agents read it
///
/// A skill is a directory with a `SKILL.md`, in the project's `.agents/skills` or `.claude/skills`
/// or in `~/.nacre/skills`. Directories that are not valid skills are reported with the reason.
#[derive(Debug, Args)]
pub(crate) struct SkillArgs {
    /// Show this skill
    name: Option<String>,
    /// Arguments to pass to the skill
    #[arg(long, value_name = "TEXT", default_value = "", requires = "name")]
    arguments: String,
}

pub(crate) fn cmd_skill(ui: &mut Ui, host: &Host, args: SkillArgs) -> CommandResult {
    match args.name {
        Some(name) => ui.report(&ops::show(host, &name, &args.arguments)?, print_skill),
        None => ui.report(&ops::list(host, &EmptyRequest {})?, print_list),
    }
}

fn print_list(ui: &mut Ui, report: &SkillListReport) {
    ui.table(
        report.skills.iter().map(|skill| {
            [id(&skill.name), faint(skill.origin.as_str()), title(&skill.description)]
        }),
    );
    for problem in &report.problems {
        ui.warning(format!("`{}` is not a valid skill: {}", problem.path, problem.why), None);
    }
}

fn print_skill(ui: &mut Ui, report: &SkillShowReport) {
    let skill = &report.skill;
    ui.note(0, Role::Title, &skill.description);
    let mut facts = vec![skill.name.clone(), skill.origin.as_str().to_owned()];
    facts.extend(skill.path.clone());
    facts.extend(skill.license.clone());
    facts.extend(skill.allowed_tools.as_ref().map(|tools| format!("only {}", tools.join(" "))));
    ui.note(0, Role::Faint, facts.join(" · "));
    ui.line("");
    ui.text(&report.instructions);
}
