// Runs by name: settings after published ones, where `about` names them, else a usual choice to begin
// with.
#pragma once

#include <string>

#include "recipes/settings/settings.h"

namespace torus::recipes {

// What is run where nothing is said.
inline constexpr char kDefaultPreset[] = "mobilenet_v2-fashion-mnist";

// BadInput, listing the names, for another.
Settings PresetSettings(const std::string& name);

// A preset a paragraph: name, what it is, flags.
std::string ListPresets();

}  // namespace torus::recipes
