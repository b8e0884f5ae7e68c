#include "tools/replay/run_train.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "models/checkpoint/layout.h"
#include "tools/replay/clipped_step.h"
#include "tools/replay/free_run.h"
#include "tools/replay/model_case.h"

namespace torus::replay {
namespace {

constexpr const char* kBuffer = ".momentum_buffer";

// Each step from the state that the case holds.
class TrainRun {
 public:
  explicit TrainRun(const Case& c)
      : case_(c),
        steps_(c.spec.at("steps").get<int64_t>()),
        model_(BuildModel(c)),
        optimizer_(c.spec.at("optimizer"), model_->Parameters()) {}

  Comparison Run() {
    for (int64_t step = 0; step < steps_; ++step) {
      Load(step);
      tolerance_.emplace(*model_, [&] { return RunBatch(step).logits.data(); });
      Load(step);  // the runs with noise have moved its statistics
      Step(step);
      CheckAfter(step);
    }
    return result_;
  }

 private:
  void Load(int64_t step) {
    const std::string prefix = fmt::format("state.{}.", step);
    LoadState(*model_, case_.Group(prefix + "param."), case_.path);
    std::vector<NamedTensor> buffers;
    for (const auto& [name, tensor] : case_.Group(prefix + "momentum."))
      buffers.push_back({name + kBuffer, FromFileLayout(tensor).Contiguous()});
    optimizer_.optimizer().LoadState(buffers);
  }

  StepResult RunBatch(int64_t step) { return RunStep(*model_, BatchOf(case_, step)); }

  void Step(int64_t step) {
    const StepResult made = RunBatch(step);
    optimizer_.Step();
    const Tensor want = case_.Get("out.losses").Narrow(0, step, 1);
    // A loss is a difference of logits.
    const double scale = std::max(LargestMagnitude(want), LargestMagnitude(made.logits.data()));
    result_.Check(fmt::format("out.losses[{}]", step), made.loss.data().View({1}), want,
                  tolerance_->Forward(scale));
  }

  void CheckAfter(int64_t step) {
    const bool last = step + 1 == steps_;
    const std::string prefix = last ? "final." : fmt::format("state.{}.param.", step + 1);
    const std::map<std::string, Tensor> wanted = case_.Group(prefix);
    gradients_.clear();
    for (const NamedVariable& parameter : model_->Parameters())
      gradients_[parameter.name] = parameter.value.grad();
    largest_ = LargestMagnitude(gradients_);
    for (const NamedVariable& parameter : model_->Parameters())
      CheckParameter(prefix, parameter, wanted);
    if (!last) CheckMomentum(fmt::format("state.{}.momentum.", step + 1));
    CheckRunningStatistics(*model_, wanted, prefix, *tolerance_, result_);
  }

  // Both sides started from equal bits, so what is left is the gradient's error, and rounding of
  // the update.
  double Allowed(const std::string& name, double factor, const Tensor& want) const {
    // Decay, momentum and the step round each element of the result twice or so on either side, by
    // u.
    constexpr double kUpdate = 2 * std::numeric_limits<float>::epsilon();
    return factor * optimizer_.gradient_scale() *
               tolerance_->Gradient(gradients_, largest_, name, gradients_.at(name)) +
           kUpdate * Norm(want);
  }

  void CheckParameter(const std::string& prefix, const NamedVariable& parameter,
                      const std::map<std::string, Tensor>& wanted) {
    const auto want = wanted.find(parameter.name);
    if (want == wanted.end()) return result_.Fail(prefix + parameter.name, "the case has none");
    // Nesterov adds the gradient once more through the momentum.
    const double factor = optimizer_.learning_rate() * (1 + optimizer_.momentum());
    result_.CheckNorm(prefix + parameter.name, ToFileLayout(parameter.value.data()), want->second,
                      Allowed(parameter.name, factor, want->second));
  }

  void CheckMomentum(const std::string& prefix) {
    std::map<std::string, Tensor> ours;
    for (const NamedTensor& state : optimizer_.optimizer().State()) ours[state.name] = state.value;
    for (const NamedVariable& parameter : model_->Parameters()) {
      const Tensor want = case_.Find(prefix + parameter.name);
      if (!want.defined()) continue;
      const Tensor got = ours[parameter.name + kBuffer];
      result_.CheckNorm(prefix + parameter.name, got.defined() ? ToFileLayout(got) : got, want,
                        Allowed(parameter.name, 1, want));
    }
  }

  const Case& case_;
  int64_t steps_;
  std::shared_ptr<nn::Sequential> model_;
  ClippedStep optimizer_;
  std::optional<ModelTolerance> tolerance_;  // of this step
  std::map<std::string, Tensor> gradients_;  // ours, of the last step
  double largest_ = 0;                       // magnitude in them
  Comparison result_;
};

}  // namespace

Comparison RunTrain(const Case& c) {
  return c.spec.value("restart", false) ? TrainRun(c).Run() : RunFree(c);
}

}  // namespace torus::replay
