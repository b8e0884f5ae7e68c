#!/usr/bin/env bash
# Lays out what is installed and packs it: package.sh OUT.tar. The build (BUILD) says by variables where everything is.
set -euo pipefail
out=$PWD/$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

version=$(sed -n 's/^#define TORUS_VERSION "\(.*\)"/\1/p' "$VERSION_HEADER")
name=torus requires=fmt description="Tensors, gradients and parallel training"
static_flags=$(cat "${FLAGS:-/dev/null}")
if [ -n "${MPI:-}" ]; then name=torus_mpi requires=torus description="Torus' ranks as processes over MPI"; fi

mkdir -p "$root/lib/pkgconfig" "$root/include" "$root/lib/cmake/Torus"
cp -rL "$INCLUDE/." "$root/include"
install -m 644 "$ARCHIVE" "$root/lib/lib$name.a"
install -m 755 "$LIBRARY" "$root/lib/lib$name.so.$SONUMBER"
ln -s "lib$name.so.$SONUMBER" "$root/lib/lib$name.so"

fill() {
  sed -e "s|@VERSION@|$version|" -e "s|@SERIES@|${version%.*}|" -e "s|@SONUMBER@|$SONUMBER|" -e "s|@NAME@|$name|" \
    -e "s|@LIBRARY@|$name|" -e "s|@REQUIRES@|$requires|" -e "s|@DESCRIPTION@|$description|" \
    -e "s|@STATIC_FLAGS@|$static_flags|" -e "s|@STATIC_LIBRARIES@|${static_flags// /;}|" "$1"
}
fill "$PC" >"$root/lib/pkgconfig/$name.pc"
if [ -z "${MPI:-}" ]; then
  fill "$CONFIG" >"$root/lib/cmake/Torus/TorusConfig.cmake"
  fill "$CONFIG_VERSION" >"$root/lib/cmake/Torus/TorusConfigVersion.cmake"
  mkdir -p "$root/share/torus/examples"
  install -m 644 "$LICENSE" "$root/share/torus/LICENSE"
  # shellcheck disable=SC2086  # one word a file
  install -m 644 $EXAMPLES "$root/share/torus/examples"
else
  rmdir "$root/lib/cmake/Torus" "$root/lib/cmake"
fi
chmod -R u+w "$root"
tar -C "$root" --sort=name --owner=0 --group=0 --mtime=@0 -cf "$out" .
