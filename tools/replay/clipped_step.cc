#include "tools/replay/clipped_step.h"

#include "parallel/optim/gradient_norm.h"
#include "tools/replay/case.h"

namespace torus::replay {
namespace {

nlohmann::json WithoutClipping(nlohmann::json spec) {
  spec.erase("clip_grad_norm");
  return spec;
}

}  // namespace

ClippedStep::ClippedStep(const nlohmann::json& spec, std::vector<NamedVariable> parameters)
    : made_(MakeOptimizer(WithoutClipping(spec), std::move(parameters))) {
  const nlohmann::json clip = spec.value("clip_grad_norm", nlohmann::json());
  if (clip.is_null()) return;
  if (!clip.is_number() || clip.get<double>() <= 0)
    Throw<Unsupported>("optimizer", "clip_grad_norm {}", clip.dump());
  clip_norm_ = clip.get<double>();
}

void ClippedStep::Step() {
  if (clip_norm_ > 0) {
    const std::vector<double> squares =
        parallel::SquaredGradientNorms(made_.optimizer->parameters());
    gradient_scale_ = parallel::ClipScale(parallel::GlobalNorm(squares), clip_norm_);
  }
  made_.optimizer->Step(made_.learning_rate, gradient_scale_);
}

}  // namespace torus::replay
