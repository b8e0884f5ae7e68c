// Parses --precision and --emulate.
#pragma once

#include <string>
#include <string_view>

#include "autograd/precision.h"
#include "runtime/device.h"

namespace torus::recipes {

// The precision of products, convolutions and attention. `precision` is f32, bf16, f16 or tf32.
// `emulate`: rounds to bf16 or f16 and computes in f32.
Precision PrecisionNamed(const std::string& precision, bool emulate);

// The same, checked for `device`. Throws BadInput, prefixed with `where`, for any other word, for a
// precision that the device does not support (the message says what it lacks), and for `emulate`
// without bf16 or f16.
Precision CheckedPrecision(std::string_view where, const std::string& precision, bool emulate,
                           Device device);

}  // namespace torus::recipes
