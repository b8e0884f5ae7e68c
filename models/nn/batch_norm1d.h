// BatchNorm1d: batch normalization of the channels of vectors or sequences (Ioffe & Szegedy 2015).
#pragma once

#include "models/nn/batch_norm2d.h"

namespace torus::nn {

// The same options.
using BatchNorm1dOptions = BatchNorm2dOptions;

// BatchNorm2d for inputs (N, C) and (N, L, C); throws BadInput for others.
class BatchNorm1d : public BatchNorm2d {
 public:
  explicit BatchNorm1d(const BatchNorm1dOptions& options) : BatchNorm2d(options) {}
  Variable Forward(const Variable& x, const StepContext& ctx) override;
};

}  // namespace torus::nn
