// The arguments of attention's kernels.
#pragma once

#include "ops/attention/attention_shape.h"
#include "ops/attention/weight_dropout.h"
#include "runtime/tensor.h"

namespace torus::ops {

struct AttentionProblem {
  AttentionShape shape;
  double scale;  // of the scores
  bool causal;   // row i attends to keys 0 to i
  KeyedDropout dropout;
};

// query, key and value have shapes shape.Query(), Key() and Value(). The elements of a row are
// adjacent; rows and batches have any strides, including 0. mask is undefined or has shape.Scores()
// and any strides: bool (true: the key takes part) or of the query's dtype (added to the scores).
struct AttentionInputs {
  Tensor query, key, value, mask;
};

// The outputs of the forward. `out` has shape.Out() and rows like those of the inputs. `largest`
// and `log_sum` have shape (heads of all samples, rows): the largest score of each row, and log
// sum_j exp(score_j - largest). A weight is exp(score - largest - log_sum). They are two numbers
// because their sum would lose log_sum to rounding in a row whose mask adds -1e9 everywhere. Both
// are 0 for a row that attends to no key.
struct AttentionOutputs {
  Tensor out, largest, log_sum;
};

// Rows like those of the inputs; undefined ones are not computed.
struct AttentionGradients {
  Tensor query, key, value;
};

// The FLOPs of the two products of the forward.
inline int64_t AttentionFlops(const AttentionShape& shape) {
  return 2 * Numel(shape.Scores()) * (shape.width + shape.value_width);
}

// Of the backward's: the scores again, the gradient of the weights, and one for each gradient.
inline int64_t AttentionFlops(const AttentionShape& shape, const AttentionGradients& gradients) {
  const bool query = gradients.query.defined(), key = gradients.key.defined();
  const int64_t width = shape.width * (1 + query + key);
  const int64_t value_width = shape.value_width * ((query || key) + gradients.value.defined());
  return 2 * Numel(shape.Scores()) * (width + value_width);
}

}  // namespace torus::ops
