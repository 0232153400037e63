# Shared by ./quickstart and ./test: packages, configuration, build, timing. Source it from the
# repository's root.

packages=(
  cmake ninja-build clang-22 libclang-rt-22-dev llvm-22-dev liblld-22-dev mold
  libyaml-cpp-dev libfmt-dev libcli11-dev nlohmann-json3-dev libgtest-dev libgmock-dev
  libbenchmark-dev libvulkan-dev opencl-c-headers libze-dev libze1 ocl-icd-opencl-dev spirv-tools spirv-headers libdnnl-dev libopenblas0-pthread
  mesa-vulkan-drivers vulkan-validationlayers python3-venv python3-dev
)

logs=build/logs
mkdir -p "$logs"

# --- steps ---------------------------------------------------------------------------------------
# step "Title (about 1 minute)"; step_done prints what it took; summary lists all steps.
step_titles=()
step_seconds=()
step() {
  printf '\n== %s\n' "$1"
  step_titles+=("${1%% (*}")
  step_started=$SECONDS
}
step_done() {
  step_seconds+=($((SECONDS - step_started)))
  printf '== done in %d s\n' "${step_seconds[-1]}"
}
summary() {
  local i
  printf '\n== Time\n'
  for i in "${!step_seconds[@]}"; do
    printf '%6d s  %s\n' "${step_seconds[$i]}" "${step_titles[$i]}"
  done
  printf '%6d s  in all\n' "$SECONDS"
}

# limited MINUTES COMMAND...: stops a command that takes more than its share of the whole, and says so.
limited() {
  local minutes=$1 status=0
  shift
  timeout --foreground --signal=INT --kill-after=10 "${minutes}m" "$@" || status=$?
  [ $status -ne 124 ] && [ $status -ne 137 ] && return $status
  echo "stopped after $minutes minutes, the most this step may take: $*" >&2
  return 1
}

# with_progress LOG TEXT COMMAND...: runs a command that has nothing to say, its output in a log;
# says every ten seconds that it still runs, and what `progress_text` finds in the log. When the
# command fails the end of the log is shown.
progress_text() { :; }
with_progress() {
  local log=$logs/$1 text=$2 started=$SECONDS said=$SECONDS pid
  shift 2
  "$@" >"$log" 2>&1 &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    if [ $((SECONDS - said)) -ge 10 ]; then
      said=$SECONDS
      printf '   %s: %d s %s\n' "$text" $((SECONDS - started)) "$(progress_text "$log")"
    fi
  done
  wait "$pid" && return
  tail -n 40 "$log" >&2
  echo "$text failed; all of its output is in $log" >&2
  return 1
}

# --- packages ------------------------------------------------------------------------------------
# Installs what is missing, and nothing when all is there. Needs root or sudo on Debian 12.
install_packages() {
  local missing=() sudo=() p
  for p in "${packages[@]}" "$@"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "All packages are installed."
    return
  fi
  echo "Installing: ${missing[*]}"
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  with_progress apt-update.log "apt-get update" limited 2 "${sudo[@]}" apt-get update -q
  progress_text() { grep -c '^Setting up' "$1" | sed 's/.*/(& packages set up)/'; }
  with_progress apt-install.log "apt-get install" limited 7 "${sudo[@]}" env \
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
  progress_text() { :; }
}

# --- build ---------------------------------------------------------------------------------------
# configure_and_build PRESET [TARGET ...]. A first build of a sanitizer takes longest.
configure_and_build() {
  local preset=$1
  shift
  cmake --preset "$preset" >"$logs/configure-$preset.log" 2>&1 ||
    { cat "$logs/configure-$preset.log" >&2; return 1; }
  local minutes=18
  [ "$preset" = release ] || minutes=40
  NINJA_STATUS='[%f/%t, %e s] ' limited $minutes \
    cmake --build --preset "$preset" ${1:+--target "$@"} -- -j"$(nproc)"
}

# --- Python --------------------------------------------------------------------------------------
# A virtual environment with what the Python module is built with and what its tests compare with.
# PyTorch's own index has a build without the libraries of GPUs; where it cannot be reached any build
# will do.
python_environment() {
  local modules='torch, numpy, scipy, mpmath, expecttest, nanobind, pytest, mypy, yaml, jsonschema'
  if .venv/bin/python -c "import $modules; assert torch.__version__.startswith('2.13.0')" \
    2>/dev/null; then
    echo "The Python environment .venv is complete."
    return
  fi
  [ -x .venv/bin/python ] || python3 -m venv .venv
  local install=(limited 6 .venv/bin/pip install -q --disable-pip-version-check)
  with_progress pip.log "pip install" \
    "${install[@]}" numpy scipy mpmath expecttest nanobind pytest mypy pyyaml jsonschema
  .venv/bin/python -c "import torch; assert torch.__version__.startswith('2.13.0')" 2>/dev/null &&
    return
  with_progress pip-torch.log "pip install torch" "${install[@]}" torch==2.13.0 \
    --index-url https://download.pytorch.org/whl/cpu 2>/dev/null ||
    with_progress pip-torch.log "pip install torch, any build" "${install[@]}" torch==2.13.0
}
