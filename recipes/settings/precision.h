// What --precision and --emulate mean.
#pragma once

#include <string>
#include <string_view>

#include "runtime/dtype.h"

namespace torus::recipes {

// The type of products, convolutions and attention: kF32 or kBF16. BadInput, tagged `where`, for
// another word than f32, bf16, f16 and tf32; for what this machine cannot do, with what it lacks;
// and for `emulate` (bf16 by rounding to it and computing in f32) without bf16.
DType CheckedPrecision(std::string_view where, const std::string& precision, bool emulate);

}  // namespace torus::recipes
