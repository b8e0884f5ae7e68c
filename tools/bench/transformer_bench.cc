// The CPU kernels of transformer training, at the sizes of RoBERTa-base (8 x 128 tokens) and GPT-2
// (4 x 256), on the calling thread's team (--threads). measure.h says what the counters are.
#include <fmt/format.h>

#include "autograd/backward.h"
#include "ops/activation/activation.h"
#include "ops/attention/attention.h"
#include "ops/dropout/dropout.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/linear_cross_entropy.h"
#include "ops/matmul/linear.h"
#include "parallel/optim/adam.h"
#include "runtime/rng.h"
#include "tools/bench/measure.h"

namespace torus::bench {
namespace {

constexpr int64_t kTokens = 1024, kVocabulary = 50257, kWidth = 768;

struct Layer {
  int64_t in, out;
  bool in_out;  // the weight as GPT-2 stores it
  double Flop() const { return 2.0 * kTokens * static_cast<double>(in * out); }
  Variable Weight() const { return Random(in_out ? Shape{in, out} : Shape{out, in}, 0.02, true); }
  Variable Run(const Variable& x, const Variable& w, const Variable& b) const {
    return in_out ? ops::LinearInOut(x, w, b) : ops::Linear(x, w, b);
  }
};

void LinearForward(benchmark::State& state, const Layer& layer) {
  const Variable x = Random({kTokens, layer.in}, 1, true), w = layer.Weight();
  const Variable b = Random({layer.out}, 1, true);
  Measure(state, [&] { benchmark::DoNotOptimize(layer.Run(x, w, b).data().raw()); });
  Report(state, layer.Flop(), 0);
}

void LinearBackward(benchmark::State& state, const Layer& layer) {
  const Variable x = Random({kTokens, layer.in}, 1, true), w = layer.Weight();
  const Variable b = Random({layer.out}, 1, true);
  MeasureBackward(state, layer.Run(x, w, b), {x, w, b});
  Report(state, 2 * layer.Flop(), 0);
}

struct Heads {
  int64_t batch, heads, tokens;
  bool causal;
  Variable Leaf() const { return Random({batch, heads, tokens, 64}, 1, true); }
  // FLOPs of the two products over the keys that are not masked.
  double Flop() const {
    const auto n = static_cast<double>(tokens);
    const double seen = causal ? n * (n + 1) / 2 : n * n;
    return 4.0 * 64 * static_cast<double>(batch * heads) * seen;
  }
  Variable Run(const Variable& q, const Variable& k, const Variable& v) const {
    return ops::ScaledDotProductAttention(q, k, v, {.is_causal = causal});
  }
};

void AttentionForward(benchmark::State& state, const Heads& h) {
  const Variable q = h.Leaf(), k = h.Leaf(), v = h.Leaf();
  Measure(state, [&] { benchmark::DoNotOptimize(h.Run(q, k, v).data().raw()); });
  Report(state, h.Flop(), 0);
}

// Five products, since the scores are computed again.
void AttentionBackward(benchmark::State& state, const Heads& h) {
  const Variable q = h.Leaf(), k = h.Leaf(), v = h.Leaf();
  MeasureBackward(state, h.Run(q, k, v), {q, k, v});
  Report(state, 2.5 * h.Flop(), 0);
}

using RowOp = Variable (*)(const Variable&);

Variable Normalized(const Variable& x) { return ops::LayerNorm(x, {x.dim(-1)}); }
Variable GeluErf(const Variable& x) { return ops::Gelu(x); }
Variable GeluTanh(const Variable& x) { return ops::Gelu(x, "tanh"); }
Variable Dropped(const Variable& x) { return ops::Dropout(x, 0.1, {.samples = {0}}, 1); }

struct RowKernel {
  const char* name;
  RowOp op;
  int64_t columns;
};

void RowsForward(benchmark::State& state, const RowKernel& kernel) {
  const Variable x = Random({kTokens, kernel.columns}, 1, true);
  Measure(state, [&] { benchmark::DoNotOptimize(kernel.op(x).data().raw()); });
  Report(state, 0, 2.0 * static_cast<double>(x.data().bytes()));
}

void RowsBackward(benchmark::State& state, const RowKernel& kernel) {
  const Variable x = Random({kTokens, kernel.columns}, 1, true);
  MeasureBackward(state, kernel.op(x), {x});
  Report(state, 0, 3.0 * static_cast<double>(x.data().bytes()));
}

Variable Targets(int64_t rows) {
  Tensor t({rows}, DType::kI64);
  for (int64_t r = 0; r < rows; ++r) t.mutable_data<int64_t>()[r] = 7919 * r % kVocabulary;
  return Variable(t);
}

// Forward and backward.
void CrossEntropy(benchmark::State& state) {
  Variable x = Random({256, kVocabulary}, 1, true);
  const Variable target = Targets(256);
  Measure(state, [&] {
    x.ZeroGrad();
    Backward({ops::CrossEntropy(x, target)});
  });
  Report(state, 0, 3.0 * static_cast<double>(x.data().bytes()));
}

// The head of GPT-2 with its loss and gradients: in chunks, or with all logits.
void Head(benchmark::State& state, bool fused) {
  Variable x = Random({kTokens, kWidth}, 1, true), w = Random({kVocabulary, kWidth}, 0.02, true);
  const Variable target = Targets(kTokens);
  Measure(state, [&] {
    x.ZeroGrad(), w.ZeroGrad();
    Backward({fused ? ops::LinearCrossEntropy(x, w, {}, target)
                    : ops::CrossEntropy(ops::Linear(x, w), target)});
  });
  Report(state, 6.0 * kTokens * kWidth * kVocabulary, 0);
}

// Four tensors read, three written.
void AdamStep(benchmark::State& state) {
  Variable p = Random({1 << 24}, 1, true);
  p.SetGrad(Random({1 << 24}, 1, false).data());
  parallel::Adam adam({{"p", p}}, parallel::AdamWOptions());
  Measure(state, [&] { adam.Step(1e-3); });
  Report(state, 0, 7.0 * static_cast<double>(p.data().bytes()));
}

// The random numbers of a model's initialisation.
void Normals(benchmark::State& state) {
  Tensor out({1 << 20}, DType::kF32);
  Measure(state, [&] { FillNormal(out, 0, 0.02, RandomStream({.seed = 1})); });
  Report(state, 0, static_cast<double>(out.bytes()));
}

template <class... Args>
void Add(const std::string& name, Args&&... args) {
  benchmark::RegisterBenchmark(name.c_str(), std::forward<Args>(args)...)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

void AddAll() {
  for (const Layer& l : {Layer{768, 768, false}, Layer{768, 3072, false}, Layer{3072, 768, false},
                         Layer{768, 2304, true}, Layer{768, 3072, true}, Layer{3072, 768, true}}) {
    const std::string name = fmt::format("{}x{}{}", l.in, l.out, l.in_out ? "_in_out" : "");
    Add("linear_forward/" + name, LinearForward, l);
    Add("linear_backward/" + name, LinearBackward, l);
  }
  for (const Heads& h :
       {Heads{8, 12, 128, false}, Heads{4, 12, 256, true}, Heads{1, 12, 1024, true}}) {
    const std::string name = fmt::format("{}x{}x{}x64", h.batch, h.heads, h.tokens);
    Add("attention_forward/" + name, AttentionForward, h);
    Add("attention_backward/" + name, AttentionBackward, h);
  }
  for (const RowKernel& k :
       {RowKernel{"layer_norm", Normalized, kWidth}, RowKernel{"gelu", GeluErf, 4 * kWidth},
        RowKernel{"gelu_tanh", GeluTanh, 4 * kWidth}, RowKernel{"dropout", Dropped, kWidth}}) {
    Add(fmt::format("{}_forward", k.name), RowsForward, k);
    Add(fmt::format("{}_backward", k.name), RowsBackward, k);
  }
  Add("cross_entropy/256x50257", CrossEntropy);
  Add("head/chunks", Head, true);
  Add("head/all_logits", Head, false);
  Add("adamw/16M", AdamStep);
  Add("normal/1M", Normals);
}

[[maybe_unused]] const bool registered = (AddAll(), true);

}  // namespace
}  // namespace torus::bench
