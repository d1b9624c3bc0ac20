//! The environment of a program, built from an allow-list of variables.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Variables that are copied from the user's environment. None of them contains an API key or
/// password.
const PASSED: &str = "PATH HOME USER LOGNAME LANG LC_ALL LC_CTYPE TZ CARGO_HOME RUSTUP_TOOLCHAIN \
    RUSTUP_HOME GOPATH GOROOT GOMODCACHE JAVA_HOME NVM_DIR PYENV_ROOT VIRTUAL_ENV CONDA_PREFIX";

/// The variables in `PASSED` whose values are directories. Programs may read these directories.
const FOLDERS: &str =
    "RUSTUP_HOME GOPATH GOROOT GOMODCACHE JAVA_HOME NVM_DIR PYENV_ROOT VIRTUAL_ENV CONDA_PREFIX";

/// Hidden entries in the home directory that builds and tests need: toolchains, their downloads,
/// and git settings. None of them contains an API key or password. If a directory also contains
/// secrets, only its other entries are listed.
const TOOLCHAINS: &str = "
    .cargo/bin .cargo/config .cargo/config.toml .cargo/env .cargo/git .cargo/registry .rustup
    .npm/_cacache .npm/_npx .nvm .fnm .volta .nodenv .node-gyp .yarn/berry .yarn/cache .pnpm-store
    .local/share/pnpm .local/share/fnm .bun/bin .bun/install .deno/bin .cache/deno .cache/node
    .cache/node-gyp .cache/yarn .cache/pnpm .cache/ms-playwright .cache/puppeteer .cache/Cypress
    .cache/electron .cache/typescript .pyenv .virtualenvs .venvs .venv .rye/shims .rye/py .pixi/bin
    .local/bin .local/lib .local/pipx .local/share/pipx .local/share/uv/python .local/share/uv/tools
    .local/share/virtualenvs
    .cache/pip .cache/uv .cache/pypoetry .cache/pre-commit .cache/mypy .cache/ruff .goenv
    .cache/go-build .cache/golangci-lint .rbenv .rvm .gem/ruby .local/share/gem .bundle/cache
    .sdkman/candidates .jenv .gradle/caches .gradle/wrapper .gradle/jdks .gradle/native
    .m2/repository .m2/wrapper .ivy2/cache .ivy2/local .sbt/boot .sbt/launchers .cache/coursier
    .local/share/coursier .konan .dotnet/sdk .dotnet/shared .dotnet/host .dotnet/packs .dotnet/tools
    .nuget/packages .ghcup .cabal/bin .cabal/packages .cabal/store .stack/programs .stack/snapshots
    .stack/pantry .opam .elan .juliaup .julia/packages .julia/artifacts .julia/compiled
    .julia/registries .mix .hex/packages .pub-cache/bin .pub-cache/hosted .pub-cache/git
    .composer/vendor .composer/cache .cache/composer .swiftly .zvm .cache/zig .foundry/bin .svm
    .asdf .proto .local/share/mise .cache/mise .nix-profile .nix-defexpr .local/state/nix
    .guix-profile .ccache .cache/ccache .cache/sccache .cache/bazel .cache/bazelisk .vcpkg
    .conan/data .conan2/p .platformio/packages .terraform.d/plugins .terraform.d/plugin-cache
    .gitconfig .gitconfig.local .config/git/config .config/git/ignore .config/git/attributes
    .gitignore .gitignore_global .gitattributes
";

/// Variables that mark the environment as non-interactive.
#[rustfmt::skip]
const FIXED: &[(&str, &str)] = &[
    ("TERM", "dumb"), ("NO_COLOR", "1"), ("CI", "1"), ("PAGER", "cat"), ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"), ("GIT_CONFIG_NOSYSTEM", "1"),
    ("DEBIAN_FRONTEND", "noninteractive"),
];

pub fn own_home(person: &BTreeMap<String, String>) -> Option<PathBuf> {
    PathBuf::from(person.get("HOME")?).canonicalize().ok()
}

pub fn own_folders(person: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let folder = |name: &str| person.get(name).map(PathBuf::from);
    let named = FOLDERS.split_ascii_whitespace().filter_map(folder);
    let (home, cargo) = (folder("HOME"), folder("CARGO_HOME"));
    let usual = TOOLCHAINS.split_ascii_whitespace().flat_map(|place| {
        let moved = place.strip_prefix(".cargo/").zip(cargo.as_ref());
        let moved = moved.map(|(entry, cargo)| cargo.join(entry));
        home.iter().map(|home| home.join(place)).chain(moved).collect::<Vec<_>>()
    });
    named
        .chain(usual)
        .filter_map(|folder| nacre_base::platform::canonicalize(folder).ok())
        .collect()
}

pub fn program_environment<'a>(
    person: impl IntoIterator<Item = (&'a str, &'a str)>,
    scratch: &Path,
) -> BTreeMap<String, String> {
    let passed = person
        .into_iter()
        .filter(|(name, _)| PASSED.split_ascii_whitespace().any(|passed| passed == *name));
    let mut environment: BTreeMap<String, String> = passed
        .chain(FIXED.iter().copied())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let scratch = scratch.to_string_lossy().into_owned();
    environment.insert("TMPDIR".to_owned(), scratch);
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_in_the_environment_does_not_reach_a_program() {
        let person = [
            ("PATH", "/usr/bin"),
            ("ANTHROPIC_API_KEY", "hunter2"),
            ("AWS_SECRET_ACCESS_KEY", "hunter2"),
            ("SSH_AUTH_SOCK", "/run/hunter2"),
            ("LD_PRELOAD", "/hunter2.so"),
            ("TERM", "xterm"),
        ];
        let environment = program_environment(person, Path::new("/scratch"));
        assert!(environment.values().all(|value| !value.contains("hunter2")));
        assert_eq!(environment["PATH"], "/usr/bin");
        assert_eq!(environment["TERM"], "dumb");
        assert_eq!(environment["TMPDIR"], "/scratch");
    }
}
