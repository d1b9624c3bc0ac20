//! Tests several Nacre processes running at the same time.

use std::collections::BTreeSet;
use std::process::Stdio;

use crate::home::TestHome;

#[test]
fn eight_processes_add_the_same_title_and_every_id_is_its_own() {
    let home = TestHome::new();
    for _ in 0..3 {
        let children: Vec<_> = (0..8)
            .map(|_| {
                let args = ["memory", "add", "The same title", "--json"];
                home.command(&home.work(), &args).stdout(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", home.render(&output));
        }
    }
    let (_, value) = home.json(&["memory", "list", "--limit", "0"]);
    let ids: BTreeSet<&str> = value["memories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|memory| memory["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), 24);
    assert!(ids.contains("20261115-the-same-title") && ids.contains("20261115-the-same-title-24"));
    assert!(home.run(&["doctor", "--strict"]).contains("ok, 0 errors, 0 warnings"));
}
