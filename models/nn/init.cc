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

Initializer KaimingNormalFanOut() {
  return [](Tensor& out, const RandomStream& stream) {
    const Shape& shape = out.shape();
    Require(shape.rank() == 2 || shape.rank() == 4, "kaiming_normal",
            "needs a linear weight (O, I) or a convolution weight (O, kH, kW, I), got {}",
            ToString(shape));
    const int64_t fan_out = shape.rank() == 2 ? shape[0] : shape[0] * shape[1] * shape[2];
    FillNormal(out, 0, std::sqrt(2.0 / static_cast<double>(fan_out)), stream);
  };
}

}  // namespace torus::nn
