#include "ops/loss/class_targets.h"

#include "ops/loss/class_shape.h"

namespace torus::ops {

Tensor ClassNumbers(std::string_view op, const Shape& input, const Tensor& target,
                    int64_t ignore_index) {
  const Shape wanted = WithoutClasses(op, input);
  Require(!IsFloating(target.dtype()) && target.shape() == wanted, op,
          "input {} needs class numbers of shape {}, got {}", input, wanted, target);
  const int64_t classes = input[ClassDim(op, input)];
  const Tensor numbers = target.To(DType::kI64).Contiguous();
  const int64_t* t = numbers.data<int64_t>();
  for (int64_t i = 0; i < numbers.numel(); ++i)
    Require(t[i] == ignore_index || (t[i] >= 0 && t[i] < classes), op,
            "target {} at position {} is neither one of {} classes nor ignored ({})", t[i], i,
            classes, ignore_index);
  return numbers;
}

}  // namespace torus::ops
