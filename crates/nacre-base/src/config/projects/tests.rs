//! Tests for the project register: parsing, validation, and edits that leave the rest of the text
//! unchanged.

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::config::error::render_message;

const TWO: &str = "# mine\n[projects.pearl]\npath = \"/home/ana/pearl\" # main\n\n[projects.\"a.b\"]\npath = '/home/ana/pearl/vendor/ab'\n";

fn origin() -> &'static Path {
    Path::new("/home/ana/.nacre/projects.toml")
}

fn parse(text: &str) -> Projects {
    Projects::parse(text, origin()).unwrap()
}

fn mistake(text: &str) -> String {
    let error = Projects::parse(text, origin()).unwrap_err();
    render_message(&error, error.hint())
}

fn project(name: &str, path: &str) -> Project {
    Project { name: name.to_owned(), path: path.into(), also: Vec::new() }
}

fn after_add(text: &str, name: &str, path: &str) -> String {
    add(text, origin(), &project(name, path))
        .unwrap_or_else(|error| render_message(&error, error.hint()))
}

fn after_remove(text: &str, name: &str) -> String {
    remove(text, origin(), name).unwrap_or_else(|error| render_message(&error, error.hint()))
}

#[test]
fn a_folder_belongs_to_the_innermost_project_around_it() {
    let projects = parse(TWO);
    let name = |dir| projects.containing(Path::new(dir)).map(|project| project.name.as_str());
    assert_eq!(name("/home/ana/pearl"), Some("pearl"));
    assert_eq!(name("/home/ana/pearl/src"), Some("pearl"));
    assert_eq!(name("/home/ana/pearl/vendor/ab/src"), Some("a.b"));
    assert_eq!(name("/home/ana/pearls"), None);
    assert_eq!(name("/home/ana"), None);
}

#[test]
fn a_project_is_found_by_name_or_path() {
    let projects = parse(TWO);
    let name = |text| projects.find(text).map(|project| project.name.as_str());
    assert_eq!(name("pearl"), Some("pearl"));
    assert_eq!(name("/home/ana/pearl/"), Some("pearl"));
    assert_eq!(name("/home/ana/pearl/src"), None);
    assert_eq!(name("peal"), None);
    assert_eq!(projects.nearest("peal"), Some("pearl"));
    assert_eq!(projects.nearest("oyster"), None);
    assert_eq!(projects.iter().count(), 2);
}

#[test]
fn mistakes_in_the_register_are_told_with_their_line() {
    assert_snapshot!(mistake("[projects.a]\npath = 'src/a'"), @"Invalid value for `projects.a.path` in `/home/ana/.nacre/projects.toml`, line 2: expected an absolute path without `..`, found the text `src/a`");
    assert_snapshot!(mistake("[projects.a]\npath = '/x/../a'"), @"Invalid value for `projects.a.path` in `/home/ana/.nacre/projects.toml`, line 2: expected an absolute path without `..`, found the text `/x/../a`");
    assert_snapshot!(mistake("[projects.a]\npath = 3"), @"Invalid value for `projects.a.path` in `/home/ana/.nacre/projects.toml`, line 2: expected an absolute path without `..`, found the number 3");
    assert_snapshot!(mistake("\n[projects.a]\n"), @"Invalid value for `projects.a` in `/home/ana/.nacre/projects.toml`, line 2: expected a `path`, found none");
    assert_snapshot!(mistake("[projects.a]\npth = '/a'"), @r"
    Unknown key `projects.a.pth` in `/home/ana/.nacre/projects.toml`, line 2
    Hint: Did you mean `path`?
    ");
    assert_snapshot!(mistake("[projects.a]\npath = '/a'\nurl = 'x'"), @"Unknown key `projects.a.url` in `/home/ana/.nacre/projects.toml`, line 3");
    assert_snapshot!(mistake("[project.a]\npath = '/a'"), @r"
    Unknown key `project` in `/home/ana/.nacre/projects.toml`, line 1
    Hint: Did you mean `projects`?
    ");
    assert_snapshot!(mistake("[projects.A]\npath = '/a'"), @"Invalid value for `projects.A` in `/home/ana/.nacre/projects.toml`, line 1: expected 1 to 64 characters from `a-z`, `0-9`, `.`, `_` and `-`, starting with a letter or digit, found `A`");
    assert_snapshot!(mistake("[projects]\na = '/a'"), @"Invalid value for `projects.a` in `/home/ana/.nacre/projects.toml`, line 2: expected a table with a `path`, found the text `/a`");
    assert_snapshot!(mistake("projects = ['/a']"), @"Invalid value for `projects` in `/home/ana/.nacre/projects.toml`, line 1: expected a table `[projects.NAME]`, found a list");
    assert_snapshot!(mistake("[projects.a]\npath = '/a'\n[projects.b]\npath = '/a/'"), @"Invalid value for `projects.b` in `/home/ana/.nacre/projects.toml`, line 3: expected a unique path, found the path of `a`");
    assert_snapshot!(mistake("[projects.a\npath = '/a'"), @"Cannot parse `/home/ana/.nacre/projects.toml` as TOML, line 1: unclosed table, expected `]`");
}

#[test]
fn a_project_is_added_below_the_others() {
    assert_snapshot!(after_add("", "pearl", "/home/ana/pearl"), @r#"
    [projects.pearl]
    path = "/home/ana/pearl"
    "#);
    assert_snapshot!(after_add(TWO, "c.d", "/home/ana/the \"c\""), @r#"
    # mine
    [projects.pearl]
    path = "/home/ana/pearl" # main

    [projects."a.b"]
    path = '/home/ana/pearl/vendor/ab'

    [projects."c.d"]
    path = '/home/ana/the "c"'
    "#);
    assert_eq!(after_add(TWO, "pearl", "/home/ana/pearl"), TWO);
    assert_snapshot!(after_add("projects = { a = { path = '/a' } }\n", "b", "/b"), @r#"projects = { a = { path = '/a' }, b = { path = "/b" } }"#);
    assert_snapshot!(after_add("projects.a.path = '/a'\n", "b", "/b"), @r#"
    projects.a.path = '/a'

    [projects.b]
    path = "/b"
    "#);
    assert_snapshot!(after_add("[projects]\na = { path = '/a' }\n", "b", "/b"), @r#"
    [projects]
    a = { path = '/a' }

    [projects.b]
    path = "/b"
    "#);
}

#[test]
fn a_project_can_have_the_sessions_of_other_directories() {
    let moved = Project { also: vec!["/old/pearl".into()], ..project("pearl", "/home/ana/pearl") };
    let text = add("# mine\n", origin(), &moved).unwrap();
    assert_snapshot!(text, @r#"
    # mine

    [projects.pearl]
    path = "/home/ana/pearl"
    also = ["/old/pearl"]
    "#);
    assert_eq!(parse(&text).iter().next(), Some(&moved));
    assert_eq!(add(&text, origin(), &moved).unwrap(), text);
    let back = add(&text, origin(), &project("pearl", "/home/ana/pearl")).unwrap();
    assert_snapshot!(back, @r#"
    # mine

    [projects.pearl]
    path = "/home/ana/pearl"
    "#);
    assert_snapshot!(mistake(&text.replace("\"/old/pearl\"", "\"../pearl\"")), @"Invalid value for `projects.pearl.also` in `/home/ana/.nacre/projects.toml`, line 5: expected a list of absolute paths without `..`, found a list");
}

#[test]
fn a_project_is_added_once() {
    assert_snapshot!(after_add(TWO, "pearl", "/home/ana/other"), @r"
    Project `pearl` is already registered, with path `/home/ana/pearl`
    Hint: Choose another name. If the project has moved, add its new path with `--also /home/ana/pearl`
    ");
    assert_snapshot!(after_add(TWO, "other", "/home/ana/pearl"), @r"
    Path `/home/ana/pearl` is already registered, as project `pearl`
    Hint: To rename it, run `nacre project remove pearl` first
    ");
    assert_snapshot!(after_add(TWO, "Pearl!", "/home/ana/other"), @"Invalid project name `Pearl!`: expected 1 to 64 characters from `a-z`, `0-9`, `.`, `_` and `-`, starting with a letter or digit");
    assert_snapshot!(after_add(TWO, "other", "other"), @"Invalid project path `other`: expected an absolute UTF-8 path without `..`");
    assert_snapshot!(after_add(TWO, "other", "/home/ana/../other"), @"Invalid project path `/home/ana/../other`: expected an absolute UTF-8 path without `..`");
}

#[test]
fn a_project_is_removed_alone() {
    assert_snapshot!(after_remove(TWO, "pearl"), @r#"
    # mine

    [projects."a.b"]
    path = '/home/ana/pearl/vendor/ab'
    "#);
    assert_snapshot!(after_remove(TWO, "a.b"), @r#"
    # mine
    [projects.pearl]
    path = "/home/ana/pearl" # main
    "#);
    assert_snapshot!(after_remove(TWO, "pearls"), @r"
    No project named `pearls`
    Hint: Did you mean `pearl`?
    ");
    assert_snapshot!(after_remove(TWO, "oyster"), @r"
    No project named `oyster`
    Hint: Run `nacre project` to see every project
    ");
    assert_snapshot!(after_remove("projects = { a = { path = '/a' }, b.path = '/b' }\n", "b"), @"projects = { a = { path = '/a' } }");
    assert_snapshot!(after_remove("projects.a.path = '/a'\nprojects.b.path = '/b'\n", "a"), @"projects.b.path = '/b'");
    assert_snapshot!(after_remove("[projects]\na = { path = '/a' }\nb.path = '/b'\n", "b"), @r"
    [projects]
    a = { path = '/a' }
    ");
}

#[test]
fn a_name_is_made_from_the_folder() {
    let projects = parse(TWO);
    let name = |path| name_for(Path::new(path), &projects);
    assert_eq!(name("/home/ana/oyster"), "oyster");
    assert_eq!(name("/other/pearl"), "pearl-2");
    assert_eq!(name("/other/My Great_App (2).git"), "my-great_app-2-.git");
    assert_eq!(name("/other/.dotfiles"), "dotfiles");
    assert_eq!(name("/other/真珠"), "project");
    assert_eq!(name("/"), "project");
    let long = format!("/{}", "x".repeat(200));
    assert_eq!(name(&long), "x".repeat(64));
    let taken = parse(&after_add("", &"x".repeat(64), "/x"));
    assert_eq!(name_for(Path::new(&long), &taken), format!("{}-2", "x".repeat(62)));
}

proptest! {
    #[test]
    fn a_made_name_can_always_be_added(folders in prop::collection::vec("[^/\0]{1,80}", 1..6)) {
        let mut text = String::new();
        for (folder_idx, folder) in folders.iter().enumerate() {
            let path = PathBuf::from(format!("/{folder_idx}/{folder}"));
            if !is_resolved(&path) {
                continue;
            }
            let name = name_for(&path, &parse(&text));
            let more = add(&text, origin(), &project(&name, path.to_str().unwrap())).unwrap();
            let registered = parse(&more).find(&name).map(|project| project.path.clone());
            prop_assert_eq!(registered, Some(path));
            prop_assert_eq!(remove(&more, origin(), &name).unwrap(), text);
            text = more;
        }
    }

    #[test]
    fn no_text_is_a_panic(text in r#"([\[\]{}=.,"'#\n a-c0-9\\-]|projects|path|'/a'|\[projects\.a\]\n|path = '/b'\n){0,30}"#) {
        if let Ok(more) = add(&text, origin(), &project("new", "/new")) {
            prop_assert!(remove(&more, origin(), "new").is_ok());
        }
        let _ = remove(&text, origin(), "a");
    }
}
