#include <algorithm>

#include "ops/loss/class_rows.h"
#include "ops/loss/kernels.h"

namespace torus::cpu {

void CheckClasses(std::string_view op, int64_t classes, ops::ClassTargets& targets) {
  const ops::ClassRows rows{targets.numbers.data<int64_t>(), targets.ignore_index, classes};
  for (int64_t i = 0; i < targets.numbers.numel(); ++i)
    if (!rows.IsRight(i)) ops::FailTarget(op, rows.target[i], i, classes, targets.ignore_index);
}

void CountTargets(const ops::ClassTargets& targets, int64_t& count) {
  const int64_t *t = targets.numbers.data<int64_t>(), all = targets.numbers.numel();
  count = all - std::count(t, t + all, targets.ignore_index);
}

void CountTargets(const ops::ClassTargets& targets, Tensor& count) {
  int64_t number = 0;
  CountTargets(targets, number);
  VisitCompute("count_targets", count.dtype(),
               [&]<class T>(ComputeType<T>) { *count.mutable_data<T>() = static_cast<T>(number); });
}

void FindCounted(const ops::ClassTargets& targets, ops::CountedTargets& counted) {
  const int64_t* t = targets.numbers.data<int64_t>();
  int64_t *place = counted.places.mutable_data<int64_t>(),
          *number = counted.numbers.mutable_data<int64_t>();
  for (int64_t i = 0; i < targets.numbers.numel(); ++i) {
    if (t[i] == targets.ignore_index) continue;
    *place++ = i;
    *number++ = t[i];
  }
}

}  // namespace torus::cpu
