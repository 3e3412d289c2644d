#!/usr/bin/env bash
# Runs Nexmark queries of examples/ and the same queries in DuckDB over the same files; see docs/speed.md.
# Arguments choose queries; `random` compares the rows of random pipelines instead (see docs/compare_random.py). EBB_BENCH_EVENTS sets how many events the files are made of (default 1000000), EBB_BENCH_ROUNDS how often each runs.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p .bench
if [ ! -x .bench/venv/bin/python ]; then
  python3 -m venv .bench/venv
fi
.bench/venv/bin/python -c 'import duckdb' 2>/dev/null || .bench/venv/bin/pip install --quiet duckdb
make build
script=docs/compare.py
if [ "${1:-}" = random ]; then
  script=docs/compare_random.py
  shift
fi
exec .bench/venv/bin/python "$script" "$@"
