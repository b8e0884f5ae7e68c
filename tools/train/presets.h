// Recipes: the flags of runs that are known to work, by name.
#pragma once

#include <string>

namespace torus::tools {

// The flags, as they would be written on the command line. BadInput, listing the names, for another.
std::string PresetFlags(const std::string& name);

// A recipe a paragraph: name, what it is, flags.
std::string ListPresets();

}  // namespace torus::tools
