// Padding, as torch.nn.functional.pad.
#pragma once

#include <string_view>
#include <vector>

#include "autograd/variable.h"

namespace torus::ops {

// Adds pad[0] elements before and pad[1] behind the last dimension, pad[2] and pad[3] around the
// one before it, and so on. The order is that of the dimensions in memory: for images (N, H, W, C)
// pad is {0, 0, left, right, top, bottom}. What negative numbers name is cut off. By `mode` the new
// elements are
//   "constant"   `value`, cast to the dtype
//   "reflect"    mirrored at the first and last element, which are not repeated
//   "replicate"  the first and the last element
//   "circular"   those of the other end
// Any dtype; "constant" keeps it, a gradient of the others adds up in f32 or f64. Throws BadInput
// for another mode, for an odd number of pads or more than two a dimension, where more would be cut
// than there is, and where a border has too few elements to be taken from: reflect needs fewer pads
// than elements, circular at most as many, replicate at least one element.
Variable Pad(const Variable& input, const std::vector<int64_t>& pad,
             std::string_view mode = "constant", double value = 0);

}  // namespace torus::ops
