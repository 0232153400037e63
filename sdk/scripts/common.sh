# Shared by ./quickstart and ./test: packages, configuration, build, timing. Source it from the
# repository's root.

packages=(
  cmake ninja-build clang-22 libclang-rt-22-dev llvm-22-dev liblld-22-dev mold ccache
  libyaml-cpp-dev libfmt-dev libcli11-dev nlohmann-json3-dev libgtest-dev libgmock-dev
  libbenchmark-dev libvulkan-dev spirv-tools spirv-headers libdnnl-dev
  mesa-vulkan-drivers vulkan-validationlayers python3-venv
)

step_started=$SECONDS
step() {
  printf '\n== %s\n' "$1"
  step_started=$SECONDS
}
step_done() { printf '== done in %d s\n' $((SECONDS - step_started)); }

# Installs what is missing, and nothing when all is there. Needs root or sudo on Debian 12.
install_packages() {
  local missing=()
  for p in "${packages[@]}"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "All packages are installed."
    return
  fi
  echo "Installing: ${missing[*]}"
  local sudo=()
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  "${sudo[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# configure_and_build PRESET [TARGET ...]
configure_and_build() {
  local preset=$1
  shift
  cmake --preset "$preset" >build-configure.log 2>&1 || { cat build-configure.log; return 1; }
  rm -f build-configure.log
  cmake --build --preset "$preset" ${1:+--target "$@"} -- -j"$(nproc)"
}

# A virtual environment for the tests that compare with PyTorch, NumPy and SciPy.
python_environment() {
  [ -x .venv/bin/python ] || python3 -m venv .venv
  .venv/bin/python -c 'import torch, numpy, scipy' 2>/dev/null ||
    .venv/bin/pip install -q torch==2.13.0 numpy scipy
}
