#!/usr/bin/env bash
# Records the command INPUT_RUNS times into INPUT_OUTPUT/traces.
set -euo pipefail

traces="$INPUT_OUTPUT/traces"
mkdir -p "$traces"
rm -f "$traces"/run*.wspan
# The command is a line of shell words, as in a `run:` step.
eval "words=($INPUT_COMMAND)"
case "${words[0]}" in
run | test | bench) words=(cargo "${words[@]}") ;;
esac
for ((run = 1; run <= INPUT_RUNS; run++)); do
    "$INPUT_WORKSPAN" record --no-report -o "$traces/run$run.wspan" -- "${words[@]}"
done
echo "traces=$traces" >>"$GITHUB_OUTPUT"
