# What this machine has; sourced by tools/quickstart and tools/check from the root of the tree.

# Path of nvcc, or nothing.
find_nvcc() {
  command -v nvcc 2>/dev/null || { [ -x /usr/local/cuda/bin/nvcc ] && echo /usr/local/cuda/bin/nvcc; } || true
}

# Number of NVIDIA cards that the driver shows.
count_gpus() {
  local lines
  lines=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ') || true
  echo "${lines:-0}"
}

# Number of CPU sockets that hold a core of this process, at least 1.
count_sockets() {
  local n
  n=$(lscpu -p=SOCKET 2>/dev/null | grep -v '^#' | sort -u | wc -l) || true
  [ "${n:-0}" -ge 1 ] || n=1
  echo "$n"
}

# configure PRESET FOLDER CMAKE_ARGUMENTS...; with ccache, what builds of this tree share is compiled once.
configure() {
  local preset=$1 folder=$2 language
  local arguments=()
  shift 2
  if command -v ccache >/dev/null; then
    export CCACHE_DIR=${CCACHE_DIR:-$PWD/build/ccache}
    export CCACHE_BASEDIR=$PWD # sources made in the folder of one build are those of another
    export CCACHE_DEPEND=1     # what a file includes is told by its compilation, not by one more pass over it
    for language in C CXX CUDA; do arguments+=("-DCMAKE_${language}_COMPILER_LAUNCHER=ccache"); done
  fi
  # A tree that was moved or copied with its build folder cannot be configured again there.
  if [ -f "$folder/CMakeCache.txt" ] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$(pwd -P)" "$folder/CMakeCache.txt"; then
    echo "$folder belongs to another tree; made anew"
    rm -rf "$folder"
  fi
  cmake --preset "$preset" -B "$folder" --log-level=NOTICE --no-warn-unused-cli "${arguments[@]}" "$@"
}
