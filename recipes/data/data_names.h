// What --data names.
#pragma once

#include <string>
#include <vector>

namespace torus::recipes {

// All names: data sets of images, GLUE's tasks, and "text".
std::vector<std::string> DataNames();

// What the data of one of these names are, in the words of a message: "images", "sentences" or
// "a long text".
std::string DataKind(const std::string& name);

}  // namespace torus::recipes
