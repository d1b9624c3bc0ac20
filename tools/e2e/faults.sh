# What must not harm an agent: a program that is missing, crashes, prints nonsense or hangs, and a store that is locked, broken or
# gone. Sourced by `tools/e2e-agents.sh`.
#
# Each fault is compared with a session that had none: the same answer, code and words, and not much more time. How long a hook that
# hangs may take is what the agent's settings say, so those are read as well; the time of a whole run is only held against a
# generous limit, because the machine has more to do.

final="The answer is forty-two."

# Puts a script into the place of the program.
replace_program() { # its commands
    rm -f "$nacre"
    [ -z "$1" ] || { printf '#!/bin/sh\n%s\n' "$1" > "$nacre"; chmod +x "$nacre"; }
}
restore_program() { rm -f "$nacre"; ln -s "$program" "$nacre"; }

# What an agent prints beside its answer, without what differs in every run: Codex tells of every hook how it went and asks for a
# program of the system, OpenCode tells of every tool how it went, and the latest Claude Code tells that it did not wait for the
# last hook of a session.
complaints() {
    sed -E '/^session id:/d; /^hook: /d; /^mcp: /d; /^warning: /d; /nacre_memory_search/,$d; /^SessionEnd .* failed: Hook cancelled$/d' "$1"
}

# The longest that one hook may take, in seconds, as the agent's settings say.
longest_hook() {
    case $agent in
        claude*) "$python" -c "$longest" "$home/.claude/settings.json" ;;
        codex) "$python" -c "$longest" "$home/.codex/hooks.json" ;;
        opencode) sed -n 's/^const LIMIT_MS = \([0-9]*\)000;$/\1/p' "$home/.config/opencode/plugins/nacre.js" ;;
    esac
}
longest='
import json, sys
hooks = [hook for groups in json.load(open(sys.argv[1]))["hooks"].values() for group in groups for hook in group["hooks"]]
print(max(hook["timeout"] for hook in hooks if "nacre" in hook["command"]))'
hooks_are_short() { [ "$(longest_hook)" -le 1 ]; }

is_unchanged() {
    [ "$code" = 0 ] || { echo "it ended with $code"; return 1; }
    cmp "$work/said.sound" "$work/said" || return 1
    complaints "$work/err" | diff "$work/err.sound" - || return 1
    [ "$ms" -lt "$limit" ] || { echo "it took $ms ms, without the fault $sound_ms"; return 1; }
}

# What the host took from this machine so far, in hundredths of a second of each core.
stolen() { awk -v cores="$(nproc)" '/^cpu / { print int($9 / cores) }' /proc/stat; }

check_fault() { # what it is
    local before try
    for try in 1 2; do
        before=$(stolen)
        talk "Where is the queue of waiting jobs kept, and who backs it up?"
        ms=$((ms - ($(stolen) - before) * 10))
        # A machine that has more to do may be slow once.
        [ "$ms" -ge "$limit" ] || break
    done
    check "$1: the session is as without it ($ms ms, not $sound_ms)" is_unchanged
}

check_program_faults() {
    local only_hooks='case $1 in hook) ;; *) exec '$program' "$@" ;; esac'
    replace_program ""
    check_fault "the program is missing"
    check "the doctor sees that" fails run "$program" connect doctor "$name"
    replace_program 'echo "a wound" >&2; kill -SEGV $$'
    check_fault "the program crashes"
    # This is how a program ends that does not know the command.
    replace_program 'echo "error: unrecognized subcommand" >&2; exit 2'
    check_fault "the program is another one"
    replace_program 'head -c 3000 /dev/urandom; echo "}{ nonsense of a program"; echo "more of it" >&2'
    check_fault "the program prints nonsense"
    [ "$agent" != opencode ] || check "which our plugin keeps to itself" lacks "$model/log.jsonl" "nonsense of a program"
    replace_program "$only_hooks"$'\nsleep 60'
    check "no hook may take more than a second" hooks_are_short
    check_fault "the hooks hang"
    restore_program
}

check_store_faults() {
    local holder log=$model/log.jsonl
    rm -f "$work/held"
    HOME=$work "$python" "$here/tools/e2e/hold_locks.py" "$work/held" "$home/.nacre" "$repo/.nacre" &
    holder=$!
    for _ in $(seq 100); do [ -s "$work/held" ] && break; sleep 0.1; done
    check "every lock and database is held by another" test -s "$work/held"
    check_fault "the store is locked"
    check "it can be searched all the same" "${log_tool[@]}" "$log" result "kept in SQLite"
    kill "$holder"
    cp -a "$home/.nacre" "$work/kept.home"
    cp -a "$repo/.nacre" "$work/kept.repo"
    break_store
    check_fault "indexes, databases, notes and memories are broken"
    check "what is whole is found all the same" "${log_tool[@]}" "$log" result "kept in SQLite"
    check "and its model is told of the rest" "${log_tool[@]}" "$log" result "cannot be read; run: nacre doctor"
    head -c 2000 /dev/urandom | tee "$home/.nacre/projects.toml" "$home/.nacre/config.toml" > "$repo/.nacre/config.toml"
    check_fault "the settings are broken"
    check "its model is told why there is no answer" "${log_tool[@]}" "$log" result "is not valid UTF-8"
    remove_stores
    check_fault "the store is gone"
    check "its model is told that there is none" "${log_tool[@]}" "$log" result "no_project"
    check "and none is made" test ! -e "$repo/.nacre"
    remove_stores
    mv "$work/kept.home" "$home/.nacre"
    mv "$work/kept.repo" "$repo/.nacre"
}

# Nothing that goes on in the background may make them again.
remove_stores() {
    end_processes "$home"
    rm -rf "$home/.nacre" "$repo/.nacre"
}

# Writes nonsense over every index, database and note, and over all memories but one.
break_store() {
    local file
    find "$home/.nacre" "$repo/.nacre" -type f ! -name lock ! -name '*.toml' ! -name '*kept-in-sqlite*' ! -path '*/connect/*' > "$work/files"
    while read -r file; do
        head -c 2000 /dev/urandom > "$file"
    done < "$work/files"
}

check_faults() {
    script <<< "[{\"text\": \"$final\"}]"
    talk "Where is the queue of waiting jobs kept, and who backs it up?"
    check "a session without faults" ends_with "$final"
    sound_ms=$ms limit=$((2 * ms + 8000))
    cp "$work/said" "$work/said.sound"
    complaints "$work/err" > "$work/err.sound"
    check_program_faults
    script <<< "[{\"tool\": \"memory_search\", \"input\": {\"query\": \"queue\"}}, {\"text\": \"$final\"}]"
    talk "Where is the queue of waiting jobs kept, and who backs it up?"
    cp "$work/said" "$work/said.sound"
    complaints "$work/err" > "$work/err.sound"
    check_store_faults
}
