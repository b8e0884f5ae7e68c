#include "tools/replay/run_model.h"

#include <cmath>

#include "runtime/io/file_layout.h"
#include "tools/replay/gradient_scale.h"
#include "tools/replay/model_case.h"

namespace torus::replay {
namespace {

// A model that amplifies rounding beyond these limits would prove nothing by passing, so it fails:
// noise of the outputs relative to the largest, and the median of the gradients' tolerances
// relative to their norms. (The limit on a factor common to all gradients is much lower, whatever
// kinks do to each.)
constexpr double kLargestNoise = 1e-3, kWidestGradient = 0.25;

void CheckGradients(const nn::Module& model, const std::map<std::string, Tensor>& wanted,
                    const ModelTolerance& tolerance, Comparison& result) {
  const double largest = LargestMagnitude(wanted);
  std::map<std::string, Tensor> all, files;
  std::vector<double> widths;  // tolerances, of the gradients' norms
  for (const NamedVariable& parameter : model.Parameters()) {
    const auto want = wanted.find(parameter.name);
    const std::string name = "grad_param." + parameter.name;
    if (want == wanted.end()) {
      result.Fail(name, "the case has none");
      continue;
    }
    const Tensor ours = parameter.value.grad();
    const double allowed = tolerance.Gradient(wanted, largest, parameter.name, ours);
    result.CheckNorm(name, ours.defined() ? ToFileLayout(ours) : ours, want->second, allowed);
    if (const double norm = Norm(want->second); norm > 0) widths.push_back(allowed / norm);
    if (!ours.defined()) continue;
    all[parameter.name] = ours;
    files[parameter.name] = ToFileLayout(ours);
  }
  result.CheckWithin("scale of all gradients", std::fabs(MedianExcess(files, wanted)),
                     tolerance.Excess(all));
  result.CheckWithin("tolerance of gradients", Median(std::move(widths)), kWidestGradient);
}

}  // namespace

Comparison RunModel(const Case& c) {
  if (c.spec.value("mode", "") != "train")
    Throw<Unsupported>("model", "mode \"{}\", not \"train\"", c.spec.value("mode", ""));
  const std::shared_ptr<nn::Sequential> model = BuildModel(c);
  const auto run = [&] { return RunStep(*model, BatchOf(c)); };
  const auto logits_of_run = [&] { return run().logits.data(); };
  LoadState(*model, c.Group("param."), c.path);
  const ModelTolerance tolerance(*model, logits_of_run);
  const StepResult step = run();
  Comparison result;
  result.CheckWithin("noise of the outputs", tolerance.noise_of_output(), kLargestNoise);
  const Tensor logits = c.Get("out.logits"), loss = c.Get("out.loss");
  const Origin origin = tolerance.Forward(LargestMagnitude(logits));
  result.Check("out.logits", step.logits.data(), logits, origin);
  result.Check("out.loss", step.loss.data().View({1}), loss.View({1}), origin);
  CheckGradients(*model, c.Group("grad_param."), tolerance, result);
  CheckRunningStatistics(*model, c.Group("after."), "after.", tolerance, result);
  return result;
}

}  // namespace torus::replay
