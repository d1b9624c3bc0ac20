# What every part of `tools/e2e-agents.sh` uses: checks, models, homes. Sourced; `$here`, `$tmp`, `$agents` and `$program` are set.
#
# A job is one agent in one part. It has a folder of its own, `$work`, with a home, a repository and a scripted model, so that jobs
# can run side by side.

# Shims of Python need the caller's home.
python=$(python3 -c 'import sys; print(sys.executable)')

check() { # what it shows, then a command that must succeed
    local what=$1
    shift
    if "$@" > "$work/check" 2>&1; then
        echo "  ok: $what"
    else
        echo "  not ok: $what"
        { echo "\$ $*"; tail -n 60 "$work/check"; echo "--- printed last:"; tail -n 40 "$work/out"; } | cut -c1-600 | sed 's/^/    | /'
    fi
}
holds() { grep -qF -- "$2" "$1"; }
lacks() { ! grep -qF -- "$2" "$1"; }
fails() { ! "$@"; }

# Sets up `$work` for an agent: an empty home and repository, the program, and a model that listens on `$port`.
begin() { # the job's name, then the agent's
    job=$1 agent=$2
    # Two versions of Claude Code are one agent to Nacre.
    name=${agent%-latest}
    work=$tmp/$job home=$tmp/$job/home repo=$tmp/$job/repo model=$tmp/$job/model
    mkdir -p "$home/bin" "$repo" "$model" "$home/.config/opencode" "$home/.codex"
    nacre=$home/bin/nacre
    ln -s "$program" "$nacre"
    bin=$agents/node_modules/.bin
    [ "$agent" != claude-latest ] || bin=$agents/latest/node_modules/.bin
    git -C "$repo" -c init.defaultBranch=main init -q .
    : > "$work/out"
    answers answer
    HOME=$work "$python" "$here/tools/scripted_model.py" "$model" &
    for _ in $(seq 100); do [ -s "$model/port" ] && break; sleep 0.1; done
    port=$(cat "$model/port")
    write_settings
}
answers() { echo "$1" > "$model/mode"; : > "$model/log.jsonl"; }

# What agents need to find the model. Their own servers and notices are for the parts that must not start them.
write_settings() {
    cat > "$home/.codex/config.toml" << TOML
model = "fake"
model_provider = "fake"
check_for_update_on_startup = false
[model_providers.fake]
name = "fake"
base_url = "http://127.0.0.1:$port/v1"
wire_api = "responses"
stream_max_retries = 0
request_max_retries = 0
TOML
    cat > "$home/.config/opencode/opencode.json" << JSON
{"model": "fake/fake", "small_model": "fake/fake", "autoupdate": false, "share": "disabled",
 "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "fake",
   "options": {"baseURL": "http://127.0.0.1:$port/v1", "apiKey": "x"},
   "models": {"fake": {"name": "fake", "limit": {"context": 200000, "output": 8000}}}}}}
JSON
}

# Runs a command in the home of the job, with nothing of the caller's but what a network with its own certificates needs.
run_bare() {
    (cd "$repo" && exec env -i HOME="$home" LANG=C.UTF-8 TERM=xterm \
        PATH="$work/spied:$home/bin:$bin:$(dirname "$(command -v node)"):/usr/bin:/bin" \
        ${NODE_EXTRA_CA_CERTS:+NODE_EXTRA_CA_CERTS="$NODE_EXTRA_CA_CERTS"} \
        ANTHROPIC_BASE_URL="http://127.0.0.1:$port" ANTHROPIC_API_KEY=sk-fake \
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 \
        OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1 \
        SPY="$work/spy" "$@")
}
run() { run_bare "$@" > "$work/out" 2>&1 < /dev/null; }

# Ends every process whose home lies in a folder of ours, whoever started it.
end_processes() { # a folder
    local process
    for process in /proc/[0-9]*; do
        if tr '\0' '\n' 2> /dev/null < "$process/environ" | grep -q "^HOME=$1"; then
            kill -KILL "${process#/proc/}" 2> /dev/null || true
        fi
    done
}

# Runs a job to its end, then prints what it said at once. A job that breaks off counts as a failed check.
run_job() { # a function, then its arguments
    local code=0 started=$SECONDS
    set +e
    (set -e; "$@") > "$tmp/log.$1.$2" 2>&1
    code=$?
    set -e
    [ "$code" = 0 ] || echo "  not ok: it ran to its end (code $code)" >> "$tmp/log.$1.$2"
    { echo "$1 $2 ($((SECONDS - started)) s)"; cat "$tmp/log.$1.$2"; } > "$tmp/said.$1.$2"
    cat "$tmp/said.$1.$2"
    end_processes "$tmp/$1-$2"
}
