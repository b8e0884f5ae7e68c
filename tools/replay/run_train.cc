#include "tools/replay/run_train.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "runtime/io/file_layout.h"
#include "tools/replay/clipped_step.h"
#include "tools/replay/free_run.h"
#include "tools/replay/gradient_scale.h"
#include "tools/replay/model_case.h"

namespace torus::replay {
namespace {

constexpr const char* kBuffer = ".momentum_buffer";
// Decay, momentum and the step round each element of the result about twice on each side, by u.
constexpr double kUpdate = 2 * std::numeric_limits<float>::epsilon();

// `to` - `from`, in f64.
Tensor Update(const Tensor& from, const Tensor& to) {
  std::vector<double> update = ToVector<double>(to.To(DType::kF64).Contiguous());
  const std::vector<double> start = ToVector<double>(from.To(DType::kF64).Contiguous());
  for (size_t i = 0; i < update.size(); ++i) update[i] -= start[i];
  return FromVector(update, from.shape());
}

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
      Step(step);
      CheckAfter(step);
      CheckScale(step);
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

  // The prefix of the parameters after `step`.
  std::string After(int64_t step) const {
    return step + 1 == steps_ ? "final." : fmt::format("state.{}.param.", step + 1);
  }

  void CheckAfter(int64_t step) {
    const std::string prefix = After(step);
    const std::map<std::string, Tensor> wanted = case_.Group(prefix);
    gradients_.clear();
    for (const NamedVariable& parameter : model_->Parameters())
      gradients_[parameter.name] = parameter.value.grad();
    largest_ = LargestMagnitude(gradients_);
    FindClippingError();
    for (const NamedVariable& parameter : model_->Parameters())
      CheckParameter(prefix, parameter, wanted);
    if (step + 1 < steps_) CheckMomentum(fmt::format("state.{}.momentum.", step + 1));
    CheckRunningStatistics(*model_, wanted, prefix, *tolerance_, result_);
  }

  // Clipping divides all gradients by their norm together, which is as wrong as they are.
  void FindClippingError() {
    clipping_error_ = 0;
    if (optimizer_.gradient_scale() == 1) return;
    double errors = 0, squares = 0;
    for (const auto& [name, gradient] : gradients_) {
      const double error = tolerance_->Gradient(gradients_, largest_, name, gradient);
      errors += error * error;
      squares += Dot(gradient, gradient);
    }
    clipping_error_ = std::sqrt(errors / squares);
  }

  // Both sides started from equal bits, so what is left is the gradient's error, that of its
  // clipping, and rounding of the update.
  double Allowed(const std::string& name, double factor, const Tensor& want) const {
    const Tensor& gradient = gradients_.at(name);
    return factor * optimizer_.gradient_scale() *
               (tolerance_->Gradient(gradients_, largest_, name, gradient) +
                clipping_error_ * Norm(gradient)) +
           kUpdate * Norm(want);
  }

  void CheckParameter(const std::string& prefix, const NamedVariable& parameter,
                      const std::map<std::string, Tensor>& wanted) {
    const auto want = wanted.find(parameter.name);
    if (want == wanted.end()) return result_.Fail(prefix + parameter.name, "the case has none");
    // Nesterov adds the gradient once more through the momentum.
    const double factor = optimizer_.learning_rate() * (1 + optimizer_.nesterov_momentum());
    result_.CheckNorm(prefix + parameter.name, ToFileLayout(parameter.value.data()), want->second,
                      Allowed(parameter.name, factor, want->second));
  }

  // A learning rate, momentum or loss that is wrong by a factor moves all parameters too far, which
  // kinks do not. An update consists of the gradient, the momentum from earlier steps, and the
  // rounding of the parameter.
  void CheckScale(int64_t step) {
    const std::map<std::string, Tensor> before = case_.Group(fmt::format("state.{}.param.", step)),
                                        after = case_.Group(After(step));
    std::map<std::string, Tensor> ours, wanted;
    std::vector<double> rounding;
    for (const NamedVariable& parameter : model_->Parameters()) {
      if (!after.contains(parameter.name)) continue;
      const Tensor& from = before.at(parameter.name);
      ours[parameter.name] = Update(from, ToFileLayout(parameter.value.data()));
      const Tensor& want = wanted[parameter.name] = Update(from, after.at(parameter.name));
      if (const double norm = Norm(want); norm > 0)
        rounding.push_back(2 * kUpdate * LargestMagnitude(from) / norm);
    }
    result_.CheckWithin(After(step) + "scale of all updates", std::fabs(MedianExcess(ours, wanted)),
                        tolerance_->Excess(gradients_) + Median(std::move(rounding)));
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
  double clipping_error_ = 0;                // of the factor that clips them, relative
  Comparison result_;
};

}  // namespace

Comparison RunTrain(const Case& c) {
  return c.spec.value("restart", false) ? TrainRun(c).Run() : RunFree(c);
}

}  // namespace torus::replay
