// Presets: the settings of a run by one name. Where they follow published ones ListPresets says
// which; the others are a usual choice to begin with.
#pragma once

#include <string>

#include "recipes/settings/settings.h"

namespace torus::recipes {

// The preset of a command line without --model, --data and --preset.
inline constexpr char kDefaultPreset[] = "mobilenet_v2-fashion-mnist";

// BadInput, listing the names, for another.
Settings PresetSettings(const std::string& name);

// A preset a paragraph: name, what it is, flags.
std::string ListPresets();

}  // namespace torus::recipes
