// Element types as files spell them. Other programs' files have some that tensors have not: 8-bit
// floats and narrow or unsigned integers. Their values are held in a wider type that has them all.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "runtime/tensor.h"

namespace torus::io {

struct StoredType {
  std::string_view name;  // as safetensors spells it: "F8_E4M3"
  size_t bytes;           // of one element in the file
  DType held;             // of the tensor that has the values
  bool plain = false;     // whether tensors have this very type
};

// The type of that name; null if it cannot be read.
const StoredType* StoredTypeNamed(std::string_view name);
// The type in which a file holds tensors of `dtype`.
const StoredType& StoredTypeOf(DType dtype);
// All names, separated by spaces.
const std::string& StoredTypeNames();

// Converts elements from and to their form in a file, `bytes`, which may be at any address.
// `values` is a contiguous CPU tensor of the dtype `type.held`. Reading throws BadInput tagged
// `where` that names the tensor for a U64 of 2^63 or more and for a BOOL that is neither 0 nor 1.
// Writing expects values that came from such a type.
void FromStored(const StoredType& type, const void* bytes, Tensor& values, const std::string& where,
                const std::string& name);
void ToStored(const StoredType& type, const Tensor& values, void* bytes);

}  // namespace torus::io
