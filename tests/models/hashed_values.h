// Weights and images as tests/golden/make_models.py makes them: a hash of name and index, so that
// no file need hold them.
#pragma once

#include <zlib.h>

#include <cmath>
#include <string>
#include <vector>

#include "models/nn/module.h"
#include "runtime/io/file_layout.h"
#include "runtime/kernels.h"

namespace torus::testing {

// Numbers in [-0.5, 0.5) with 24 bits.
inline std::vector<double> HashedValues(const std::string& name, int64_t count) {
  const auto crc = static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(name.data()), static_cast<uInt>(name.size())));
  std::vector<double> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    uint32_t u = static_cast<uint32_t>(i) * 2654435761u + crc;
    for (int round = 0; round < 2; ++round) {
      u ^= u >> 16;
      u *= 0x45D9F3Bu;
    }
    u ^= u >> 16;
    values[static_cast<size_t>(i)] = static_cast<double>(u >> 8) / 16777216 - 0.5;
  }
  return values;
}

// As f32, and then of `dtype`.
inline Tensor HashedTensor(const std::string& name, const Shape& shape, double scale, double offset,
                           DType dtype) {
  const std::vector<double> values = HashedValues(name, Numel(shape));
  std::vector<float> rounded(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    rounded[i] = static_cast<float>(offset + scale * values[i]);
  return FromVector(rounded, shape).To(dtype);
}

inline Tensor HashedParameter(const std::string& name, const Shape& shape, DType dtype) {
  if (shape.rank() == 1)
    return HashedTensor(name, shape, 0.4, name.ends_with("weight") ? 1 : 0, dtype);
  const double fan_in = static_cast<double>(Numel(shape) / shape[0]);
  return HashedTensor(name, shape, std::sqrt(12 * 1.5 / fan_in), 0, dtype);
}

// Sets every parameter by its name, in the layout of files, and buffers as Initialize does.
inline void FillHashed(nn::Module& model) {
  model.Initialize(/*seed=*/0);
  for (NamedVariable& p : model.Parameters()) {
    const Tensor file = HashedParameter(p.name, ToFileLayout(p.value.shape()), p.value.dtype());
    p.value.SetData(FromFileLayout(file).Contiguous());
  }
}

}  // namespace torus::testing
