// The values of --data.
#pragma once

#include <string>
#include <vector>

namespace torus::recipes {

// All of them: image datasets, GLUE's tasks, and "text".
std::vector<std::string> DataNames();

// The kind of data that `name` is, as messages call it: "images", "sentences" or "a long text".
std::string DataKind(const std::string& name);

}  // namespace torus::recipes
