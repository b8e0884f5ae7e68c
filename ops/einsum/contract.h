// Sums of products of tensors whose dimensions have labels.
#pragma once

#include <string_view>
#include <vector>

#include "autograd/variable.h"

namespace torus::ops {

// A tensor, and a label for each of its dimensions.
struct LabelledTensor {
  Variable tensor;
  std::vector<int> labels;
};

// The product of all, from the left, summed over the labels that `result` does not have; its
// dimensions in the order of `result`, whose labels are distinct and each that of an operand. Equal
// labels have equal sizes, or 1, which broadcasts; twice in one operand they mean its diagonal.
// Integers are of one type, and i64 where a label is summed. Throws BadInput tagged `op` for other
// sizes and types, and for a sum of products of integers.
Variable Contract(std::string_view op, std::vector<LabelledTensor> operands,
                  const std::vector<int>& result);

}  // namespace torus::ops
