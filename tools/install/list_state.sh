#!/usr/bin/env bash
# Lists what of the project's changes while a program runs and is kept in archives: list_state.sh ARCHIVE...
# A line each: the symbol, then the archive's name. Constants are not listed.
set -euo pipefail
for archive in "$@"; do
  # Columns of objdump: address, kind (l: of one object file) and section; after a tab size and symbol.
  objdump -t "$archive" 2>/dev/null | awk -F '\t' -v archive="$(basename "$archive")" '
    { count = split($1, left, " "); section = left[count]; count = split($2, right, " "); symbol = right[count] }
    section ~ /^\.(tbss|tdata|bss|data)(\.|$)/ && section !~ /^\.data\.rel\.ro/ &&
      $1 !~ /^[0-9a-f]+ l/ && symbol ~ /^_Z.*5torus/ { print symbol, archive }' | LC_ALL=C sort -u
done
