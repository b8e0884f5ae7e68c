#include "parallel/optim/multi_tensor.h"
#include "parallel/optim/rule_kernels.h"

namespace torus::parallel::cpu {
namespace {

template <class Rule, class T>
void Apply(const Rule& rule, const T* g, T* p, T* s0, T* s1, T* s2, int64_t count) {
  const auto at = [](T* state, int64_t i) { return state != nullptr ? state + i : nullptr; };
#pragma omp simd
  for (int64_t i = 0; i < count; ++i)
    rule(ElementValues<T>{g[i], p[i], at(s0, i), at(s1, i), at(s2, i)});
}

}  // namespace

template <class Scalars>
void RuleStep(std::vector<RuleItem>& items,
              const std::shared_ptr<const std::vector<Scalars>>& scalars) {
  ForEachPiece(SizesOf(items), [&](size_t i, int64_t begin, int64_t end) {
    RuleItem& item = items[i];
    VisitCompute(Scalars::kName, item.gradient.dtype(), [&]<class T>(ComputeType<T>) {
      Apply(typename Scalars::template Rule<T>((*scalars)[i]), item.gradient.data<T>() + begin,
            At<T>(item.parameter, begin), At<T>(item.states[0], begin),
            At<T>(item.states[1], begin), At<T>(item.states[2], begin), end - begin);
    });
  });
}

TORUS_RULE_STEPS;

}  // namespace torus::parallel::cpu
