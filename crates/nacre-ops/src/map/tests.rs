//! Tests for map operations: the printed payload contains the report and stays within the budget.
#![expect(clippy::disallowed_methods, reason = "the tests act as a user who edits the code")]

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use nacre_map::slices::tokens;
use nacre_types::{
    ContextReport, ContextRequest, DeltaReport, DeltaRequest, ErrorCode, ExplainReport,
    ExploreReport, ExploreRequest, MapFormat, Report, SearchCodeRequest, Since, WatchLine,
    WatchRequest,
};
use serde::de::DeserializeOwned;
use tempfile::TempDir;

use super::{context, delta, explain, explore, search_code, watch};
use crate::events::Events;
use crate::host::{Environment, Host, OpenOptions, Shared};
use crate::json::json_line;

/// Creates a project with forty files, and a host for it.
fn project() -> (TempDir, Host) {
    let (folder, environment) = place();
    let host = Host::open(environment, &OpenOptions::default()).host.unwrap();
    (folder, host)
}

fn place() -> (TempDir, Environment) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("home")).unwrap();
    fs::create_dir_all(root.join("work/src")).unwrap();
    for number in 0..40 {
        let text = format!(
            "/// Öffnet.\npub fn open_store_{number}(name: &str) {{\n    drop(name);\n}}\n"
        );
        fs::write(root.join(format!("work/src/store{number}.rs")), text).unwrap();
    }
    let environment = Environment {
        vars: Vec::new(),
        garbled_vars: Vec::new(),
        folder: root.join("work"),
        is_folder_gone: false,
        home: Some(root.join("home")),
        host: None,
        pid: 1,
        program: None,
        clock: Arc::new(|| "2026-11-16T04:00:00Z".parse().unwrap()),
        uptime: Arc::new(Duration::default),
        random: |bytes| {
            bytes.fill(7);
            Ok(())
        },
    };
    (folder, environment)
}

/// Parses a report from its printed form.
fn reread<R: Report + DeserializeOwned>(report: &R) -> R {
    serde_json::from_str(&json_line(report)).unwrap()
}

#[test]
fn reports_read_back_as_they_were() {
    let (_folder, host) = project();
    let events = Events::discard();
    let explored = explore(&host, &ExploreRequest::default(), &events).unwrap().report;
    assert_eq!(reread::<ExploreReport>(&explored), explored);
    let request = ContextRequest { task: Some("open store 7".to_owned()), ..Default::default() };
    let collected = context(&host, &request, &events).unwrap().report;
    assert_eq!(reread::<ContextReport>(&collected), collected);
    let request = DeltaRequest { since: Some(Since::Beginning), ..Default::default() };
    let changed = delta(&host, &request, &events).unwrap();
    assert_eq!(changed.delta.added, 40);
    assert_eq!(reread::<DeltaReport>(&changed), changed);
    let explained = explain(&host, "src/store1.rs", &events).unwrap();
    assert!(explained.is_mapped);
    assert_eq!(reread::<ExplainReport>(&explained), explained);
}

#[test]
fn a_budget_is_kept_on_the_bytes_of_the_payload() {
    let (_folder, host) = project();
    let events = Events::discard();
    for format in [MapFormat::Json, MapFormat::Text] {
        for budget in [520, 900] {
            let request = ExploreRequest { format, budget: Some(budget), ..Default::default() };
            let explored = explore(&host, &request, &events).unwrap();
            assert!(tokens(&explored.payload) <= budget, "{}", explored.payload);
            let task = Some("open the store".to_owned());
            let request =
                ContextRequest { format, budget: Some(budget), task, ..Default::default() };
            let collected = context(&host, &request, &events).unwrap();
            assert!(tokens(&collected.payload) <= budget, "{}", collected.payload);
            assert_ne!(collected.report.slice.left_out.symbols, 0, "the budget is small");
            if format == MapFormat::Json {
                assert_eq!(explored.payload, json_line(&explored.report) + "\n");
                assert_eq!(collected.payload, json_line(&collected.report) + "\n");
            }
        }
    }
    let request = ExploreRequest { budget: Some(20), ..Default::default() };
    assert_eq!(explore(&host, &request, &events).unwrap_err().code, ErrorCode::Invalid);
    let request = ContextRequest::default();
    assert_eq!(context(&host, &request, &events).unwrap_err().code, ErrorCode::Usage);
    let request = ExploreRequest { refresh: true, strict: true, ..Default::default() };
    assert_eq!(explore(&host, &request, &events).unwrap_err().code, ErrorCode::Usage);
}

#[test]
fn what_gitattributes_call_generated_counts_as_that_in_every_answer() {
    let (folder, host) = project();
    let root = folder.path().canonicalize().unwrap().join("work");
    let events = Events::discard();
    let text = "pub fn grow_pearl(layers: u32) -> u32 {\n    layers\n}\n";
    fs::write(root.join("src/a_pearl.rs"), text).unwrap();
    fs::write(root.join("src/b_pearl.rs"), format!("{text}\n")).unwrap();
    let told = || {
        let explored = explore(&host, &ExploreRequest::default(), &events).unwrap().report;
        let task = Some("grow the pearl".to_owned());
        let request = ContextRequest { task, ..Default::default() };
        let collected = context(&host, &request, &events).unwrap().report;
        let request = SearchCodeRequest { query: "grow_pearl".to_owned(), ..Default::default() };
        let found = search_code(&host, &request, &events).unwrap().report.found;
        let first = (collected.slice.files[0].path.clone(), found.files[0].path.clone());
        (explored.overview.apart.generated, first.0, first.1)
    };
    let first = |path: &str| (path.to_owned(), path.to_owned());
    let (a, b) = (first("src/a_pearl.rs"), first("src/b_pearl.rs"));
    assert_eq!(told(), (0, a.0.clone(), a.1.clone()));
    fs::write(root.join(".gitattributes"), "src/a_* linguist-generated\n").unwrap();
    assert_eq!(told(), (1, b.0, b.1));
    fs::write(root.join(".gitattributes"), "src/c_* linguist-generated\n").unwrap();
    assert_eq!(told(), (0, a.0, a.1));
}

#[test]
fn an_overview_after_an_edit_is_that_of_a_first_look() {
    let (folder, environment) = place();
    let root = folder.path().canonicalize().unwrap();
    let told = |home: &str| {
        let home = root.join(home);
        fs::create_dir_all(&home).unwrap();
        let environment = Environment { home: Some(home), ..environment.clone() };
        let host = Host::open(environment, &OpenOptions::default()).host.unwrap();
        explore(&host, &ExploreRequest::default(), &Events::discard()).unwrap().report.overview
    };
    let edits = [
        (
            "src/store1.rs",
            "pub fn open_store_1(name: &str, mode: u8) {\n    drop((name, mode));\n}\n",
        ),
        (
            "src/store30.rs",
            "/// Opens.\n\npub fn open_store_30(name: &str) {\n    drop(name);\n}\n",
        ),
        ("src/store2.rs", "fn open_store_2(name: &str) {\n    drop(name);\n}\n"),
        ("src/store3.rs", "// @generated\npub fn open_store_3(name: &str) {}\n"),
        ("src/store4.rs", "use crate::store5;\n\npub fn open_store_4(name: &str) {}\n"),
        ("README.md", "# Stores\n\nWhere things are kept that somebody may want to have again.\n"),
        ("src/store5.rs", "pub fn open_store_5(name: &str) {}\n"),
    ];
    told("home");
    for (step, (path, text)) in edits.into_iter().enumerate() {
        fs::write(root.join("work").join(path), text).unwrap();
        assert_eq!(told("home"), told(&format!("home{step}")), "{path}");
    }
}

#[test]
fn only_who_asks_for_words_has_them_counted_and_kept() {
    let (folder, host) = project();
    let home = folder.path().canonicalize().unwrap().join("home");
    let n_packs = || {
        let projects = fs::read_dir(home.join(".nacre/cache/codemap")).unwrap();
        let files = projects.flat_map(|project| fs::read_dir(project.unwrap().path()).into_iter());
        let names = files.flatten().map(|file| file.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with("words-")).count()
    };
    let events = Events::discard();
    explore(&host, &ExploreRequest::default(), &events).unwrap();
    delta(&host, &DeltaRequest::default(), &events).unwrap();
    assert_eq!(n_packs(), 0);
    let request = ContextRequest { task: Some("open store 7".to_owned()), ..Default::default() };
    let collected = context(&host, &request, &events).unwrap().report;
    assert_eq!((n_packs(), collected.slice.files[0].path.as_str()), (1, "src/store7.rs"));
}

#[test]
fn a_watch_ends_after_its_changes_and_refuses_a_short_interval() {
    let (folder, host) = project();
    let added = folder.path().canonicalize().unwrap().join("work/src/added.rs");
    let request =
        WatchRequest { poll: true, interval_ms: Some(50), count: 1, ..Default::default() };
    let mut n_added = 0;
    let mut emit = |line: &WatchLine| {
        match line {
            WatchLine::Notice(_) => fs::write(&added, "fn added() {}\n").unwrap(),
            WatchLine::Change(report) => n_added += report.delta.added,
        }
        Ok(())
    };
    watch(&host, &request, &mut emit).unwrap();
    assert_eq!(n_added, 1);
    let request = WatchRequest { interval_ms: Some(1), ..request };
    assert_eq!(watch(&host, &request, &mut |_| Ok(())).unwrap_err().code, ErrorCode::Usage);
}

#[test]
fn a_server_keeps_the_map_open_and_tells_what_a_command_would() {
    let (folder, environment) = place();
    let root = folder.path().canonicalize().unwrap();
    let options = OpenOptions { shared: Shared::for_server(), ..OpenOptions::default() };
    let server = || Host::open(environment.clone(), &options).host.unwrap();
    let command = || Host::open(environment.clone(), &OpenOptions::default()).host.unwrap();
    let told = |host: Host| {
        let request = ExploreRequest::default();
        let explored = explore(&host, &request, &Events::discard()).unwrap().report;
        let delta = delta(&host, &DeltaRequest::default(), &Events::discard()).unwrap();
        (explored.overview, explored.map.revision, delta.delta)
    };
    let write = |path: &str, text: &str| fs::write(root.join("work").join(path), text).unwrap();
    for step in 0..6 {
        match step {
            // The first call opens the map, the second one starts watching it, and the third one
            // has nothing to do.
            0..=2 => {}
            3 => write("src/new.rs", "pub fn brand_new() {}\n"),
            4 => write("src/store1.rs", "pub fn changed_altogether(a: u8) -> u8 { a }\n"),
            _ => fs::remove_file(root.join("work/src/store2.rs")).unwrap(),
        }
        assert_eq!(told(server()), told(command()), "step {step}");
    }
}
