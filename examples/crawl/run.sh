#!/usr/bin/env bash
# Serves the site of this folder, builds a dataset of it, and builds again, which asks nothing.
set -euo pipefail
cd "$(dirname "$0")"
corpora=${CORPORA_BIN:-corpora}
artifacts=${1:-artifacts}

python3 -m http.server 8767 --bind 127.0.0.1 --directory site 2>access.log &
server=$!
trap 'kill "$server"' EXIT
until python3 -c 'import socket; socket.create_connection(("127.0.0.1", 8767), 1).close()' 2>/dev/null; do sleep 0.1; done

"$corpora" build --config corpus.toml --artifacts "$artifacts"
"$corpora" build --config corpus.toml --artifacts "$artifacts"
"$corpora" build --config corpus.toml --artifacts "$artifacts" --refresh
echo "what the site was asked:" && cat access.log
