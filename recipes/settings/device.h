// What --device names.
#pragma once

#include <string>
#include <string_view>

#include "runtime/device.h"

namespace torus::recipes {

// The CPU, or the first GPU. Throws BadInput, prefixed with `where`, unless `device` is "cpu" or
// "cuda", and for "cuda" without a GPU (the message says what is missing).
Device CheckedDevice(std::string_view where, const std::string& device);

// The kind of a `device` that CheckedDevice takes.
inline DeviceKind KindOf(std::string_view device) {
  return device == "cuda" ? DeviceKind::kCuda : DeviceKind::kCpu;
}

}  // namespace torus::recipes
