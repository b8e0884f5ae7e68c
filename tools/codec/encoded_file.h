// Files of encoded tensors.
//
// Layout, little-endian: "TRCS"; 4 bytes, how many tensors; for each 2 bytes n, 1 to 1024, a name
// of n bytes, and a frame (parallel/codec/frame.h), which has a checksum of its own.
#pragma once

#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace torus::tools {

// Of f32, bf16 and f16 tensors; BadInput for others, named. A tensor that the codec cannot carry
// goes by `none`, and its name is added to `as_it_is`.
std::vector<std::byte> EncodeTensors(const std::string& codec,
                                     const std::vector<NamedTensor>& tensors,
                                     std::vector<std::string>& as_it_is);

// In the types that were encoded. BadInput, tagged `where`, for bytes that are no such file, and
// more than `most` values in all.
std::vector<NamedTensor> DecodeTensors(const std::string& where, std::span<const std::byte> bytes,
                                       int64_t most);

}  // namespace torus::tools
