#!/usr/bin/env bash
# Installs Torus for those who build without Bazel: headers, libraries, files for CMake and pkg-config, examples, guides.
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

# Who may read the prefix may read what is installed, whatever the caller's mask.
umask 022

# All installed files, itself among them, by their paths below the prefix.
manifest=share/torus/manifest.txt
# Where files are unpacked before they take their places.
staging=.torus-installing

fail() {
  echo "install: $*" >&2
  exit 1
}

# Removes those of the files that are named, line by line, and the folders that are empty then.
remove_files() {
  local file folder
  while IFS= read -r file; do
    rm -f "$prefix/$file"
    folder=$(dirname "$file")
    while [ "$folder" != . ] && rmdir "$prefix/$folder" 2>/dev/null; do folder=$(dirname "$folder"); done
  done
}

# The manifest goes last: what is interrupted can be done again.
uninstall() {
  [ -f "$prefix/$manifest" ] || { echo "install: there is no installation in $prefix: no $manifest" >&2; exit 2; }
  local files
  files=$(grep -vxF "$manifest" "$prefix/$manifest") || true
  remove_files <<<"$files"
  rm -rf "${prefix:?}/$staging"
  remove_files <<<"$manifest"
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

# Everything is unpacked beside its place before anything there changes.
mkdir -p "$prefix"
work=$prefix/$staging
rm -rf "$work"  # of one that was killed
mkdir "$work"
trap 'rm -rf "$work"; rmdir "$prefix" 2>/dev/null || true' EXIT
mkdir "$work/tree"
tar -xf "$package/package.tar" -C "$work/tree" --no-same-owner
if [ -n "$mpi" ]; then tar -xf "$package/mpi_package.tar" -C "$work/tree" --no-same-owner; fi
{ (cd "$work/tree" && find . -type f -o -type l) | sed 's|^\./||'; echo "$manifest"; } | LC_ALL=C sort -u >"$work/new"
: >"$work/old"
# A manifest is of an installation, whether or not it lists itself.
if [ -f "$prefix/$manifest" ]; then { cat "$prefix/$manifest"; echo "$manifest"; } | LC_ALL=C sort -u >"$work/old"; fi

# Others' files are left as they are.
LC_ALL=C comm -23 "$work/new" "$work/old" | while IFS= read -r file; do
  if [ -e "$prefix/$file" ] || [ -L "$prefix/$file" ]; then echo "$prefix/$file"; fi
done >"$work/others"
[ ! -s "$work/others" ] || fail "these files are there already, and are not of an installation of Torus: $(paste -sd ' ' "$work/others")"

put_manifest() {
  mkdir -p "$prefix/$(dirname "$manifest")"
  mv "$1" "$prefix/$manifest"
}

# While files are moved, the manifest names the old and the new ones.
LC_ALL=C sort -u "$work/old" "$work/new" >"$work/both"
put_manifest "$work/both"
while IFS= read -r file; do
  [ "$file" != "$manifest" ] || continue
  mkdir -p "$prefix/$(dirname "$file")"
  mv -fT "$work/tree/$file" "$prefix/$file"
done <"$work/new"
LC_ALL=C comm -13 "$work/new" "$work/old" | remove_files
put_manifest "$work/new"
echo "installed Torus in $prefix: $(du -sh "$prefix/lib/libtorus.so" -L | cut -f1) libtorus.so, $(du -sh "$prefix/lib/libtorus.a" | cut -f1) libtorus.a"
