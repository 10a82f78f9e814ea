#!/usr/bin/env bash
# Everything that needs a GPU, in under 9 minutes: tests, sanitizers, benchmarks.
#
#   benchmarks/gpu_check.sh OUT [TESTS...]
#
# OUT gets tests.log, sanitizer.log, benchmarks.log and a JSON file a benchmark; TESTS are pytest's arguments
# (by default the whole suite). A step that fails or runs out of time does not stop the others; what ran and how
# it ended is printed last, and the exit code is 1 where anything failed. PYTHON names the interpreter, which
# needs the packages of pyproject.toml, PyTorch and CuPy; LIMIT bounds the whole run in seconds.
set -uo pipefail

[ $# -ge 1 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
mkdir -p "$1" || exit 2
out="$(cd "$1" && pwd)"
shift
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
if [ $# -eq 0 ]; then set -- tests; fi

python="${PYTHON:-python3}"
limit="${LIMIT:-520}"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
# One cache for all steps, so that each kernel is compiled once.
export BARACUDA_CACHE_DIR="$scratch/cache" PYTHONUNBUFFERED=1

summary=()
failed=0

left() { echo $((limit - SECONDS)); }

# note NAME SECONDS CODE TEXT: a line of the summary; 124 and 137 are what `timeout` gives.
note() {
    local how="ok"
    case "$3" in 0) ;; 124 | 137) how="OUT OF TIME" ;; *) how="FAILED ($3)" ;; esac
    [ "$3" -eq 0 ] || failed=1
    summary+=("$(printf '%-22s %4ss  %-12s %s' "$1" "$2" "$how" "${4:0:150}")")
}

# step NAME SECONDS LOG COMMAND...: runs a command within its time and what is left of the whole.
step() {
    local name="$1" seconds="$2" log="$3" began=$SECONDS code now
    shift 3
    [ "$(left)" -lt "$seconds" ] && seconds="$(left)"
    if [ "$seconds" -le 0 ]; then
        printf '%s\t0\t124\tnot begun\n' "$name" >"$scratch/$name.result"
        return 124
    fi
    {
        printf '== %s: %s\n' "$name" "$*"
        timeout --signal=TERM --kill-after=5 "$seconds" "$@"
        code=$?
        printf '== %s: exit code %s\n' "$name" "$code"
    } >"$scratch/$name.log" 2>&1
    cat "$scratch/$name.log" >>"$log"
    now="$(grep -v '^==' "$scratch/$name.log" | grep -v '^[[:space:]]*$' | tail -1)"
    printf '%s\t%s\t%s\t%s\n' "$name" "$((SECONDS - began))" "$code" "$now" >"$scratch/$name.result"
    return "$code"
}

# told NAME: puts a step's result into the summary; apart from `step`, which may run in the background.
told() {
    local name seconds code text
    IFS=$'\t' read -r name seconds code text <"$scratch/$1.result"
    note "$name" "$seconds" "$code" "$text"
}

rm -f "$out"/{tests,sanitizer,benchmarks}.log
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || failed=1

step install 60 "$out/tests.log" \
    "$python" -m pip install -q --no-index --no-deps --no-build-isolation -e .
told install
arch="$("$python" -c 'from baracuda import driver; print(driver.device_arch(0))')"
step compile 60 "$out/tests.log" "$python" -m baracuda.codegen.cli compile --arch "$arch" --jobs "$(nproc)"
told compile

# The tools watch while the tests run: both leave most of the card idle.
sanitizer="$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)"
real_python="$("$python" -c 'import sys; print(sys.executable)')"
step sanitize 60 "$out/sanitizer.log" "$python" benchmarks/sanitize.py
told sanitize
tools=(memcheck racecheck initcheck synccheck)
for tool in "${tools[@]}"; do
    step "$tool" 180 "$scratch/$tool.all" \
        "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 20 "$real_python" benchmarks/sanitize.py &
done
if "$python" -c 'import xdist' 2>/dev/null; then parallel=(-n 8); else parallel=(); fi
# pytest-benchmark warns beside xdist, and a warning is an error here.
step tests 200 "$out/tests.log" "$python" -m pytest -q -p no:benchmark --device cuda "${parallel[@]}" "$@"
wait
told tests
for tool in "${tools[@]}"; do
    told "$tool"
    cat "$scratch/$tool.all" >>"$out/sanitizer.log"
    # The tools' own verdict says more than the program's last line.
    grep -h "ERROR SUMMARY\|RACECHECK SUMMARY" "$scratch/$tool.all" | tail -1
done

step overhead 60 "$out/benchmarks.log" "$python" benchmarks/overhead.py --quick --out "$out"
told overhead
step elementwise 90 "$out/benchmarks.log" \
    "$python" benchmarks/elementwise.py --quick --budget 60 --out "$out"
told elementwise
step rope 60 "$out/benchmarks.log" "$python" benchmarks/rope.py --quick --no-compile --budget 40 --out "$out"
told rope
step norms 60 "$out/benchmarks.log" "$python" benchmarks/norms.py --quick --no-compile --budget 40 --out "$out"
told norms
step attention 75 "$out/benchmarks.log" \
    "$python" benchmarks/attention.py --quick --no-compile --budget 45 --out "$out"
told attention
# A sample: all inputs of all functions take minutes.
step accuracy 60 "$out/benchmarks.log" \
    "$python" benchmarks/accuracy.py --sample 16777216 --budget 40 --out "$out"
told accuracy
room=$(($(left) - 15))
step reductions 240 "$out/benchmarks.log" \
    "$python" benchmarks/reductions.py --quick --budget $((room > 30 ? room - 30 : 1)) --out "$out"
told reductions
rm -f "$out"/{overhead,elementwise,rope,norms,attention,accuracy,reductions}.md # benchmarks.log has the tables

grep -hs 'FAILED' "$out/benchmarks.log" | head -20
printf '%s\n' "${summary[@]}"
echo "gpu_check: $((SECONDS))s, $([ "$failed" -eq 0 ] && echo "all steps passed" || echo "not all steps passed"); logs in $out"
exit "$failed"
