// Some of a model's layers, as a flag names them.
#pragma once

#include <string>
#include <vector>

namespace torus::recipes {

// Layers of "none", "all", or numbers and ranges such as "0,3,7-9" (--describe prints the numbers):
// one entry a layer, whether it is meant. BadInput, naming `flag`, for another form and for a
// number that is not below `layers`.
std::vector<bool> ParseLayerList(const std::string& flag, const std::string& text, int layers);

}  // namespace torus::recipes
