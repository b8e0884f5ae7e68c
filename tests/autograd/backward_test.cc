#include "autograd/backward.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <thread>

#include "autograd/precision.h"
#include "autograd/undefined_input.h"
#include "runtime/progress.h"
#include "tests/autograd/toy_ops.h"
#include "tests/testing/error_of.h"
#include "tests/testing/gradient_check.h"

namespace torus::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Variable Leaf(std::vector<double> values) {
  const int64_t n = static_cast<int64_t>(values.size());
  return Variable(FromVector<double>(values, {n}), true);
}

TEST(Backward, RepeatedUseOfOneInputSums) {
  const Variable x = Leaf({3});
  Backward({ToyMul(x, ToyMul(x, x))});
  EXPECT_EQ(x.grad().Item(), 27);
}

TEST(Backward, AccumulatesOverCallsUntilZeroed) {
  Variable x = Leaf({3});
  Backward({ToyMul(x, x)});
  Backward({ToyMul(x, x)});
  EXPECT_EQ(x.grad().Item(), 12);
  x.ZeroGrad();
  EXPECT_FALSE(x.grad().defined());
}

TEST(Backward, ASharedGradientIsNotWrittenThroughAnotherLeaf) {
  const Variable a = Leaf({1, 2}), b = Leaf({3, 4});
  const Variable sum = ToyAdd(a, b);
  const Tensor seed = FromVector<double>({1, 1}, {2});
  Backward({sum, sum}, {seed, seed});
  EXPECT_THAT(ToVector<double>(a.grad()), ElementsAre(2, 2));
  EXPECT_THAT(ToVector<double>(b.grad()), ElementsAre(2, 2));
  EXPECT_THAT(ToVector<double>(seed), ElementsAre(1, 1));
  EXPECT_NE(a.grad().raw(), b.grad().raw());
}

TEST(Backward, SeveralGraphsLiveAtOnce) {
  const Variable w = Leaf({2});
  const Variable first = ToyMul(w, Leaf({5})), second = ToyMul(w, Leaf({7}));
  Backward({first});
  EXPECT_EQ(w.grad().Item(), 5);
  Backward({second});
  EXPECT_EQ(w.grad().Item(), 12);
}

TEST(Backward, GraphsOnSeveralThreads) {
  std::vector<std::thread> threads;
  std::vector<Variable> leaves;
  for (int t = 0; t < 4; ++t) leaves.push_back(Leaf({1.0 + t}));
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([x = leaves[t]] {
      for (int i = 0; i < 100; ++i) Backward({ToyMul(x, x)});
    });
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 4; ++t) EXPECT_EQ(leaves[t].grad().Item(), 200 * (1 + t));
}

// 2 x, whose rule adds the other gradients of x, if there are any, in its own pass.
Variable DoubledAddingOthers(const Variable& x, std::vector<double>* taken) {
  Tensor out = x.data().Clone();
  AddInPlace(out, x.data());
  return Record("toy_double", out, {x}, [taken](const GradContext& g) {
    Tensor dx = g.grad().Clone();
    AddInPlace(dx, g.grad());
    const Tensor others = g.TakeSum(0);
    taken->push_back(others.defined() ? others.Item() : 0);
    if (others.defined()) AddInPlace(dx, others);
    return Gradients{dx};
  });
}

TEST(Backward, ARuleMayAddTheSumSoFar) {
  const Variable x = Leaf({3});
  std::vector<double> taken;
  const Variable middle = ToyMul(x, Leaf({10}));
  // Run from the last made to the first: d middle is 7, then 2 more, then 2 more.
  const Variable first = DoubledAddingOthers(middle, &taken);
  const Variable second = DoubledAddingOthers(middle, &taken);
  Backward({ToyAdd(ToyAdd(first, second), ToyMul(middle, Leaf({7})))});
  EXPECT_THAT(taken, ElementsAre(7, 9));
  EXPECT_EQ(x.grad().Item(), 110);
}

// As if it were computed in the same graph.
TEST(Backward, ThereIsASumSoFarOfALeafThatIsWanted) {
  const Variable x = Leaf({3});
  std::vector<double> taken;
  const Variable first = DoubledAddingOthers(x, &taken);
  const BackwardResult result =
      Backward({ToyAdd(first, ToyMul(x, Leaf({7})))}, {}, {.wanted = {x}});
  EXPECT_THAT(taken, ElementsAre(7));
  EXPECT_EQ(result.wanted[0].Item(), 9);
  EXPECT_FALSE(x.grad().defined());
}

TEST(Backward, AnOpsResultSaysWhyItHasNoGradient) {
  const Variable x = Leaf({3});
  Variable y = ToyMul(x, x);
  Backward({ToyMul(y, y)});
  const std::string why =
      "[grad] f64 (1) on cpu is a result of toy_mul, and backwards keep gradients of leaves alone; "
      "go on from a leaf Variable(result.data(), true) to have one here";
  EXPECT_EQ(ErrorOf([&] { y.grad(); }), why);
  EXPECT_EQ(ErrorOf([&] { y.mutable_grad(); }), why);
  EXPECT_FALSE(Variable().grad().defined());
  const NoGrad off;
  EXPECT_FALSE(ToyMul(x, x).grad().defined());  // a leaf: nothing was recorded
}

TEST(Backward, AnUndefinedInputNamesTheOp) {
  const Variable x = Leaf({3}), none;
  EXPECT_EQ(ErrorOf([&] { RequireDefined("mine", x, none); }),
            "[mine] needs defined inputs, got f64 (1) on cpu and none");
  EXPECT_EQ(ErrorOf([&] { NamingUndefined("mine", ToyAdd, none, x); }),
            "[mine] needs defined inputs, got none and f64 (1) on cpu");
  EXPECT_EQ(NamingUndefined("mine", ToyAdd, x, x).data().Item(), 6);
  EXPECT_EQ(ErrorOf([&] { none.shape(); }),
            "[data] needs a defined variable, got an undefined one");
}

TEST(Backward, ThereIsNoSumSoFarOfALeafNorOfATensorUsedOnce) {
  const Variable x = Leaf({3});
  std::vector<double> taken;
  Backward({ToyAdd(DoubledAddingOthers(x, &taken), ToyMul(x, x))});
  EXPECT_EQ(x.grad().Item(), 8);
  const Variable middle = ToyMul(x, Leaf({10}));
  Backward({DoubledAddingOthers(middle, &taken)});
  EXPECT_THAT(taken, ElementsAre(0, 0));
}

// x, whose rule says whether it knows that its gradient is 1.
Variable CopyThatAsks(const Variable& x, std::vector<bool>* asked) {
  return Record("toy_copy", x.data().Clone(), {x}, [asked](const GradContext& g) {
    asked->push_back(g.is_one());
    return Gradients{g.grad()};
  });
}

TEST(Backward, OnlyADefaultSeedIsKnownToBeOne) {
  const Variable x = Leaf({3});
  std::vector<bool> asked;
  const auto backward = [&](const std::vector<Tensor>& seeds) {
    const Variable inner = CopyThatAsks(x, &asked);
    Backward({CopyThatAsks(inner, &asked)}, seeds);
  };
  backward({});
  backward({Tensor()});
  backward({Full({1}, 1, DType::kF64)});
  EXPECT_THAT(asked, ElementsAre(true, false, true, false, false, false));
  EXPECT_EQ(x.grad().Item(), 3);
  asked.clear();
  const Variable y = CopyThatAsks(x, &asked);
  Backward({y, y});
  EXPECT_THAT(asked, ElementsAre(false));
  EXPECT_EQ(x.grad().Item(), 5);
}

TEST(Backward, ARuleThatIsLeftForLaterKnowsItToo) {
  const Variable x = Leaf({3});
  std::vector<bool> asked;
  BackwardResult result = Backward({CopyThatAsks(x, &asked)}, {}, {.defer_leaves = true});
  EXPECT_THAT(asked, ElementsAre());
  result.deferred.Run();
  EXPECT_THAT(asked, ElementsAre(true));
  EXPECT_EQ(x.grad().Item(), 1);
}

// A rule that returns what it kept for the backward does not make the sum a copy.
TEST(Backward, WhatARuleKeptBecomesTheGradient) {
  const Variable x = Leaf({3});
  Saved kept(Full({1}, 5, DType::kF64));
  const void* const memory = kept.get().raw();
  Backward({Record("toy_copy", x.data().Clone(), {x}, [kept = std::move(kept)](const GradContext&) {
    return Gradients{kept.get()};
  })});
  EXPECT_EQ(x.grad().raw(), memory);
}

TEST(Backward, TwiceThroughAFreedGraphIsAnError) {
  const Variable x = Leaf({3});
  const Variable y = ToyMul(x, x);
  Backward({y}, {}, {.retain_graph = true});
  Backward({y});
  EXPECT_EQ(x.grad().Item(), 12);
  EXPECT_THAT(testing::ErrorOf<Error>([&] { Backward({y}); }),
              HasSubstr("the graph of toy_mul was freed by an earlier Backward"));
}

TEST(Backward, SeedMustFit) {
  const Variable y = ToyMul(Leaf({1, 2}), Leaf({3, 4}));
  EXPECT_THAT(testing::ErrorOf<Error>([&] { Backward({y}); }),
              HasSubstr("shape (2) needs a seed gradient"));
  EXPECT_THAT(testing::ErrorOf<Error>([&] { Backward({y}, {Zeros({3}, DType::kF64)}); }),
              HasSubstr("must be f64 (2) on cpu as its output, got f64 (3)"));
  EXPECT_THAT(testing::ErrorOf<Error>([&] { Backward({y}, {Zeros({2})}); }),
              HasSubstr("must be f64 (2) on cpu as its output, got f32 (2)"));
}

TEST(Backward, NoPathToALeafIsAnError) {
  const Variable constant(FromVector<double>({1}, {1}));
  EXPECT_THAT(testing::ErrorOf<Error>([&] { Backward({ToyMul(constant, constant)}); }),
              HasSubstr("no path"));
  const Variable x = Leaf({1});
  const NoGrad guard;
  EXPECT_EQ(testing::ErrorOf<Error>([&] { Backward({ToyMul(x, x)}); }),
            "[backward] no path from the output of shape (1) to a leaf that requires a gradient: "
            "was it computed in a NoGrad?");
}

TEST(Backward, TakesOneOutput) {
  const Variable x = Leaf({3});
  const Variable y = ToyMul(x, x);
  Backward(y, {.retain_graph = true});
  EXPECT_EQ(x.grad().Item(), 6);
  Backward(y);
  EXPECT_EQ(x.grad().Item(), 12);
}

TEST(Backward, ASavedTensorChangedInPlaceIsAnErrorThatNamesTheOp) {
  Variable x = Leaf({3});
  const Variable y = ToyMul(x, x);
  x.mutable_data().mutable_data<double>()[0] = 4;
  EXPECT_THAT(testing::ErrorOf<Error>([&] { Backward({y}); }),
              AllOf(HasSubstr("gradient of toy_mul"), HasSubstr("changed in place")));
}

TEST(Backward, HooksSeeTheWholeGradientOnce) {
  Variable x = Leaf({3});
  std::vector<double> seen;
  x.AddHook([&](const Variable& leaf) { seen.push_back(leaf.grad().Item()); });
  Backward({ToyMul(x, ToyMul(x, x))});
  Backward({ToyMul(x, x)});
  EXPECT_THAT(seen, ElementsAre(27, 33));
}

TEST(Backward, HooksOfALeafThatIsAnOutputTooSeeTheWholeGradientOnce) {
  Variable x = Leaf({3});
  std::vector<double> seen;
  x.AddHook([&](const Variable& leaf) { seen.push_back(leaf.grad().Item()); });
  Backward({x, ToyMul(x, x)});
  EXPECT_THAT(seen, ElementsAre(7));
  x.ZeroGrad();
  Backward({ToyMul(x, x), x, x});
  EXPECT_THAT(seen, ElementsAre(7, 8));
}

TEST(Backward, HooksRunAsSoonAsALeafIsDone) {
  Variable early = Leaf({2}), late = Leaf({3});
  std::vector<std::string> order;
  late.AddHook([&](const Variable&) { order.push_back("late"); });
  early.AddHook([&](const Variable&) {
    order.push_back(late.grad().defined() ? "early after late" : "early first");
  });
  Backward({ToyMul(ToyMul(early, early), late)});
  EXPECT_THAT(order, ElementsAre("late", "early after late"));
}

TEST(Backward, WantedGradientsAreReturnedAndNotAccumulated) {
  const Variable x = Leaf({3}), w = Leaf({5});
  const BackwardResult result = Backward({ToyMul(x, w)}, {}, {.wanted = {x}});
  EXPECT_EQ(result.wanted[0].Item(), 5);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(w.grad().Item(), 3);
}

TEST(Backward, DeferredLeavesComeLater) {
  const Variable x = Leaf({3}), w = Leaf({5});
  BackwardResult result =
      Backward({ToyMul(ToyMul(x, w), w)}, {}, {.defer_leaves = true, .wanted = {x}});
  EXPECT_EQ(result.wanted[0].Item(), 25);
  EXPECT_FALSE(w.grad().defined());
  result.deferred.Run();
  EXPECT_EQ(w.grad().Item(), 30);
  EXPECT_THROW(result.deferred.Run(), BadInput);
}

TEST(Backward, AGradientLiesWhereItsTensorDoes) {
  const Variable x = Leaf({3, 3});
  const Tensor elsewhere = Empty({2}, DType::kF64, kMetaDevice);
  EXPECT_THROW(Backward({ToyMul(x, x)}, {elsewhere}), BadInput);
  EXPECT_THROW(Variable(x).SetGrad(elsewhere), BadInput);
}

TEST(Backward, ADeferredLeafThatIsAnOutputTooComesLaterAndWhole) {
  Variable x = Leaf({3});
  std::vector<double> seen;
  x.AddHook([&](const Variable& leaf) { seen.push_back(leaf.grad().Item()); });
  BackwardResult result = Backward({x, ToyMul(x, x)}, {}, {.defer_leaves = true});
  EXPECT_FALSE(x.grad().defined());
  result.deferred.Run();
  EXPECT_THAT(seen, ElementsAre(7));
}

// A recursion of 200000 calls overflows any stack; the last link of the chain must be gone too.
TEST(Backward, ALongChainNeedsNoStack) {
  const Variable one = Leaf({1});
  Variable y = ToyAdd(one, one);
  const std::weak_ptr<Node> first = y.node();
  for (int i = 0; i < 200000; ++i) y = ToyAdd(y, one);
  Backward({y});
  EXPECT_EQ(one.grad().Item(), 200002);
  EXPECT_FALSE(first.expired());
  y = Variable();
  EXPECT_TRUE(first.expired());
}

// A rule that notes the settings which it sees.
Variable Noting(const Variable& x, std::vector<std::pair<DType, bool>>& seen) {
  return Record("noting", x.data().Clone(), {x}, [&seen](const GradContext& g) {
    seen.emplace_back(WithPrecision::Current(), WithPrecision::Tf32());
    return Gradients{g.grad()};
  });
}

TEST(Backward, RulesHaveTheTf32OfTheirForwardWhateverIsAround) {
  const Precision tf32{DType::kF32, MatmulMode::kTf32};
  const Precision all[] = {{}, tf32, DType::kBF16};
  for (const Precision& forward : all)
    for (const Precision& around : all) {
      std::vector<std::pair<DType, bool>> seen;
      const Variable y = [&] {
        const WithPrecision precision(forward);
        return Noting(Leaf({1}), seen);
      }();
      const WithPrecision precision(around);
      Backward({y});
      EXPECT_EQ(seen, std::vector({std::pair(DType::kF32, forward == tf32)}));
      EXPECT_EQ(WithPrecision::Whole(), around);
    }
}

TEST(Backward, TicksProgress) {
  ProgressCounter counter;
  SetProgressCounter(&counter);
  const Variable x = Leaf({3});
  Backward({ToyMul(x, x)});
  SetProgressCounter(nullptr);
  EXPECT_EQ(counter.ticks.load(), 2u);
}

std::vector<Variable> WrongSquare(const std::vector<Variable>& in) {
  return {Record("square", Product(in[0].data(), in[0].data()), {in[0]},
                 [x = Saved(in[0])](const GradContext& g) {
                   return Gradients{Product(g.grad(), x.get())};  // lacks the factor 2
                 })};
}

TEST(GradientChecker, FindsAWrongRule) {
  EXPECT_FATAL_FAILURE(CheckGradients("square", WrongSquare, {RandomLeaf({1})}),
                       "central difference");
}

TEST(GradientChecker, WantsTheNamedOp) {
  EXPECT_FATAL_FAILURE(CheckGradients("cube", WrongSquare, {RandomLeaf({1})}),
                       "records no op cube");
}

GRADIENT_CASE(toy_mul, View) {
  Check([](const std::vector<Variable>& in) { return std::vector{ToyMul(in[0], in[1])}; },
        {RandomLeaf({2, 3}, 1), TransposedLeaf({2, 3}, 2)});
}

}  // namespace
}  // namespace torus::testing
