//! The generated pages of `docs/` say what the program says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::home::{TestHome, repository, walk};

#[test]
fn the_reference_is_current() {
    let home = TestHome::empty();
    for page in ["cli", "config"] {
        let file = repository().join(format!("docs/{page}.md"));
        let stored = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            home.ok(&["reference", page]) == stored,
            "docs/{page}.md is out of date; run `make docs`"
        );
    }
}

#[test]
fn the_schemas_are_current() {
    let home = TestHome::empty();
    let written = home.root().join("schema");
    home.ok(&["reference", "schema", written.to_str().unwrap()]);
    let (written, stored) = (files(&written), files(&repository().join("docs/schema")));
    assert!(written.len() > 20, "no schemas were written");
    let names: BTreeSet<&String> = written.keys().chain(stored.keys()).collect();
    let behind: Vec<_> =
        names.into_iter().filter(|name| written.get(*name) != stored.get(*name)).collect();
    assert!(behind.is_empty(), "docs/schema is out of date; run `make docs`: {behind:#?}");
}

#[test]
fn every_wire_type_has_a_schema() {
    let table: BTreeSet<&str> =
        nacre_api::wire::schemas().into_iter().map(|(name, _)| name).collect();
    let mut sources = Vec::new();
    walk(&repository().join("crates/nacre-api/src"), &mut sources);
    let mut declared = BTreeSet::new();
    for source in sources {
        let text = fs::read_to_string(source).unwrap();
        declared.extend(text.lines().filter_map(declared_type).map(str::to_owned));
    }
    let ends = ["Request", "Report", "Event"];
    declared.retain(|name: &String| ends.iter().any(|end| name.ends_with(end)));
    assert!(declared.len() > 20, "the wire types were not found: {declared:?}");
    declared.retain(|name| !table.contains(name.as_str()));
    assert!(
        declared.is_empty(),
        "Add these to the table of crates/nacre-api/src/wire/schema.rs: {declared:#?}"
    );
}

/// The name of the struct or enum that a line declares.
fn declared_type(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum "))?;
    rest.split(|c: char| !c.is_alphanumeric()).next()
}

/// The files of a folder, by name.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut paths = Vec::new();
    walk(folder, &mut paths);
    let read = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(path).unwrap())
    };
    paths.iter().map(read).collect()
}

#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    assert!(readme.lines().count() <= 150);
}
