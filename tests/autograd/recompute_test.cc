#include "autograd/recompute.h"

#include <gtest/gtest.h>

#include <array>

#include "autograd/backward.h"
#include "autograd/precision.h"
#include "autograd/saved_activation.h"
#include "runtime/allocator.h"
#include "runtime/error.h"
#include "runtime/rng.h"
#include "tests/autograd/toy_ops.h"

namespace torus {
namespace {

using testing::ToyAdd;
using testing::ToyMul;

Variable RandomLeaf(uint64_t number, int64_t size = 5) {
  Tensor values(Shape{size}, DType::kF64);
  FillUniform(values, -1, 1, RandomStream({.seed = 3, .layer = number}));
  return Variable(values, true);
}

// y0 = (x0 w + x1) x0, y1 = x1 w.
std::vector<Variable> TwoInTwoOut(const std::vector<Variable>& x, const Variable& w) {
  return {ToyMul(ToyAdd(ToyMul(x[0], w), x[1]), x[0]), ToyMul(x[1], w)};
}

struct Leaves {
  Variable x0 = RandomLeaf(0), x1 = RandomLeaf(1), w = RandomLeaf(2);
  std::vector<std::vector<double>> Gradients() const {
    std::vector<std::vector<double>> all;
    for (const Variable& leaf : {x0, x1, w})
      all.push_back(leaf.grad().defined() ? ToVector<double>(leaf.grad()) : std::vector<double>());
    return all;
  }
};

// What goes into the function has a history too.
std::vector<Variable> Plain(const Leaves& l) { return TwoInTwoOut({ToyMul(l.x0, l.w), l.x1}, l.w); }
std::vector<Variable> Again(const Leaves& l, int* runs = nullptr) {
  return Recompute(
      [w = l.w, runs](const std::vector<Variable>& x) {
        if (runs != nullptr) ++*runs;
        return TwoInTwoOut(x, w);
      },
      {ToyMul(l.x0, l.w), l.x1}, {l.w});
}

std::vector<Tensor> Ones(const std::vector<Variable>& outputs) {
  std::vector<Tensor> ones;
  for (const Variable& output : outputs) ones.push_back(Full(output.shape(), 1, output.dtype()));
  return ones;
}

TEST(Recompute, GradientsHaveTheSameBits) {
  Leaves plain, again;
  int runs = 0;
  const std::vector<Variable> a = Plain(plain), b = Again(again, &runs);
  EXPECT_EQ(runs, 1);
  ASSERT_EQ(b.size(), 2u);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(ToVector<double>(a[i].data()), ToVector<double>(b[i].data()));
  Backward(a, Ones(a));
  Backward(b, Ones(b));
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(plain.Gradients(), again.Gradients());
}

TEST(Recompute, OneOutputMayHaveNoGradient) {
  for (const size_t used : {0, 1}) {
    Leaves plain, again;
    const Variable a = Plain(plain)[used], b = Again(again)[used];
    Backward({a}, Ones({a}));
    Backward({b}, Ones({b}));
    EXPECT_EQ(plain.Gradients(), again.Gradients());
  }
}

TEST(Recompute, HooksComeOnceWithTheWholeGradient) {
  Leaves plain, again;
  int calls = 0;
  again.w.AddHook([&](const Variable&) { ++calls; });
  const std::vector<Variable> a = Plain(plain), b = Again(again);
  Backward(a, Ones(a));
  Backward(b, Ones(b));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(plain.Gradients(), again.Gradients());
}

TEST(Recompute, HalvesGiveTheSameBits) {
  Leaves plain, again;
  const std::vector<Variable> a = Plain(plain), b = Again(again);
  BackwardResult left = Backward(a, Ones(a), {.defer_leaves = true, .wanted = {plain.x0}});
  BackwardResult again_left = Backward(b, Ones(b), {.defer_leaves = true, .wanted = {again.x0}});
  EXPECT_EQ(ToVector<double>(left.wanted[0]), ToVector<double>(again_left.wanted[0]));
  EXPECT_FALSE(again.w.grad().defined());
  left.deferred.Run();
  again_left.deferred.Run();
  EXPECT_EQ(plain.Gradients(), again.Gradients());
}

// As a head gives its weight to the loss that multiplies by it.
TEST(Recompute, HalvesGiveTheSameBitsWhereALeafIsAnOutput) {
  Leaves plain, again;
  const auto function = [](const std::vector<Variable>& x, const Variable& w) {
    return std::vector<Variable>{ToyMul(x[0], w), w};
  };
  const auto end = [](const std::vector<Variable>& y) { return ToyMul(y[0], y[1]); };
  const Variable a = end(function({plain.x0}, plain.w));
  const Variable b =
      end(Recompute([&](const auto& x) { return function(x, again.w); }, {again.x0}, {again.w}));
  Backward({a}, Ones({a}));
  BackwardResult left = Backward({b}, Ones({b}), {.defer_leaves = true, .wanted = {again.x0}});
  EXPECT_FALSE(again.w.grad().defined());
  left.deferred.Run();
  EXPECT_EQ(ToVector<double>(plain.w.grad()), ToVector<double>(again.w.grad()));
  EXPECT_EQ(ToVector<double>(plain.x0.grad()), ToVector<double>(left.wanted[0]));
}

TEST(Recompute, MayNestAndPassInputsThrough) {
  Leaves plain, again;
  const std::vector<Variable> a = TwoInTwoOut({plain.x0, plain.x1}, plain.w);
  const auto inner = [w = again.w](const std::vector<Variable>& x) { return TwoInTwoOut(x, w); };
  const auto outer = [&again, inner](const std::vector<Variable>& x) {
    std::vector<Variable> y = Recompute(inner, {x[0], x[1]}, {again.w});
    y.push_back(x[1]);  // as it came
    y.push_back(x[2]);  // integers
    return y;
  };
  const Variable ids(Zeros({3}, DType::kI64));
  const std::vector<Variable> b = Recompute(outer, {again.x0, again.x1, ids}, {again.w});
  ASSERT_EQ(b.size(), 4u);
  EXPECT_EQ(b[3].dtype(), DType::kI64);
  EXPECT_FALSE(b[3].requires_grad());
  Backward({a[0], a[1], plain.x1}, Ones({a[0], a[1], plain.x1}));
  Backward({b[0], b[1], b[2]}, Ones({b[0], b[1], b[2]}));
  EXPECT_EQ(plain.Gradients(), again.Gradients());
}

TEST(Recompute, KeepsInputsAndOutputsAlone) {
  constexpr int64_t kSize = 1 << 16;
  const Variable w = RandomLeaf(1, kSize);
  const Variable x = RandomLeaf(0, kSize);
  const auto chain = [w](const std::vector<Variable>& in) {
    Variable y = in[0];
    for (int i = 0; i < 10; ++i) y = ToyMul(y, w);
    return std::vector<Variable>{y};
  };
  const auto live = [] { return AllocatorFor({}).stats().live_bytes; };
  const size_t before = live();
  std::vector<Variable> y = chain({x});
  const size_t plain = live() - before;
  y = Recompute(chain, {x}, {w});
  const size_t kept = live() - before;
  EXPECT_GE(plain, 10 * kSize * sizeof(double));
  EXPECT_LT(kept, 2 * kSize * sizeof(double));
}

TEST(Recompute, WithoutGradientsItIsTheFunction) {
  Leaves leaves;
  int runs = 0;
  const NoGrad no_grad;
  const std::vector<Variable> y = Again(leaves, &runs);
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(y[0].requires_grad());
}

TEST(Recompute, TellsTheFirstRunFromTheSecond) {
  Leaves l;
  std::vector<bool> first;  // of each run of the inner function
  const auto inner = [&](const std::vector<Variable>& x) {
    first.push_back(InFirstRun());
    return TwoInTwoOut(x, l.w);
  };
  const auto outer = [&](const std::vector<Variable>& x) { return Recompute(inner, x, {l.w}); };
  EXPECT_FALSE(InFirstRun());
  const std::vector<Variable> y = Recompute(outer, {l.x0, l.x1}, {l.w});
  EXPECT_EQ(first, std::vector<bool>({true}));
  EXPECT_FALSE(InFirstRun());
  // The outer function's second run holds the inner one's first, and then its second.
  Backward(y, Ones(y));
  EXPECT_EQ(first, std::vector<bool>({true, true, false}));
  const auto fails = [](const std::vector<Variable>&) -> std::vector<Variable> { throw 1; };
  EXPECT_THROW(Recompute(fails, {l.x0}, {}), int);
  EXPECT_FALSE(InFirstRun());
  const NoGrad no_grad;
  Recompute(inner, {l.x0, l.x1}, {l.w});
  EXPECT_FALSE(first.back());
}

TEST(Recompute, BothRunsHaveThePrecisionOfTheCall) {
  Leaves l;
  std::vector<std::array<int, 4>> seen;  // by each run of the function
  const auto function = [&](const std::vector<Variable>& x) {
    seen.push_back({static_cast<int>(WithPrecision::Current()), WithPrecision::Native(),
                    WithPrecision::Tf32(), static_cast<int>(ActivationStorage::Current())});
    return TwoInTwoOut(x, l.w);
  };
  const Precision all[] = {
      {}, {DType::kBF16, MatmulMode::kNative}, {DType::kF32, MatmulMode::kTf32}};
  for (const Precision& first : all)
    for (const Precision& around : all) {
      seen.clear();
      const std::vector<Variable> y = [&] {
        const WithPrecision precision(first);
        const ActivationStorage storage(first.low);
        return Recompute(function, {l.x0, l.x1}, {l.w});
      }();
      const WithPrecision precision(around);
      const ActivationStorage storage(around.low);
      Backward(y, Ones(y));
      ASSERT_EQ(seen.size(), 2u);
      EXPECT_EQ(seen[0], seen[1]);
    }
}

TEST(Recompute, RefusesALeafThatWasNotNamed) {
  Leaves l;
  const std::vector<Variable> y = Recompute(
      [w = l.w](const std::vector<Variable>& x) { return TwoInTwoOut(x, w); }, {l.x0, l.x1}, {});
  EXPECT_THROW(Backward(y, Ones(y)), BadInput);
}

TEST(Recompute, NoticesAnInputThatWasChanged) {
  Leaves l;
  const std::vector<Variable> y = Recompute(
      [w = l.w](const std::vector<Variable>& x) { return TwoInTwoOut(x, w); }, {l.x0, l.x1}, {l.w});
  l.x0.mutable_data().mutable_data<double>()[0] = 3;
  EXPECT_THROW(Backward(y, Ones(y)), BadInput);
}

}  // namespace
}  // namespace torus
