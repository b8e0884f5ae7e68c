// The toy model with all that a strategy must carry: weights that are cut among replicas, tied ones
// of both kinds, a frozen one, and one that some steps do not use.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "parallel/optim/adam.h"
#include "tests/parallel/trainer/outcome.h"

namespace torus::parallel::testing {

// Several norm blocks, the last one short.
inline constexpr int64_t kWide = 9001;

// c(j) = (j mod 17) / 8 - 1.
inline const std::vector<double>& WideCoefficients() {
  static const std::vector<double> coefficients = [] {
    std::vector<double> c;
    for (int64_t j = 0; j < kWide; ++j) c.push_back(static_cast<double>(j % 17) / 8 - 1);
    return c;
  }();
  return coefficients;
}

// y(n, i) = x(n, i) (1 + mean_j c(j) w(i, j)).
inline Variable WideLayer(const Variable& x, const Variable& w) {
  const Device device = CommonDevice("wide_layer", x.data(), w.data());
  const double* const c = WideCoefficients().data();
  Tensor out = Empty(x.shape(), DType::kF64, device);
  Tensor factors = Empty({kWidth}, DType::kF64, device);
  Dispatch("wide_layer", device, [&] {
    for (int64_t i = 0; i < kWidth; ++i) {
      const double* const row = w.data().data<double>() + i * kWide;
      double sum = 0;
      for (int64_t j = 0; j < kWide; ++j) sum += c[j] * row[j];
      factors.mutable_data<double>()[i] = 1 + sum / kWide;
    }
    for (int64_t n = 0; n < x.numel(); ++n)
      out.mutable_data<double>()[n] =
          x.data().data<double>()[n] * factors.data<double>()[n % kWidth];
  });
  return Record("wide_layer", out, {x, w},
                [x = Saved(x), w = Saved(w), factors, c](const GradContext& g) {
                  w.get();  // must be there, as of a layer that reads it
                  Tensor dx = g.grad().Clone(), dw = Zeros({kWidth, kWide}, DType::kF64);
                  for (int64_t n = 0; n < dx.numel(); ++n) {
                    const double d = g.grad().data<double>()[n] * x.get().data<double>()[n] / kWide;
                    dx.mutable_data<double>()[n] *= factors.data<double>()[n % kWidth];
                    double* const row = dw.mutable_data<double>() + n % kWidth * kWide;
                    for (int64_t j = 0; j < kWide; ++j) row[j] += c[j] * d;
                  }
                  return Gradients{g.wants(0) ? dx : Tensor(), g.wants(1) ? dw : Tensor()};
                });
}

inline Variable WideWeight() {
  Tensor weight(Shape{kWidth, kWide}, DType::kF64);
  FillUniform(weight, -1, 1, RandomStream({.seed = 8}));
  return Variable(weight, true);
}

// Lets a block take one more layer, with the weight `w`.
template <class Layer>
void AddUse(Block& block, const std::string& name, const Variable& w, const Layer& layer) {
  block.parameters.push_back({name, w});
  block.forward = [=, inner = block.forward](const std::vector<Variable>& x,
                                             const StepContext& context) {
    return std::vector<Variable>{layer(inner(x, context)[0], w, context)};
  };
}

// Four blocks: the second has a frozen weight, the third one that odd steps leave alone; the first
// and last share a small weight, the second and last a wide one.
inline std::vector<Block> WideModel() {
  const Variable frozen(ToyWeight(1).data(), false), tied = ToyWeight(9), wide = WideWeight();
  std::vector<Block> model{ToyBlock(0), ToyBlock(1, frozen), ToyBlock(2), ToyBlock(3)};
  const auto toy = [](const Variable& x, const Variable& w, const StepContext& c) {
    return ToyLayer(x, w, c, 17);
  };
  const auto wider = [](const Variable& x, const Variable& w, const StepContext&) {
    return WideLayer(x, w);
  };
  const auto sometimes = [](const Variable& x, const Variable& w, const StepContext& c) {
    return c.step % 2 == 1 ? x : ToyLayer(x, w, c, 18);
  };
  AddUse(model[0], "tied.weight", tied, toy);
  AddUse(model[1], "wide.weight", wide, wider);
  AddUse(model[2], "sometimes.weight", ToyWeight(5), sometimes);
  AddUse(model[3], "wide.weight", wide, wider);
  AddUse(model[3], "tied.weight", tied, toy);
  return model;
}

// SGD with momentum, and Adam with two groups as recipes make them.
inline std::unique_ptr<Optimizer> WideSgd(std::vector<NamedVariable> parameters) {
  return std::make_unique<Sgd>(std::move(parameters),
                               SgdOptions{.momentum = 0.9, .weight_decay = 0.01});
}
inline std::unique_ptr<Optimizer> WideAdam(std::vector<NamedVariable> parameters) {
  AdamGroup layers{.options = {.weight_decay = 0.1, .decoupled_decay = true}}, others;
  for (NamedVariable& p : parameters)
    (p.name.starts_with("layer") ? layers : others).parameters.push_back(std::move(p));
  return std::make_unique<Adam>(std::vector<AdamGroup>{others, layers});
}

// In this step the last target of replica 1 is infinite, so that all replicas skip it.
inline BatchFn WithABadStep(BatchFn good, int64_t bad_step) {
  return [good = std::move(good), bad_step](int64_t step, const RankPlace& place) {
    MiniBatch batch = good(step, place);
    if (step == bad_step && place.replica == 1 && place.last) {
      Tensor& target = batch.micro_batches[0].targets[0];
      target = Full(target.shape(), std::numeric_limits<double>::infinity(), DType::kF64);
    }
    return batch;
  };
}

}  // namespace torus::parallel::testing
