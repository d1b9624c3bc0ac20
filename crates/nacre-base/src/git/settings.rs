//! Overrides for repository settings that name a program or a file to read.
//!
//! They are passed as `GIT_CONFIG_KEY_n`, because `-c` does not support keys that contain `=`. Keys
//! without a subsection are always overridden. Keys with a subsection, such as `filter.NAME.clean`,
//! are overridden for every name in the repository's settings.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;

use crate::platform;

/// Maximum number of overrides. The overrides are part of every git call's environment, so a
/// repository that needs more is rejected.
pub(super) const MAX_OVERRIDES: usize = 1_000;
const MAX_OVERRIDE_BYTES: usize = 96 << 10;

pub(super) const FIXED: &[(&str, &str)] = &[
    ("core.alternateRefsCommand", "false"),
    ("core.askPass", "false"),
    ("core.editor", "false"),
    ("core.fsmonitor", "false"),
    ("core.gitProxy", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.preloadIndex", "false"),
    ("core.quotePath", "false"),
    ("core.sshCommand", "false"),
    ("core.untrackedCache", "false"),
    ("core.useBuiltinFSMonitor", "false"),
    ("color.ui", "false"),
    ("commit.gpgSign", "false"),
    ("credential.helper", ""),
    ("diff.autoRefreshIndex", "false"),
    ("diff.ignoreSubmodules", "all"),
    ("diff.orderFile", "/dev/null"),
    ("diff.submodule", "short"),
    ("fetch.recurseSubmodules", "false"),
    ("gc.auto", "0"),
    ("gpg.program", "false"),
    ("gpg.openpgp.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.ssh.defaultKeyCommand", "false"),
    ("gpg.x509.program", "false"),
    ("interactive.diffFilter", ""),
    ("log.mailmap", "false"),
    ("log.showSignature", "false"),
    ("maintenance.auto", "false"),
    ("pack.threads", "1"),
    ("protocol.allow", "never"),
    ("safe.bareRepository", "explicit"),
    ("sequence.editor", "false"),
    ("submodule.recurse", "false"),
    ("uploadpack.packObjectsHook", ""),
];

/// Repository keys that name a program or a file for git to read, each with its section, last
/// component and replacement. The replacement is `false` where git would run an empty value as a
/// program.
const NEUTRAL: &[(&str, &str, &str)] = &[
    ("blame", "ignorerevsfile", ""),
    ("commit", "template", ""),
    ("core", "attributesfile", "/dev/null"),
    ("core", "excludesfile", "/dev/null"),
    ("credential", "helper", ""),
    ("diff", "cachetextconv", "false"),
    ("diff", "command", "false"),
    ("diff", "external", "false"),
    ("diff", "textconv", "false"),
    ("difftool", "cmd", "false"),
    ("difftool", "path", "false"),
    ("filter", "clean", ""),
    ("filter", "process", ""),
    ("filter", "required", "false"),
    ("filter", "smudge", ""),
    ("gpg", "allowedsignersfile", "/dev/null"),
    ("gpg", "program", "false"),
    ("gpg", "revocationfile", "/dev/null"),
    ("hook", "command", "false"),
    ("hook", "enabled", "false"),
    ("init", "templatedir", ""),
    ("lfs", "clean", "false"),
    ("lfs", "smudge", "false"),
    ("merge", "driver", "false"),
    ("mergetool", "cmd", "false"),
    ("mergetool", "path", "false"),
    ("pager", "", "false"),
    ("remote", "promisor", "false"),
    ("remote", "proxy", ""),
    ("remote", "receivepack", "false"),
    ("remote", "uploadpack", "false"),
    ("remote", "vcs", ""),
    ("sendemail", "", ""),
    ("submodule", "update", "none"),
    ("tar", "command", "false"),
    ("trailer", "cmd", "false"),
    ("trailer", "command", "false"),
];

/// One entry of `git config --list --show-scope -z`. The key may contain invalid UTF-8.
struct Listed<'l> {
    is_repository: bool,
    key: &'l [u8],
    value: &'l [u8],
}

/// Returns overrides for the settings listed by git, or `None` if the repository sets too many. If
/// the user has set a key, its override is the user's value.
pub(super) fn overrides(listed: &[u8]) -> Option<Vec<(OsString, OsString)>> {
    let listed: Vec<Listed<'_>> = list(listed);
    let own: HashMap<&[u8], &[u8]> = listed
        .iter()
        .filter(|setting| !setting.is_repository)
        .map(|setting| (setting.key, setting.value))
        .collect();
    let mut known: HashSet<&[u8]> = HashSet::new();
    let mut overrides: Vec<(OsString, OsString)> = Vec::new();
    let mut n_bytes = 0;
    for setting in listed.iter().filter(|setting| setting.is_repository) {
        let Some(neutral) = neutral(setting.key) else { continue };
        if !known.insert(setting.key) {
            continue;
        }
        let value = own.get(setting.key).copied().unwrap_or(neutral.as_bytes());
        n_bytes += setting.key.len() + value.len();
        if MAX_OVERRIDES <= overrides.len() || MAX_OVERRIDE_BYTES < n_bytes {
            return None;
        }
        let owned = |bytes: &[u8]| platform::os_string(bytes);
        overrides.push((owned(setting.key), owned(value)));
    }
    Some(overrides)
}

fn list(listed: &[u8]) -> Vec<Listed<'_>> {
    let mut fields = listed.split(|byte| *byte == 0);
    let mut settings = Vec::new();
    while let (Some(scope), Some(setting)) = (fields.next(), fields.next()) {
        // A key without a value means `true`.
        let end = setting.iter().position(|byte| *byte == b'\n');
        let (key, value) =
            end.map_or((setting, &b"true"[..]), |end| (&setting[..end], &setting[end + 1..]));
        // Settings with the scope `command` were passed by this program itself.
        if scope != b"command" {
            let is_repository = !matches!(scope, b"system" | b"global");
            settings.push(Listed { is_repository, key, value });
        }
    }
    settings
}

fn neutral(key: &[u8]) -> Option<&'static str> {
    let mut parts = key.split(|byte| *byte == b'.');
    let (section, last) = (parts.next()?, parts.next_back()?);
    let is_it = |row: &&(&str, &str, &str)| {
        row.0.as_bytes() == section && (row.1.is_empty() || row.1.as_bytes() == last)
    };
    NEUTRAL.iter().find(is_it).map(|row| row.2)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn what_a_repository_sets_is_taken_away_and_what_a_person_sets_stays() {
        let listed = "global\0filter.lfs.clean\ngit-lfs clean\0local\0filter.lfs.clean\nevil\0local\0filter.a=b.clean\nevil\0\
                      local\0user.name\nAda\0worktree\0diff.x.textconv\nevil\0local\0filter.a=b.clean\nworse\0\
                      command\0filter.c.clean\n\0local\0pager.log\nevil\0local\0filter.flag.required\0";
        let set = overrides(listed.as_bytes()).unwrap();
        let shown = |(key, value): &(OsString, OsString)| {
            format!("{} = {}", key.to_string_lossy(), value.to_string_lossy())
        };
        let set: Vec<String> = set.iter().map(shown).collect();
        assert_eq!(
            set,
            [
                "filter.lfs.clean = git-lfs clean",
                "filter.a=b.clean = ",
                "diff.x.textconv = false",
                "pager.log = false",
                "filter.flag.required = false",
            ]
        );
    }

    #[test]
    fn a_name_that_is_not_text_is_taken_away_as_it_is() {
        let set = overrides(b"local\0filter.\xff.clean\nevil\0").unwrap();
        assert_eq!(set[0].0.as_bytes(), b"filter.\xff.clean");
    }

    #[test]
    fn settings_beyond_what_a_start_of_git_is_given_are_an_error() {
        let keys =
            |n: usize| -> String { (0..n).map(|n| format!("local\0pager.k{n}\0")).collect() };
        assert_eq!(overrides(keys(MAX_OVERRIDES).as_bytes()).unwrap().len(), MAX_OVERRIDES);
        assert_eq!(overrides(keys(MAX_OVERRIDES + 1).as_bytes()), None);
        assert_eq!(overrides("local\0pager.k\0".repeat(100_000).as_bytes()).unwrap().len(), 1);
        let long = format!("local\0filter.{}.clean\nx\0", "x".repeat(MAX_OVERRIDE_BYTES));
        assert_eq!(overrides(long.as_bytes()), None);
    }
}
