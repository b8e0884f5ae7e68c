// One attention as it is asked of a device.
#pragma once

#include "ops/attention/attention_shape.h"
#include "ops/attention/weight_dropout.h"
#include "runtime/tensor.h"

namespace torus::ops {

struct AttentionProblem {
  AttentionShape shape;
  double scale;  // of the products of queries and keys
  bool causal;   // row i sees the keys up to i
  KeyedDropout dropout;
};

// query, key and value are shape.Query(), Key() and Value(); the elements of a row lie side by
// side, rows and batches apart at any strides, 0 too. mask: undefined, or shape.Scores(), bool
// (true: the key takes part) or of the query's dtype (added to the scores), at any strides.
struct AttentionInputs {
  Tensor query, key, value, mask;
};

// What the forward writes. `out` is shape.Out(), its rows as those of the inputs. For each row of
// scores, (heads of all samples, rows): the largest score, and log_sum = log sum_j exp(score_j -
// largest). A weight is exp(score - largest - log_sum). The two are kept apart: beside the scores
// of a row whose mask adds -1e9 everywhere, log_sum would be rounded away. Both are 0 for a row
// that sees no key.
struct AttentionOutputs {
  Tensor out, largest, log_sum;
};

// Contiguous; an undefined one is not computed.
struct AttentionGradients {
  Tensor query, key, value;
};

}  // namespace torus::ops
