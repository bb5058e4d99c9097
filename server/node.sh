# Runs a program on the Node.js that runs npm if it is version 24 or newer, otherwise on the one that `npm ci`
# installed. Uses `exec`, so that signals reach the program.
#
# glibc keeps freed memory for each thread. These settings return it to the system, which the gateway needs because it
# streams documents through many buffers: https://man7.org/linux/man-pages/man3/mallopt.3.html
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}"
export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-65536}"
export MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-131072}"

# The space for new objects has 16 MB, which V8 would reduce in a small container. In less, the objects of requests under way
# outlive several collections and become old objects. Collecting those took up to 40 % of a busy gateway's processor time.
# Few new objects are in use when V8 collects them: four threads that look for them take more processor time than one.

own="$(dirname "$0")/../node_modules/.bin/node"

is_new_enough() {
  version="$("$1" --version 2>/dev/null)" || return 1
  major="${version#v}"
  [ "${major%%.*}" -ge 24 ]
}

for node in "${npm_node_execpath:-$own}" "$own"; do
  if is_new_enough "$node"; then exec "$node" --max-semi-space-size=16 --no-parallel-scavenge "$@"; fi
done
echo 'Crossward needs Node.js 24 or newer. Run npm ci, which installs one for most systems if yours is older, or install Node.js 24.' >&2
exit 1
