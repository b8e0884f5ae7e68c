#include "tools/replay/run_optimizer.h"

#include "tools/replay/optimizer_case.h"

namespace torus::replay {

Comparison RunOptimizer(const Case& c) {
  Variable p(c.Get("param.p").Clone(), true);
  const CaseOptimizer made = MakeOptimizer(c.spec.at("optimizer"), {{"p", p}});
  const Tensor grads = c.Get("grad.p"), wanted = c.Get("out.p");
  Comparison result;
  for (int64_t step = 0; step < grads.dim(0); ++step) {
    p.SetGrad(grads.Select(0, step).Clone());
    made.optimizer->Step(made.learning_rate);
    // Each step adds a term to the parameter, and up to as many to its momentum.
    const Tensor want = wanted.Select(0, step);
    result.Check(
        fmt::format("out.p[{}]", step), p.data(), want,
        {2 * (step + 1), LargestMagnitude(want), static_cast<double>(step + 1) * made.low_noise});
  }
  return result;
}

}  // namespace torus::replay
