//! Skills: instructions that agents take up.

mod list;
mod show;
mod wire;

use nacre_engine::tools::{SkillPlaces, SkillRegistry};

pub use list::list;
pub use show::show;

use crate::host::{Host, git_root};

/// The skills of the project, the person's own, and those of the program.
fn skills(host: &Host) -> SkillRegistry {
    let folder = &host.environment.folder;
    let project = host.project.as_ref().map(|project| project.path.clone());
    let workspace =
        project.or_else(|| git_root(&host.person, folder)).unwrap_or_else(|| folder.clone());
    let home = host.home().ok().map(std::path::Path::to_owned);
    SkillRegistry::new(SkillPlaces { workspace: Some(workspace), home })
}
