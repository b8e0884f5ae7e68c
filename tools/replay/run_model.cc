#include "tools/replay/run_model.h"

#include <cmath>

#include "models/checkpoint/layout.h"
#include "tools/replay/gradient_scale.h"
#include "tools/replay/model_case.h"

namespace torus::replay {
namespace {

void CheckGradients(const nn::Module& model, const std::map<std::string, Tensor>& wanted,
                    const ModelTolerance& tolerance, Comparison& result) {
  const double largest = LargestMagnitude(wanted);
  std::map<std::string, Tensor> all, files;
  for (const NamedVariable& parameter : model.Parameters()) {
    const auto want = wanted.find(parameter.name);
    const std::string name = "grad_param." + parameter.name;
    if (want == wanted.end()) {
      result.Fail(name, "the case has none");
      continue;
    }
    const Tensor ours = parameter.value.grad();
    result.CheckNorm(name, ours.defined() ? ToFileLayout(ours) : ours, want->second,
                     tolerance.Gradient(wanted, largest, parameter.name, ours));
    if (!ours.defined()) continue;
    all[parameter.name] = ours;
    files[parameter.name] = ToFileLayout(ours);
  }
  result.CheckWithin("scale of all gradients", std::fabs(MedianExcess(files, wanted)),
                     tolerance.Excess(all));
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
  LoadState(*model, c.Group("param."), c.path);  // the runs with noise have moved its statistics
  const StepResult step = run();
  Comparison result;
  const Tensor logits = c.Get("out.logits"), loss = c.Get("out.loss");
  const Origin origin = tolerance.Forward(LargestMagnitude(logits));
  result.Check("out.logits", step.logits.data(), logits, origin);
  result.Check("out.loss", step.loss.data().View({1}), loss.View({1}), origin);
  CheckGradients(*model, c.Group("grad_param."), tolerance, result);
  CheckRunningStatistics(*model, c.Group("after."), "after.", tolerance, result);
  return result;
}

}  // namespace torus::replay
