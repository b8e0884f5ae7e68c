#!/usr/bin/env bash
# Lays out what is installed and packs it: package.sh OUT.tar NAME:HEADERS:ARCHIVE:LIBRARY... The build (BUILD) says by variables
# where the other files are.
set -euo pipefail
umask 022 # the modes of what is installed are not those of who builds it
out=$PWD/$1
shift
root=$(mktemp -d)
chmod 755 "$root"
trap 'rm -rf "$root"' EXIT
version=$(sed -n 's/^#define TORUS_VERSION "\(.*\)"/\1/p' "$VERSION_HEADER")
static_flags=$(cat "$FLAGS")
mpi_flags=$(cat "$MPI_FLAGS")
major=${version%%.*}
minor=${version#*.}
mkdir -p "$root/lib/pkgconfig" "$root/include"

# fill FILE NAME REQUIRES DESCRIPTION FLAGS
fill() {
  sed -e "s|@VERSION@|$version|" -e "s|@MAJOR@|$major|" -e "s|@MINOR@|${minor%%.*}|" -e "s|@SONUMBER@|$SONUMBER|" -e "s|@NAME@|${2:-}|" \
    -e "s|@REQUIRES@|${3:-}|" -e "s|@DESCRIPTION@|${4:-}|" -e "s|@STATIC_FLAGS@|${5:-$static_flags}|" \
    -e "s|@STATIC_LIBRARIES@|${static_flags// /;}|" "$1"
}

# install_pages PAGE...: their links to headers lead to the installed ones; links to pages that are not installed become plain text, and the
# marks that tests read are left out.
install_pages() {
  local page kept
  kept=$(basename -s .md "$@" | paste -sd '|')
  for page in "$@"; do
    sed -E -e '/^<!-- .* -->$/d' -e "s#\\]\\((${kept})\\.md\\)#](\\1.kept)#g" -e 's#\[([^]]*)\]\([^)]*\.md\)#\1#g' -e 's#\.kept\)#.md)#g' \
      -e 's#\]\(\.\./([^)]*\.h)\)#](../../../include/torus/\1)#g' "$page" >"$root/share/torus/doc/$(basename "$page")"
  done
}

# What pkg-config says of a library.
describe() {
  case "$1" in
    torus) fill "$PC" torus fmt "Tensors, gradients, layers and parallel training" ;;
    torus_recipes) fill "$PC" torus_recipes torus "Whole training runs as library calls" ;;
    torus_mpi) fill "$PC" torus_mpi torus "Ranks that are processes over MPI" "$mpi_flags" ;;
  esac
}

for library in "$@"; do
  IFS=: read -r name headers archive shared <<<"$library"
  cp -rL --no-preserve=mode "$headers/." "$root/include"
  install -m 644 "$archive" "$root/lib/lib$name.a"
  install -m 755 "$shared" "$root/lib/lib$name.so.$SONUMBER"
  ln -s "lib$name.so.$SONUMBER" "$root/lib/lib$name.so"
  describe "$name" >"$root/lib/pkgconfig/$name.pc"
  if [ "$name" = torus ]; then
    mkdir -p "$root/lib/cmake/Torus" "$root/share/torus/doc" "$root/share/torus/examples"
    fill "$CONFIG" >"$root/lib/cmake/Torus/TorusConfig.cmake"
    fill "$CONFIG_VERSION" >"$root/lib/cmake/Torus/TorusConfigVersion.cmake"
    install -m 644 "$LICENSE" "$root/share/torus/LICENSE"
    # shellcheck disable=SC2086  # one word a file
    install -m 644 $EXAMPLES "$root/share/torus/examples"
    # shellcheck disable=SC2086  # likewise
    install_pages $PAGES
  fi
done
tar -C "$root" --sort=name --owner=0 --group=0 --mtime=@0 -cf "$out" .
