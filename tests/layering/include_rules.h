// The include table of the design, as data, and the check of one source file against it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torus::layering {

// A row of the table: what the sources of a folder may include beside their own folder.
struct Rule {
  // "runtime", "parallel/codec"; "" is the root, and "models/*" each folder of models by itself
  // that has no row of its own.
  std::string_view folder;
  std::vector<std::string_view> ours;       // folders, or single headers
  std::vector<std::string_view> libraries;  // names as in LibraryOf
};

const std::vector<Rule>& IncludeTable();

// The library that a header outside of the tree belongs to: "fmt", "CUDA", ...; "" for the C++
// standard library and the operating system; none for a header that no row knows.
std::optional<std::string_view> LibraryOf(std::string_view header);

// One line for each include of `text`, the source at `path` from the root, that the table forbids:
//   parallel/codec/x.h:3: may not include "ops/y.h"
std::vector<std::string> CheckSource(std::string_view path, std::string_view text);

}  // namespace torus::layering
