// A small classifier whose blocks have all that a trainer must keep apart: weights, a random mask
// keyed by sample, and running statistics. Written on autograd alone, because `parallel` knows no
// ops.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "autograd/node.h"
#include "parallel/optim/sgd.h"
#include "parallel/trainer/trainer.h"
#include "runtime/dispatch.h"
#include "runtime/kernels.h"
#include "runtime/rng.h"

namespace torus::parallel::testing {

inline constexpr int64_t kWidth = 6;

struct ToyProduct {
  Tensor out, mask;  // (rows, outs)
};

inline void ToyForward(const Tensor& x, const Tensor& w, const StepContext& context, uint64_t layer,
                       ToyProduct& y) {
  const int64_t rows = x.dim(0), outs = w.dim(0), ins = w.dim(1);
  for (int64_t n = 0; n < rows; ++n) {
    const RandomStream stream({context.seed, static_cast<uint64_t>(context.step), layer,
                               static_cast<uint64_t>(context.samples[n])});
    for (int64_t o = 0; o < outs; ++o) {
      double sum = 0;
      for (int64_t i = 0; i < ins; ++i)
        sum += x.data<double>()[n * ins + i] * w.data<double>()[o * ins + i];
      const bool keep = !context.training || stream.Uniform(o) < 0.8f;
      y.mask.mutable_data<double>()[n * outs + o] = keep ? 1 : 0;
      y.out.mutable_data<double>()[n * outs + o] = keep ? std::tanh(sum) : 0;
    }
  }
}

// out(n, o) = tanh(sum_i x(n, i) w(o, i)) * mask(n, o), f64; the mask is 0 or 1 by (seed, step,
// layer, sample) while training.
inline Variable ToyLayer(const Variable& x, const Variable& w, const StepContext& context,
                         uint64_t layer) {
  const Device device = CommonDevice("toy_layer", x.data(), w.data());
  const Shape shape{x.dim(0), w.dim(0)};
  ToyProduct y{Empty(shape, DType::kF64, device), Empty(shape, DType::kF64, device)};
  Dispatch("toy_layer", device, [&] { ToyForward(x.data(), w.data(), context, layer, y); });
  return Record("toy_layer", y.out, {x, w}, [x = Saved(x), w = Saved(w), y](const GradContext& g) {
    const int64_t rows = x.get().dim(0), outs = w.get().dim(0), ins = w.get().dim(1);
    Tensor dx = Zeros(Shape{rows, ins}, DType::kF64), dw = Zeros(w.get().shape(), DType::kF64);
    for (int64_t n = 0; n < rows; ++n)
      for (int64_t o = 0; o < outs; ++o) {
        const double out = y.out.data<double>()[n * outs + o];
        const double d = g.grad().data<double>()[n * outs + o] *
                         y.mask.data<double>()[n * outs + o] * (1 - out * out);
        for (int64_t i = 0; i < ins; ++i) {
          dx.mutable_data<double>()[n * ins + i] += d * w.get().data<double>()[o * ins + i];
          dw.mutable_data<double>()[o * ins + i] += d * x.get().data<double>()[n * ins + i];
        }
      }
    return Gradients{g.wants(0) ? dx : Tensor(), g.wants(1) ? dw : Tensor()};
  });
}

// Mean over the rows of the squared distance to the targets, halved.
inline Variable ToyLoss(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets) {
  const Tensor y = outputs[0].data(), t = targets[0];
  const double rows = static_cast<double>(y.dim(0));
  double sum = 0;
  Tensor difference = y.Clone();
  for (int64_t i = 0; i < y.numel(); ++i) {
    const double d = y.data<double>()[i] - t.data<double>()[i];
    difference.mutable_data<double>()[i] = d / rows;
    sum += d * d / 2;
  }
  return Record("toy_loss", Full(Shape{}, sum / rows, DType::kF64), {outputs[0]},
                [difference](const GradContext& g) {
                  Tensor d = difference.Clone();
                  ScaleInPlace(d, g.grad().Item());
                  return Gradients{d};
                });
}

// Sums of the activations that training has seen, committed at the end of a mini-batch; a
// micro-batch that comes twice counts once.
struct ToyStatistics {
  Tensor running = Zeros(Shape{1}, DType::kF64);
  std::map<int, double> pending;  // by micro-batch
};

inline Variable ToyWeight(int number) {
  Tensor weight(Shape{kWidth, kWidth}, DType::kF64);
  FillUniform(weight, -0.7, 0.7, RandomStream({.seed = 7, .layer = static_cast<uint64_t>(number)}));
  return Variable(weight, true);
}

inline Block ToyBlock(int number, const Variable& w) {
  const std::string name = "layer" + std::to_string(number);
  const auto statistics = std::make_shared<ToyStatistics>();
  Block block;
  block.name = name;
  block.forward = [w, number, statistics](const std::vector<Variable>& x, const StepContext& c) {
    const Variable y = ToyLayer(x[0], w, c, static_cast<uint64_t>(number));
    Dispatch("toy_statistics", y.data().device(), [&] {
      const double* values = y.data().data<double>();
      if (c.training)
        statistics->pending[c.micro_batch] = std::accumulate(values, values + y.numel(), 0.0);
    });
    return std::vector<Variable>{y};
  };
  block.parameters = {{name + ".weight", w}};
  block.buffers = {{name + ".running", statistics->running}};
  block.share_statistics = [statistics](const ShareStatistics& share) {
    KeptStatistics own;
    for (const auto& [micro_batch, sum] : std::exchange(statistics->pending, {}))
      own[micro_batch] = {Full(Shape{}, sum, DType::kF64)};
    for (const auto& [micro_batch, sum] : share(own))
      statistics->pending[micro_batch] = sum.at(0).Item();
  };
  block.end_mini_batch = [statistics](bool taken) {
    const std::map<int, double> pending = std::exchange(statistics->pending, {});
    if (!taken) return;
    double& running = statistics->running.mutable_data<double>()[0];
    running *= 0.9;
    for (const auto& [micro_batch, sum] : pending) running += 0.1 * sum;
  };
  return block;
}

inline Block ToyBlock(int number) { return ToyBlock(number, ToyWeight(number)); }

inline Variable ToyCast(const Variable& x, DType dtype) {
  return Record("toy_cast", x.data().To(dtype), {x},
                [back = x.dtype()](const GradContext& g) { return Gradients{g.grad().To(back)}; });
}

inline std::vector<Block> ToyModel(int blocks, bool f32 = false) {
  std::vector<Block> model;
  for (int i = 0; i < blocks; ++i) {
    Block block = ToyBlock(i);
    const bool last = i == blocks - 1;
    if (f32)
      block.forward = [inner = block.forward, last](const std::vector<Variable>& x,
                                                    const StepContext& c) {
        const Variable y = inner({ToyCast(x[0], DType::kF64)}, c)[0];
        return std::vector<Variable>{last ? y : ToyCast(y, DType::kF32)};
      };
    model.push_back(block);
  }
  return model;
}

// Blocks that use a weight of another one too: `owners[i]` is the block whose weight block i has.
// With `own_leaves` each has a leaf of its own for it, otherwise one variable.
inline std::vector<Block> ToyTiedModel(const std::vector<int>& owners, bool own_leaves = false) {
  std::vector<Block> model;
  std::map<int, Variable> weights;
  for (int i = 0; i < static_cast<int>(owners.size()); ++i) {
    const int owner = owners[i];
    const auto [shared, is_new] = weights.try_emplace(owner, ToyWeight(owner));
    const Variable w = own_leaves && !is_new ? ToyWeight(owner) : shared->second;
    Block& block = model.emplace_back(ToyBlock(i, w));
    block.parameters = {{"layer" + std::to_string(owner) + ".weight", w}};
  }
  return model;
}

// `global` random rows a step (one less in every third, so that parts are uneven), cut among
// replicas and micro-batches in order; the targets are half of the inputs.
inline MiniBatch ToyBatch(int64_t step, const RankPlace& place, int replicas, int micro_batches,
                          int64_t global) {
  const int64_t rows = global - (step % 3 == 2 ? 1 : 0);
  const int64_t parts = int64_t{replicas} * micro_batches;
  Tensor x(Shape{rows, kWidth}, DType::kF64), t(Shape{rows, kWidth}, DType::kF64);
  FillUniform(x, -1, 1, RandomStream({.seed = 1, .step = static_cast<uint64_t>(step)}));
  for (int64_t i = 0; i < t.numel(); ++i) t.mutable_data<double>()[i] = 0.5 * x.data<double>()[i];
  MiniBatch batch{.global_samples = rows};
  for (int m = 0; m < micro_batches; ++m) {
    const int64_t part = int64_t{place.replica} * micro_batches + m;
    const int64_t begin = rows * part / parts, end = rows * (part + 1) / parts;
    MicroBatch micro;
    for (int64_t i = begin; i < end; ++i) micro.samples.push_back(i);
    if (place.first) micro.inputs = {x.Narrow(0, begin, end - begin).Clone()};
    if (place.last) micro.targets = {t.Narrow(0, begin, end - begin).Clone()};
    batch.micro_batches.push_back(micro);
  }
  return batch;
}

struct ToyRun {
  int blocks = 4;
  int64_t global = 12;
  bool f32 = false;  // what crosses a cut, so that a codec has something to do
  TrainerOptions options;

  TrainingParts Parts() const {
    const int count = blocks;
    const int64_t parts = std::max(1, options.replicas * options.micro_batches);
    TrainingParts made;
    const bool narrow = f32;
    made.model = [count, narrow] { return ToyModel(count, narrow); };
    made.loss = ToyLoss;
    made.optimizer = [](std::vector<NamedVariable> parameters) {
      return std::make_unique<Sgd>(std::move(parameters), SgdOptions{.momentum = 0.9});
    };
    made.learning_rate = [](int64_t step) { return 0.1 / (1.0 + static_cast<double>(step)); };
    made.largest_inputs = {{Shape{(global + parts - 1) / parts, kWidth}, DType::kF64}};
    return made;
  }
  BatchFn Batches() const {
    return [run = *this](int64_t step, const RankPlace& place) {
      return ToyBatch(step, place, run.options.replicas, run.options.micro_batches, run.global);
    };
  }
};

// The run with another model: layers that return their input, each with a weight of such a shape.
inline TrainingParts PartsOfShapes(const ToyRun& run, const std::vector<Shape>& shapes) {
  TrainingParts parts = run.Parts();
  parts.model = [shapes] {
    std::vector<Block> model;
    for (const Shape& shape : shapes) {
      const std::string name = fmt::format("layer{}", model.size());
      model.push_back(
          {.name = name,
           .forward = [](const std::vector<Variable>& x, const StepContext&) { return x; },
           .parameters = {{name + ".weight", Variable(Full(shape, 1.0, DType::kF64), true)}}});
    }
    return model;
  };
  parts.optimizer = [](std::vector<NamedVariable> p) {
    return std::make_unique<Sgd>(std::move(p), SgdOptions{});
  };
  return parts;
}

}  // namespace torus::parallel::testing
