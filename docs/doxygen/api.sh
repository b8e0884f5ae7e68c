#!/usr/bin/env bash
# Makes pages of HTML of the public headers by Doxygen, and fails where a name that they declare has
# no comment.
#   ./bazelw run //docs:api [-- [--out FOLDER] [HEADER...]]
# FOLDER is `api` in the source tree unless given. The headers are those that //tools:install
# installs; or those given.
set -euo pipefail

usage() {
  echo "usage: api [--out FOLDER] [HEADER...]" >&2
  echo "  --out FOLDER  where to write the pages; begin with FOLDER/index.html" >&2
  exit 2
}

caller=${TORUS_WORKING_DIRECTORY:-$PWD}
absolute() { case "$1" in /*) echo "$1" ;; *) echo "$caller/$1" ;; esac; }

out='' headers=()
while [ $# -gt 0 ]; do
  case "$1" in
    --out) [ $# -ge 2 ] || usage; out=$2; shift ;;
    --out=*) out=${1#--out=} ;;
    -*) echo "api: unknown argument $1" >&2; usage ;;
    *) headers+=("$(absolute "$1")") ;;
  esac
  shift
done

if ! command -v doxygen >/dev/null; then
  echo "api: there is no doxygen; on Debian and Ubuntu the package doxygen has it" >&2
  exit 3
fi

cd "${BUILD_WORKSPACE_DIRECTORY:-$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..}"
if [ -n "$out" ]; then out=$(absolute "$out"); else out=$PWD/api; fi

# The headers that the umbrellas include, and all of ours that these include: what is installed.
installed() {
  local next=(tools/install/torus/*.h) known=() header
  declare -A seen=()
  while [ ${#next[@]} -gt 0 ]; do
    known=("${next[@]}")
    next=()
    for header in "${known[@]}"; do
      [ -z "${seen[$header]:-}" ] || continue
      seen[$header]=yes
      mapfile -t -O ${#next[@]} next < <(sed -n 's/^ *#include "\([^"]*\)".*/\1/p' "$header")
    done
  done
  printf '%s\n' "${!seen[@]}" | LC_ALL=C sort
}

if [ ${#headers[@]} -eq 0 ]; then
  mapfile -t headers < <(installed)
fi

mkdir -p "$out"
{
  cat docs/doxygen/Doxyfile
  echo "OUTPUT_DIRECTORY = \"$(dirname "$out")\""
  echo "HTML_OUTPUT = \"$(basename "$out")\""
  printf 'INPUT += "%s"\n' "${headers[@]}"
} | doxygen - >/dev/null
echo "$out/index.html has the pages of ${#headers[@]} headers"
