// Parses --device.
#pragma once

#include <string>
#include <string_view>

#include "runtime/device.h"

namespace torus::recipes {

// The CPU, or the first GPU. Throws BadInput, prefixed with `where`, unless `device` is "cpu" or
// "cuda", and for "cuda" without a GPU (the message says what is missing).
Device CheckedDevice(std::string_view where, const std::string& device);

}  // namespace torus::recipes
