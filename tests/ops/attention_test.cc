#include "ops/attention/attention.h"

#include <cmath>

#include "autograd/backward.h"
#include "autograd/node.h"
#include "ops/elementwise/elementwise.h"
#include "ops/view/join.h"
#include "ops/view/view.h"
#include "runtime/allocator.h"
#include "runtime/parallel_for.h"
#include "tests/ops/op_test.h"
#include "tests/testing/on_gpu.h"

namespace torus::ops {
namespace {

// The mask where the query lies.
AttentionOptions There(AttentionOptions options, const Variable& query) {
  const Variable& mask = options.attn_mask;
  if (mask.defined())
    options.attn_mask = Variable(mask.data().To(query.data().device()), mask.requires_grad());
  return options;
}

testing::CheckedFunction Attend(const AttentionOptions& options = {}) {
  return [options](const Variables& in) {
    return Variables{ScaledDotProductAttention(in[0], in[1], in[2], There(options, in[0]))};
  };
}

Variable F32(const Variable& v) { return Variable(v.data().To(DType::kF32), v.requires_grad()); }

// True where `keep` of every 7 elements do.
Variable BoolMask(const Shape& shape, int keep) {
  Tensor mask(shape, DType::kBool);
  for (int64_t i = 0; i < mask.numel(); ++i) mask.mutable_data<bool>()[i] = i * 5 % 7 < keep;
  return Variable(mask);
}

GRADIENT_CASE(scaled_dot_product_attention, Plain) {
  Check(Attend(), {RandomLeaf({2, 3, 4}), RandomLeaf({2, 5, 4}, 1), RandomLeaf({2, 5, 3}, 2)});
}
// Three heads of width 2 in rows of one tensor (N, T, 3 x 3 x 2), as Split gives them.
std::vector<Variable> HeadsOfPacked(const Variable& packed) {
  std::vector<Variable> parts = Split(packed, 6, -1);
  for (Variable& part : parts)
    part = Transpose(Reshape(part, {packed.dim(0), packed.dim(1), 3, 2}), 1, 2);
  return parts;
}

GRADIENT_CASE(scaled_dot_product_attention, Packed) {
  Check(
      [](const Variables& in) {
        const Variables q = HeadsOfPacked(in[0]);
        return Variables{ScaledDotProductAttention(q[0], q[1], q[2], {.is_causal = true})};
      },
      {RandomLeaf({2, 5, 18})});
}
// Alike, but not what a packed projection gives: its keys come first.
GRADIENT_CASE(scaled_dot_product_attention, PackedInAnotherOrder) {
  Check(
      [](const Variables& in) {
        const Variables q = HeadsOfPacked(in[0]);
        return Variables{ScaledDotProductAttention(q[1], q[0], q[2])};
      },
      {RandomLeaf({2, 5, 18})});
}
GRADIENT_CASE(scaled_dot_product_attention, CausalWithoutBatch) {
  Check(Attend({.is_causal = true, .scale = 0.3}),
        {RandomLeaf({4, 2}), RandomLeaf({6, 2}, 1), RandomLeaf({6, 2}, 2)});
}
GRADIENT_CASE(scaled_dot_product_attention, BroadcastBatches) {
  Check(Attend(),
        {RandomLeaf({3, 2, 4}), RandomLeaf({2, 1, 5, 4}, 1), RandomLeaf({1, 3, 5, 2}, 2)});
}
GRADIENT_CASE(scaled_dot_product_attention, GroupedHeads) {
  Check(Attend({.is_causal = true, .enable_gqa = true}),
        {RandomLeaf({2, 6, 3, 2}), RandomLeaf({2, 2, 3, 2}, 1), RandomLeaf({1, 2, 3, 4}, 2)});
}
GRADIENT_CASE(scaled_dot_product_attention, BoolMask) {
  Check(Attend({.attn_mask = BoolMask({2, 1, 1, 5}, 3)}),
        {RandomLeaf({2, 2, 3, 4}), RandomLeaf({2, 2, 5, 4}, 1), RandomLeaf({2, 2, 5, 4}, 2)});
}
// A mask that wants a gradient is composed, and rounds otherwise than the tiles; so it always
// wants one here, whichever input is asked for.
GRADIENT_CASE(softmax, OfAnAttentionMask) {
  Check(
      [wants = RandomLeaf({3, 5}, 4)](const Variables& in) {
        const Variable more(wants.data().To(in[3].data().device()), true);
        const AttentionOptions options{.attn_mask = Add(in[3], more)};
        return Variables{ScaledDotProductAttention(in[0], in[1], in[2], options)};
      },
      {RandomLeaf({2, 3, 4}), RandomLeaf({2, 5, 4}, 1), RandomLeaf({2, 5, 4}, 2),
       RandomLeaf({3, 5}, 3)});
}
GRADIENT_CASE(scaled_dot_product_attention, Strided) {
  Check(Attend(),
        {TransposedLeaf({2, 3, 4}), TransposedLeaf({2, 5, 4}, 1), TransposedLeaf({2, 5, 4}, 2)});
}
GRADIENT_CASE(scaled_dot_product_attention, OneTensorThrice) {
  Check(
      [](const Variables& in) { return Variables{ScaledDotProductAttention(in[0], in[0], in[0])}; },
      {RandomLeaf({2, 3, 4})});
}
GRADIENT_CASE(scaled_dot_product_attention, NoKeys) {
  Check(Attend(), {RandomLeaf({2, 3, 4}), RandomLeaf({2, 0, 4}, 1), RandomLeaf({2, 0, 4}, 2)});
}
GRADIENT_CASE(scaled_dot_product_attention, NoQueryHeads) {
  Check(Attend({.enable_gqa = true}),
        {RandomLeaf({1, 0, 2, 4}), RandomLeaf({1, 2, 3, 4}, 1), RandomLeaf({1, 2, 3, 4}, 2)});
}
GRADIENT_CASE(scaled_dot_product_attention, NoWidth) {
  Check(Attend(), {RandomLeaf({2, 3, 0}), RandomLeaf({2, 5, 0}, 1), RandomLeaf({2, 5, 4}, 2)});
}
GRADIENT_CASE(scaled_dot_product_attention, EmptyBatch) {
  Check(Attend(), {RandomLeaf({0, 3, 4}), RandomLeaf({0, 5, 4}, 1), RandomLeaf({0, 5, 4}, 2)});
}
GRADIENT_CASE(scaled_dot_product_attention, Dropout) {
  static const StepContext context{.seed = 7, .step = 2, .samples = {4, 9}};
  Check(Attend({.dropout_p = 0.4, .context = &context, .layer = 3}),
        {RandomLeaf({2, 2, 3, 4}), RandomLeaf({2, 2, 5, 4}, 1), RandomLeaf({2, 2, 5, 4}, 2)});
}

// The sizes cross the tiles' edges (128 rows, 128 and 256 keys).
TEST(Attention, F32AgreesWithF64OnOddShapes) {
  testing::CheckTwins([](testing::OddShapes& shapes) {
    const bool large = shapes.Size(20) == 20;
    const int64_t rows = shapes.Size(large ? 300 : 40), keys = shapes.Size(large ? 600 : 40);
    const int64_t width = shapes.Size(20), value_width = shapes.Size(20);
    const int64_t group = shapes.Size(3), heads = shapes.Size(large ? 1 : 3), n = shapes.Size(3);
    AttentionOptions options{.enable_gqa = true};
    const int64_t kind = shapes.Size(4);
    options.is_causal = kind == 1;
    Tensor added;
    if (kind == 2) options.attn_mask = BoolMask({n, 1, 1, keys}, 4);
    if (kind == 3) added = shapes.Normal({rows, keys});
    const StepContext context{.seed = 5, .samples = {0}};
    const bool dropout = shapes.Coin();
    if (dropout) options.dropout_p = 0.25, options.layer = 1;
    return testing::Twin{
        .function =
            [=](const Variables& in) {
              AttentionOptions o = options;
              if (dropout) o.context = &context;
              if (added.defined()) o.attn_mask = Variable(added.To(in[0].dtype()));
              return Variables{ScaledDotProductAttention(in[0], in[1], in[2], There(o, in[0]))};
            },
        .inputs = {shapes.Normal({n, heads * group, rows, width}),
                   shapes.Normal({n, heads, keys, width}),
                   shapes.Normal({n, heads, keys, value_width})},
        .terms = keys + width,
        .gradient_terms = group * rows + keys + width + value_width,
        // Scores are sums of products of normal values, some 5 deviations wide at most; their
        // rounding enters the weights' exponents.
        .magnitude = 5 * std::sqrt(static_cast<double>(value_width)) + 5};
  });
}

// The sizes cross the edges of a GPU's tiles: 64 rows, 64 keys, 128 columns.
TEST(Attention, AgreesOnAGpu) {
  if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  static const StepContext context{.seed = 5, .samples = {0, 3}};
  testing::OddShapes shapes(1);
  // A row that sees nothing, one that sees all keys under a mask that leaves nothing of the scores,
  // and ordinary ones.
  Tensor added = shapes.Normal({70, 130});
  for (int64_t j = 0; j < 130; ++j) {
    added.mutable_data<float>()[j] = -INFINITY;
    added.mutable_data<float>()[69 * 130 + j] = -1e30f;
  }
  for (const int64_t width : {3, 130}) {
    for (const AttentionOptions& options :
         {AttentionOptions{.is_causal = true, .enable_gqa = true},
          AttentionOptions{.is_causal = true, .dropout_p = 0.3, .context = &context, .layer = 1},
          AttentionOptions{.attn_mask = Variable(added), .enable_gqa = true},
          AttentionOptions{.attn_mask = BoolMask({2, 1, 1, 130}, 3), .scale = 0.5}}) {
      const int64_t heads = options.enable_gqa ? 2 : 1, value_width = 133 - width;
      testing::ExpectAgreesOnGpu(
          {.function =
               [&](const Variables& in) {
                 AttentionOptions o = There(options, in[0]);
                 if (o.attn_mask.defined() && IsFloating(o.attn_mask.dtype()))
                   o.attn_mask = Variable(o.attn_mask.data().To(in[0].dtype()));
                 return Variables{ScaledDotProductAttention(in[0], in[1], in[2], o)};
               },
           .inputs = {shapes.Normal({2, heads, 70, width}), shapes.Normal({2, 1, 130, width}),
                      shapes.Normal({2, 1, 130, value_width})},
           .terms = 130 + width,
           .gradient_terms = heads * 70 + 130 + width + value_width,
           .magnitude = 5 * std::sqrt(static_cast<double>(value_width)) + 5});
    }
  }
}

TEST(Attention, SeesNothingGivesZerosAndNoGradient) {
  for (const bool composed : {false, true}) {
    Variable q = F32(RandomLeaf({2, 3})), k = F32(RandomLeaf({4, 3}, 1)),
             v = F32(RandomLeaf({4, 3}, 2));
    Tensor mask = Zeros({2, 4});
    for (int j = 0; j < 4; ++j) mask.mutable_data<float>()[j] = -INFINITY;
    const Variable out =
        ScaledDotProductAttention(q, k, v, {.attn_mask = Variable(mask, composed)});
    Backward({out}, {Full({2, 3}, 1)});
    for (int c = 0; c < 3; ++c) {
      EXPECT_EQ(Values(out)[c], 0);
      EXPECT_NE(Values(out)[3 + c], 0);
      EXPECT_EQ(ToVector<float>(q.grad())[c], 0);
    }
    for (const Variable& leaf : {q, k, v})
      for (float g : ToVector<float>(leaf.grad())) EXPECT_TRUE(std::isfinite(g));
  }
}

// Two rows whose scores are equal, whatever they add to: each key has half of each row.
void ExpectHalves(const Variable& out, const Variable& v) {
  const std::vector<double> values = ToVector<double>(v.data().To(DType::kF64));
  const double first = (values[0] + values[2]) / 2, second = (values[1] + values[3]) / 2;
  const std::vector<double> given = ToVector<double>(out.data().Contiguous().To(DType::kF64));
  for (int r = 0; r < 2; ++r) {
    EXPECT_NEAR(given[2 * r], first, 1e-6);
    EXPECT_NEAR(given[2 * r + 1], second, 1e-6);
  }
  Backward({out}, {Full({2, 2}, 1, out.dtype())});
  for (double g : ToVector<double>(v.grad().To(DType::kF64))) EXPECT_NEAR(g, 1, 1e-6);
}

TEST(Attention, KeepsItsWeightsUnderALargeAddedMask) {
  for (const DType dtype : {DType::kF32, DType::kF64})
    for (const bool composed : {false, true}) {
      SCOPED_TRACE(Name(dtype));
      const auto leaf = [&](uint64_t seed) {
        return Variable(RandomLeaf({2, 2}, seed).data().To(dtype), true);
      };
      const Variable v = leaf(2), mask(Full({2, 2}, -1e30, dtype), composed);
      ExpectHalves(ScaledDotProductAttention(leaf(0), leaf(1), v, {.attn_mask = mask}), v);
    }
}

TEST(Attention, WithoutWidthAllKeysWeighAlike) {
  for (const DType dtype : {DType::kF32, DType::kF64})
    for (const bool composed : {false, true}) {
      const Variable none(Zeros({2, 0}, dtype), true), mask(Zeros({2, 2}, dtype), composed);
      const Variable v(RandomLeaf({2, 2}, 2).data().To(dtype), true);
      ExpectHalves(ScaledDotProductAttention(none, none, v, {.attn_mask = mask}), v);
    }
}

TEST(Attention, WithoutQueryHeadsKeysGetZeros) {
  for (const bool composed : {false, true}) {
    const Variable q(Zeros({1, 0, 2, 4}), true), mask(Zeros({2, 3}), composed);
    const Variable k(Full({1, 2, 3, 4}, 1), true), v(Full({1, 2, 3, 4}, 1), true);
    const Variable out =
        ScaledDotProductAttention(q, k, v, {.attn_mask = mask, .enable_gqa = true});
    EXPECT_EQ(out.shape(), Shape({1, 0, 2, 4}));
    Backward({out}, {Zeros({1, 0, 2, 4})});
    for (const Variable& leaf : {k, v})
      EXPECT_EQ(ToVector<float>(leaf.grad()), std::vector<float>(24, 0));
  }
}

TEST(Attention, FirstCausalRowIsTheFirstValue) {
  const Variable q = F32(RandomLeaf({1, 3, 8})), k = F32(RandomLeaf({1, 6, 8}, 1));
  const Variable v = F32(RandomLeaf({1, 6, 8}, 2));
  const std::vector<float> out = Values(ScaledDotProductAttention(q, k, v, {.is_causal = true}));
  for (int c = 0; c < 8; ++c) EXPECT_EQ(out[c], Values(v)[c]);
}

TEST(Attention, ComposedAndTiledAgree) {
  const StepContext context{.seed = 1, .samples = {3, 4}};
  const Variable q = F32(RandomLeaf({2, 4, 5, 3})), k = F32(RandomLeaf({2, 2, 6, 3}, 1));
  const Variable v = F32(RandomLeaf({2, 2, 6, 3}, 2));
  AttentionOptions o{.enable_gqa = true, .dropout_p = 0.5, .context = &context};
  o.attn_mask = F32(RandomLeaf({5, 6}, 3));
  const std::vector<float> composed = Values(ScaledDotProductAttention(q, k, v, o));
  o.attn_mask = o.attn_mask.Detach();
  const std::vector<float> tiled = Values(ScaledDotProductAttention(q, k, v, o));
  // Sums of six weights of at most 2, times normal values.
  for (size_t i = 0; i < tiled.size(); ++i) EXPECT_NEAR(tiled[i], composed[i], 1e-5);
}

TEST(Attention, SameBitsWhateverTheTeam) {
  for (const int64_t heads : {1, 3}) {
    Variable q = F32(RandomLeaf({heads, 150, 16}));
    const Tensor seed = F32(RandomLeaf({heads, 150, 16}, 1)).data();
    const auto run = [&](int threads) {
      SetTeamSize(threads);
      q.ZeroGrad();
      const Variable out = ScaledDotProductAttention(q, q, q, {.is_causal = true});
      Backward({out}, {seed});
      std::vector<float> all = Values(out);
      for (float g : ToVector<float>(q.grad())) all.push_back(g);
      return all;
    };
    const int team = TeamSize();
    const std::vector<float> alone = run(1);
    for (int threads : {2, 3, 5}) EXPECT_EQ(run(threads), alone) << threads << " threads";
    SetTeamSize(team);
  }
}

// One query and many keys: the gradients of keys and values are nearly all of the memory.
TEST(Attention, BackwardMakesOnlyTheGradientsAskedFor) {
  const Shape few{1, 2, 8}, many{1, 4096, 8};
  const size_t bytes = 4096 * 8 * sizeof(float);
  const auto values = [](const Shape& shape, uint64_t seed) {
    return RandomLeaf(shape, seed).data().To(DType::kF32);
  };
  const auto leaves = [&](std::vector<bool> wanted) {
    return Variables{Variable(values(few, 0), wanted[0]), Variable(values(many, 1), wanted[1]),
                     Variable(values(many, 2), wanted[2])};
  };
  const Variables all = leaves({true, true, true});
  Backward({ScaledDotProductAttention(all[0], all[1], all[2])}, {values(few, 3)});
  for (int i = 0; i < 3; ++i) {
    const Variables one = leaves({i == 0, i == 1, i == 2});
    const Variable out = ScaledDotProductAttention(one[0], one[1], one[2]);
    const Tensor dout = values(few, 3);
    Allocator& memory = AllocatorFor({});
    memory.ResetPeak();
    const size_t before = memory.stats().peak_bytes;
    Backward({out}, {dout});
    EXPECT_LT(memory.stats().peak_bytes - before, (i == 0 ? 0 : bytes) + bytes / 2) << i;
    EXPECT_EQ(ToVector<float>(one[i].grad()), ToVector<float>(all[i].grad())) << i;
  }
}

TEST(Attention, DropoutDependsOnTheSampleAlone) {
  const Variable q = F32(RandomLeaf({2, 3, 7, 4}));
  StepContext both{.seed = 1, .samples = {5, 6}}, second{.seed = 1, .samples = {6}};
  const auto run = [](const Variable& x, const StepContext& context) {
    return Values(ScaledDotProductAttention(x, x, x, {.dropout_p = 0.5, .context = &context}));
  };
  const std::vector<float> all = run(q, both), one = run(Narrow(q, 0, 1, 1), second);
  EXPECT_EQ(std::vector<float>(all.begin() + 84, all.end()), one);
  both.samples = {0, 1};
  EXPECT_EQ(run(q, {.seed = 1}), run(q, both)) << "rows are samples 0 and 1";
  both.training = false;
  EXPECT_EQ(run(q, both), Values(ScaledDotProductAttention(q, q, q)));
}

TEST(Attention, RefusesWhatDoesNotFit) {
  const Variable q(Zeros({2, 3, 4})), k(Zeros({2, 5, 4}));
  EXPECT_THROW(ScaledDotProductAttention(q, Variable(Zeros({2, 5, 3})), k), BadInput);
  EXPECT_THROW(ScaledDotProductAttention(q, k, Variable(Zeros({2, 6, 4}))), BadInput);
  EXPECT_THROW(ScaledDotProductAttention(q, Variable(Zeros({3, 5, 4})), k), BadInput);
  EXPECT_THROW(ScaledDotProductAttention(q, k, Variable(Zeros({2, 5, 4}, DType::kF64))), BadInput);
  const auto with = [&](const AttentionOptions& o) { ScaledDotProductAttention(q, k, k, o); };
  const Variable mask(Zeros({3, 5}));
  EXPECT_THROW(with({.attn_mask = mask, .is_causal = true}), BadInput);
  EXPECT_THROW(with({.attn_mask = Variable(Zeros({3, 4}))}), BadInput);
  EXPECT_THROW(with({.attn_mask = Variable(Zeros({7, 2, 3, 5}))}), BadInput);
  EXPECT_THROW(with({.attn_mask = Variable(Zeros({3, 5}, DType::kI64))}), BadInput);
  EXPECT_THROW(with({.dropout_p = 0.5}), BadInput);
  EXPECT_THROW(with({.dropout_p = 1.5}), BadInput);
  const Variable three(Zeros({3, 3, 4}));
  EXPECT_THROW(ScaledDotProductAttention(three, k, k, {.enable_gqa = true}), BadInput);
}

// The same values, and a note of the memory in which their gradient comes.
Variable Noting(const Variable& x, std::shared_ptr<Storage>& of_gradient) {
  return Record("reshape", x.data(), {x}, GradRule::OfView([&](const GradContext& g) {
                  of_gradient = g.grad().storage();
                  return Gradients{g.grad()};
                }));
}

// Neither its parts by heads nor their gradients are copied on the way.
TEST(Attention, OfAPackedProjectionWritesItsGradientInPlace) {
  for (const Device device :
       testing::HasGpu() ? std::vector{Device{}, testing::kFirstGpu} : std::vector{Device{}}) {
    const Variable packed(RandomLeaf({2, 5, 18}).data().To(device), true);
    std::shared_ptr<Storage> whole, part;
    Variables q = HeadsOfPacked(Noting(packed, whole));
    for (const Variable& one : q) EXPECT_EQ(one.data().storage(), packed.data().storage());
    q[1] = Noting(q[1], part);
    const Variable y = ScaledDotProductAttention(q[0], q[1], q[2]);
    Backward({y}, {Full(y.shape(), 1, y.dtype(), device)});
    EXPECT_EQ(whole, part);
    EXPECT_EQ(packed.grad().shape(), packed.shape());
  }
}

}  // namespace
}  // namespace torus::ops
