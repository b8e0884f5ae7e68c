// Whether all gradients of a model, or all its updates, have a factor in common that they should
// not have.
//
// Kinks of activation functions may move each gradient by more than such a factor would (a loss
// divided by a wrong number, say). But they move some up and others down.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace torus::replay {

// 0 of none.
double Median(std::vector<double> values);

// The median over the tensors, by name, of <got - want, want> / |want|^2: 0.01 where all of `got`
// are 1 % too long. Tensors shorter than a thousandth of the longest, which may be all rounding, do
// not count.
double MedianExcess(const std::map<std::string, Tensor>& got,
                    const std::map<std::string, Tensor>& want);

}  // namespace torus::replay
