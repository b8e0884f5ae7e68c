// The arithmetic kernels in f32 agree with their f64 twins on 200 random odd shapes each, forward
// and backward.
#include "ops/activation/swiglu.h"
#include "ops/elementwise/elementwise.h"
#include "ops/matmul/linear.h"
#include "ops/matmul/matmul.h"
#include "ops/reduction/cumsum.h"
#include "ops/reduction/reduction.h"
#include "ops/sum/reduction_shape.h"
#include "tests/ops/op_test.h"

namespace torus::ops {
namespace {

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

TEST(Twins, Swiglu) {
  CheckTwins([](OddShapes& shapes) {
    const Shape shape = shapes.Dims(2, 33);
    return Twin{.function = [](const Variables& in) { return Variables{Swiglu(in[0], in[1])}; },
                .inputs = {shapes.Normal(shape), shapes.Normal(shape)},
                .magnitude = 1};
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

// A running sum passes through every prefix; the gradient runs back over all of them.
TEST(Twins, Cumsum) {
  CheckTwins([](OddShapes& shapes) {
    const Shape shape = shapes.Dims(3, 19);
    const int64_t dim = shapes.Size(2, 0), count = shape[static_cast<int>(dim)];
    return Twin{.function = [dim](const Variables& in) { return Variables{Cumsum(in[0], dim)}; },
                .inputs = {shapes.Normal(shape)},
                .terms = count,
                .gradient_terms = count,
                .magnitude = std::sqrt(static_cast<double>(count))};
  });
}

// Products of normal values pass through about the square root of the longest sum, here and in the
// gradients.
double ProductSize(int64_t longest) { return std::sqrt(static_cast<double>(longest)); }

TEST(Twins, Linear) {
  CheckTwins([](OddShapes& shapes) {
    const int64_t m = shapes.Size(65), n = shapes.Size(65), k = shapes.Size(129);
    return Twin{
        .function = [](const Variables& in) { return Variables{Linear(in[0], in[1], in[2])}; },
        .inputs = {shapes.Normal({m, k}), shapes.Normal({n, k}), shapes.Normal({n})},
        .terms = k,
        .gradient_terms = std::max(m, n),
        .magnitude = ProductSize(std::max({m, n, k}))};
  });
}

TEST(Twins, Matmul) {
  CheckTwins([](OddShapes& shapes) {
    const int64_t m = shapes.Size(33), n = shapes.Size(33), k = shapes.Size(65);
    const int64_t batch = shapes.Size(5), other = shapes.Coin() ? batch : 1;
    return Twin{.function = [](const Variables& in) { return Variables{Matmul(in[0], in[1])}; },
                .inputs = {shapes.Normal({batch, m, k}), shapes.Normal({other, k, n})},
                .terms = k,
                .gradient_terms = std::max(batch * m, n),
                .magnitude = ProductSize(std::max({batch * m, n, k}))};
  });
}

}  // namespace
}  // namespace torus::ops
