// What --device means.
#pragma once

#include <string>
#include <string_view>

#include "runtime/device.h"

namespace torus::recipes {

// The CPU, or the first GPU. BadInput, tagged `where`, for another word than cpu and cuda, and,
// saying what is missing, for cuda without a GPU.
Device CheckedDevice(std::string_view where, const std::string& device);

}  // namespace torus::recipes
