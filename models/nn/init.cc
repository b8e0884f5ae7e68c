#include "models/nn/init.h"

#include <cmath>

#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::nn {

Initializer Constant(double value) {
  return [value](Tensor& out, const RandomStream&) { Fill(out, value); };
}

Initializer Normal(double mean, double stddev) {
  return [=](Tensor& out, const RandomStream& stream) { FillNormal(out, mean, stddev, stream); };
}

Initializer Uniform(double low, double high) {
  return [=](Tensor& out, const RandomStream& stream) { FillUniform(out, low, high, stream); };
}

Initializer UniformFanIn(int64_t fan_in) {
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  return Uniform(-bound, bound);
}

Initializer NormalRows(double stddev, std::optional<int64_t> zero_row) {
  return [=](Tensor& out, const RandomStream& stream) {
    FillNormal(out, 0, stddev, stream);
    if (!zero_row) return;
    Tensor row = out.Select(0, *zero_row);
    Fill(row, 0);
  };
}

Initializer XavierNormal() {
  return [](Tensor& out, const RandomStream& stream) {
    TORUS_CHECK(out.rank() == 2);
    FillNormal(out, 0, std::sqrt(2.0 / static_cast<double>(out.dim(0) + out.dim(1))), stream);
  };
}

Initializer XavierUniform() {
  return [](Tensor& out, const RandomStream& stream) {
    TORUS_CHECK(out.rank() == 2);
    const double bound = std::sqrt(6.0 / static_cast<double>(out.dim(0) + out.dim(1)));
    FillUniform(out, -bound, bound, stream);
  };
}

Initializer KaimingNormalFanIn() {
  return [](Tensor& out, const RandomStream& stream) {
    TORUS_CHECK(out.rank() >= 2);
    const int64_t fan_in = out.numel() / out.dim(0);
    FillNormal(out, 0, std::sqrt(2.0 / static_cast<double>(fan_in)), stream);
  };
}

Initializer KaimingNormalFanOut() {
  return [](Tensor& out, const RandomStream& stream) {
    const Shape& shape = out.shape();
    Require(shape.rank() == 2 || shape.rank() == 4, "kaiming_normal",
            "needs a linear weight (O, I) or a convolution weight (O, kH, kW, I), got {}", shape);
    const int64_t fan_out = shape.rank() == 2 ? shape[0] : shape[0] * shape[1] * shape[2];
    FillNormal(out, 0, std::sqrt(2.0 / static_cast<double>(fan_out)), stream);
  };
}

}  // namespace torus::nn
