// Safetensors files as other programs write them.
#pragma once

#include <algorithm>
#include <string_view>

#include "runtime/io/safetensors_sums.h"
#include "tests/fuzz/fuzz.h"

namespace torus::fuzz {

// The same file with its checksums under another key, which says nothing to the reader. With them
// nearly all damage would be refused before the header is looked at closely.
inline Bytes WithoutSums(Bytes file) {
  const std::string_view key = safetensors::kSums;
  const auto found = std::search(file.begin(), file.end(), key.begin(), key.end());
  if (found != file.end()) *found = 'T';
  return file;
}

}  // namespace torus::fuzz
