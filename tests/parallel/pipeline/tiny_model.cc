#include "tests/parallel/pipeline/tiny_model.h"

#include <algorithm>
#include <cmath>

#include "autograd/backward.h"
#include "autograd/node.h"
#include "runtime/binary_counter.h"
#include "runtime/dispatch.h"
#include "runtime/rng.h"

namespace torus::parallel::tiny {
namespace {

void LinearForward(const Tensor& x, const Tensor& w, const Tensor& b, Tensor& y) {
  const int64_t rows = x.dim(0), in = x.dim(1), out = w.dim(0);
  const float *px = x.data<float>(), *pw = w.data<float>(), *pb = b.data<float>();
  float* py = y.mutable_data<float>();
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t o = 0; o < out; ++o) {
      float sum = pb[o];
      for (int64_t i = 0; i < in; ++i) sum += px[r * in + i] * pw[o * in + i];
      py[r * out + o] = sum;
    }
  }
}

// x (rows, in), w (out, in), b (out).
Variable Linear(const Variable& x, const Variable& w, const Variable& b) {
  Tensor y = Empty({x.dim(0), w.dim(0)}, DType::kF32, x.data().device());
  Dispatch("linear", y.device(), [&] { LinearForward(x.data(), w.data(), b.data(), y); });
  return Record("linear", y, {x, w, b}, [x = Saved(x), w = Saved(w)](const GradContext& g) {
    const Tensor &xs = x.get(), &ws = w.get();
    const int64_t rows = xs.dim(0), in = xs.dim(1), out = ws.dim(0);
    const float *pg = g.grad().data<float>(), *px = xs.data<float>(), *pw = ws.data<float>();
    Gradients grads(3);
    if (g.wants(0)) {
      grads[0] = Zeros({rows, in});
      float* p = grads[0].mutable_data<float>();
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t o = 0; o < out; ++o) {
          for (int64_t i = 0; i < in; ++i) p[r * in + i] += pg[r * out + o] * pw[o * in + i];
        }
      }
    }
    if (g.wants(1)) {
      grads[1] = Zeros({out, in});
      float* p = grads[1].mutable_data<float>();
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t o = 0; o < out; ++o) {
          for (int64_t i = 0; i < in; ++i) p[o * in + i] += pg[r * out + o] * px[r * in + i];
        }
      }
    }
    if (g.wants(2)) {
      grads[2] = Zeros({out});
      float* p = grads[2].mutable_data<float>();
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t o = 0; o < out; ++o) p[o] += pg[r * out + o];
      }
    }
    return grads;
  });
}

// Element-wise: out = f(in), d in = d out * slope.
template <class F>
Tensor Map(const Tensor& in, const F& f) {
  Tensor out = Empty(in.shape(), DType::kF32, in.device());
  Dispatch("map", out.device(), [&] {
    float* p = out.mutable_data<float>();
    for (int64_t i = 0; i < in.numel(); ++i) p[i] = f(i, in.data<float>()[i]);
  });
  return out;
}

Variable Scale(std::string_view op, const Variable& x, Tensor y, Tensor slope) {
  return Record(op, y, {x}, [slope](const GradContext& g) {
    const float* s = slope.data<float>();
    return Gradients{Map(g.grad(), [s](int64_t i, float grad) { return grad * s[i]; })};
  });
}

Variable Tanh(const Variable& x) {
  const Tensor y = Map(x.data(), [](int64_t, float v) { return std::tanh(v); });
  return Scale("tanh", x, y, Map(y, [](int64_t, float v) { return 1 - v * v; }));
}

// Keeps three quarters of the elements, drawn by global sample.
Variable Dropout(const Variable& x, const StepContext& context, uint64_t layer) {
  if (!context.training) return x;
  const int64_t width = x.dim(1);
  const Tensor mask = Map(x.data(), [&](int64_t i, float) {
    const RandomStream stream({context.seed, static_cast<uint64_t>(context.step), layer,
                               static_cast<uint64_t>(context.samples[i / width])});
    return stream.Uniform(i % width) < 0.75f ? 1 / 0.75f : 0.0f;
  });
  const Tensor y = Map(x.data(), [&](int64_t i, float v) { return v * mask.data<float>()[i]; });
  return Scale("dropout", x, y, mask);
}

Variable Add(const Variable& a, const Variable& b) {
  const auto add = [&](int64_t i, float v) { return v + b.data().data<float>()[i]; };
  return Record("add", Map(a.data(), add), {a, b}, [](const GradContext& g) {
    return Gradients{g.grad(), g.grad()};
  });
}

Variable Random(const Shape& shape, uint64_t seed, uint64_t layer) {
  Tensor t = Empty(shape);
  FillUniform(t, -0.7, 0.7, RandomStream({seed, 0, layer, 0}));
  return Variable(t, true);
}

using Vars = std::vector<Variable>;

// A linear layer on the first value; others pass.
Block LinearBlock(int index, int in, int out, uint64_t seed) {
  const std::string name = "layer" + std::to_string(index);
  const Variable w = Random({out, in}, seed, 2 * index), b = Random({out}, seed, 2 * index + 1);
  Block block;
  block.name = name;
  block.parameters = {{name + ".weight", w}, {name + ".bias", b}};
  block.forward = [w, b](const Vars& x, const StepContext&) {
    Vars y = x;
    y[0] = Linear(x[0], w, b);
    return y;
  };
  block.cost = in * out;
  return block;
}

Block PlainBlock(const char* name, decltype(Block::forward) forward) {
  Block block;
  block.name = name;
  block.forward = std::move(forward);
  return block;
}

}  // namespace

std::vector<Block> MakeBlocks(uint64_t seed, int* commits) {
  std::vector<Block> blocks;
  blocks.push_back(LinearBlock(0, kInputs, 7, seed));
  blocks.push_back(PlainBlock("tanh_dropout", [](const Vars& x, const StepContext& context) {
    return Vars{Dropout(Tanh(x[0]), context, 1)};
  }));
  blocks.push_back(LinearBlock(2, 7, 6, seed));
  blocks.push_back(PlainBlock("split", [](const Vars& x, const StepContext&) {
    return Vars{Tanh(x[0]), x[0]};
  }));
  blocks.push_back(LinearBlock(4, 6, 6, seed));
  blocks.push_back(PlainBlock("join", [](const Vars& x, const StepContext& context) {
    return Vars{Dropout(Add(x[0], x[1]), context, 2)};
  }));
  blocks.push_back(LinearBlock(6, 6, kOutputs, seed));
  for (Block& block : blocks) {
    if (commits != nullptr)
      block.end_mini_batch = [commits](bool taken) { *commits += taken ? 1 : 0; };
  }
  return blocks;
}

Variable Loss(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets) {
  const Variable& y = outputs.at(0);
  const float *p = y.data().data<float>(), *t = targets.at(0).data<float>();
  float sum = 0;
  for (int64_t i = 0; i < y.numel(); ++i) sum += (p[i] - t[i]) * (p[i] - t[i]);
  const float rows = static_cast<float>(y.dim(0));
  const Tensor slope =
      Map(y.data(), [t, rows](int64_t i, float v) { return 2 * (v - t[i]) / rows; });
  return Record("squared_error", Full({}, sum / rows), {y}, [slope](const GradContext& g) {
    const float seed = g.grad().data<float>()[0];
    return Gradients{Map(slope, [seed](int64_t, float v) { return v * seed; })};
  });
}

MiniBatch MakeBatch(int64_t step, int samples, int micro_batches, int replica, int replicas) {
  const int size = (samples + micro_batches - 1) / micro_batches;
  const int share = micro_batches / replicas;
  MiniBatch batch;
  batch.seed = 99;
  batch.step = step;
  batch.global_samples = samples;
  for (int m = replica * share; m < (replica + 1) * share; ++m) {
    MicroBatch& part = batch.micro_batches.emplace_back();
    const int begin = std::min(m * size, samples), rows = std::min(size, samples - begin);
    part.inputs = {Empty({rows, kInputs})};
    part.targets = {Empty({rows, kOutputs})};
    for (int r = 0; r < rows; ++r) {
      part.samples.push_back(begin + r);
      Tensor x = part.inputs[0].Narrow(0, r, 1), y = part.targets[0].Narrow(0, r, 1);
      const auto sample = static_cast<uint64_t>(begin + r);
      FillUniform(x, -1, 1, RandomStream({7, static_cast<uint64_t>(step), 100, sample}));
      FillUniform(y, -1, 1, RandomStream({7, static_cast<uint64_t>(step), 101, sample}));
    }
  }
  return batch;
}

std::vector<TensorSpec> InputSpecs(int samples, int micro_batches) {
  return {{{(samples + micro_batches - 1) / micro_batches, kInputs}, DType::kF32}};
}

void Descend(const std::vector<NamedVariable>& parameters, float rate) {
  for (const NamedVariable& parameter : parameters) {
    Variable value = parameter.value;
    if (!value.grad().defined()) continue;
    const float* g = value.grad().data<float>();
    float* p = value.mutable_data().mutable_data<float>();
    for (int64_t i = 0; i < value.numel(); ++i) p[i] -= rate * g[i];
    value.ZeroGrad();
  }
}

void Collect(const std::vector<NamedVariable>& parameters, Values& values) {
  for (const NamedVariable& p : parameters) values[p.name] = ToVector<float>(p.value.data());
}

Trained TrainPlain(int steps, int samples, int micro_batches) {
  const std::vector<Block> blocks = MakeBlocks(1);
  Trained trained;
  std::vector<NamedVariable> parameters;
  for (const Block& block : blocks) {
    parameters.insert(parameters.end(), block.parameters.begin(), block.parameters.end());
  }
  for (int step = 0; step < steps; ++step) {
    const MiniBatch batch = MakeBatch(step, samples, micro_batches);
    std::vector<double> losses;
    for (int m = 0; m < micro_batches; ++m) {
      const MicroBatch& part = batch.micro_batches[m];
      if (part.samples.empty()) continue;
      const StepContext context{batch.seed, step, m, true, part.samples};
      Vars values{Variable(part.inputs[0])};
      for (const Block& block : blocks) values = block.forward(values, context);
      const Variable loss = Loss(values, part.targets);
      const double weight = static_cast<double>(part.samples.size()) / samples;
      losses.push_back(weight * loss.data().Item());
      Backward({loss}, {Full({}, weight)});
    }
    Descend(parameters);
    trained.losses.push_back(TreeSum(losses));
  }
  Collect(parameters, trained.parameters);
  return trained;
}

}  // namespace torus::parallel::tiny
