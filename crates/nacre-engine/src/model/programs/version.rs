//! Which agents are installed, and in which version.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::find::ProgramSettings;
use super::launch::{Launch, ProgramCall};
use super::piped;
use super::{KNOWN_PROGRAMS, KnownProgram};

/// No agent takes longer to say its version; one that hangs does not keep the list waiting.
const PATIENCE: Duration = Duration::from_secs(10);

/// A version is a word or two.
const MAX_BYTES: usize = 4 << 10;

/// An agent that is installed.
#[derive(Clone, Debug)]
pub struct InstalledProgram {
    pub known: &'static KnownProgram,
    pub path: PathBuf,
    /// `None` where it did not say.
    pub version: Option<String>,
}

/// Every agent that is installed, in the call of `KNOWN_PROGRAMS`. All of them are asked for their version at once.
pub async fn installed_programs(settings: &ProgramSettings) -> Vec<InstalledProgram> {
    let found = KNOWN_PROGRAMS.iter().filter_map(|known| Some((known, known.find(settings)?)));
    let mut asked = Vec::new();
    for (known, path) in found {
        let settings = settings.clone();
        let program = path.clone();
        let version = tokio::spawn(async move { version(&program, &settings).await });
        asked.push((known, path, version));
    }
    let mut installed = Vec::new();
    for (known, path, version) in asked {
        installed.push(InstalledProgram { known, path, version: version.await.ok().flatten() });
    }
    installed
}

async fn version(program: &Path, settings: &ProgramSettings) -> Option<String> {
    let launch = Launch { arguments: vec!["--version".into()], ..Launch::default() };
    let start = ProgramCall {
        program,
        settings,
        // A list of models makes no folder.
        folder: Path::new("/"),
        launch,
        time: PATIENCE,
        output_bytes: MAX_BYTES,
        hopeless: |_| None,
        on_output: None,
    };
    let finished = piped::run(start).await.ok().filter(|finished| finished.code == Some(0))?;
    number(&finished.stdout)
}

/// The first word of a text that looks like a version: agents add their name before or behind it.
fn number(text: &str) -> Option<String> {
    let mut words =
        text.split_whitespace().map(|word| word.trim_matches(['v', '.', ',', '(', ')']));
    let is_version = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.') && word.len() <= 40
    };
    words.find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_found_in_what_agents_print() {
        for (text, version) in [
            ("2.1.197 (Claude Code)\n", Some("2.1.197")),
            ("codex-cli 0.166.0\n", Some("0.166.0")),
            ("GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check.", Some("1.0.102")),
            ("v1.2\n", Some("1.2")),
            ("usage: claude", None),
            ("", None),
        ] {
            assert_eq!(number(text).as_deref(), version, "{text}");
        }
    }
}
