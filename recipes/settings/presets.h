// Recipes by name: flags after published settings, where `about` names them, else a usual choice to
// begin with.
#pragma once

#include <string>

namespace torus::recipes {

// The flags, as they would be written on the command line. BadInput, listing the names, for
// another.
std::string PresetFlags(const std::string& name);

// A recipe a paragraph: name, what it is, flags.
std::string ListPresets();

}  // namespace torus::recipes
