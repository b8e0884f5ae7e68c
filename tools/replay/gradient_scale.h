// Whether all gradients of a model have a factor in common that they should not have.
//
// Kinks of activation functions may move each gradient by more than such a factor would (a loss
// divided by a wrong number, say). But they move some up and others down.
#pragma once

#include <map>
#include <string>

#include "runtime/tensor.h"

namespace torus::replay {

// The median over the tensors, by name, of <got - want, want> / |want|^2: 0.01 where all of `got`
// are 1 % too long. Tensors shorter than a thousandth of the longest, which may be all rounding, do
// not count.
double MedianExcess(const std::map<std::string, Tensor>& got,
                    const std::map<std::string, Tensor>& want);

}  // namespace torus::replay
