#include "parallel/optim/cuda/multi_tensor.h"
#include "parallel/optim/rule_kernels.h"
#include "runtime/error.h"

namespace torus::parallel::cuda {
namespace {

using torus::cuda::Elements;
using torus::cuda::MutableElements;
using torus::cuda::MutableElementsOrNull;

template <class Rule, class T>
struct RuleEntry {
  const T* gradient;
  T *parameter, *s0, *s1, *s2;  // states may be null
  int64_t count;
  const Rule* rule;

  __device__ static T* At(T* state, int64_t i) { return state != nullptr ? state + i : nullptr; }
  __device__ void Update(int64_t i, const Rule& apply) const {
    T p = parameter[i];
    apply(ElementValues<T>{gradient[i], p, At(s0, i), At(s1, i), At(s2, i)});
    parameter[i] = p;
  }
};

struct ApplyRules {
  template <int kThreads, class Entry>
  __device__ void Run(const Entry& in_memory, int64_t first, int64_t last, int64_t) const {
    const Entry entry = in_memory;  // in registers: writes might alias it
    const auto rule = *entry.rule;
    for (int64_t i = first + threadIdx.x; i < last; i += kThreads) entry.Update(i, rule);
  }
};

// The items of type T.
template <class T, class Scalars>
void RulesOf(std::vector<RuleItem>& items,
             const std::shared_ptr<const std::vector<Scalars>>& scalars, StreamHandle stream) {
  using Rule = typename Scalars::template Rule<T>;
  std::vector<size_t> chosen;
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].gradient.dtype() == kDTypeOf<T>) chosen.push_back(i);
  if (chosen.empty()) return;
  const Device device = items.front().parameter.device();
  const auto make = [scalars, chosen, count = items.size()] {
    Require(scalars->size() == count, Scalars::kName,
            "a recorded update of {} parameters was prepared for {} with a gradient", count,
            scalars->size());
    std::vector<Rule> rules;
    for (const size_t i : chosen) rules.emplace_back((*scalars)[i]);
    return rules;
  };
  const Tensor there = torus::cuda::HandOverAnew<Rule>(Scalars::kName, make, device, stream);
  const Rule* rule = torus::cuda::HandedOver<Rule>(there);
  std::vector<RuleEntry<Rule, T>> entries;
  for (const size_t i : chosen) {
    RuleItem& item = items[i];
    const auto state = [&](size_t k) { return MutableElementsOrNull<T>(item.states[k]); };
    entries.push_back({Elements<T>(item.gradient), MutableElements<T>(item.parameter), state(0),
                       state(1), state(2), item.gradient.numel(), rule++});
  }
  ForEachPiece(Scalars::kName, entries, device, stream, ApplyRules());
}

}  // namespace

template <class Scalars>
void RuleStep(std::vector<RuleItem>& items,
              const std::shared_ptr<const std::vector<Scalars>>& scalars) {
  const StreamHandle stream = CurrentStream(items.front().parameter.device());
  RulesOf<float>(items, scalars, stream);
  RulesOf<double>(items, scalars, stream);
}

TORUS_RULE_STEPS;

}  // namespace torus::parallel::cuda
