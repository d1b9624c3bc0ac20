//! Finds the commands that build, run, test and check a project: first its own targets and scripts,
//! then its tools' default commands, then the commands in its CI configuration.

use nacre_types::{CommandPurpose, ProjectCommand};
use serde_json::Value;

use nacre_base::text::is_listed;

const MAX_BYTES: usize = 1 << 18;
const MAX_LINES: usize = 4_000;

const MAX_FOR_ONE: usize = 3;

/// Priorities for tools' default commands and for CI commands. Named targets rank before both.
const DEFAULT: usize = 50;
const IN_CI: usize = 100;

const MAX_COMMAND_BYTES: usize = 100;

/// Returns a target's purpose and its priority, which is the index of its name in the list. Names
/// that only begin with a listed name rank after exact matches.
fn purpose_of(name: &str) -> Option<(CommandPurpose, usize)> {
    const NAMES: &[(&str, CommandPurpose)] = &[
        ("build", CommandPurpose::Build),
        ("compile", CommandPurpose::Build),
        ("install", CommandPurpose::Build),
        ("run", CommandPurpose::Run),
        ("dev", CommandPurpose::Run),
        ("start", CommandPurpose::Run),
        ("serve", CommandPurpose::Run),
        ("watch", CommandPurpose::Run),
        ("test", CommandPurpose::Test),
        ("tests", CommandPurpose::Test),
        ("check", CommandPurpose::Test),
        ("verify", CommandPurpose::Test),
        ("e2e", CommandPurpose::Test),
        ("lint", CommandPurpose::Lint),
        ("fmt", CommandPurpose::Lint),
        ("format", CommandPurpose::Lint),
        ("typecheck", CommandPurpose::Lint),
        ("vet", CommandPurpose::Lint),
    ];
    let place = |name: &str| NAMES.iter().position(|(known, _)| *known == name);
    let first = name.split(['-', ':', '_', '/']).next().unwrap_or_default();
    let exact = place(name).map(|at| (NAMES[at].1, at));
    exact.or_else(|| place(first).map(|at| (NAMES[at].1, NAMES.len() + at)))
}

/// Default commands for each tool: its file, build command and test command.
const TOOLS: &[(&str, &str, &str)] = &[
    ("Cargo.toml", "cargo build", "cargo test"),
    ("go.mod", "go build ./...", "go test ./..."),
    ("pom.xml", "mvn package", "mvn test"),
    ("build.gradle", "gradle build", "gradle test"),
    ("build.gradle.kts", "gradle build", "gradle test"),
    ("CMakeLists.txt", "cmake -B build && cmake --build build", "ctest --test-dir build"),
    ("mix.exs", "mix compile", "mix test"),
    ("Package.swift", "swift build", "swift test"),
    ("build.sbt", "sbt compile", "sbt test"),
    ("Rakefile", "", "bundle exec rake"),
    ("pyproject.toml", "pip install -e .", ""),
    ("setup.py", "pip install -e .", ""),
    ("tox.ini", "", "tox"),
    ("noxfile.py", "", "nox"),
    ("pytest.ini", "", "pytest"),
    ("runtests.py", "", "python runtests.py"),
    ("tests/runtests.py", "", "python tests/runtests.py"),
    ("manage.py", "", "python manage.py test"),
];

/// Lock files and the tools that run their package scripts.
const RUNNERS: &[(&str, &str)] = &[
    ("pnpm-lock.yaml", "pnpm"),
    ("pnpm-workspace.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lockb", "bun"),
    ("bun.lock", "bun"),
];

const CI_TOOLS: &str = "make cargo go npm pnpm yarn bun python python3 pytest tox nox uv mvn ./mvnw gradle \
    ./gradlew cmake ctest mix swift sbt bundle rake composer dotnet just bazel tsc npx";

pub(super) fn project_commands<'p>(
    paths: impl Iterator<Item = &'p str>,
    is_file: &dyn Fn(&str) -> bool,
    text: &dyn Fn(&str) -> Option<String>,
) -> Vec<ProjectCommand> {
    let mut found = FoundCommands::default();
    for makefile in ["Makefile", "GNUmakefile", "makefile"].iter().filter(|name| is_file(name)) {
        found.targets(makefile, "make", &read(text, makefile));
    }
    for justfile in ["justfile", "Justfile"].iter().filter(|name| is_file(name)) {
        found.targets(justfile, "just", &read(text, justfile));
    }
    if is_file("package.json") {
        let manifest = read(text, "package.json");
        let named = || runner_of(&manifest);
        let locked = RUNNERS.iter().find(|(lock, _)| is_file(lock)).map(|(_, runner)| *runner);
        let runner = locked.map(str::to_owned).or_else(named).unwrap_or_else(|| "npm".to_owned());
        found.scripts(&runner, &manifest);
    }
    for (file, build, test) in TOOLS.iter().filter(|(file, _, _)| is_file(file)) {
        let wrapped = |command: &str| match command.split_once(' ') {
            Some(("gradle", rest)) => format!("./gradlew {rest}"),
            Some(("mvn", rest)) if is_file("mvnw") => format!("./mvnw {rest}"),
            _ => command.to_owned(),
        };
        found.add(CommandPurpose::Build, DEFAULT, &wrapped(build), file);
        found.add(CommandPurpose::Test, DEFAULT, &wrapped(test), file);
    }
    for path in paths.filter(|path| is_ci(path)).take(8) {
        found.ci(path, &read(text, path));
    }
    found.into_commands()
}

fn is_ci(path: &str) -> bool {
    path.starts_with(".github/workflows/") && (path.ends_with(".yml") || path.ends_with(".yaml"))
        || matches!(
            path,
            ".gitlab-ci.yml" | ".travis.yml" | ".circleci/config.yml" | ".woodpecker.yml"
        )
}

fn read(text: &dyn Fn(&str) -> Option<String>, path: &str) -> String {
    text(path).filter(|text| text.len() <= MAX_BYTES).unwrap_or_default()
}

/// Parses `"packageManager": "pnpm@9.1.0"`.
fn runner_of(manifest: &str) -> Option<String> {
    let manifest: Value = serde_json::from_str(manifest).ok()?;
    let named = manifest.get("packageManager")?.as_str()?;
    let name = named.split('@').next()?;
    ["npm", "pnpm", "yarn", "bun"].contains(&name).then(|| name.to_owned())
}

/// Commands and their priorities, in the order in which they were found.
#[derive(Default)]
struct FoundCommands(Vec<(usize, ProjectCommand)>);

impl FoundCommands {
    fn add(&mut self, purpose: CommandPurpose, priority: usize, command: &str, from: &str) {
        let is_known = self.0.iter().any(|(_, known)| known.command == command);
        if command.is_empty() || MAX_COMMAND_BYTES < command.len() || is_known {
            return;
        }
        let command =
            ProjectCommand { purpose, command: command.to_owned(), from: from.to_owned() };
        self.0.push((priority, command));
    }

    /// Adds a Makefile's targets, which are the names before a colon at the start of a line.
    fn targets(&mut self, from: &str, tool: &str, text: &str) {
        for line in text.lines().take(MAX_LINES) {
            let Some((names, rest)) = line.split_once(':') else { continue };
            let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            let is_target = !rest.starts_with('=') && names.chars().all(is_name);
            if let Some((purpose, priority)) = purpose_of(names).filter(|_| is_target) {
                self.add(purpose, priority, &format!("{tool} {names}"), from);
            }
        }
    }

    fn scripts(&mut self, runner: &str, manifest: &str) {
        let Ok(manifest) = serde_json::from_str::<Value>(manifest) else { return };
        let scripts = manifest.get("scripts").and_then(Value::as_object).into_iter().flatten();
        for (name, _) in scripts.take(MAX_LINES) {
            if let Some((purpose, priority)) = purpose_of(name) {
                let is_short = runner == "npm" && name == "test";
                let run = if is_short { "" } else { "run " };
                self.add(purpose, priority, &format!("{runner} {run}{name}"), "package.json");
            }
        }
    }

    /// Adds lines from a CI configuration that begin with a known tool and contain a word for a
    /// purpose.
    fn ci(&mut self, from: &str, text: &str) {
        for line in text.lines().take(MAX_LINES).map(str::trim) {
            let line = line.trim_start_matches("- ").trim_start_matches("run:").trim();
            let mut words = line.split_whitespace();
            let is_tool = words.next().is_some_and(|tool| is_listed(CI_TOOLS, tool));
            // `go install tool@latest` installs a tool for the CI.
            let is_for_ci = ["${{", "@latest"].iter().any(|part| line.contains(part));
            if !is_tool || is_for_ci || line.ends_with('\\') {
                continue;
            }
            let purpose = words.find_map(|word| purpose_of(word.trim_matches(['"', '\''])));
            if let Some((purpose, _)) = purpose {
                self.add(purpose, IN_CI, line, from);
            }
        }
    }

    fn into_commands(mut self) -> Vec<ProjectCommand> {
        self.0.sort_by_key(|(priority, command)| (command.purpose as u8, *priority));
        let mut told: Vec<ProjectCommand> = Vec::new();
        for (_, command) in self.0 {
            let n_alike = told.iter().filter(|known| known.purpose == command.purpose).count();
            if n_alike < MAX_FOR_ONE {
                told.push(command);
            }
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(files: &[(&str, &str)]) -> Vec<(CommandPurpose, String)> {
        let text = |path: &str| {
            files.iter().find(|(known, _)| *known == path).map(|(_, text)| (*text).to_owned())
        };
        let is_file = |path: &str| files.iter().any(|(known, _)| *known == path);
        let commands = project_commands(files.iter().map(|(path, _)| *path), &is_file, &text);
        commands.into_iter().map(|one| (one.purpose, one.command)).collect()
    }

    #[test]
    fn commands_come_from_what_people_wrote_down() {
        type Files<'t> = &'t [(&'t str, &'t str)];
        let cases: &[(Files<'_>, &[(CommandPurpose, &str)])] = &[
            (
                &[
                    (
                        "Makefile",
                        "A := b\nbuild: deps\n\tgo build\n.PHONY: test\ntest-unit:\ntest:\n",
                    ),
                    ("go.mod", ""),
                ],
                &[
                    (CommandPurpose::Build, "make build"),
                    (CommandPurpose::Build, "go build ./..."),
                    (CommandPurpose::Test, "make test"),
                    (CommandPurpose::Test, "make test-unit"),
                    (CommandPurpose::Test, "go test ./..."),
                ],
            ),
            (
                &[(
                    "package.json",
                    r#"{"packageManager": "pnpm@9", "scripts": {"dev": "x", "test": "y"}}"#,
                )],
                &[(CommandPurpose::Run, "pnpm run dev"), (CommandPurpose::Test, "pnpm run test")],
            ),
            (
                &[(
                    ".github/workflows/ci.yml",
                    "jobs:\n  - run: cargo test --all\n  - run: echo test\n  - run: cargo test ${{ x }}\n  \
                     - run: go install lint.example/lint@latest\n  - run: make build \\\n      X=1\n",
                )],
                &[(CommandPurpose::Test, "cargo test --all")],
            ),
            (&[("package.json", "{{{")], &[]),
        ];
        for (files, expected) in cases {
            let expected: Vec<(CommandPurpose, String)> = expected
                .iter()
                .map(|(purpose, command)| (*purpose, (*command).to_owned()))
                .collect();
            assert_eq!(told(files), expected);
        }
    }
}
