#include "ops/recurrent/lstm.h"

#include <algorithm>
#include <cmath>

#include "autograd/backward.h"
#include "autograd/node.h"
#include "autograd/op_observer.h"
#include "autograd/precision.h"
#include "runtime/kernels.h"
#include "runtime/team_size_guard.h"
#include "tests/ops/op_test.h"
#include "tests/testing/same_bits.h"
#include "tests/testing/tolerance.h"

namespace torus::ops {
namespace {

struct Case {
  int64_t steps, rows, hidden;
  bool reverse = false;
};

// Gates, weight, h and c; the weight's rows have about length 1.
Variables Inputs(const Case& l, DType dtype) {
  const int64_t h = l.hidden;
  Variables in{RandomLeaf({l.steps, l.rows, 4 * h}), RandomLeaf({4 * h, h}, 1),
               RandomLeaf({l.rows, h}, 2), RandomLeaf({l.rows, h}, 3)};
  ScaleInPlace(in[1].mutable_data(), 1 / std::sqrt(static_cast<double>(h)));
  for (Variable& v : in) v = Variable(v.data().To(DType::kF32).To(dtype), true);
  return in;
}

// Outputs and the gradients of all inputs, for gradients of the outputs that are wanted.
std::vector<Tensor> Results(const Case& l, DType dtype, bool of_h = true, bool of_c = true) {
  const Variables in = Inputs(l, dtype);
  const LstmOutput y = Lstm(in[0], in[1], in[2], in[3], l.reverse);
  Variables outputs;
  std::vector<Tensor> seeds;
  if (of_h) {
    outputs.push_back(y.h);
    seeds.push_back(RandomLeaf(y.h.shape(), 4).data().To(DType::kF32).To(dtype));
  }
  if (of_c) {
    outputs.push_back(y.c);
    seeds.push_back(Full(y.c.shape(), -2, dtype));
  }
  Backward(outputs, seeds);
  std::vector<Tensor> results{y.h.data().Contiguous(), y.c.data()};
  for (const Variable& v : in) results.push_back(v.grad());
  return results;
}

// Of f32, whose steps are one op, against f64, where it is composed of them.
void ExpectComposedOnes(const Case& l, bool of_h = true, bool of_c = true) {
  SCOPED_TRACE(fmt::format("{} x {} x {}, {}", l.steps, l.rows, l.hidden, l.reverse));
  const auto got = Results(l, DType::kF32, of_h, of_c), want = Results(l, DType::kF64, of_h, of_c);
  for (size_t i = 0; i < want.size(); ++i) {
    const auto g = ToVector<double>(got[i].To(DType::kF64)), w = ToVector<double>(want[i]);
    double largest = 1;
    for (const double v : w) largest = std::max(largest, std::fabs(v));
    // Sums over 4 hidden, over steps and rows, and the steps after each other.
    const double tolerance =
        testing::Tolerance(DType::kF32, 4 * l.hidden + l.steps * l.rows + 20 * l.steps, largest);
    ASSERT_EQ(g.size(), w.size());
    for (size_t j = 0; j < w.size(); ++j) ASSERT_NEAR(g[j], w[j], tolerance) << i << ", " << j;
  }
}

TEST(Lstm, AllStepsAreOneOpOnACpu) {
  const auto op_of = [](const Case& l, DType dtype) {
    const Variables in = Inputs(l, dtype);
    return Lstm(in[0], in[1], in[2], in[3]).c.node()->op();
  };
  EXPECT_EQ(op_of({9, 2, 3}, DType::kF32), "lstm");
  EXPECT_NE(op_of({2, 2, 3}, DType::kF32), "lstm") << "packing would take longer";
  EXPECT_NE(op_of({9, 2, 3}, DType::kF64), "lstm");
  const WithPrecision low(DType::kBF16);
  EXPECT_NE(op_of({9, 2, 3}, DType::kF32), "lstm");
}

// Parts of vectors and of tiles, several tiles, more columns than are taken at a time.
TEST(Lstm, AgreesWithItsStepsOnOddShapes) {
  testing::ForEachVectorWidth([] {
    for (const int64_t hidden : {1, 3, 8, 17, 33, 70, 100})
      for (const bool reverse : {false, true})
        for (const int64_t rows : {1, 5, 26})
          ASSERT_NO_FATAL_FAILURE(ExpectComposedOnes({9, rows, hidden, reverse}));
  });
}

TEST(Lstm, TakesTheGradientOfOneOutput) {
  for (const bool reverse : {false, true}) {
    ExpectComposedOnes({8, 3, 5, reverse}, true, false);
    ExpectComposedOnes({8, 3, 5, reverse}, false, true);
  }
}

TEST(Lstm, TakesNoRows) {
  for (const Tensor& t : Results({8, 0, 5}, DType::kF32))
    for (const float v : ToVector<float>(t)) EXPECT_EQ(v, 0);
}

// 1600 rows would be shared among 8 threads by a single product for the weight's gradient.
TEST(Lstm, HasTheSameBitsOnEveryTeam) {
  for (const Case& l : {Case{50, 32, 8}, Case{8, 30, 70, true}}) {
    const auto on = [&](int team) {
      const TeamSizeGuard guard(team);
      return Results(l, DType::kF32);
    };
    const auto want = on(1);
    for (const int team : {2, 3, 8}) {
      const auto got = on(team);
      for (size_t i = 0; i < want.size(); ++i)
        testing::ExpectSameBits(got[i], want[i], fmt::format("{} of {} threads", i, team));
    }
  }
}

TEST(Lstm, HasTheSameBitsWithoutABackward) {
  const Variables in = Inputs({9, 3, 5}, DType::kF32);
  const auto run = [&] { return Lstm(in[0], in[1], in[2], in[3]); };
  const LstmOutput want = run();
  const NoGrad none;
  const LstmOutput got = run();
  testing::ExpectSameBits(got.h.data(), want.h.data());
  testing::ExpectSameBits(got.c.data(), want.c.data());
}

struct Work : OpObserver {
  void OnOp(std::string_view, const Variables&, const Variables&) override {}
  void OnProduct(int64_t flops) override { total += flops; }
  int64_t total = 0;
};

// On the device meta it is composed.
TEST(Lstm, TellsObserversOfTheProductsOfItsSteps) {
  const auto work_on = [](Device device) {
    Variables in = Inputs({9, 2, 3}, DType::kF32);
    for (Variable& v : in) v = Variable(v.data().To(device), true);
    const Work work;
    const LstmOutput y = Lstm(in[0], in[1], in[2], in[3]);
    Backward({y.h}, {Full(y.h.shape(), 1, DType::kF32, device)});
    return work.total;
  };
  EXPECT_EQ(work_on({}), work_on(kMetaDevice));
  EXPECT_EQ(work_on({}), 3 * 2 * 9 * 2 * 12 * 3);
}

TEST(Lstm, RefusesWhatDoesNotFit) {
  const Variable x(Zeros({8, 2, 12})), weight(Zeros({12, 3})), state(Zeros({2, 3}));
  EXPECT_NO_THROW(Lstm(x, weight, state, state));
  EXPECT_THROW(Lstm(Variable(Zeros({0, 2, 12})), weight, state, state), BadInput);
  EXPECT_THROW(Lstm(Variable(Zeros({2, 12})), weight, state, state), BadInput);
  EXPECT_THROW(Lstm(Variable(Zeros({8, 3, 12})), weight, state, state), BadInput);
  EXPECT_THROW(Lstm(x, Variable(Zeros({3, 12})), state, state), BadInput);
  EXPECT_THROW(Lstm(x, weight, Variable(Zeros({1, 3})), state), BadInput);
  EXPECT_THROW(Lstm(x, weight, state, Variable(Zeros({2, 3}, DType::kF64))), BadInput);
  EXPECT_THROW(Lstm(x, {}, state, state), BadInput);
}

}  // namespace
}  // namespace torus::ops
