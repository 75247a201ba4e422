#!/usr/bin/env bash
# Checks the limits of the recorded runs: annotations on stdout, and files for a comment, code
# scanning and test reports. Ends with 3 if a limit is broken.
set -euo pipefail

results="$INPUT_OUTPUT"
traces=("$results"/traces/run*.wspan)
# Limits are a line of shell words, as in a `run:` step.
eval "limits=($INPUT_LIMITS)"
shopt -s nullglob
baseline=()
if [ -n "$INPUT_BASELINE" ]; then
    for trace in "$INPUT_BASELINE"/*.wspan; do
        baseline+=(--baseline "$trace")
    done
fi
if [ ${#baseline[@]} -eq 0 ]; then
    # Limits of growth need something to compare with.
    kept=()
    for ((i = 0; i < ${#limits[@]}; i++)); do
        case "${limits[i]}" in
        --max-regression | --max-work-growth | --max-span-growth)
            i=$((i + 1))
            echo "::notice title=workspan::no baseline yet: ${limits[i - 1]} is not checked"
            ;;
        *) kept+=("${limits[i]}") ;;
        esac
    done
    limits=("${kept[@]+"${kept[@]}"}")
fi
{
    echo "comment=$results/comment.md"
    echo "sarif=$results/check.sarif"
    echo "junit=$results/check.xml"
} >>"$GITHUB_OUTPUT"
if [ ${#limits[@]} -eq 0 ]; then
    echo "::notice title=workspan::nothing to check without a baseline"
    : >"$results/comment.md"
    exit 0
fi
code=0
"$INPUT_WORKSPAN" check "${traces[@]}" "${limits[@]}" "${baseline[@]+"${baseline[@]}"}" --format github \
    --also "markdown:$results/comment.md" --also "sarif:$results/check.sarif" --also "junit:$results/check.xml" || code=$?
if [ -f "$results/comment.md" ] && [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    cat "$results/comment.md" >>"$GITHUB_STEP_SUMMARY"
fi
exit "$code"
