# An agent as the model that reads a session for Nacre. Sourced by `tools/e2e-agents.sh`.

# A home with one session of a registered project, and what must not run when the agent answers for Nacre.
prepare_reader() {
    mkdir -p "$home/.claude/projects/one"
    cat > "$model/claim.json" << 'JSON'
{"quote": "Keep the queue in SQLite, because one file is easy to back up.",
 "candidate": {"type": "decision", "kind": "none", "title": "The queue of waiting jobs is kept in SQLite",
               "body": "Jobs that wait are rows of a table in one SQLite file, because one file is easy to back up and no server has to run.",
               "basis": "stated", "found_in": "nowhere", "importance": 3}}
JSON
    "$python" - "$repo" > "$home/.claude/projects/one/0b6f2c1e-8f3a-4a7e-9a51-6f0f4a6f9d11.jsonl" << 'PYTHON'
import json, sys
session, at = "0b6f2c1e-8f3a-4a7e-9a51-6f0f4a6f9d11", "2026-03-02T09:0%d:00.000Z"
turns = [("user", "How should we store the jobs that wait?"),
         ("assistant", [{"type": "text", "text": "A table in SQLite or a server such as Redis. Which one?"}]),
         ("user", "Keep the queue in SQLite, because one file is easy to back up."),
         ("assistant", [{"type": "text", "text": "Done: the queue is a table in one SQLite file."}])]
for number, (role, content) in enumerate(turns):
    print(json.dumps({"type": role, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "sessionId": session,
                      "timestamp": at % number, "cwd": sys.argv[1], "version": "2.1.0", "message": {"role": role, "content": content}}))
PYTHON
    # A session that went on a moment ago is left alone.
    touch -d 2026-03-02T09:10:00Z "$home"/.claude/projects/one/*.jsonl
    # Servers, notices and hooks of the person's own: none may run for a question of ours.
    sed -i "3a notify = [\"sh\", \"-c\", \"touch $home/notified\"]" "$home/.codex/config.toml"
    printf '[mcp_servers.touch]\ncommand = "touch"\nargs = ["%s"]\n' "$home/served" >> "$home/.codex/config.toml"
    sed -i "s|\"share\": \"disabled\",|& \"mcp\": {\"touch\": {\"type\": \"local\", \"command\": [\"touch\", \"$home/served\"]}},|" \
        "$home/.config/opencode/opencode.json"
    echo "{\"hooks\":{\"UserPromptSubmit\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"touch $home/hooked\"}]}]}}" \
        > "$home/.claude/settings.json"
}

# Stands before the real command, writes down how it is started, and lets it go on.
spy() {
    local command
    mkdir -p "$work/spied"
    for command in claude codex opencode; do
        printf '#!/bin/sh\n{ echo "child=$NACRE_CHILD"; echo "folder=$PWD"; echo "pid=$$"; } >> "$SPY"\nexec "%s" "$@"\n' \
            "$bin/$command" > "$work/spied/$command"
        chmod +x "$work/spied/$command"
    done
}

# The traces that an agent keeps, as a list.
traces() {
    # Not every agent has made its folder.
    { find "$home/.claude/projects" "$home/.codex/sessions" "$home/.local/share/opencode" -type f \
        \( -name '*.jsonl' -o -name '*.db' -o -name '*.json' \) 2> /dev/null || true; } | sort
}

# Whether a process that an agent was started as is still there.
is_running() {
    local pid
    for pid in $(sed -n 's/^pid=//p' "$work/spy"); do
        [ ! -e "/proc/$pid" ] || return 0
    done
    pgrep -f "$home/.nacre/scratch" > /dev/null
}
is_gone() {
    for _ in $(seq 50); do is_running || return 0; sleep 0.1; done
    return 1
}

interrupt() { # runs nacre, and presses Ctrl-C as soon as the model is asked
    run "$nacre" sync --force --strategy windows &
    local shell=$! pid=
    for _ in $(seq 300); do [ -s "$model/log.jsonl" ] && break; sleep 0.1; done
    pid=$(pgrep -n -f "^$nacre sync --force") || return 1
    kill -INT "$pid"
    wait "$shell" || true
}

check_first_question() {
    check "a person is asked once" run "$python" "$here/tools/e2e/on_terminal.py" n "$nacre" init
    check "in these words" holds "$work/out" "Claude Code is installed. Let it read your sessions?"
    check "with what it costs" holds "$work/out" "about 12,000 tokens per session, at most 20 sessions per day"
    check "no is kept" holds "$home/.nacre/config.toml" 'agent = "none"'
    check "who answered is not asked again" run "$python" "$here/tools/e2e/on_terminal.py" y "$nacre" init
    check "never" lacks "$work/out" "[y/N]"
    rm "$home/.nacre/config.toml"
    check "yes is taken, too" run "$python" "$here/tools/e2e/on_terminal.py" y "$nacre" init
    check "and kept" holds "$home/.nacre/config.toml" 'agent = "claude-code"'
    check "auto is that agent" run "$nacre" model
    check "with its model" holds "$work/out" "default  claude-code/haiku"
}

# Everything that holds when the agent reads for Nacre, by its name in the settings.
reader() { # an agent
    begin "reader-$1" "$1"
    case $agent in
        claude) reads_as=claude-code/haiku ;;
        *) reads_as=$agent/default ;;
    esac
    prepare_reader
    spy
    # It is the first one that is installed.
    [ "$agent" != claude ] || check_first_question
    run "$nacre" init
    run "$nacre" config set roles.default.model "$reads_as"

    answers answer
    check "a test asks for one word" run "$nacre" model test
    check "it answers" holds "$work/out" pearl
    check "its tokens are told" holds "$work/out" "1000 in, 50 out"
    check "it is listed with its version" run "$nacre" model
    check "the list shows it" holds "$work/out" "  ${reads_as%%/*} "
    traces > "$work/before"

    answers answer
    check "it reads a session" run "$nacre" sync --strategy windows
    check "the memory is there" run "$nacre" memory list
    check "its answer is used" holds "$work/out" "The queue of waiting jobs is kept in SQLite"
    check "its tokens are counted" grep -qF '"input": 2000' "$repo"/.nacre/workspace/sync-*/metrics.json
    check "and kept against the limits" run "$nacre" status --json
    check "in the sum of the day" holds "$work/out" 2100
    check "the model saw our instructions and the session" holds "$model/log.jsonl" "Keep the queue in SQLite"
    check "the model was offered no tools to act with" lacks "$model/log.jsonl" '"name": "Bash"'
    check "nor a shell" lacks "$model/log.jsonl" '"name": "shell'
    traces > "$work/after"
    check "it leaves no trace" cmp "$work/before" "$work/after"
    check "its hooks do not run" test ! -e "$home/hooked"
    check "its servers do not run" test ! -e "$home/served"
    check "its notices are not sent" test ! -e "$home/notified"
    check "it starts in an empty folder of its own" holds "$work/spy" "folder=$home/.nacre/scratch/work-"
    check "it knows who asks" holds "$work/spy" "child=1"
    check "the folder is removed" test -z "$(ls -A "$home/.nacre/scratch")"
    check "a Nacre that it starts asks no agent" fails run env NACRE_CHILD=1 "$nacre" model test
    check "and says why" holds "$work/out" "Nacre is running inside an agent that it started, so it cannot call"

    answers text
    check "an answer as plain text is taken as well" run "$nacre" sync --force --strategy windows

    answers unauthorized
    check "without a login it fails" fails run "$nacre" model test
    check "and says so" holds "$work/out" "the agent program is not logged in"
    answers quota
    check "without credit it fails" fails run "$nacre" model test
    check "and says that, too" holds "$work/out" "the account has no credit left"
    run env NACRE_LIMITS_SESSION_TOKENS=10 "$nacre" sync --force --strategy windows || true
    check "a limit of Nacre's own holds before it is asked" holds "$work/out" "limit of 10 tokens"

    answers slow
    check "Ctrl-C ends a slow answer" interrupt
    check "and leaves no process" is_gone
}
