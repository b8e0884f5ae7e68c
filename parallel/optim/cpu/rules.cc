#include "parallel/optim/multi_tensor.h"
#include "parallel/optim/rule_kernels.h"

namespace torus::parallel::cpu {
namespace {

template <class T>
T* StateAt(Tensor& tensor, int64_t begin) {
  return tensor.defined() ? tensor.mutable_data<T>() + begin : nullptr;
}

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
  std::vector<int64_t> sizes;
  for (const RuleItem& item : items) sizes.push_back(item.gradient.numel());
  ForEachPiece(sizes, [&](size_t i, int64_t begin, int64_t end) {
    RuleItem& item = items[i];
    VisitCompute(Scalars::kName, item.gradient.dtype(), [&]<class T>(ComputeType<T>) {
      Apply(typename Scalars::template Rule<T>((*scalars)[i]), item.gradient.data<T>() + begin,
            item.parameter.mutable_data<T>() + begin, StateAt<T>(item.states[0], begin),
            StateAt<T>(item.states[1], begin), StateAt<T>(item.states[2], begin), end - begin);
    });
  });
}

#define TORUS_RULE(Scalars)                               \
  template void RuleStep<Scalars>(std::vector<RuleItem>&, \
                                  const std::shared_ptr<const std::vector<Scalars>>&)
TORUS_RULE(AdagradScalars);
TORUS_RULE(RmspropScalars);
TORUS_RULE(LionScalars);
TORUS_RULE(ScheduleFreeScalars);
TORUS_RULE(MoveScalars);
TORUS_RULE(MomentumScalars);
TORUS_RULE(DirectionScalars);
#undef TORUS_RULE

}  // namespace torus::parallel::cpu
