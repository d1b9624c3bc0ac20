//! Checks a call's footprint against the agent's permissions.
//!
//! Everything that `Permissions` does not allow is refused. Paths are checked only as text, which
//! is safe because files are opened without following symbolic links.

use crate::record::{Category, Fault};
use crate::tools::Permissions;
use crate::tools::footprint::{Area, Exec, Footprint, MemoryUse};
use crate::tools::tool::{Result, ToolError, ToolSpec};
use crate::tools::workspace::Denied;

/// Returns whether the permissions allow any use of the tool. Other tools are not offered.
pub(super) fn offers(permissions: &Permissions, tool: &ToolSpec) -> bool {
    match tool.category {
        Category::Read | Category::Search | Category::Meta => true,
        Category::Write => !permissions.is_read_only(),
        Category::Execute => permissions.exec == Exec::Anything,
        Category::Network => permissions.network,
    }
}

pub(super) fn check(
    permissions: &Permissions,
    denied: &Denied,
    footprint: &Footprint,
) -> Result<()> {
    for area in &footprint.reads {
        check_area(area, &permissions.reads, denied.forbids_reading(area), "read")?;
    }
    for area in &footprint.writes {
        check_area(area, &permissions.writes, denied.forbids_writing(area), "change")?;
    }
    if permissions.exec < footprint.exec {
        return Err(refusal("You may not start programs".to_owned()));
    }
    if let Some(host) = footprint.host.as_ref().filter(|_| !permissions.network) {
        let host: String = host.chars().take(120).collect();
        return Err(refusal(format!("You may not connect to `{host}`")));
    }
    if permissions.memory < footprint.memory {
        let what = match footprint.memory {
            MemoryUse::Nothing | MemoryUse::Reads => "You may not read memories",
            MemoryUse::Changes => "You may not change memories",
        };
        return Err(refusal(what.to_owned()));
    }
    Ok(())
}

fn check_area(area: &Area, allowed: &[Area], is_denied: bool, verb: &str) -> Result<()> {
    if is_denied {
        return Err(refusal(format!(
            "You may not {verb} {}: it is protected",
            describe_area(area)
        )));
    }
    if allowed.iter().any(|allowed| allowed.covers(area)) {
        return Ok(());
    }
    let places: Vec<String> = allowed.iter().map(describe_area).collect();
    let may = if places.is_empty() { "nothing".to_owned() } else { places.join(", ") };
    Err(refusal(format!("You may not {verb} {}; you may {verb} {may}", describe_area(area))))
}

fn describe_area(area: &Area) -> String {
    match area {
        Area::File(path) => format!("`{path}`"),
        Area::Tree(Some(path)) => format!("`{path}/`"),
        Area::Tree(None) => "the whole workspace".to_owned(),
    }
}

fn refusal(what: String) -> ToolError {
    ToolError::new(Fault::Denied, what, "Continue without it, or explain why you need it.")
}

#[cfg(test)]
mod tests {
    use nacre_base::fs::RelPath;

    use super::*;

    fn file(path: &str) -> Area {
        Area::File(RelPath::new(path).unwrap())
    }

    fn tree(path: &str) -> Area {
        Area::Tree(Some(RelPath::new(path).unwrap()))
    }

    fn verdict(permissions: &Permissions, footprint: &Footprint) -> String {
        let denied = Denied::new(&permissions.denied).unwrap();
        match check(permissions, &denied, footprint) {
            Ok(()) => "allowed".to_owned(),
            Err(error) => error.what,
        }
    }

    #[test]
    fn areas_outside_the_spec_are_refused() {
        let permissions = Permissions {
            reads: vec![Area::Tree(None)],
            writes: vec![tree("notes")],
            denied: vec!["private/**".to_owned()],
            ..Permissions::default()
        };
        let mut table = String::new();
        for footprint in [
            Footprint::reading([file("src/main.rs")]),
            Footprint::reading([Area::Tree(None)]),
            Footprint::reading([file(".env")]),
            Footprint::reading([file("deploy/id_rsa")]),
            Footprint::reading([file("private/x")]),
            Footprint::reading([tree("private")]),
            Footprint::reading([file(".git/config")]),
            Footprint::changing([file("notes/a.md")]),
            Footprint::changing([file("notes/.git/hooks/x")]),
            Footprint::changing([file("notes/.NACRE/x")]),
            Footprint::changing([file("src/main.rs")]),
            Footprint::changing([file("notesx")]),
            Footprint::changing([Area::Tree(None)]),
            Footprint { exec: Exec::Helper, ..Footprint::default() },
            Footprint { host: Some("docs.rs".to_owned()), ..Footprint::default() },
            Footprint { memory: MemoryUse::Reads, ..Footprint::default() },
        ] {
            table += &verdict(&permissions, &footprint);
            table.push('\n');
        }
        insta::assert_snapshot!(table, @r"
        allowed
        allowed
        You may not read `.env`: it is protected
        You may not read `deploy/id_rsa`: it is protected
        You may not read `private/x`: it is protected
        You may not read `private/`: it is protected
        You may not read `.git/config`: it is protected
        allowed
        You may not read `notes/.git/hooks/x`: it is protected
        You may not change `notes/.NACRE/x`: it is protected
        You may not change `src/main.rs`; you may change `notes/`
        You may not change `notesx`; you may change `notes/`
        You may not change the whole workspace; you may change `notes/`
        You may not start programs
        You may not connect to `docs.rs`
        You may not read memories
        ");
    }
}
