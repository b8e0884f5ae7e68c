// What --precision and --emulate mean.
#pragma once

#include <string>
#include <string_view>

#include "autograd/precision.h"
#include "runtime/device.h"

namespace torus::recipes {

// Of products, convolutions and attention. `precision` is f32, bf16, f16 or tf32; emulate: bf16 and
// f16 by rounding to them and computing in f32.
Precision PrecisionNamed(const std::string& precision, bool emulate);

// The same for `device`. BadInput, tagged `where`, for another word, for what the device cannot do,
// with what it lacks, and for `emulate` without bf16 or f16.
Precision CheckedPrecision(std::string_view where, const std::string& precision, bool emulate,
                           Device device);

}  // namespace torus::recipes
