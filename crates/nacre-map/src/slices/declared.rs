//! Reads programs, libraries and descriptions from manifests.

use std::collections::BTreeMap;

use serde_json::Value;

use super::places::folder_of;

const MAX_BYTES: usize = 1 << 18;

const MAX_PROGRAMS: usize = 32;

const MADE_FOLDERS: &[&str] = &["dist", "lib", "build", "out", "es", "esm", "cjs"];

const SCRIPT_ENDS: &[&str] = &["ts", "tsx", "mts", "js", "mjs", "cjs", "jsx"];

pub(super) fn is_declaring(name: &str) -> bool {
    matches!(name, "Cargo.toml" | "package.json" | "pyproject.toml" | "composer.json")
}

pub(super) fn is_package_file(name: &str) -> bool {
    is_declaring(name)
        || matches!(name, "go.mod" | "pom.xml" | "mix.exs" | "Package.swift" | "CMakeLists.txt")
        || name.ends_with(".gradle")
        || name.ends_with(".gradle.kts")
        || name.ends_with(".csproj")
        || name.ends_with(".gemspec")
}

#[derive(Debug, Default)]
pub(super) struct Declared {
    /// The main file of each declared program, and the program's name.
    pub(super) programs: BTreeMap<String, String>,
    /// The root file of each declared library, and the library's name.
    pub(super) libraries: BTreeMap<String, String>,
    pub(super) about: BTreeMap<String, String>,
}

impl Declared {
    /// Reads one manifest. `is_file` returns whether a path is a file in the project.
    pub(super) fn read(&mut self, path: &str, text: &str, is_file: &dyn Fn(&str) -> bool) {
        if MAX_BYTES < text.len() {
            return;
        }
        let folder = folder_of(path);
        match path.rsplit('/').next().unwrap_or(path) {
            "Cargo.toml" => self.cargo(folder, text, is_file),
            "package.json" => self.package(folder, text, is_file),
            "pyproject.toml" => self.pyproject(folder, text, is_file),
            "composer.json" => {
                let parsed = serde_json::from_str::<Value>(text).unwrap_or_default();
                self.describe(folder, parsed.get("description").and_then(Value::as_str));
            }
            _ => {}
        }
    }

    fn describe(&mut self, folder: &str, words: Option<&str>) {
        let words = words.map(|words| words.split_whitespace().collect::<Vec<_>>().join(" "));
        if let Some(words) = words.filter(|words| !words.is_empty()) {
            self.about.entry(folder.to_owned()).or_insert(words);
        }
    }

    fn cargo(&mut self, folder: &str, text: &str, is_file: &dyn Fn(&str) -> bool) {
        let Ok(manifest) = text.parse::<toml::Table>() else { return };
        let Some(package) = manifest.get("package").and_then(toml::Value::as_table) else { return };
        let of = |key: &str| package.get(key).and_then(toml::Value::as_str);
        self.describe(folder, of("description"));
        let name = of("name").unwrap_or_default();
        let main = below(folder, "src/main.rs");
        if is_file(&main) {
            self.programs.insert(main, name.to_owned());
        }
        let library = below(folder, "src/lib.rs");
        if is_file(&library) {
            self.libraries.insert(library, name.to_owned());
        }
        let targets = manifest.get("bin").and_then(toml::Value::as_array).into_iter().flatten();
        for target in targets.take(MAX_PROGRAMS) {
            let of = |key: &str| target.get(key).and_then(toml::Value::as_str);
            let path = of("path").map(|path| below(folder, path)).filter(|path| is_file(path));
            if let Some(path) = path {
                self.programs.insert(path, of("name").unwrap_or(name).to_owned());
            }
        }
    }

    fn package(&mut self, folder: &str, text: &str, is_file: &dyn Fn(&str) -> bool) {
        let Ok(manifest) = serde_json::from_str::<Value>(text) else { return };
        let of = |key: &str| manifest.get(key);
        self.describe(folder, of("description").and_then(Value::as_str));
        let name = of("name").and_then(Value::as_str).unwrap_or_default();
        let programs: Vec<(&str, &str)> = match of("bin") {
            Some(Value::String(path)) => vec![(name, path)],
            Some(Value::Object(all)) => {
                let named =
                    all.iter().filter_map(|(name, path)| Some((name.as_str(), path.as_str()?)));
                named.take(MAX_PROGRAMS).collect()
            }
            _ => Vec::new(),
        };
        for (name, path) in programs {
            if let Some(path) = source_of(folder, path, is_file) {
                self.programs.entry(path).or_insert_with(|| name.to_owned());
            }
        }
        let exported =
            of("exports").and_then(|exports| first_text(exports.get(".").unwrap_or(exports), 6));
        let main = ["module", "main"].iter().find_map(|key| of(key).and_then(Value::as_str));
        for path in [exported, main].into_iter().flatten() {
            if let Some(path) = source_of(folder, path, is_file) {
                self.libraries.insert(path, name.to_owned());
                break;
            }
        }
    }

    fn pyproject(&mut self, folder: &str, text: &str, is_file: &dyn Fn(&str) -> bool) {
        let Ok(manifest) = text.parse::<toml::Table>() else { return };
        let project = manifest.get("project").and_then(toml::Value::as_table);
        let poetry = manifest.get("tool").and_then(|tool| tool.get("poetry")?.as_table());
        for table in [project, poetry].into_iter().flatten() {
            self.describe(folder, table.get("description").and_then(toml::Value::as_str));
            let scripts =
                table.get("scripts").and_then(toml::Value::as_table).into_iter().flatten();
            for (name, target) in scripts.take(MAX_PROGRAMS) {
                let module = target.as_str().and_then(|target| target.split(':').next());
                let path = module.and_then(|module| python_file(folder, module, is_file));
                if let Some(path) = path {
                    self.programs.insert(path, name.clone());
                }
            }
        }
    }
}

fn python_file(folder: &str, module: &str, is_file: &dyn Fn(&str) -> bool) -> Option<String> {
    let path = module.replace('.', "/");
    let places = ["", "src/"]
        .into_iter()
        .flat_map(|top| [format!("{top}{path}.py"), format!("{top}{path}/__init__.py")]);
    places.map(|place| below(folder, &place)).find(|place| is_file(place))
}

/// Returns the file that a package refers to. For build output, returns the source file instead.
fn source_of(folder: &str, named: &str, is_file: &dyn Fn(&str) -> bool) -> Option<String> {
    let named = named.trim_start_matches("./");
    let whole = below(folder, named);
    if is_file(&whole) {
        return Some(whole);
    }
    let (first, rest) = named.split_once('/')?;
    let rest = if MADE_FOLDERS.contains(&first) { rest } else { named };
    let stem = rest.rsplit_once('.').map_or(rest, |(stem, _)| stem);
    let stems = [stem, stem.strip_suffix("/index").unwrap_or(stem), "index"];
    let made = stems
        .iter()
        .flat_map(|stem| SCRIPT_ENDS.iter().map(move |end| format!("src/{stem}.{end}")));
    made.map(|path| below(folder, &path)).find(|path| is_file(path))
}

fn first_text(value: &Value, n_left: usize) -> Option<&str> {
    let members = value.as_object().filter(|_| 0 < n_left);
    let below = || members?.values().find_map(|value| first_text(value, n_left - 1));
    value.as_str().or_else(below)
}

fn below(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_declared(path: &str, text: &str, files: &[&str]) -> Declared {
        let mut declared = Declared::default();
        declared.read(path, text, &|path| files.contains(&path));
        declared
    }

    #[test]
    fn programs_lead_to_files_that_are_there() {
        let cases = [
            (
                "a/Cargo.toml",
                "[package]\nname = \"tide\"\n[[bin]]\nname = \"ebb\"\npath = \"bin/ebb.rs\"\n",
                "a/bin/ebb.rs",
                "ebb",
            ),
            ("Cargo.toml", "[package]\nname = \"tide\"\n", "src/main.rs", "tide"),
            (
                "p/package.json",
                r#"{"name": "tide", "bin": {"t": "./bin/t.js"}}"#,
                "p/bin/t.js",
                "t",
            ),
            ("package.json", r#"{"name": "tide", "bin": "dist/cli.js"}"#, "src/cli.ts", "tide"),
            (
                "pyproject.toml",
                "[project.scripts]\ntide = \"sea.tide:main\"\n",
                "sea/tide/__init__.py",
                "tide",
            ),
        ];
        for (path, text, file, name) in cases {
            let programs = read_declared(path, text, &[file]).programs;
            assert_eq!(programs.get(file).map(String::as_str), Some(name), "{path}");
            assert!(read_declared(path, text, &[]).programs.is_empty(), "{path}");
        }
    }

    #[test]
    fn a_library_is_told_by_its_source() {
        let text = r#"{"name": "tide", "exports": {".": {"import": "./dist/node/index.js"}}, "description": "High  and low"}"#;
        let found = read_declared("p/package.json", text, &["p/src/node/index.ts"]);
        assert_eq!(found.libraries.get("p/src/node/index.ts").map(String::as_str), Some("tide"));
        assert_eq!(found.about.get("p").map(String::as_str), Some("High and low"));
    }
}
