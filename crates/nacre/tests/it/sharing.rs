//! Checks that what Git shares does not identify the machine, its directories or its user.

use std::fs;
use std::process::Command;

use crate::home::TestHome;
use crate::sync_run::{reading, talk};

/// A user name that is not an ordinary word.
const USER: &str = "winnifred";

fn git(home: &TestHome, args: &[&str]) -> String {
    let output = Command::new("git").args(args).current_dir(home.work()).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the files that Git would share, and their contents.
fn read_shared_files(home: &TestHome) -> Vec<(String, String)> {
    let listed = git(home, &["ls-files", "--others", "--exclude-standard", "-z"]);
    let names = listed.split('\0').filter(|name| !name.is_empty());
    let read = |name: &str| {
        String::from_utf8_lossy(&fs::read(home.work().join(name)).unwrap()).into_owned()
    };
    names.map(|name| (name.to_owned(), read(name))).collect()
}

fn host_name() -> String {
    let name = Command::new("uname").arg("-n").output().unwrap();
    String::from_utf8(name.stdout).unwrap().trim().to_owned()
}

/// Returns messages that mention the machine, its paths and its user.
fn told(home: &TestHome, host: &str) -> Vec<String> {
    let (work, root) = (home.work().display().to_string(), home.root().display().to_string());
    [
        format!("Mend the build in {work}/src/main.rs, I am {USER}@{host}"),
        format!("I ran {root}/bin/make as {USER} on {host} and it failed in {work}/src."),
        format!("no, always build with {work}/tools/build.sh, never with {root}/bin/make: /home/{USER}/bin is not on CI"),
        format!("Done, I used tools/build.sh; the log is in /Users/{USER}/Library/Logs/x.log"),
        format!("Remember: the staging key lies in {root}/.keys/staging, and only on {host}"),
        "Noted.".to_owned(),
        format!("From now on {USER} decides what is released, because /home/{USER}/release holds the list"),
        "Noted as well.".to_owned(),
    ]
    .to_vec()
}

#[test]
fn no_shared_file_names_a_folder_a_machine_or_a_user() {
    let home = reading().with_var("USER", USER);
    fs::remove_dir(home.work().join(".git")).unwrap();
    git(&home, &["init", "--quiet"]);
    let host = host_name();
    let said = told(&home, &host);
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    talk(&home, "one", 1, &said);
    home.ok(&["sync"]);
    home.ok(&[
        "memory",
        "add",
        &format!("Deploy from {USER}'s machine"),
        "--body",
        &format!("ssh {USER}@{host}, then /home/{USER}/deploy"),
    ]);
    home.ok(&["config", "set", "share.summaries", "true", "--repo"]);
    home.ok(&["init"]);
    let files = read_shared_files(&home);
    let kinds = ["memory/decisions/", "memory/learnings/", "memory/summaries/", "meta/evidence/"];
    for kind in kinds {
        assert!(files.iter().any(|(name, _)| name.contains(kind)), "{kind} is missing: {files:#?}");
    }
    let root = home.root().display().to_string();
    let is_telling = |host: &str| host.len() > 4 && host != "localhost";
    let mut forbidden = vec![USER, root.as_str(), "/home/", "/Users/"];
    forbidden.extend(Some(host.as_str()).filter(|host| is_telling(host)));
    for (name, text) in &files {
        for word in &forbidden {
            let (name, text) = (name.to_lowercase(), text.to_lowercase());
            assert!(!name.contains(&word.to_lowercase()), "{word} is in the name {name}");
            assert!(!text.contains(&word.to_lowercase()), "{word} is in {name}:\n{text}");
        }
    }
    let all: String = files.iter().map(|(_, text)| text.as_str()).collect();
    assert!(
        all.contains("source: generic:one") || all.contains("source: \"generic:one\""),
        "{all}"
    );
    assert!(all.contains("tools/build.sh"), "{all}");
    assert!(home.ok(&["doctor", "--evidence"]).contains("0 errors"));
    // Reading the same session again adds nothing.
    let before = home
        .snapshot()
        .into_iter()
        .filter(|(path, _)| path.starts_with(home.store("memory")))
        .collect::<Vec<_>>();
    home.ok(&["sync", "--force"]);
    let after = home
        .snapshot()
        .into_iter()
        .filter(|(path, _)| path.starts_with(home.store("memory")))
        .collect::<Vec<_>>();
    assert_eq!(before.len(), after.len());
}

#[test]
fn summaries_stay_out_of_git_unless_they_are_to_be_shared() {
    let home = reading();
    fs::remove_dir(home.work().join(".git")).unwrap();
    git(&home, &["init", "--quiet"]);
    talk(&home, "one", 1, crate::sync_run::PNPM);
    home.ok(&["sync"]);
    let shares = |home: &TestHome| {
        read_shared_files(home).iter().any(|(name, _)| name.contains("memory/summaries/"))
    };
    assert!(home.tree("memory").contains("memory/summaries/") && !shares(&home));
    home.ok(&["config", "set", "share.summaries", "true", "--repo"]);
    home.ok(&["init"]);
    assert!(shares(&home));
    home.ok(&["config", "set", "share.summaries", "false", "--repo"]);
    home.ok(&["init"]);
    assert!(!shares(&home));
    home.write(".gitignore", "# mine\n");
    home.ok(&["init"]);
    assert_eq!(home.read(".gitignore"), "# mine\n");
}
