//! Tests the editor's databases from every version, and how a conversation's project is found.

use super::*;
use crate::transcript::toolkit::*;

#[test]
fn bubbles_come_in_the_order_of_headers() {
    let home = Home::new();
    let global = home.global();
    let bubbles = [
        json!({"type": 1, "bubbleId": "b9", "text": "Use SQLite",
            "createdAt": "2026-01-02T03:04:05.000Z"}),
        json!({"type": 2, "bubbleId": "b1", "thinking": {"text": "Which one?"}, "text": "",
            "timingInfo": {"clientStartTime": 1234.5, "clientRpcSendTime": 1_767_323_050_000_i64}}),
        json!({"type": 2, "bubbleId": "b5", "text": "Done", "modelInfo": {"modelName": "gpt-5"},
            "tokenCount": {"inputTokens": 7, "outputTokens": 3},
            "allThinkingBlocks": [{"thinking": "One more"}]}),
    ];
    let composer = json!({"name": "Databases", "createdAt": 1_767_323_000_000_i64,
        "modelConfig": {"modelName": "auto"}, "createdOnBranch": "main"});
    put_composer(&global, "c1", composer, &bubbles);
    let read = home.only();
    assert_eq!(
        read.lines(),
        ["user: Use SQLite", "reasoning: Which one?", "reasoning: One more", "assistant: Done"]
    );
    let facts = &read.outcome.facts;
    assert_eq!(facts.id, "c1");
    assert_eq!(facts.title.as_deref(), Some("Databases"));
    assert_eq!(facts.models, ["auto", "gpt-5"]);
    assert_eq!((facts.tokens.input, facts.tokens.output), (7, 3));
    assert_eq!(facts.git_branch.as_deref(), Some("main"));
    assert_eq!(facts.ending, Ending::Finished);
    assert_eq!(facts.started.unwrap().to_string(), "2026-01-02T03:03:20Z");
    let times: Vec<_> = read.events.iter().map(|event| event.timestamp).collect();
    assert_eq!(times[0].unwrap().to_string(), "2026-01-02T03:04:05Z");
    assert_eq!(times[1].unwrap().as_millisecond(), 1_767_323_050_000);
    assert_eq!(times[3], None);
    assert_eq!(read.events[0].key.as_deref(), Some("b9"));
}

#[test]
fn tools_are_linked_to_their_results() {
    let home = Home::new();
    let tool = |id: &str, tool: Value| {
        json!({"type": 2, "bubbleId": id, "capabilityType": 15, "text": "",
        "toolFormerData": tool})
    };
    let bubbles = [
        user("u", "look"),
        tool(
            "t1",
            json!({"tool": 5, "name": "read_file", "toolCallId": "call-1",
            "rawArgs": "{\"target_file\":\"/home/me/app/a.rs\"}", "status": "completed",
            "result": "{\"contents\":\"fn main\"}"}),
        ),
        tool(
            "t2",
            json!({"tool": 15, "name": "run_terminal_cmd",
            "params": "{\"command\":\"ls\"}", "status": "error", "error": "no shell"}),
        ),
        tool("t3", json!({"additionalData": {"status": "error"}})),
        tool("t4", json!({"name": "mcp_nacre_search", "rawArgs": "{}", "result": "a memory"})),
        tool("t5", json!({"name": "edit_file", "rawArgs": "{}", "userDecision": "rejected"})),
        tool(
            "t6",
            json!({"name": "ask_question", "rawArgs": "{}",
            "result": "{\"answers\":[{\"freeformText\":\"the second one\"}]}"}),
        ),
    ];
    put_composer(&home.global(), "c1", json!({}), &bubbles);
    let read = home.only();
    assert_eq!(
        read.lines(),
        [
            "user: look",
            "tool_call: {\"target_file\":\"/home/me/app/a.rs\"}",
            "tool_result: {\"contents\":\"fn main\"}",
            "tool_call: {\"command\":\"ls\"}",
            "tool_result!: no shell",
            "meta Host!: \"error\"",
            "tool_call Injected(Nacre): {}",
            "tool_result Injected(Nacre): a memory",
            "tool_call: {}",
            "tool_result!: ",
            "tool_call: {}",
            "tool_result: {\"answers\":[{\"freeformText\":\"the second one\"}]}",
            "user: the second one",
        ]
    );
    let call = read.events[1].call.as_ref().unwrap();
    assert_eq!((call.id.as_str(), call.tool.as_deref()), ("call-1", Some("read_file")));
    assert_eq!(read.events[2].call.as_ref(), Some(call));
    assert_eq!(read.events[12].person(), Some(WordSource::Answer));
    assert_eq!(read.cwd(), Some("/home/me/app"));
}

#[test]
fn empty_rows_missing_rows_and_loose_rows() {
    let home = Home::new();
    let global = home.global();
    put_composer(
        &global,
        "c1",
        json!({}),
        &[user("u1", "one"), agent("a1", "two"), agent("a2", "3")],
    );
    put(&global, "bubbleId:c1:zz", &user("zz", "taken back"));
    global.execute("UPDATE cursorDiskKV SET value = NULL WHERE key LIKE '%a2'", []).unwrap();
    // Drafts and rows without a value are not sessions.
    put(
        &global,
        "composerData:draft",
        &json!({"composerId": "draft", "text": "never sent",
        "fullConversationHeadersOnly": []}),
    );
    global.execute("INSERT INTO cursorDiskKV VALUES ('composerData:null', NULL)", []).unwrap();
    // A conversation without its own row is found through its bubbles.
    put(&global, "bubbleId:orphan:b1", &user("b1", "still here"));
    let traces = home.traces();
    let ids: Vec<_> = traces.iter().map(|trace| trace.session.as_deref().unwrap()).collect();
    assert_eq!(ids, ["c1", "orphan"]);
    let first = read(&traces[0]);
    assert_eq!(first.lines(), ["user: one", "assistant: two", "user: taken back"]);
    assert_eq!(first.outcome.facts.undone, [Undone { from: 2, to: 2 }]);
    assert_eq!(first.outcome.facts.ending, Ending::Unknown);
    assert_eq!(read(&traces[1]).lines(), ["user: still here"]);
}

#[test]
fn a_revision_changes_with_its_rows_only() {
    let home = Home::new();
    let global = home.global();
    put_composer(&global, "c1", json!({}), &[user("u1", "one")]);
    put_composer(&global, "c2", json!({}), &[user("u1", "two")]);
    let before = home.traces();
    put(&global, "bubbleId:c2:u1", &user("u1", "other"));
    let after = home.traces();
    assert_eq!(before[0].revision, after[0].revision);
    assert_ne!(before[1].revision, after[1].revision);
    assert_ne!(before[1].source.stamp, after[1].source.stamp);
}

#[test]
fn conversations_that_stand_in_one_row() {
    let home = Home::new();
    let conversation = [user("u1", "inline"), agent("a1", "yes")];
    put(
        &home.global(),
        "composerData:c43",
        &json!({"composerId": "c43", "conversation": conversation,
        "status": "aborted"}),
    );
    assert_eq!(home.only().lines(), ["user: inline", "assistant: yes"]);
    let home = Home::new();
    let map = json!({"composerId": "m", "fullConversationHeadersOnly": [{"bubbleId": "u1", "type": 1}],
        "conversationMap": {"u1": {"text": "in the map"}}});
    let global = home.global();
    put(&global, "composerData:m", &map);
    put(&global, "bubbleId:m:x", &json!({"type": 3, "text": "odd"}));
    let read = home.only();
    assert_eq!(read.lines()[0], "user: in the map");
    assert_eq!(read.outcome.report.unknown_types.get("bubble 3"), Some(&1));
}

#[test]
fn chats_and_composers_of_a_workspace() {
    let home = Home::new();
    let folder = json!({"folder": "file:///home/me/my%20app"});
    let workspace = home.workspace("ws1", &folder);
    put_item(
        &workspace,
        "composer.composerData",
        &json!({"allComposers": [
        {"composerId": "c1", "createdAt": 1_731_784_818_255_i64, "status": "completed",
            "conversation": [user("u1", "old composer"), agent("a1", "ok")]},
        {"composerId": "only-a-header"}]}),
    );
    put_item(
        &workspace,
        "workbench.panel.aichat.view.aichat.chatdata",
        &json!({"tabs": [
        {"tabId": "t1", "chatTitle": "Title", "lastSendTime": 1_731_816_792_178_i64, "bubbles": [
            {"type": "user", "id": "x1", "text": "old chat"},
            {"type": "ai", "id": "x2", "rawText": "hello", "modelType": "claude-3.5-sonnet"},
            {"type": "user", "id": "x3", "text": ""}]},
        {"tabId": "empty", "bubbles": [{"type": "user", "id": "x4", "text": ""}]}]}),
    );
    put_item(
        &workspace,
        "aiService.prompts",
        &json!([
        {"text": "rename this", "commandType": 1}, {"text": "rename this", "commandType": 1},
        {"text": "old chat", "commandType": 2}]),
    );
    let reads: Vec<Read> = home.traces().iter().map(read).collect();
    let found: Vec<_> =
        reads.iter().map(|read| (read.outcome.facts.id.as_str(), read.lines())).collect();
    assert_eq!(found[0], ("c1", vec!["user: old composer".to_owned(), "assistant: ok".to_owned()]));
    assert_eq!(found[1], ("prompts-ws1", vec!["user: rename this".to_owned()]));
    assert_eq!(found[2], ("t1", vec!["user: old chat".to_owned(), "assistant: hello".to_owned()]));
    assert_eq!(found.len(), 3);
    for read in &reads {
        assert_eq!(read.cwd(), Some("/home/me/my app"));
    }
    assert_eq!(reads[2].outcome.facts.title.as_deref(), Some("Title"));
}

/// Creates the link to a workspace, and returns the JSON of the conversation and of its bubble.
type Link = fn(&Home, &Connection) -> (Value, Value);

/// Checks which directory is found for a conversation, both with and without its revision.
fn check_folder(name: &str, link: Link, folder: &str) {
    let home = Home::new();
    let global = home.global();
    let (composer, mut bubble) = link(&home, &global);
    if let (Value::Object(bubble), Value::Object(base)) = (&mut bubble, user("u1", "hi")) {
        bubble.extend(base);
    }
    put_composer(&global, "c1", composer, &[bubble]);
    let traces = home.traces();
    let mut trace =
        traces.into_iter().find(|trace| trace.session.as_deref() == Some("c1")).unwrap();
    assert_eq!(read(&trace).cwd(), Some(folder), "{name}");
    trace.revision = None;
    assert_eq!(read(&trace).cwd(), Some(folder), "{name}, without a revision");
}

#[test]
fn links_of_a_workspace_lead_to_the_project() {
    let cases: [(&str, Link, &str); 4] = [
        (
            "list of the workspace",
            |home, _| {
                let workspace = home.workspace("ws", &json!({"folder": "file:///srv/listed"}));
                let list = json!({"allComposers": [{"composerId": "c1"}]});
                put_item(&workspace, "composer.composerData", &list);
                (json!({}), json!({}))
            },
            "/srv/listed",
        ),
        (
            "open tabs",
            |home, _| {
                let workspace = home.workspace("ws", &json!({"folder": "file:///srv/open"}));
                let tabs = json!({"selectedComposerIds": ["c1"]});
                put_item(&workspace, "composer.composerData", &tabs);
                (json!({}), json!({}))
            },
            "/srv/open",
        ),
        (
            "state of a pane",
            |home, _| {
                let workspace = home.workspace("ws", &json!({"folder": "file:///srv/pane"}));
                let state = json!({"workbench.panel.aichat.view.c1": {"isHidden": false}});
                put_item(&workspace, "workbench.panel.composerChatViewPane.abc", &state);
                (json!({}), json!({}))
            },
            "/srv/pane",
        ),
        (
            "list of headers",
            |home, global| {
                home.workspace(
                    "ws",
                    &json!({"folder": "vscode-remote://wsl%2Bubuntu/home/me/wsl"}),
                );
                let list = json!({"allComposers":
                    [{"composerId": "c1", "workspaceIdentifier": {"id": "ws"}}]});
                put_item(global, "composer.composerHeaders", &list);
                (json!({}), json!({}))
            },
            "/home/me/wsl",
        ),
    ];
    for (name, link, folder) in cases {
        check_folder(name, link, folder);
    }
}

#[test]
fn links_of_a_conversation_lead_to_the_project() {
    let cases: [(&str, Link, &str); 5] = [
        (
            "identifier with a folder",
            |_, _| {
                let uri = json!({"fsPath": "/srv/own", "external": "file:///srv/own"});
                (json!({"workspaceIdentifier": {"id": "gone", "uri": uri}}), json!({}))
            },
            "/srv/own",
        ),
        (
            "identifier of a workspace",
            |home, _| {
                let far = "vscode-remote://ssh-remote%2Bbox/srv/far";
                home.workspace("ws", &json!({ "folder": far }));
                (json!({"workspaceIdentifier": {"id": "ws"}}), json!({}))
            },
            "vscode-remote://ssh-remote+box/srv/far",
        ),
        (
            "bubble",
            |_, _| (json!({}), json!({"workspaceProjectDir": "/srv/bubble"})),
            "/srv/bubble",
        ),
        (
            "files of bubbles",
            |_, _| {
                let file = |path: &str| json!({"uri": {"scheme": "file", "path": path}});
                let files =
                    [file("/home/me/app/src/a.rs"), file("/home/me/app/b.rs"), file("/etc/h")];
                (json!({}), json!({"context": {"fileSelections": files}}))
            },
            "/home/me/app",
        ),
        (
            "several folders",
            |home, _| {
                let file = "file:///srv/many/x.code-workspace";
                home.workspace("ws", &json!({ "workspace": file }));
                (json!({"workspaceIdentifier": {"id": "ws"}}), json!({}))
            },
            "/srv/many",
        ),
    ];
    for (name, link, folder) in cases {
        check_folder(name, link, folder);
    }
}

#[test]
fn sub_agents_hang_on_their_parents() {
    let home = Home::new();
    let composer = json!({"subagentInfo": {"parentComposerId": "p", "toolCallId": "call-7"}});
    put_composer(&home.global(), "c1", composer, &[user("u", "do it"), agent("a", "done")]);
    let read = home.only();
    assert_eq!(read.lines(), ["user Agent: do it", "assistant: done"]);
    let facts = &read.outcome.facts;
    assert_eq!(facts.role, SessionRole::SubAgent);
    assert_eq!(facts.links[0].kind, LinkKind::Parent);
    assert_eq!(
        (facts.links[0].session.as_str(), facts.links[0].call.as_deref()),
        ("p", Some("call-7"))
    );
}

#[test]
fn a_summary_and_an_open_turn() {
    let home = Home::new();
    let composer = json!({"status": "generating", "generatingBubbleIds": ["x"],
        "latestConversationSummary": {"summary": {"summary": "what was"}}});
    put_composer(&home.global(), "c1", composer, &[user("u", "go"), agent("a", "on it")]);
    let read = home.only();
    assert_eq!(
        read.lines()[2..],
        ["compaction Host: ", "summary Injected(CompactionSummary): what was"]
    );
    assert_eq!(read.outcome.facts.ending, Ending::Active);
}

#[test]
fn text_of_our_own_is_never_taken_for_the_persons_words() {
    let home = Home::new();
    let own = "<nacre-brief>\nUse spaces\n</nacre-brief>";
    let bubbles = [user("b1", own), user("b2", &format!("{own}\n\nUse tabs"))];
    put_composer(&home.global(), "c1", json!({}), &bubbles);
    let own = format!("user Injected(Nacre): {own}");
    assert_eq!(home.only().lines(), [own.clone(), own, "user: Use tabs".to_owned()]);
}
