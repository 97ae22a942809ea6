#!/usr/bin/env bash
# Fetches a few megabytes from a server that cuts, ignores ranges, is busy, redirects and breaks; then fetches again.
#
#     examples/flaky/run.sh
#
# The binary is $CORPORA_BIN, or a release build. Everything is written to a temporary folder and removed at the end.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

if [ -z "${CORPORA_BIN:-}" ]; then
    cargo build --release --quiet
    CORPORA_BIN=${CARGO_TARGET_DIR:-target}/release/corpora
fi

scratch=$(mktemp -d)
python3 "$here/flaky_server.py" "$scratch" > "$scratch/requests" &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$scratch"' EXIT
for _ in $(seq 100); do
    [ -e "$scratch/corpus.toml" ] && break
    sleep 0.1
done

fetch() {
    "$CORPORA_BIN" fetch --config "$scratch/corpus.toml" --artifacts "$scratch/artifacts" \
        --concurrency 1 --base-delay 0.1 --output json --quiet > "$scratch/result"
}

show() { # the requests since line $1, then what became of each source
    tail -n "+$(($1 + 1))" "$scratch/requests" | sed 's/^/  /'
    python3 - "$scratch/result" <<'PYTHON'
import json, sys
print("  source    status    requests      bytes  documents")
for entry in json.loads(open(sys.argv[1]).readlines()[-1])["entries"]:
    print("  {source_id:<9} {status:<9} {requests:>8} {bytes:>10,} {n_docs:>10,}".format(**entry))
PYTHON
}

printf 'First run: every source has its trouble, none is lost.\n'
fetch
show 0
asked=$(wc -l < "$scratch/requests")
printf '\nSecond run: the ledger knows all five, so nothing is asked.\n'
fetch
show "$asked"
again=$(($(wc -l < "$scratch/requests") - asked))
printf '\n%s requests in the first run, %s in the second; %s ledger rows.\n' "$asked" "$again" "$(wc -l < "$scratch/artifacts/corpus/LEDGER.jsonl")"
[ "$again" = 0 ]
