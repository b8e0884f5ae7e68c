// What layer norm and RMS norm share: their checks, and the rows' kernels with what the backward
// keeps.
#pragma once

#include <string_view>

#include "autograd/node.h"
#include "autograd/saved_activation.h"

namespace torus::ops {

struct SavedRows {
  SavedActivation x;
  Saved mean, rstd, weight;  // RMS norm has no mean
  Shape normalized;
};

struct NormalizedRows {
  Tensor y;
  SavedRows saved;
};

// Throws BadInput, tagged `op`, unless `normalized` is the last dimensions of the input.
void RequireNormalized(std::string_view op, const Variable& input, const Shape& normalized);

enum class RowCenter { kMean, kZero };

// (x - center) * rstd * weight + bias, as `result`, a dtype that differs from the input's only
// where the kernels round. Undefined weight and bias are ones and zeros. Throws BadInput, tagged
// `op`, for shapes or dtypes that do not fit.
NormalizedRows NormalizeRows(std::string_view op, RowCenter center, const Variable& input,
                             const Shape& normalized, const Variable& weight, const Variable& bias,
                             double eps, DType result);

// The gradients of input and weight, and of bias where rows are centered on their mean.
Gradients GradientsOfRows(const SavedRows& saved, const GradContext& g);

}  // namespace torus::ops
