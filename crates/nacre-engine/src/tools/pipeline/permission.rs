//! Whether the spec of an agent allows what a call will touch.
//!
//! Everything is refused that no field of `Permissions` names. A path is judged by its name alone, and that is enough:
//! whoever opens it follows no link, so that no other name can stand for it.

use super::super::footprint::{Area, Exec, Footprint, MemoryUse, Network};
use super::super::tool::{ToolError, ToolSpec};
use super::super::workspace::Denied;
use crate::record::{Category, Fault};
use crate::tools::{ExecPolicy, NetworkPolicy, Permissions};

/// Whether the agent has any use for the tool; what it could never call it is not even shown.
pub(super) fn offers(permissions: &Permissions, tool: &ToolSpec) -> bool {
    match tool.category {
        Category::Read | Category::Search | Category::Meta => true,
        Category::Write => !permissions.is_read_only(),
        Category::Execute => permissions.exec == ExecPolicy::Confined,
        Category::Network => permissions.network != NetworkPolicy::Nothing,
    }
}

pub(super) fn not_offered(name: &str) -> ToolError {
    let what = format!("`{name}` is not among your tools");
    ToolError::new(Fault::Denied, what, "Use one of the tools that you were given.")
}

/// Refuses a call that touches what the agent may not.
pub(super) fn check(
    permissions: &Permissions,
    denied: &Denied,
    footprint: &Footprint,
) -> Result<(), ToolError> {
    for area in &footprint.reads {
        check_area(area, &permissions.reads, denied.forbids_reading(area), "read")?;
    }
    for area in &footprint.writes {
        check_area(area, &permissions.writes, denied.forbids_writing(area), "change")?;
    }
    check_exec(permissions.exec, footprint.exec)?;
    check_network(&permissions.network, &footprint.network)?;
    if permissions.memory < footprint.memory {
        let what = match footprint.memory {
            MemoryUse::Nothing | MemoryUse::Reads => "You may not read memories",
            MemoryUse::Changes => "You may not change memories",
        };
        return Err(refusal(what.to_owned()));
    }
    Ok(())
}

fn check_area(area: &Area, allowed: &[Area], is_denied: bool, verb: &str) -> Result<(), ToolError> {
    if is_denied {
        return Err(refusal(format!("You may not {verb} {}: it is protected", shown(area))));
    }
    if allowed.iter().any(|allowed| allowed.covers(area)) {
        return Ok(());
    }
    let places: Vec<String> = allowed.iter().map(shown).collect();
    let may = if places.is_empty() { "nothing".to_owned() } else { places.join(", ") };
    Err(refusal(format!("You may not {verb} {}; you may {verb} {may}", shown(area))))
}

fn check_exec(allowed: ExecPolicy, wanted: Exec) -> Result<(), ToolError> {
    let needed = match wanted {
        Exec::Nothing => ExecPolicy::Nothing,
        Exec::Helper => ExecPolicy::Helpers,
        Exec::Anything => ExecPolicy::Confined,
    };
    if needed <= allowed { Ok(()) } else { Err(refusal("You may not start programs".to_owned())) }
}

fn check_network(allowed: &NetworkPolicy, wanted: &Network) -> Result<(), ToolError> {
    let is_allowed = match (wanted, allowed) {
        (Network::Nothing, _) | (_, NetworkPolicy::Anything) => true,
        (Network::Host(_), NetworkPolicy::Public) => true,
        (Network::Host(host), NetworkPolicy::Hosts(hosts)) => {
            hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host))
        }
        (Network::Anything, NetworkPolicy::Public | NetworkPolicy::Hosts(_))
        | (_, NetworkPolicy::Nothing) => false,
    };
    if is_allowed { Ok(()) } else { Err(refusal(format!("You may not reach {}", host(wanted)))) }
}

fn host(wanted: &Network) -> String {
    match wanted {
        Network::Host(host) => format!("`{}`", host.chars().take(120).collect::<String>()),
        Network::Nothing | Network::Anything => "the network".to_owned(),
    }
}

fn shown(area: &Area) -> String {
    match area {
        Area::File(path) => format!("`{path}`"),
        Area::Tree(Some(path)) => format!("`{path}/`"),
        Area::Tree(None) => "the whole workspace".to_owned(),
    }
}

fn refusal(what: String) -> ToolError {
    ToolError::new(Fault::Denied, what, "Do without it, or say what you would need it for.")
}

#[cfg(test)]
mod tests {
    use nacre_core::safefs::RelPath;

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
        You may not read memories
        ");
    }

    #[test]
    fn hosts_and_programs_follow_their_policies() {
        let host = |name: &str| Network::Host(name.to_owned());
        let hosts = NetworkPolicy::Hosts(vec!["docs.rs".to_owned()]);
        for (allowed, wanted, expected) in [
            (&NetworkPolicy::Nothing, Network::Nothing, true),
            (&NetworkPolicy::Nothing, host("docs.rs"), false),
            (&hosts, host("DOCS.rs"), true),
            (&hosts, host("evil.docs.rs"), false),
            (&hosts, Network::Anything, false),
            (&NetworkPolicy::Public, host("docs.rs"), true),
            (&NetworkPolicy::Public, Network::Anything, false),
            (&NetworkPolicy::Anything, Network::Anything, true),
        ] {
            assert_eq!(check_network(allowed, &wanted).is_ok(), expected, "{allowed:?} {wanted:?}");
        }
        for (allowed, wanted, expected) in [
            (ExecPolicy::Nothing, Exec::Helper, false),
            (ExecPolicy::Helpers, Exec::Helper, true),
            (ExecPolicy::Helpers, Exec::Anything, false),
            (ExecPolicy::Confined, Exec::Anything, true),
        ] {
            assert_eq!(check_exec(allowed, wanted).is_ok(), expected, "{allowed:?} {wanted:?}");
        }
    }
}
