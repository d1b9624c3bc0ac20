//! `nacre search-code`

use insta::assert_snapshot;
use nacre_map::slices::tokens;
use nacre_types::{CodeSearchMode, ErrorCode, SearchCodeReport, SearchCodeRequest};

use crate::delta::{put, repository};
use crate::explore::run_raw;
use crate::home::TestHome;
use crate::serve::Served;

fn pearls() -> TestHome {
    let home = repository();
    put(
        &home,
        "src/pearl.rs",
        "/// Opens a pearl.\npub fn open_pearl(path: &str) -> u8 {\n    let layer = path.len();\n    open_layer(layer)\n}\n\nfn open_layer(layer: usize) -> u8 {\n    layer as u8\n}\n",
    );
    put(
        &home,
        "tests/pearl.rs",
        "#[test]\nfn a_pearl_opens() {\n    open_pearl(\"a\");\n    open_pearl(\"b\");\n    open_pearl(\"c\");\n}\n",
    );
    put(&home, "README.md", "Call `open_pearl` once. OPEN_PEARL is a setting.\n");
    home
}

/// Returns the output without its first line, which describes the map update and depends on timing.
fn run_search(home: &TestHome, args: &[&str]) -> String {
    let output = home.ok(args);
    let (header, rest) = output.split_once('\n').unwrap();
    assert!(header.starts_with("search-code $HOME/work revision"), "{header}");
    rest.to_owned()
}

#[test]
fn words_are_found_where_they_are_defined_first() {
    let home = pearls();
    assert_snapshot!(run_search(&home, &["search-code", "open_pearl"]), @r#"
    src/pearl.rs  1 match
      2-5 function open_pearl
        2: pub fn open_pearl(path: &str) -> u8 {
    README.md  1 match
        1: Call `open_pearl` once. OPEN_PEARL is a setting.
    tests/pearl.rs  3 matches
      2-6 fn a_pearl_opens()
        3:     open_pearl("a");
        4:     open_pearl("b");
        5:     open_pearl("c");
    "#);
    assert_snapshot!(run_search(&home, &["search-code", "layers of pearls", "--path", "src"]), @"
    src/pearl.rs  4 matches
      2-5 pub fn open_pearl(path: &str) -> u8
        3:     let layer = path.len();
        4:     open_layer(layer)
      7-9 function open_layer
        7: fn open_layer(layer: usize) -> u8 {
        8:     layer as u8
    ");
}

#[test]
fn a_pattern_is_matched_line_by_line() {
    let home = pearls();
    assert_snapshot!(run_search(&home, &["search-code", "--regex", r"^fn \w+\(", "-C", "1"]), @r#"
    src/pearl.rs  1 match
      7-9 function open_layer
        6-
        7: fn open_layer(layer: usize) -> u8 {
        8-     layer as u8
    tests/pearl.rs  1 match
      2-6 function a_pearl_opens
        1- #[test]
        2: fn a_pearl_opens() {
        3-     open_pearl("a");
    "#);
    assert_snapshot!(run_search(&home, &["search-code", "\"open_pearl(\"", "--limit", "2"]), @r#"
    src/pearl.rs  1 match
      2-5 function open_pearl
        2: pub fn open_pearl(path: &str) -> u8 {
    tests/pearl.rs  3 matches
      2-6 fn a_pearl_opens()
        3:     open_pearl("a");
    … 2 more matches in 1 file; --limit 10
    "#);
    assert_snapshot!(run_search(&home, &["search-code", "--fixed", "OPEN_PEARL", "--files-only"]), @"
    README.md  1 match
    ");
    assert_snapshot!(run_search(&home, &["search-code", "-F", "OPEN_PEARL", "-i", "-l", "--lang", "rust"]), @"
    src/pearl.rs  1 match
    tests/pearl.rs  3 matches
    ");
    assert_snapshot!(run_search(&home, &["search-code", "--fixed", "oyster"]), @"
    no matches
    ");
}

#[test]
fn what_cannot_be_searched_for_is_refused_with_what_to_do() {
    let home = repository();
    for args in [
        &["search-code", ""][..],
        &["search-code", "--regex", "open("],
        &["search-code", "--regex", "(a{1000}){1000}"],
        &["search-code", "open", "--path", "src/["],
        &["search-code", "open", "--lang", "klingon"],
        &["search-code", "open", "--limit", "0"],
        &["search-code", "open", "--context", "99"],
    ] {
        let said = home.run(args);
        assert!(said.starts_with("Error: ") && said.contains("[exit 2]"), "{args:?}: {said}");
    }
    assert_snapshot!(home.run(&["search-code", "--regex", "open("]), @"
    Error: `open(` is not a valid regular expression: unclosed group
    Hint: Escape special characters, or search with `--fixed`
    [exit 2]
    ");
}

#[test]
fn a_file_that_changed_is_searched_as_it_is_now() {
    let home = pearls();
    assert!(home.ok(&["search-code", "--fixed", "nautilus"]).contains("no matches"));
    put(&home, "src/new.rs", "fn nautilus() {}\n");
    assert!(home.ok(&["search-code", "--fixed", "nautilus"]).contains("src/new.rs  1 match"));
    put(&home, "src/new.rs", "fn oyster() {}\n");
    assert!(home.ok(&["search-code", "--fixed", "nautilus"]).contains("no matches"));
    put(&home, ".env", "TOKEN=oyster\n");
    assert!(!home.ok(&["search-code", "--fixed", "oyster"]).contains(".env"));
}

#[test]
fn odd_files_are_searched_within_bounds() {
    let home = repository();
    put(&home, "binary.dat", "needle\0needle\n");
    put(&home, "long.js", &format!("{}needle\n", "var a=1;".repeat(200_000)));
    put(&home, "large.txt", &"a needle in much hay\n".repeat(90_000));
    std::fs::write(home.work().join("latin.txt"), b"caf\xe9 needle\n").unwrap();
    let (_, value) = home.json(&["search-code", "--fixed", "needle", "--limit", "4"]);
    let paths: Vec<&str> = value["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert!(paths.contains(&"latin.txt") && paths.contains(&"large.txt"), "{value}");
    assert!(!paths.contains(&"binary.dat"), "{value}");
    assert_eq!(value["total_matches"], 90_001, "{value}");
    assert_eq!(value["more_matches"], 89_997, "{value}");
}

#[test]
fn a_budget_is_kept_to_the_token() {
    let home = repository();
    for number in 0..40 {
        let text = format!("pub fn open_{number}() {{\n    open_store({number});\n}}\n");
        put(&home, &format!("src/store{number}.rs"), &text);
    }
    for flags in [&["--regex", r"open_\w+\("][..], &["open store"], &["open", "--files-only"]] {
        for (json, budget) in [(false, 150), (true, 600), (false, 300), (true, 900)] {
            let budget_text = budget.to_string();
            let mut args = vec!["search-code", "--limit", "60", "--budget", &budget_text];
            args.extend(flags);
            if json {
                let (_, value) = home.json(&args);
                assert!(0 < value["more_files"].as_u64().unwrap(), "{value}");
            } else {
                let output = run_raw(&home, &args);
                assert!(tokens(&output) <= budget, "{args:?}: {}", tokens(&output));
                assert!(output.contains(" more "), "{output}");
            }
        }
    }
    let small = home.run(&["search-code", "open", "--budget", "5"]);
    assert!(small.contains("Hint: Use at least `--budget"), "{small}");
}

#[test]
fn a_program_searches_over_http() {
    let home = pearls();
    home.ok(&["init"]);
    let served = Served::start(&home);
    let client = served.client();
    let request = SearchCodeRequest {
        query: r"open_\w+\(".to_owned(),
        mode: Some(CodeSearchMode::Regex),
        paths: vec!["src".to_owned()],
        ..Default::default()
    };
    let search =
        |request: &SearchCodeRequest| client.post::<SearchCodeReport>("/v1/search-code", request);
    let report = search(&request).unwrap();
    assert_eq!(report.found.files[0].path, "src/pearl.rs");
    let symbol = report.found.files[0].groups[0].symbol.as_ref().unwrap();
    assert_eq!((symbol.name.as_str(), symbol.first_line), ("open_pearl", 2));
    let broken = SearchCodeRequest { query: "(".to_owned(), ..request };
    let failure = search(&broken).unwrap_err().or_hint("");
    assert_eq!(failure.code, ErrorCode::Usage);
    let outside = SearchCodeRequest { project: Some("/".to_owned()), ..broken };
    let failure = search(&outside).unwrap_err().or_hint("");
    assert_eq!(failure.code, ErrorCode::NoProject);
}
