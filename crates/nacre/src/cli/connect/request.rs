//! What the words of `nacre connect` ask for.

use nacre_api::wire::{ConnectRequest, WiringOptions, WiringPart};
use nacre_ops::OpError;

use super::{ACTIONS, ConnectArgs};

pub(super) fn request(args: &ConnectArgs) -> Result<ConnectRequest, OpError> {
    let wiring = wiring(args);
    let (agents, paths) = (args.targets.clone(), args.paths.clone());
    let rest = || args.targets[1..].to_vec();
    let is_action = |name: &String| ACTIONS.contains(&name.as_str());
    if args.targets.iter().skip(1).any(is_action) {
        return Err(
            OpError::usage("Only one thing can be done at a time").hint("nacre connect --help")
        );
    }
    match (args.targets.first().map(String::as_str), args.targets.len()) {
        (Some("list") | None, 0 | 1) => Ok(ConnectRequest::List),
        (Some("auto"), 1) if args.remove => {
            Err(OpError::usage("Which agent?").hint("nacre connect claude --remove"))
        }
        (Some("auto"), 1) => Ok(ConnectRequest::Auto { wiring }),
        (Some("remove"), 1) => {
            Err(OpError::usage("Which agent?").hint("nacre connect remove cursor"))
        }
        (Some("remove"), _) => Ok(ConnectRequest::Remove { agents: rest(), wiring }),
        (Some("list" | "auto"), _) => {
            Err(OpError::usage(format!("`{}` takes no agent", args.targets[0]))
                .hint("Name agents alone: nacre connect claude codex"))
        }
        _ if args.remove => Ok(ConnectRequest::Remove { agents, wiring }),
        _ => Ok(ConnectRequest::Add { agents, paths, wiring }),
    }
}

fn wiring(args: &ConnectArgs) -> WiringOptions {
    let parts = [
        (args.mcp, WiringPart::Mcp),
        (args.hooks, WiringPart::Hooks),
        (args.skill, WiringPart::Skill),
    ];
    let parts = parts.into_iter().filter_map(|(is_asked, part)| is_asked.then_some(part)).collect();
    WiringOptions { parts, guard: args.guard, ..WiringOptions::default() }
}
