//! Reads crates, modules, packages and path aliases from manifests.
//!
//! Unreadable manifests are ignored; imports that depend on them count as missing or external.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::Manifest;
use super::files::{below, folder_of, join_path};

const MAX_MANIFEST_BYTES: usize = 1 << 20;

/// Maximum number of names per manifest. The number is limited because each import is compared with
/// every name.
const MAX_NAMES: usize = 1_000;

const MAX_EXTENDS: usize = 4;

pub fn is_manifest(name: &str) -> bool {
    matches!(name, "Cargo.toml" | "go.mod" | "package.json" | "composer.json")
        || is_script_config(name)
}

fn is_script_config(name: &str) -> bool {
    let has_end = std::path::Path::new(name).extension().is_some_and(|end| end == "json");
    has_end && (name.starts_with("tsconfig") || name.starts_with("jsconfig"))
}

#[derive(Debug, Default)]
pub(super) struct Manifests {
    /// Each crate's root file, by the crate's name in code.
    pub(super) rust_crates: HashMap<String, String>,
    pub(super) rust_roots: BTreeSet<String>,
    /// The first crate root file in each directory.
    pub(super) rust_folders: HashMap<String, String>,
    /// Module paths with their directories, longest first.
    pub(super) go_modules: Vec<(String, String)>,
    pub(super) packages: HashMap<String, Package>,
    pub(super) package_folders: HashMap<String, String>,
    /// Path aliases, by the directory they apply to.
    pub(super) script_configs: HashMap<String, ScriptConfig>,
    /// Namespace prefixes with their directories, longest first.
    pub(super) php_prefixes: Vec<(String, String)>,
}

/// A JavaScript package, as described by its `package.json`.
#[derive(Debug, Default)]
pub(super) struct Package {
    /// The package's entry points, in order of precedence.
    pub(super) entries: Vec<String>,
    pub(super) exports: Vec<(String, String)>,
    pub(super) imports: Vec<(String, String)>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct ScriptConfig {
    /// The directory that replacement paths are relative to.
    pub(super) base: String,
    pub(super) has_base_url: bool,
    /// Patterns with their replacements, most specific pattern first.
    pub(super) paths: Vec<(String, Vec<String>)>,
}

impl Manifests {
    pub(super) fn read(manifests: &[Manifest]) -> Self {
        let mut read = Self::default();
        let mut configs: BTreeMap<String, Value> = BTreeMap::new();
        for manifest in manifests.iter().filter(|one| one.text.len() <= MAX_MANIFEST_BYTES) {
            let folder = manifest.path.folder();
            match manifest.path.name() {
                "Cargo.toml" => read.cargo(folder, &manifest.text),
                "go.mod" => read.go(folder, &manifest.text),
                "package.json" => read.package(folder, &manifest.text),
                "composer.json" => read.composer(folder, &manifest.text),
                _ => {
                    let parsed = serde_json::from_str(&without_comments(&manifest.text));
                    configs.extend(parsed.ok().map(|value| (manifest.path.to_string(), value)));
                }
            }
        }
        read.script_configs(&configs);
        for root in &read.rust_roots {
            let first = read.rust_folders.entry(folder_of(root).to_owned());
            first.or_insert_with(|| root.clone());
        }
        read.go_modules.sort_by_key(|(module, _)| std::cmp::Reverse(module.len()));
        read.php_prefixes.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        read
    }

    fn cargo(&mut self, folder: &str, text: &str) {
        let Ok(manifest) = text.parse::<toml::Table>() else { return };
        let Some(package) = manifest.get("package").and_then(toml::Value::as_table) else { return };
        let Some(name) = package.get("name").and_then(toml::Value::as_str) else { return };
        let lib = manifest.get("lib").and_then(toml::Value::as_table);
        let of_lib = |key: &str| lib.and_then(|lib| lib.get(key)).and_then(toml::Value::as_str);
        let root = join_path(folder, of_lib("path").unwrap_or("src/lib.rs"));
        if let Some(root) = root {
            let called = of_lib("name").unwrap_or(name).replace('-', "_");
            self.rust_roots.insert(root.clone());
            self.rust_crates.entry(called).or_insert(root);
        }
        for kind in ["bin", "test", "example", "bench"] {
            let targets = manifest.get(kind).and_then(toml::Value::as_array).into_iter().flatten();
            let paths = targets.filter_map(|target| target.get("path")?.as_str());
            self.rust_roots.extend(paths.filter_map(|path| join_path(folder, path)));
        }
        let build = package.get("build").and_then(toml::Value::as_str);
        self.rust_roots.extend(build.and_then(|build| join_path(folder, build)));
    }

    fn go(&mut self, folder: &str, text: &str) {
        let module = text.lines().find_map(|line| line.trim().strip_prefix("module "));
        if let Some(module) = module {
            let module = module.split("//").next().unwrap_or_default().trim().trim_matches('"');
            self.go_modules.push((module.to_owned(), folder.to_owned()));
        }
    }

    fn package(&mut self, folder: &str, text: &str) {
        let Ok(manifest) = serde_json::from_str::<Value>(text) else { return };
        let mut package = Package::default();
        let of = |key: &str| manifest.get(key);
        let exports = of("exports").map(conditions).unwrap_or_default();
        let own = exports.iter().filter(|(name, _)| name == ".");
        package.entries.extend(own.map(|(_, target)| target.clone()));
        for key in ["source", "types", "typings", "module", "main", "browser"] {
            package.entries.extend(of(key).and_then(Value::as_str).map(str::to_owned));
        }
        package.exports = exports.into_iter().filter(|(name, _)| name != ".").collect();
        package.imports = of("imports").map(conditions).unwrap_or_default();
        if let Some(name) = of("name").and_then(Value::as_str) {
            self.package_folders.entry(name.to_owned()).or_insert_with(|| folder.to_owned());
        }
        self.packages.insert(folder.to_owned(), package);
    }

    fn composer(&mut self, folder: &str, text: &str) {
        let Ok(manifest) = serde_json::from_str::<Value>(text) else { return };
        for section in ["autoload", "autoload-dev"] {
            let prefixes = manifest.get(section).and_then(|section| section.get("psr-4"));
            let prefixes = prefixes.and_then(Value::as_object).into_iter().flatten();
            for (prefix, folders) in prefixes.take(MAX_NAMES) {
                let folders =
                    folders.as_str().map_or_else(|| texts(folders), |one| vec![one.to_owned()]);
                let paths = folders.iter().filter_map(|below_root| join_path(folder, below_root));
                self.php_prefixes.extend(paths.map(|path| (prefix.clone(), path)));
            }
        }
    }

    fn script_configs(&mut self, configs: &BTreeMap<String, Value>) {
        for path in configs.keys() {
            let config = script_config(path, configs, MAX_EXTENDS);
            let name = path.rsplit('/').next().unwrap_or(path);
            // Editors use `tsconfig.json`, so path aliases in other configuration files count only
            // if `tsconfig.json` has none.
            let is_main = matches!(name, "tsconfig.json" | "jsconfig.json");
            let folder = folder_of(path);
            let says_something = config.has_base_url || !config.paths.is_empty();
            let is_free =
                self.script_configs.get(folder).is_none_or(|known| known.paths.is_empty());
            if says_something && (is_main || is_free) {
                self.script_configs.insert(folder.to_owned(), config);
            }
        }
    }
}

fn script_config(path: &str, configs: &BTreeMap<String, Value>, n_left: usize) -> ScriptConfig {
    let Some(value) = configs.get(path) else { return ScriptConfig::default() };
    let folder = folder_of(path);
    let extended = value.get("extends").and_then(Value::as_str).filter(|_| 0 < n_left);
    let parent = extended.and_then(|extended| {
        let path = join_path(folder, extended).filter(|_| extended.starts_with('.'))?;
        let with_end = if configs.contains_key(&path) { path } else { format!("{path}.json") };
        Some(script_config(&with_end, configs, n_left - 1))
    });
    let mut config = parent.unwrap_or_default();
    let options = value.get("compilerOptions");
    let of = |key: &str| options.and_then(|options| options.get(key));
    if let Some(base) = of("baseUrl").and_then(Value::as_str) {
        config.base = join_path(folder, base).unwrap_or_default();
        config.has_base_url = true;
    }
    if let Some(paths) = of("paths").and_then(Value::as_object) {
        if !config.has_base_url {
            config.base = below(folder, "");
        }
        let paths = paths.iter().take(MAX_NAMES);
        config.paths = paths.map(|(pattern, to)| (pattern.clone(), texts(to))).collect();
        config
            .paths
            .sort_by_key(|(pattern, _)| std::cmp::Reverse(pattern.find('*').unwrap_or(usize::MAX)));
    }
    config
}

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(Value::as_str).map(str::to_owned).take(MAX_NAMES).collect()
}

/// Reads `exports` and `imports`. Returns each pattern and the first file named by its conditions.
fn conditions(value: &Value) -> Vec<(String, String)> {
    let by_pattern =
        value.as_object().filter(|map| map.keys().any(|key| key.starts_with(['.', '#'])));
    let Some(by_pattern) = by_pattern else {
        let targets = targets(value, 8).into_iter().take(MAX_NAMES);
        return targets.map(|target| (".".to_owned(), target)).collect();
    };
    let of = |(pattern, target): (&String, &Value)| -> Vec<(String, String)> {
        targets(target, 8).into_iter().map(|target| (pattern.clone(), target)).collect()
    };
    by_pattern.iter().flat_map(of).take(MAX_NAMES).collect()
}

fn targets(value: &Value, n_left: usize) -> Vec<String> {
    if let Some(text) = value.as_str() {
        return vec![text.to_owned()];
    }
    let members = value.as_object().into_iter().flat_map(serde_json::Map::values);
    let inner = members.chain(value.as_array().into_iter().flatten()).filter(|_| 0 < n_left);
    inner.flat_map(|value| targets(value, n_left - 1)).collect()
}

fn without_comments(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.trim_start_matches('\u{feff}').chars().peekable();
    let mut is_text = false;
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(_)) if is_text => {
                clean.push(c);
                clean.extend(chars.next());
            }
            ('"', _) => {
                is_text = !is_text;
                clean.push(c);
            }
            ('/', Some('/')) if !is_text => while chars.next_if(|c| *c != '\n').is_some() {},
            ('/', Some('*')) if !is_text => {
                chars.next();
                let mut last = ' ';
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            ('}' | ']', _) if !is_text => {
                let kept = clean.trim_end().trim_end_matches(',').len();
                clean.truncate(kept);
                clean.push(c);
            }
            _ => clean.push(c),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::RelativePath;

    fn manifest(path: &str, text: String) -> Manifest {
        Manifest { path: RelativePath::new(path).unwrap(), text }
    }

    #[test]
    fn a_manifest_gives_so_many_names_and_no_more() {
        let many =
            |line: &dyn Fn(usize) -> String| (0..3_000).map(line).collect::<Vec<_>>().join(",");
        let names = many(&|n| format!("\"a{n}\\\\\": \"src{n}\""));
        let paths = many(&|n| format!("\"a{n}/*\": [\"src{n}/*\"]"));
        let exports = many(&|n| format!("\"./a{n}\": \"./src{n}.js\""));
        let read = Manifests::read(&[
            manifest("composer.json", format!("{{\"autoload\": {{\"psr-4\": {{{names}}}}}}}")),
            manifest(
                "tsconfig.json",
                format!("{{\"compilerOptions\": {{\"paths\": {{{paths}}}}}}}"),
            ),
            manifest("package.json", format!("{{\"exports\": {{{exports}}}}}")),
        ]);
        assert_eq!(read.php_prefixes.len(), MAX_NAMES);
        assert_eq!(read.script_configs[""].paths.len(), MAX_NAMES);
        assert_eq!(read.packages[""].exports.len(), MAX_NAMES);
    }

    #[test]
    fn manifests_that_open_what_they_never_close_say_nothing() {
        for name in ["Cargo.toml", "go.mod", "package.json", "composer.json", "tsconfig.json"] {
            for pattern in ["[", "{", "{\"a\":", "a=[", "[[", "/*", "\"", "a.", "}", ",}"] {
                let text = pattern.repeat(MAX_MANIFEST_BYTES / pattern.len());
                let read = Manifests::read(&[manifest(name, text)]);
                assert!(read.rust_crates.is_empty() && read.php_prefixes.is_empty(), "{name}");
            }
        }
    }
}
