// Files of encoded tensors.
//
// Layout, little-endian: "TRCS"; the number of tensors in 4 bytes; then for each tensor the length
// n of its name (1 to 1024) in 2 bytes, the name in n bytes, and a frame (parallel/codec/frame.h),
// which has its own checksum.
#pragma once

#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace torus::tools {

// Encodes f32, bf16 and f16 tensors. Throws BadInput, naming the tensor, for any other type. A
// tensor that the codec refuses is stored with codec `none`, and its name is added to `as_it_is`.
std::vector<std::byte> EncodeTensors(const std::string& codec,
                                     const std::vector<NamedTensor>& tensors,
                                     std::vector<std::string>& as_it_is);

// Decodes to the types that were encoded. Throws BadInput, prefixed with `where`, if `bytes` are
// not such a file or have more than `most` values in all.
std::vector<NamedTensor> DecodeTensors(const std::string& where, std::span<const std::byte> bytes,
                                       int64_t most);

}  // namespace torus::tools
