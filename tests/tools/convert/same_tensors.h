// Tensors by name, held against others.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace torus::tools::testing {

using TensorMap = std::map<std::string, Tensor>;

inline TensorMap ByName(const std::vector<NamedTensor>& tensors) {
  TensorMap map;
  for (const NamedTensor& tensor : tensors) map[tensor.name] = tensor.value;
  return map;
}

// The floating ones rounded to `dtype`.
inline TensorMap As(DType dtype, TensorMap tensors) {
  for (auto& [name, value] : tensors)
    if (IsFloating(value.dtype())) value = value.To(dtype);
  return tensors;
}

// Same names, dtypes, shapes and bits.
inline void ExpectSame(const TensorMap& got, const TensorMap& want) {
  ASSERT_EQ(got.size(), want.size());
  for (const auto& [name, value] : want) {
    ASSERT_TRUE(got.contains(name)) << name;
    const Tensor x = got.at(name).Contiguous(), y = value.Contiguous();
    ASSERT_EQ(x.Describe(), y.Describe()) << name;
    if (x.numel() == 0) continue;
    EXPECT_EQ(std::memcmp(x.raw(), y.raw(), x.bytes()), 0) << name;
  }
}

}  // namespace torus::tools::testing
