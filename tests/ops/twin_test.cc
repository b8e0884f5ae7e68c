// Every fast f32 kernel of ops/ agrees with its plain f64 twin on 200 random odd shapes, forward and
// backward, at every vector width of this machine. (Convolution, batch norm and GEMM have their own.)
#include <gtest/gtest.h>

#include "ops/elementwise/elementwise.h"
#include "ops/reduction/reduction.h"
#include "ops/reduction/reduction_shape.h"
#include "tests/testing/twins.h"

namespace torus::ops {
namespace {

using testing::OddShapes;
using testing::Twin;
using Variables = std::vector<Variable>;

// 200 twins, each made by `make` from fresh random shapes.
void CheckTwins(const std::function<Twin(OddShapes&)>& make) {
  testing::ForEachVectorWidth([&] {
    for (uint64_t seed = 0; seed < 200; ++seed) {
      SCOPED_TRACE(fmt::format("seed {}", seed));
      OddShapes shapes(seed);
      testing::ExpectTwinsAgree(make(shapes));
      if (::testing::Test::HasFatalFailure()) return;
    }
  });
}

// A shape that broadcasts with `shape`.
Shape Broadcastable(OddShapes& shapes, const Shape& shape) {
  Shape out;
  for (int64_t size : shape)
    if (out.rank() > 0 || shapes.Coin()) out.push_back(shapes.Coin() ? size : 1);
  return out;
}

// A gradient is summed over at most all elements of the larger shape.
Twin BinaryTwin(OddShapes& shapes, Variable (*op)(const Variable&, const Variable&)) {
  const Shape a = shapes.Dims(3, 17), b = Broadcastable(shapes, a);
  const double magnitude = 4 * std::sqrt(static_cast<double>(Numel(a)));
  return {.function = [op](const Variables& in) { return Variables{op(in[0], in[1])}; },
          .inputs = {shapes.Normal(a), shapes.Uniform(b, 0.5, 2)},
          .gradient_terms = Numel(a) / std::max<int64_t>(1, Numel(b)),
          .magnitude = b == a ? 0 : magnitude};
}

TEST(Twins, Mul) {
  CheckTwins([](OddShapes& shapes) { return BinaryTwin(shapes, Mul); });
}

TEST(Twins, Div) {
  CheckTwins([](OddShapes& shapes) { return BinaryTwin(shapes, Div); });
}

TEST(Twins, AddAndSub) {
  CheckTwins([](OddShapes& shapes) {
    return BinaryTwin(shapes, [](const Variable& a, const Variable& b) {
      return Sub(Add(a, b, 0.5), Neg(b), 2);
    });
  });
}

// A sum of n normal values passes through values of about sqrt(n), however small it ends.
Twin ReductionTwin(OddShapes& shapes, bool mean) {
  const Shape shape = shapes.Dims(4, 19);
  Dims dims;
  for (int d = 0; d < 4; ++d)
    if (shapes.Coin()) dims.push_back(d);
  const int64_t count = ReducedCount(shape, ReducedDims("test", dims, 4));
  const double root = std::sqrt(static_cast<double>(count));
  return {.function =
              [=](const Variables& in) {
                return Variables{mean ? Mean(in[0], dims) : Sum(in[0], dims)};
              },
          .inputs = {shapes.Normal(shape)},
          .terms = count,
          .magnitude = mean ? 1 / root : root};
}

TEST(Twins, Sum) {
  CheckTwins([](OddShapes& shapes) { return ReductionTwin(shapes, false); });
}

TEST(Twins, Mean) {
  CheckTwins([](OddShapes& shapes) { return ReductionTwin(shapes, true); });
}

}  // namespace
}  // namespace torus::ops
