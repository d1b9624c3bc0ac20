# An agent that `nacre connect` wired: what its model is told, what it records, and what is left when it is taken out again.
# Sourced by `tools/e2e-agents.sh`.

log_tool=("$python" "$here/tools/e2e/request_log.py")
snapshot=("$python" "$here/tools/e2e/snapshot.py")

# The most tokens of the brief and of the memories at a prompt, and what the second session is held to.
start_tokens=500 prompt_tokens=500 fewer_start_tokens=300

prompt="Retry an upload at most five times, because the gateway drops the sixth attempt. And where is the queue of waiting jobs kept?"
recorded=uploads-are-retried-at-most-five-times

# One turn of a session. What it says is in `$work/said`, what else it prints in `$work/err`, its code in `$code`, its time in `$ms`.
talk() { # a prompt
    local started
    : > "$model/log.jsonl"
    started=$(date +%s%N) code=0
    case $agent in
        claude) run_bare claude -p "$1" ;;
        claude-latest) run_bare claude -p "$1" --allowedTools "mcp__nacre__memory_search,mcp__nacre__memory_add" ;;
        codex) run_bare codex exec --skip-git-repo-check "$1" ;;
        opencode) run_bare opencode run "$1" ;;
    esac > "$work/said" 2> "$work/err" < /dev/null || code=$?
    ms=$((($(date +%s%N) - started) / 1000000))
    cat "$work/said" "$work/err" > "$work/out"
}
# The same, once more where the model was told nothing: on a busy machine a hook is late, and then it must be silent.
talk_heard() { # a prompt, then the tags of what must be heard
    local said=$1 attempt
    shift
    cp -a "$repo/.nacre" "$work/kept"
    for attempt in 1 2 3; do
        talk "$said"
        ! is_heard "$@" && [ "$attempt" -lt 3 ] || break
        echo "  (it heard nothing in attempt $attempt; once more)"
        rm -rf "$repo/.nacre"
        cp -a "$work/kept" "$repo/.nacre"
    done
    rm -rf "$work/kept"
}
is_heard() {
    local tag
    for tag in "$@"; do "${log_tool[@]}" "$model/log.jsonl" told "$tag" "" > /dev/null || return 1; done
}
script() { cat > "$model/script.json"; answers script; }
ends_with() { [ "$code" = 0 ] && holds "$work/said" "$1"; }
shot() { "${snapshot[@]}" take "$home" > "$work/shot.$1"; }

# Settings of the person's own, in a form that nobody would write by machine, and one run so that the agent makes its files.
settle() {
    case $agent in
        claude)
            mkdir -p "$home/.claude"
            printf '{"permissions":\t{"allow":["mcp__nacre__*"]},\n\n "hooks": {"Stop":[{"hooks":[{"type":"command","command":"true"}]}]}}' \
                > "$home/.claude/settings.json" ;;
        codex) printf '\n# mine\n[tui]\nanimations   = false # still' >> "$home/.codex/config.toml" ;;
        opencode)
            # With a plugin it waits for the package that plugins may use; without one the next start would wait for it.
            mkdir -p "$home/.config/opencode/plugins"
            echo 'export const Own = async () => ({});' > "$home/.config/opencode/plugins/own.js" ;;
    esac
    script <<< '[{"text": "Settled."}]'
    talk "Say hello."
    check "it runs before it is connected" ends_with "Settled."
}

# One memory that fits the prompt, and more important ones that fill the brief, so that it comes with the prompt alone.
remember() {
    local topic
    run "$nacre" init
    run "$nacre" memory add "The queue of waiting jobs is kept in SQLite" --confidence 0.5 \
        --body "One file is easy to back up and no server has to run."
    for topic in colour font margin border shadow header footer banner button menu dialog tooltip avatar badge; do
        run "$nacre" memory add "The $topic of the settings page follows the drawing of March" \
            --body "The person wants the $topic as the designer drew it, because customers complained about every other one."
    done
    # A busy machine must not make a hook late here; the agents' own limits still hold.
    run "$nacre" config set hooks.deadline_ms 900
    # The brief then has no room for the memory that fits the prompt.
    run "$nacre" config set hooks.start_tokens "$start_tokens"
    # What it syncs in the background belongs to other checks.
    run "$nacre" config set hooks.sync false
}

connect() {
    shot before
    check "it is connected" run "$nacre" connect "$name" --yes
    check "and taken out at once" run "$nacre" connect "$name" --remove --yes
    shot removed
    check "which leaves every byte of the home as it was" "${snapshot[@]}" same "$work/shot.before" "$work/shot.removed"
    check "it is connected again" run "$nacre" connect "$name" --yes
    note_files
    if [ "$agent" = codex ]; then
        check "its hooks are not trusted unasked" lacks "$home/.codex/config.toml" trusted_hash
        check "they are when a person says so" run "$nacre" connect codex --trust-hooks --yes
        note_files
        check "with their hashes" holds "$home/.codex/config.toml" trusted_hash
    fi
    shot connected
    check "tools, hooks and skill are on" is_wired
    check "the doctor sees what the agent will see" run "$nacre" connect doctor "$name"
    check "tools and a brief" grep -qE "mcp ok \([0-9]+ tools.*hooks ok \(a session started here would get [0-9]+ char" "$work/out"
    check "connecting once more" run "$nacre" connect "$name" --yes
    shot again
    check "changes nothing" "${snapshot[@]}" same "$work/shot.connected" "$work/shot.again"
}
# The files that Nacre says it wrote.
note_files() { sed -n -E 's,^(Made|Changed) ~/,,p' "$work/out" >> "$work/named"; }
is_wired() {
    run "$nacre" connect list --json
    "$python" -c '
import json, sys
agent = next(agent for agent in json.load(open(sys.argv[1]))["agents"] if agent["agent"] == sys.argv[2])
sys.exit(any(agent[part] != "on" for part in ("traces", "mcp", "hooks", "skill")))' "$work/out" "$name"
}

# No model answers at once, and Claude Code writes the prompt to its trace some milliseconds after it was sent.
first_session() {
    script << 'JSON'
[{"tool": "memory_search", "input": {"query": "queue of waiting jobs"}},
 {"tool": "memory_add", "seconds": 1.5, "input": {"title": "Uploads are retried at most five times",
   "body": "The gateway drops the sixth attempt of an upload, so the worker stops after five and reports the failure.",
   "quote": "Retry an upload at most five times, because the gateway drops the sixth attempt."}},
 {"tool": "memory_add", "input": {"title": "Uploads to the gateway are always compressed",
   "body": "The gateway charges by volume, so that every upload to the gateway is compressed before it is sent.",
   "quote": "Always compress an upload to the gateway, because it charges by volume."}},
 {"text": "Recorded."}]
JSON
    talk_heard "$prompt" nacre-brief nacre-memory
    local log=$model/log.jsonl
    check "a session ends as its model says" ends_with "Recorded."
    check "it begins with a brief" "${log_tool[@]}" "$log" told nacre-brief "of the settings page follows the drawing"
    check "the memory that fits comes with the prompt" "${log_tool[@]}" "$log" told nacre-memory "kept in SQLite"
    check "and once" "${log_tool[@]}" "$log" once "kept in SQLite"
    check "Nacre says no more than its budgets" "${log_tool[@]}" "$log" budget "$start_tokens" "$prompt_tokens"
    check "memory_search answers" "${log_tool[@]}" "$log" result "The queue of waiting jobs is kept in SQLite ["
    check "memory_add answers" "${log_tool[@]}" "$log" result "$recorded"
    check "words that nobody said make a candidate" "${log_tool[@]}" "$log" result candidate
    cp "$log" "$work/first.jsonl"
}

check_memory() {
    local file id
    file=$(ls "$repo"/.nacre/memory/decisions/*"$recorded.md")
    id=$(basename "$file" .md)
    check "the memory is a file" holds "$file" "The gateway drops the sixth attempt"
    check "it is shown" run "$nacre" memory show "$id" --evidence --json
    check "its evidence is in the agent's trace, with the right speaker" "$python" "$here/tools/e2e/evidence.py" "$name" "$home" < "$work/out"
    # The prompts of `codex exec` may come from a program, so its memories need the user's approval.
    [ "$name" != codex ] || check "the user accepts it" run "$nacre" review accept "$id"
    check "the store is sound" run "$nacre" doctor
    check "what nobody said waits for review" run "$nacre" review
    check "with its title" holds "$work/out" "Uploads to the gateway are always compressed"
    check "tokens are counted here as Nacre counts them" counts_alike
}
counts_alike() {
    run "$nacre" brief --json
    "$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["text"], end="")' "$work/out" > "$work/brief"
    [ "$("${log_tool[@]}" count < "$work/brief")" = "$("$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["tokens"])' "$work/out")" ]
}

second_session() {
    run "$nacre" config set hooks.start_tokens "$fewer_start_tokens"
    script <<< '[{"text": "Known."}]'
    talk_heard "What do we do when an upload to the gateway fails?" nacre-brief
    local log=$model/log.jsonl
    check "the next session runs" ends_with "Known."
    # A small brief has the user's own words first, so the new memory comes with the prompt.
    check "it is given the new memory" "${log_tool[@]}" "$log" told nacre-memory "Uploads are retried at most five times"
    check "what waits for review is in no block" "${log_tool[@]}" "$log" untold nacre-brief "always compressed"
    check "a smaller budget holds" "${log_tool[@]}" "$log" budget "$fewer_start_tokens" "$prompt_tokens"
}

# A sync keeps a transcript of each session, in which the doctor looks the quote up again. A session that went on a moment ago
# would be left alone, so its trace is made older.
check_proof() {
    find "$home/.claude/projects" "$home/.codex/sessions" "$home/.local/share/opencode" -type f -exec touch -d "3 hours ago" {} + \
        2> /dev/null || true
    case $name in
        claude) run "$nacre" config set roles.default.model claude-code/haiku ;;
        *) run "$nacre" config set roles.default.model "$name/default" ;;
    esac
    echo '{"quote": "words of nobody", "candidate": {}}' > "$model/claim.json"
    answers answer
    check "a sync reads the sessions" run "$nacre" sync --strategy windows
    check "the doctor looks the quote up" run "$nacre" doctor --evidence
    check "and finds it" holds "$work/out" "Quotes (project): 1 verified"
}

take_out() {
    shot left
    check "it is taken out" run "$nacre" connect "$name" --remove --yes
    shot after
    check "what connecting changed is as it was" \
        "${snapshot[@]}" restored "$work/named" "$home" "$work"/shot.{before,connected,left,after}
    script <<< '[{"text": "Alone."}]'
    talk "$prompt"
    check "a session without Nacre runs" ends_with "Alone."
    check "and hears nothing of it" "${log_tool[@]}" "$model/log.jsonl" silent
}

connected() { # an agent
    begin "connected-$1" "$1"
    settle
    remember
    connect
    first_session
    check_memory
    second_session
    check_proof
    check_faults
    take_out
}
