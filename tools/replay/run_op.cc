#include "tools/replay/run_op.h"

#include <algorithm>
#include <cmath>

#include "autograd/backward.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

// The Origin of each tensor of a call. The size of a term follows from its factors.
class Origins {
 public:
  Origins(const OpRun& run, const Arguments& arguments, double largest_seed)
      : run_(run), arguments_(arguments), largest_seed_(largest_seed) {}

  Origin OfOutput(const Tensor& want) const {
    return Of(want, run_.factors.empty() ? 0 : Product(""));
  }
  // The product rule: the gradient of a factor is the sum of the output gradient times the other
  // factors.
  Origin OfGradient(const std::string& name, const Tensor& want) const {
    const double term = run_.factors.empty() ? 0 : Product(name);
    return Of(want, largest_seed_ * std::max(term, run_.gradient_size));
  }

 private:
  double Product(const std::string& left_out) const {
    double product = run_.coefficient;
    for (const std::string& factor : run_.factors) {
      const auto found = arguments_.taken().find(factor);
      if (factor != left_out && found != arguments_.taken().end())
        product *= LargestMagnitude(found->second.data());
    }
    return product;
  }
  Origin Of(const Tensor& want, double term) const {
    const int64_t n = std::max(run_.least, run_.terms / std::max<int64_t>(1, want.numel()));
    return {n, std::max(LargestMagnitude(want), std::sqrt(static_cast<double>(n)) * term)};
  }

  const OpRun& run_;
  const Arguments& arguments_;
  double largest_seed_;
};

void CheckOutputs(const Case& c, const OpRun& run, const Origins& origins, Comparison& result) {
  const std::map<std::string, Tensor> wanted = c.Group("out.");
  if (wanted.size() != run.outputs.size())
    result.Fail("outputs", fmt::format("got {}, wanted {}", run.outputs.size(), wanted.size()));
  for (size_t i = 0; i < run.outputs.size(); ++i) {
    const std::string name = fmt::format("out.{}", i);
    if (const Tensor want = c.Find(name); want.defined())
      result.Check(name, run.outputs[i].data(), want, origins.OfOutput(want));
  }
  for (const auto& [name, want] : c.Group("after.")) {
    const auto got = run.after.find(name);
    result.Check("after." + name, got == run.after.end() ? Tensor() : got->second, want,
                 origins.OfOutput(want));
  }
}

void RunBackward(const Case& c, const OpRun& run) {
  std::vector<Variable> outputs;
  std::vector<Tensor> seeds;
  for (size_t i = 0; i < run.outputs.size(); ++i) {
    const Tensor seed = c.Find(fmt::format("grad_out.{}", i));
    // Outputs without a gradient leave zeros, which CheckGradients compares.
    if (!seed.defined() || !run.outputs[i].requires_grad()) continue;
    outputs.push_back(run.outputs[i]);
    seeds.push_back(seed);
  }
  if (!outputs.empty()) Backward(outputs, seeds);
}

void CheckGradients(const Case& c, const Arguments& arguments, const Origins& origins,
                    Comparison& result) {
  const std::map<std::string, Tensor> wanted = c.Group("grad_in.");
  const double largest = LargestMagnitude(wanted);
  for (const auto& [name, want] : wanted) {
    Tensor got = arguments.taken().at(name).grad();
    if (!got.defined()) got = Zeros(want.shape(), want.dtype());  // no path: zero everywhere
    result.Check("grad_in." + name, got, want, origins.OfGradient(name, want),
                 GradientFloor(want.dtype(), largest));
  }
}

}  // namespace

Comparison RunOp(const Case& c) {
  Arguments arguments(c);
  const auto handler = Operators().find(arguments.op());
  if (handler == Operators().end()) Throw<Unsupported>(arguments.op(), "no such operator");
  const OpRun run = handler->second(arguments);
  arguments.Finish();
  const Origins origins(run, arguments, LargestMagnitude(c.Group("grad_out.")));
  Comparison result;
  CheckOutputs(c, run, origins, result);
  const bool differentiable = !c.Group("grad_in.").empty();
  if (differentiable) {
    RunBackward(c, run);
    CheckGradients(c, arguments, origins, result);
  }
  return result;
}

}  // namespace torus::replay
