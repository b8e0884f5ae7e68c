// The raw kernels on a CPU. runtime/kernels.h is the public interface; it has the contracts and
// checks the arguments. These do not check.
#pragma once

#include "runtime/tensor.h"

namespace torus::cpu {

void Fill(Tensor& out, double value);
void Copy(const Tensor& in, Tensor& out);
void AddInPlace(Tensor& out, const Tensor& in);
void ScaleInPlace(Tensor& out, double factor);
void FillArange(Tensor& out);

}  // namespace torus::cpu
