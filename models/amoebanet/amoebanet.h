// AmoebaNet-D(L, D) (Real et al. 2019, "Regularized evolution for image classifier architecture
// search") as GPipe and torchgpipe benchmark it (Huang et al. 2019, "GPipe", table 1; Kim et al.
// 2020, "torchgpipe", section 4), with torchgpipe's names and initialization.
#pragma once

#include <cstdint>
#include <memory>

#include "models/nn/sequential.h"

namespace torus {

// Defaults are those of AmoebaNet-D (18, 208). Members without a comment are as their names say;
// dtype is that of the parameters.
struct AmoebaNetOptions {
  int64_t layers = 18;    // L: normal cells, a multiple of 3
  int64_t filters = 208;  // D: four times the channels of the stem
  int64_t num_classes = 1000;
  DType dtype = DType::kF32;
};

// Maps images (N, H, W, 3), height and width multiples of 32, to logits (N, num_classes). Its
// layers are "stem1" ... "stem3", the cells "cell1_normal1" ... "cell5_normal{L/3}" and "classify".
// Each cell reads two tensors, the outputs of the two layers before it. The classifier averages
// over all pixels. The reference averages over 7 x 7, which is the same for images of 224 x 224.
// Throws BadInput for options out of range.
std::shared_ptr<nn::Sequential> AmoebaNetD(const AmoebaNetOptions& options = {});

}  // namespace torus
