#include "tools/replay/free_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "runtime/io/file_layout.h"
#include "tools/replay/clipped_step.h"
#include "tools/replay/model_case.h"

namespace torus::replay {
namespace {

struct Trajectory {
  std::vector<double> losses, scales;        // of each step; the size of its logits
  std::map<std::string, Tensor> parameters;  // the last
};

// One step's gradients, from weights with `sign` times the noise.
StepResult Gradients(nn::Sequential& model, const CaseBatch& batch, double sign, int64_t step) {
  std::map<std::string, Tensor> exact;
  for (NamedVariable parameter : model.Parameters()) {
    if (sign == 0 || parameter.value.rank() < 2) continue;
    exact[parameter.name] = parameter.value.data();
    parameter.value.SetData(WithNoise(parameter, sign, static_cast<uint64_t>(step)));
  }
  const StepResult result = RunStep(model, batch);
  for (NamedVariable parameter : model.Parameters())
    if (const auto found = exact.find(parameter.name); found != exact.end())
      parameter.value.SetData(found->second);
  return result;
}

Trajectory Train(const Case& c, double sign) {
  const std::shared_ptr<nn::Sequential> model = BuildModel(c);
  LoadState(*model, c.Group("param."), c.path);
  ClippedStep optimizer(c.spec.at("optimizer"), model->Parameters());
  Trajectory made;
  for (int64_t step = 0; step < c.spec.at("steps").get<int64_t>(); ++step) {
    const StepResult result = Gradients(*model, BatchOf(c, step), sign, step);
    made.losses.push_back(result.loss.data().Item());
    made.scales.push_back(LargestMagnitude(result.logits.data()));
    optimizer.Step();
  }
  for (const NamedVariable& parameter : model->Parameters())
    made.parameters[parameter.name] = parameter.value.data();
  return made;
}

class FreeRun {
 public:
  explicit FreeRun(const Case& c)
      : case_(c), ours_(Train(c, 0)), noisy_{Train(c, 1), Train(c, -1)} {
    for (const auto& [name, tensor] : ours_.parameters)
      if (tensor.rank() >= 2) terms_ += tensor.numel() / tensor.dim(0);
  }

  Comparison Run() {
    const Tensor losses = case_.Get("out.losses");
    for (size_t i = 0; i < ours_.losses.size(); ++i)
      CheckLoss(i, losses.Narrow(0, static_cast<int64_t>(i), 1));
    const std::map<std::string, Tensor> wanted = case_.Group("final.");
    for (const auto& [name, tensor] : ours_.parameters) {
      const auto want = wanted.find(name);
      if (want == wanted.end())
        result_.Fail("final." + name, "the case has none");
      else
        result_.CheckNorm("final." + name, ToFileLayout(tensor), want->second,
                          Allowed(name, tensor));
    }
    return result_;
  }

 private:
  void CheckLoss(size_t i, const Tensor& want) {
    double strayed = 0;
    for (const Trajectory& noisy : noisy_)
      strayed = std::max(strayed, std::fabs(noisy.losses[i] - ours_.losses[i]));
    // A loss is a difference of logits.
    const double scale = std::max(LargestMagnitude(want), ours_.scales[i]);
    const double rounding = Tolerance(DType::kF32, scale, {terms_, scale});
    result_.Check(fmt::format("out.losses[{}]", i), Full({1}, ours_.losses[i], DType::kF32), want,
                  {}, rounding + 2 * strayed);
  }

  double Allowed(const std::string& name, const Tensor& ours) const {
    // Each update rounds an element of the result about twice on each side, by half of eps.
    const double updates = static_cast<double>(ours_.losses.size()) * 2 *
                           std::numeric_limits<float>::epsilon() * Norm(ours);
    double strayed = 0;
    for (const Trajectory& noisy : noisy_)
      strayed = std::max(strayed, NormOfDifference(noisy.parameters.at(name), ours));
    return updates + 2 * strayed;
  }

  const Case& case_;
  Trajectory ours_, noisy_[2];
  int64_t terms_ = 0;
  Comparison result_;
};

}  // namespace

Comparison RunFree(const Case& c) { return FreeRun(c).Run(); }

}  // namespace torus::replay
