// What --precision and --emulate mean.
#pragma once

#include <string>
#include <string_view>

#include "autograd/precision.h"
#include "runtime/device.h"

namespace torus::recipes {

// Of products, convolutions and attention on `device`. BadInput, tagged `where`, for another word
// than f32, bf16, f16 and tf32; for what the device cannot do, with what it lacks; and for
// `emulate` (bf16 by rounding to it and computing in f32) without bf16.
Precision CheckedPrecision(std::string_view where, const std::string& precision, bool emulate,
                           Device device);

}  // namespace torus::recipes
