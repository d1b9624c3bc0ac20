# What the demos share: a home and a repository that are made for them and removed again, and commands that are shown and run.
# To be sourced, with the path of the nacre program as the first argument.
#
# Every line after a `$ ` is a command that really ran, and what follows is what it printed. The clock is fixed, so that the ids
# are the same in every run. A demo ends with an error when a step does not end as it should.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
nacre=${1:-${CARGO_TARGET_DIR:-$here/target}/debug/nacre}
command -v git > /dev/null || { echo "demo: git is required but not installed" >&2; exit 1; }
[ -x "$nacre" ] || { echo "demo: program \`$nacre\` not found; run \`make demo\`" >&2; exit 1; }
nacre=$(cd "$(dirname "$nacre")" && pwd)/$(basename "$nacre")

tmp=$(mktemp -d "${TMPDIR:-/tmp}/nacre-demo.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# Nothing of the person's own may leak in, and nothing of the demo's may leak out.
for name in $(compgen -e); do
    case $name in NACRE_* | GIT_* | CLAUDE_* | CODEX_* | OPENCODE_*) unset "$name" ;; esac
done
export HOME=$tmp/home XDG_CONFIG_HOME=$tmp/home/.config XDG_DATA_HOME=$tmp/home/.local/share
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat
export GIT_AUTHOR_NAME=Ana GIT_AUTHOR_EMAIL=ana@example.org
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
mkdir -p "$HOME" "$tmp/bin" "$tmp/tidepool/src"
ln -s "$nacre" "$tmp/bin/nacre"
PATH=$tmp/bin:$PATH

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' plain=$'\e[0m'; else bold='' plain=''; fi

say() { printf '\n%s# %s%s\n' "$bold" "$*" "$plain"; }

# Prints a command as one would type it.
prompt() {
    local word line='$'
    for word in "$@"; do
        case $word in
            '' | *[!A-Za-z0-9_./:=@,+-]*) line+=" '$word'" ;;
            *) line+=" $word" ;;
        esac
    done
    printf '%s%s%s\n' "$bold" "$line" "$plain"
}

# Runs a command that must end with the given code.
expect() {
    local wanted=$1 code=0
    shift
    prompt "$@"
    "$@" 2>&1 || code=$?
    if [ "$code" -ne "$wanted" ]; then
        echo "demo: the command above ended with $code instead of $wanted" >&2
        exit 1
    fi
}

run() { expect 0 "$@"; }

# Runs a line of shell, such as a pipeline.
run_line() {
    printf '%s$ %s%s\n' "$bold" "$1" "$plain"
    bash -o pipefail -c "$1"
}

# The day it is, for nacre and for git.
today() { export NACRE_NOW=$1 GIT_AUTHOR_DATE=$1 GIT_COMMITTER_DATE=$1; }

# Fails when a file does not hold what was just shown to be in it.
must_hold() { grep -q -- "$2" "$1" || { echo "demo: \`$1\` does not hold \`$2\`" >&2; exit 1; }; }

# Makes the repository and goes there.
begin() {
    cd "$tmp/tidepool"
    git -c init.defaultBranch=main init -q .
    printf 'fn main() {}\n' > src/main.rs
    git add -A
    git commit -q -m "start"
}

# Lays the sessions of tools/demo-home where Claude Code, Codex and Cursor keep theirs.
lay_sessions() {
    local file
    while IFS= read -r file; do
        mkdir -p "$HOME/.$(dirname "$file")"
        sed "s|@REPO@|$PWD|g" "$here/tools/demo-home/$file" > "$HOME/.$file"
        touch -d 2026-03-04T12:00:00Z "$HOME/.$file"
    done < <(cd "$here/tools/demo-home" && find . -type f | sed 's|^\./||')
}
