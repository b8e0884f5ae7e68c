// Parses a flag that names some of a model's layers.
#pragma once

#include <string>
#include <vector>

namespace torus::recipes {

// Parses "none", "all", or numbers and ranges such as "0,3,7-9" (--describe prints the numbers).
// Returns one entry per layer: whether it is named. Throws BadInput, naming `flag`, for any other
// form and for a number that is not below `layers`.
std::vector<bool> ParseLayerList(const std::string& flag, const std::string& text, int layers);

}  // namespace torus::recipes
