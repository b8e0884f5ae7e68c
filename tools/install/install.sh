#!/usr/bin/env bash
# Installs Torus for those who build without Bazel: headers, libraries, files for CMake and pkg-config, examples.
#   ./bazelw run //tools:install -- --prefix P [--cuda] [--mpi]
#   ./bazelw run //tools:install -- --prefix P --uninstall
set -euo pipefail

usage() {
  echo "usage: install --prefix FOLDER [--cuda] [--mpi] [--uninstall]" >&2
  echo "  --prefix FOLDER  where to: FOLDER/lib, FOLDER/include, FOLDER/share/torus" >&2
  echo "  --cuda           with kernels for GPUs; needs the CUDA toolkit" >&2
  echo "  --mpi            with ranks that are processes: libtorus_mpi, torus::mpi" >&2
  echo "  --uninstall      removes what an installation has put there" >&2
  exit 2
}

prefix='' mpi='' cuda='' remove=''
while [ $# -gt 0 ]; do
  case "$1" in
    --prefix) [ $# -ge 2 ] || usage; prefix=$2; shift ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    --cuda) cuda=yes ;;
    --mpi) mpi=yes ;;
    --uninstall) remove=yes ;;
    *) echo "install: unknown argument $1" >&2; usage ;;
  esac
  shift
done
[ -n "$prefix" ] || usage
# A relative folder is the caller's.
case "$prefix" in /*) ;; *) prefix=${TORUS_WORKING_DIRECTORY:-$PWD}/$prefix ;; esac

manifest=share/torus/manifest.txt

# Removes the files of the manifest, and the folders that are empty then.
uninstall() {
  [ -f "$prefix/$manifest" ] || { echo "install: there is no installation in $prefix: no $manifest" >&2; exit 2; }
  local file folder
  while IFS= read -r file; do
    rm -f "$prefix/$file"
    folder=$(dirname "$file")
    while [ "$folder" != . ] && rmdir "$prefix/$folder" 2>/dev/null; do folder=$(dirname "$folder"); done
  done < <(cat "$prefix/$manifest"; echo "$manifest")
  echo "removed Torus from $prefix"
}
if [ -n "$remove" ]; then uninstall; exit; fi

# Where tests call it, the packages are built already and lie beside it.
if [ -n "${TORUS_PACKAGE:-}" ]; then
  package=$TORUS_PACKAGE
else
  cd "${BUILD_WORKSPACE_DIRECTORY:?run it by ./bazelw run //tools:install}"
  ./bazelw build ${cuda:+--config=cuda} //tools/install:package ${mpi:+//tools/install:mpi_package}
  package=bazel-bin/tools/install
fi

mkdir -p "$prefix" || exit 1
if [ -f "$prefix/$manifest" ]; then uninstall >/dev/null; fi
staged=$(mktemp -d "$prefix/.torus-XXXXXX")
trap 'rm -rf "$staged"' EXIT
tar -xf "$package/package.tar" -C "$staged"
if [ -n "$mpi" ]; then tar -xf "$package/mpi_package.tar" -C "$staged"; fi
mkdir -p "$staged/share/torus"
(cd "$staged" && find . -type f -o -type l | sed 's|^\./||' | LC_ALL=C sort) >"$staged/.manifest"
mv "$staged/.manifest" "$staged/$manifest"
cp -a "$staged/." "$prefix/"
echo "installed Torus in $prefix: $(du -sh "$prefix/lib/libtorus.so" -L | cut -f1) libtorus.so, $(du -sh "$prefix/lib/libtorus.a" | cut -f1) libtorus.a"
