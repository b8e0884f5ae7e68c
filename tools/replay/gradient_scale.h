// Finds a factor that all gradients, or all updates, of a model have in common by mistake.
//
// Kinks of activation functions may change each gradient by more than such a factor would (from a
// loss divided by a wrong number, say). But they increase some and decrease others.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace torus::replay {

// 0 without values.
double Median(std::vector<double> values);

// The median over the tensors of <got - want, want> / |want|^2, matched by name: 0.01 if all of
// `got` are 1 % too large. Tensors whose norm is below a thousandth of the largest do not count,
// since they may consist of rounding errors.
double MedianExcess(const std::map<std::string, Tensor>& got,
                    const std::map<std::string, Tensor>& want);

}  // namespace torus::replay
