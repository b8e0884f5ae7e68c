// LoRA (Hu et al. 2022, "LoRA: Low-rank adaptation of large language models"): weights of linear
// layers change by products of two narrow matrices, which alone are trained.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "parallel/optim/optimizer.h"
#include "recipes/data/data_form.h"
#include "recipes/settings/settings.h"

namespace torus::recipes {

// The parameters that a run with --lora trains; all others keep their values.
struct LoraParameters {
  std::set<std::string> adapted;  // by products of narrow matrices
  std::set<std::string> whole;    // as without LoRA
};

// Adapted are the matrices of the model but those of its first layer, the embeddings. The head of a
// classifier is trained whole, since it begins at random. Throws BadInput if that leaves none to
// adapt.
LoraParameters LoraParametersOf(const Settings& settings, const DataForm& form);

// Trains, for each adapted weight W of shape (m, n), A (rank, n) and B (m, rank) such that W is its
// value before the first step plus B A: `make_inner` gives the optimizer of these and of what is
// trained whole. A is uniform in +-1 / sqrt(n) by `seed` and the weight's name, B is 0, as in peft
// with lora_alpha = rank. Gradients of A and B follow from that of W, which the backward computes
// as without LoRA. W itself is always the sum, so whoever reads weights needs to know nothing.
//
// State: W.lora_base, W.lora_A and W.lora_B, and the inner optimizer's for the latter, as
// W.lora_A-KIND.
class LoraOptimizer : public parallel::Optimizer {
 public:
  using MakeInner = std::function<std::unique_ptr<Optimizer>(std::vector<NamedVariable>)>;

  // Throws BadInput for a rank below 1. An adapted parameter must be a matrix.
  LoraOptimizer(std::vector<NamedVariable> parameters, const LoraParameters& trained, int64_t rank,
                uint64_t seed, const MakeInner& make_inner);

  void Step(double learning_rate, double gradient_scale = 1) override;
  std::vector<NamedTensor> State() const override;
  uint64_t StateBytes() const override;
  void LoadState(const std::vector<NamedTensor>& state) override;

 private:
  struct Adapted {
    std::string name;
    Variable weight, a, b;
    Tensor base;  // undefined before the first step
  };
  Tensor FirstA(const Adapted& one) const;

  const uint64_t seed_;
  std::vector<Adapted> adapted_;
  std::unique_ptr<Optimizer> inner_;
};

// What makes the optimizer of a run: that of MakeOptimizer, with --lora within a LoraOptimizer.
LoraOptimizer::MakeInner OptimizerOf(const Settings& settings, const DataForm& form);

// Bytes of that optimizer's state of a parameter, which may be on meta; counters left out.
std::function<double(const NamedVariable&)> BytesOfOptimizerState(const Settings& settings,
                                                                  const DataForm& form);

}  // namespace torus::recipes
