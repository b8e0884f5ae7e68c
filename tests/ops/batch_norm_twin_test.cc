// The float batch norm against the double one, forward and backward, on 200 random odd shapes for
// each activation and at every vector width of the machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "autograd/backward.h"
#include "ops/batch_norm/batch_norm.h"
#include "runtime/parallel_for.h"
#include "tests/testing/tolerance.h"
#include "tests/testing/twins.h"

namespace torus {
namespace {

using ops::Activation;

struct Case {
  Tensor x, weight, bias, residual, dy;
  Activation activation;
  bool training;
};

struct Results {
  Tensor y, dx, dweight, dbias, dresidual;
};

Results Run(const Case& c, DType dtype, const Tensor& dy) {
  const auto leaf = [&](const Tensor& t) {
    return t.defined() ? Variable(t.To(dtype), true) : Variable();
  };
  const Variable x = leaf(c.x), weight = leaf(c.weight), bias = leaf(c.bias),
                 residual = leaf(c.residual);
  const Tensor mean = Full({x.dim(-1)}, 0.25, dtype), var = Full({x.dim(-1)}, 2, dtype);
  const Variable y =
      c.training ? ops::BatchNormTrain(x, weight, bias, 1e-2, c.activation, residual).y
                 : ops::BatchNormEval(x, mean, var, weight, bias, 1e-2, c.activation, residual);
  Backward({y}, {dy.To(dtype)});
  return {y.data(), x.grad(), weight.grad(), bias.grad(),
          c.residual.defined() ? residual.grad() : Tensor()};
}

Case Draw(testing::OddShapes& draw, Activation activation) {
  Shape shape = draw.Dims(static_cast<int>(draw.Size(4, 2)), 9);
  shape[0] = 2 * draw.Size(4) + 1;
  shape[shape.rank() - 1] = draw.Size(70);
  const Shape channels{shape[shape.rank() - 1]};
  Case c{draw.Normal(shape),
         draw.Uniform(channels, 0.5, 3),
         draw.Normal(channels),
         {},
         draw.Normal(shape),
         activation,
         draw.Coin()};
  if (draw.Coin()) c.residual = draw.Normal(shape);
  return c;
}

// dy, but zero where the exact value before the clamp lies so near to a bound that rounding decides
// the mask: there the two may differ by all of dy.
Tensor AwayFromBounds(const Tensor& dy, const Tensor& unclamped, double margin) {
  std::vector<float> out = ToVector<float>(dy);
  const auto t = ToVector<double>(unclamped);
  for (size_t i = 0; i < out.size(); ++i)
    if (std::abs(t[i]) < margin || std::abs(t[i] - 6) < margin) out[i] = 0;
  return FromVector(out, dy.shape());
}

void ExpectNear(const Tensor& fast, const Tensor& exact, double tolerance, const char* what) {
  if (!exact.defined()) return;
  const auto a = ToVector<float>(fast);
  const auto b = ToVector<double>(exact);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance) << what << " element " << i;
}

double Largest(const Tensor& tensor) {
  double largest = 0;
  if (tensor.defined())
    for (float value : ToVector<float>(tensor))
      largest = std::max<double>(largest, std::abs(value));
  return largest;
}

// The largest values that occur on the way to each result.
struct Sizes {
  explicit Sizes(const Case& c) {
    const Variable x(c.x.To(DType::kF64));
    const auto batch = ops::BatchNormTrain(x, {}, {}, 1e-2);
    double largest_scale = 0;
    for (double var : ToVector<double>(c.training ? batch.var : Full({1}, 2, DType::kF64)))
      largest_scale = std::max(largest_scale, 1 / std::sqrt(var + 1e-2));
    const double normal = 2 * Largest(c.x) * largest_scale;  // (x - mean) / std
    const double dy = Largest(c.dy);
    y = normal * Largest(c.weight) + Largest(c.bias) + Largest(c.residual);
    dx = Largest(c.weight) * largest_scale * dy * (2 + normal * normal);
    dweight = normal * dy;
    dbias = dy;
  }
  double y, dx, dweight, dbias;
};

void Compare(Case c) {
  SCOPED_TRACE(::testing::Message()
               << ToString(c.x.shape()) << (c.training ? " training" : " evaluation")
               << (c.residual.defined() ? " residual" : ""));
  const Sizes sizes(c);
  const int64_t rows = c.x.numel() / c.x.dim(-1);
  const auto tolerance = [](int64_t terms, double size) {
    return testing::Tolerance(DType::kF32, terms, size);
  };
  const int64_t behind = c.training ? rows : 1;  // the statistics are sums over the rows
  const double value = tolerance(behind, sizes.y);
  Case unclamped = c;
  unclamped.activation = Activation::kNone;
  c.dy = AwayFromBounds(c.dy, Run(unclamped, DType::kF64, c.dy).y, value);
  const Results exact = Run(c, DType::kF64, c.dy), fast = Run(c, DType::kF32, c.dy);
  ExpectNear(fast.y, exact.y, value, "y");
  ExpectNear(fast.dx, exact.dx, tolerance(behind, sizes.dx), "dx");
  // Terms of random sign: partial sums grow as the root of their number.
  const double root = std::sqrt(static_cast<double>(rows));
  ExpectNear(fast.dweight, exact.dweight, tolerance(rows, sizes.dweight * root), "dweight");
  ExpectNear(fast.dbias, exact.dbias, tolerance(rows, sizes.dbias * root), "dbias");
  ExpectNear(fast.dresidual, exact.dresidual, 0, "dresidual");
}

class BatchNormTwin : public ::testing::TestWithParam<Activation> {};

TEST_P(BatchNormTwin, FastAgreesWithPlainAtEveryVectorWidth) {
  SetTeamSize(1);  // two hundred tiny shapes are not worth a team
  testing::ForEachVectorWidth([] {
    testing::OddShapes draw(static_cast<uint64_t>(GetParam()));
    for (int i = 0; i < 200 && !HasFatalFailure(); ++i) Compare(Draw(draw, GetParam()));
  });
}

INSTANTIATE_TEST_SUITE_P(Activations, BatchNormTwin,
                         ::testing::Values(Activation::kNone, Activation::kRelu,
                                           Activation::kRelu6));

}  // namespace
}  // namespace torus
