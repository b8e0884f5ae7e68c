#include "autograd/recompute.h"

#include <utility>

#include "autograd/backward.h"
#include "autograd/node.h"
#include "autograd/precision.h"
#include "autograd/saved_activation.h"
#include "autograd/with_grad.h"
#include "runtime/error.h"

namespace torus {
namespace {

thread_local int first_runs = 0;  // first runs nest

class FirstRun {
 public:
  FirstRun() { ++first_runs; }
  ~FirstRun() { --first_runs; }
  FirstRun(const FirstRun&) = delete;
  FirstRun& operator=(const FirstRun&) = delete;

 private:
  const NoGrad no_grad_;
};

// What a backward needs to run the function again.
struct SecondForward {
  RecomputeFn function;
  std::vector<Saved> inputs;
  std::vector<Variable> parameters;
  // Of the first run, restored for the second.
  Precision precision = WithPrecision::Whole();
  DType activations = ActivationStorage::Current();

  // Leaves for the inputs; they require a gradient if this call wants it.
  std::vector<Variable> Leaves(const GradContext& g) const {
    std::vector<Variable> leaves;
    for (size_t i = 0; i < inputs.size(); ++i)
      leaves.push_back(inputs[i].defined() ? Variable(inputs[i].get(), g.wants(static_cast<int>(i)))
                                           : Variable());
    return leaves;
  }

  Gradients operator()(const GradContext& g) const {
    const WithGrad with_grad;
    const std::vector<Variable> leaves = Leaves(g);
    // Gradients of leaves that this call does not want are deferred, and then dropped.
    BackwardOptions options{.defer_leaves = true};
    std::vector<size_t> places;  // indices of options.wanted among inputs and parameters
    bool may_leave = false;
    for (size_t i = 0; i < inputs.size() + parameters.size(); ++i) {
      const Variable& leaf = i < inputs.size() ? leaves[i] : parameters[i - inputs.size()];
      if (g.wants(static_cast<int>(i))) {
        places.push_back(i);
        options.wanted.push_back(leaf);
      } else {
        may_leave = may_leave || leaf.requires_grad();
      }
    }
    BackwardResult result = GoBack(AsBefore(leaves), g, options);
    Require(may_leave || result.deferred.empty(), "recompute",
            "the function reads a leaf that requires a gradient and was not named");
    Gradients gradients(inputs.size() + parameters.size());
    for (size_t i = 0; i < result.wanted.size(); ++i)
      gradients[places[i]] = std::move(result.wanted[i]);
    return gradients;
  }

  std::vector<Variable> AsBefore(const std::vector<Variable>& leaves) const {
    const WithPrecision with_precision(precision);
    const ActivationStorage storage(activations);
    return function(leaves);
  }

  static BackwardResult GoBack(std::vector<Variable> outputs, const GradContext& g,
                               const BackwardOptions& options) {
    std::vector<Variable> reached;
    std::vector<Tensor> seeds;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].requires_grad() || !g.grad(static_cast<int>(i)).defined()) continue;
      reached.push_back(std::move(outputs[i]));
      seeds.push_back(g.grad(static_cast<int>(i)));
    }
    if (!reached.empty()) return Backward(reached, seeds, options);
    return {.wanted = std::vector<Tensor>(options.wanted.size())};
  }
};

}  // namespace

bool InFirstRun() { return first_runs > 0; }

std::vector<Variable> Recompute(RecomputeFn function, const std::vector<Variable>& inputs,
                                const std::vector<Variable>& parameters) {
  std::vector<Variable> edges = inputs;
  edges.insert(edges.end(), parameters.begin(), parameters.end());
  if (!NeedsGrad(edges)) return function(inputs);
  std::vector<Tensor> outputs;
  {
    const FirstRun first_run;
    for (const Variable& output : function(inputs)) {
      Require(output.defined(), "recompute", "the function gives an undefined output");
      outputs.push_back(output.data());
    }
  }
  SecondForward second{std::move(function), {}, parameters};
  for (const Variable& input : inputs) second.inputs.emplace_back(input);
  return RecordMany("recompute", std::move(outputs), edges, std::move(second));
}

}  // namespace torus
