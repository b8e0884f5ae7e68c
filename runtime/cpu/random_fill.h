// Random fills on a CPU; runtime/rng.h has their contracts and checks.
#pragma once

#include "runtime/rng.h"
#include "runtime/tensor.h"

namespace torus::cpu {

void FillUniform(Tensor& out, double low, double high, const RandomStream& stream);
void FillNormal(Tensor& out, double mean, double stddev, const RandomStream& stream);

}  // namespace torus::cpu
