# What ./test runs, one function a kind of check. Source it after common.sh.

passed=0
failed=0

# check "what" COMMAND...: counts it; a failure does not stop what follows.
check() {
  local what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $what" >&2
  fi
}

# A name for the sources as they are, so that a stopped run can go on.
tree_name() {
  git ls-files -co --exclude-standard -z | xargs -0 sha1sum 2>/dev/null | sha1sum | cut -c 1-12
}

# check_once KEY "what" COMMAND...: as check; what passed for these very sources is not run again.
check_once() {
  local mark=$logs/passed/$1-$tree what=$2 before=$failed
  if [ -e "$mark" ]; then
    echo "$what: passed before for these sources"
    passed=$((passed + 1))
    return
  fi
  shift
  check "$@"
  if [ "$failed" -eq "$before" ]; then
    mkdir -p "$logs/passed"
    : >"$mark"
  fi
}

# unit_tests PRESET [ctest's options]: counts each test; ctest's closing line has the numbers. A run
# without tests, or stopped before its end, is a failure.
unit_tests() {
  local preset=$1 log=$logs/ctest-$1.log minutes=16 counts
  shift
  [ "$preset" = release ] || minutes=30
  limited $minutes ctest --preset "$preset" -j "$(nproc)" "$@" 2>&1 | tee "$log" | grep -vE '^ +Start ' || true
  counts=$(sed -n 's/.* tests passed, \([0-9]*\) tests failed out of \([0-9]*\)/\1 \2/p' "$log" |
    tail -n 1)
  if [ -z "$counts" ] || [ "${counts#* }" -eq 0 ]; then
    echo "the tests under $preset did not all run to their end within $minutes minutes; see $log" >&2
    failed=$((failed + 1))
    return 1
  fi
  failed=$((failed + ${counts% *}))
  passed=$((passed + ${counts#* } - ${counts% *}))
  [ "${counts% *}" -eq 0 ]
}

# By itself each machine gets all of the families and dtypes, of which the unit tests give it a half.
assembled_ptx() {
  local machine
  for machine in sm_75 sm_90; do
    limited 6 .venv/bin/python backends/cuda/assemble_ptx --build build/release --least 100 \
      --machines "$machine" || return 1
  done
}

# Builds and tests with a sanitizer. Python and PyTorch are not instrumented, so their tests stay out
# but for those of memory that is shared with them.
sanitized() {
  configure_and_build "$1" || return 1
  local before=$passed
  unit_tests "$1" -LE python
  local status=$?
  passed=$before # counted by check_once as one
  [ "$1" != asan-ubsan ] || shared_memory_sanitized || status=1
  return $status
}

# Tensors exchanged with NumPy and PyTorch, under ASan: its runtime comes first, as the interpreter
# knows nothing of it, with the C++ library whose exceptions it watches. What Python keeps to its end is
# not counted as leaks.
shared_memory_sanitized() {
  local runtime
  runtime=$(clang++-22 -print-file-name=libclang_rt.asan-x86_64.so)
  LD_PRELOAD="$runtime $(clang++-22 -print-file-name=libstdc++.so.6)" \
    ASAN_OPTIONS=detect_leaks=0 PYTHONPATH=build/asan-ubsan/python \
    limited 5 .venv/bin/python -m pytest -q sdk/python/tests/exchange_test.py
}

# fuzzed MINUTES: builds all fuzz targets and runs each for its share of the time.
fuzzed() {
  configure_and_build fuzz || return 1
  sdk/scripts/fuzz --no-build --minutes "$1" --jobs "$(nproc)"
}

# --- sources --------------------------------------------------------------------------------------
our_sources() { git ls-files -co --exclude-standard -- '*.cpp' '*.h' '*.c'; }

# Tests are left out: they are read by people, run by machines, and take half of the time. So is
# what is compiled only where other packages are (PyTorch's own headers).
linted() {
  lint_database || return 1
  local database=build/lint/compile_commands.json files=$logs/clang-tidy.files
  our_sources | grep -E '\.(cpp|c)$' | grep -vE '_test\.cpp$|_fuzz\.cpp$|/testdata/' |
    while read -r file; do grep -qF "/$file\"" "$database" && echo "$file"; done >"$files"
  [ "$(wc -l <"$files")" -ge 400 ] || { echo "$files lists too few files to be right"; return 1; }
  xargs -P "$(nproc)" -n 4 clang-tidy-22 -p build/lint --quiet 2>"$logs/clang-tidy.err" <"$files" &&
    echo "clang-tidy finds nothing."
}

# How each file is compiled when it is compiled alone; generated headers are those of the release build.
lint_database() {
  cmake --preset release -B build/lint -DPRIMSET_JOIN_FILES=OFF -DPRIMSET_PRECOMPILE=OFF \
    >"$logs/lint-configure.log" 2>&1 || { cat "$logs/lint-configure.log"; return 1; }
  sed -i "s#$PWD/build/lint/#$PWD/build/release/#g" build/lint/compile_commands.json
}

# Its own small environment: PyTorch is not needed to read Python.
python_linted() {
  [ -x build/ruff/bin/ruff ] || { python3 -m venv build/ruff &&
    limited 3 build/ruff/bin/pip install -q --disable-pip-version-check ruff==0.17.6; } || return 1
  build/ruff/bin/ruff check --quiet .
}

# --- conformance ----------------------------------------------------------------------------------
has_device() { build/release/bin/primset devices --names | grep -qx "$1"; }

# smoke DEVICE [OPTIONS...]: the smoke tier.
smoke() {
  local device=$1
  shift
  limited 8 build/release/bin/primset conform --device "$device" --tier smoke \
    --failures "$logs/smoke-$device" "$@"
}

# The smoke tier of opencl:0. What the driver compiled once takes a fifth of the time.
smoke_opencl() {
  limited 75 sdk/scripts/opencl_runtime --run build/release/bin/primset conform --device opencl:0 \
    --tier smoke --timeout 120000 --failures "$logs/smoke-opencl:0"
}

# The smoke tier of level_zero:0 on the tests' driver, which refuses misuse and runs in reverse what no
# barrier parts. Every kernel is kept for Intel's compiler, those from the cache too.
level_zero_modules=build/level_zero_modules
smoke_level_zero() {
  rm -rf "$level_zero_modules" && mkdir -p "$level_zero_modules"
  ZE_ENABLE_ALT_DRIVERS=$PWD/build/release/lib/libze_cpu_driver.so ZE_TEST_ORDER=reverse ZE_TEST_STRICT=1 \
    ZE_TEST_MODULES=$PWD/$level_zero_modules limited 75 sdk/scripts/opencl_runtime --run \
    build/release/bin/primset conform --device level_zero:0 --tier smoke --timeout 120000 \
    --failures "$logs/smoke-level_zero:0"
}

# captured GPU: the device tests and cases of every primitive on Intel's own driver, which checks and
# computes nothing. Tests fail, as all results are garbage; no call of the driver may.
captured() {
  local driver=backends/level_zero/intel_driver plugins=$PWD/build/release/lib/primset/plugins
  PRIMSET_TEST_DEVICE=level_zero:0 PRIMSET_TEST_PLUGIN_DIR=$plugins ProductFamilyOverride=$1 \
    limited 5 "$driver" capture build/release/bin/primset_device_check &&
    PRIMSET_CACHE=off ProductFamilyOverride=$1 limited 15 "$driver" capture build/release/bin/primset \
      conform --device level_zero:0 --tier smoke --no-rerun --filter 'prim/*'
}

# standard NAME OPTIONS...: the standard tier, going on where the last run of these sources stopped.
standard() {
  local name=$1
  shift
  build/release/bin/primset conform "$@" --tier standard --resume \
    --results "$logs/standard-$name-$tree.jsonl" --failures "$logs/standard-$name" \
    --html "$logs/standard-$name.html"
}

# --- Python ---------------------------------------------------------------------------------------
# Installs the wheel where nothing else is, and computes with it, away from the sources.
wheel_installed() {
  rm -rf build/wheel-env
  python3 -m venv build/wheel-env || return 1
  with_progress wheel.log "pip install ." limited 25 build/wheel-env/bin/pip install \
    --disable-pip-version-check . || return 1
  (cd / && "$OLDPWD/build/wheel-env/bin/python" -c 'import primset
a = primset.tensor([[1.0, 2.0], [3.0, 4.0]])
assert (a @ a).sum().item() == 54, a @ a
print("the wheel computes on", primset.devices())')
}

python_tests() {
  local files
  files=$(git ls-files -co --exclude-standard -- '*_test.py')
  # shellcheck disable=SC2086
  PYTHONPATH=build/release/python limited 3 .venv/bin/python -m pytest -q $files
}
