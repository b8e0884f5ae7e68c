// Which names headers define: one that stands in two of them, in one namespace, breaks the source
// that includes both, or the rule of one definition where their values differ.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torus::layering {

// The qualified names of the types and constants that a header defines in its namespaces, in its
// order. Declarations and specialisations do not count.
std::vector<std::string> NamesOf(std::string_view text);

}  // namespace torus::layering
