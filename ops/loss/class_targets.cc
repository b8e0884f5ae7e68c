#include "ops/loss/class_targets.h"

#include "ops/loss/class_shape.h"
#include "ops/loss/kernels.h"

namespace torus::ops {

ClassTargets CheckedTargets(std::string_view op, const Shape& input, const Tensor& target,
                            int64_t ignore_index) {
  const Shape wanted = WithoutClasses(op, input);
  Require(!IsFloating(target.dtype()), op, "class numbers must be integers, got {}", target);
  Require(target.shape() == wanted, op, "input {} needs class numbers of shape {}, got {}", input,
          wanted, target);
  ClassTargets targets{target.To(DType::kI64).Contiguous(), ignore_index};
  kernels::CheckClasses(op, input[ClassDim(op, input)], targets);
  return targets;
}

CountedTargets FindCounted(const ClassTargets& targets) {
  int64_t count = targets.numbers.numel();
  kernels::CountTargets(targets, count);
  const Shape shape{count};
  const Device device = targets.numbers.device();
  CountedTargets counted{Tensor(shape, DType::kI64, device), Tensor(shape, DType::kI64, device)};
  kernels::FindCounted(targets, counted);
  return counted;
}

}  // namespace torus::ops
