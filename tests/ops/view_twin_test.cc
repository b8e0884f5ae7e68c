// Views, joins and casts in f32 agree with their f64 twins on 200 random odd shapes each, forward
// and backward.
#include "ops/elementwise/cast.h"
#include "ops/elementwise/elementwise.h"
#include "ops/view/join.h"
#include "ops/view/view.h"
#include "tests/ops/op_test.h"

namespace torus::ops {
namespace {

// Sums of random seeds pass through about the square root of their number.
Twin Moved(const testing::CheckedFunction& function, const std::vector<Tensor>& inputs,
           int64_t uses) {
  return {.function = function,
          .inputs = inputs,
          .gradient_terms = uses,
          .magnitude = std::sqrt(static_cast<double>(uses))};
}

TEST(ViewTwins, OrderKept) {
  CheckTwins([](OddShapes& shapes) {
    const Shape shape = shapes.Dims(3, 17);
    const int64_t rest = shape[1] * shape[2];
    return Moved(
        [=](const Variables& in) {
          const Variable apart = Reshape(in[0], {shape[0], 1, rest});
          return Variables{apart, Squeeze(apart), Flatten(in[0], 1), Unsqueeze(in[0], -2)};
        },
        {shapes.Normal(shape)}, 4);
  });
}

TEST(ViewTwins, OrderChanged) {
  CheckTwins([](OddShapes& shapes) {
    return Moved(
        [](const Variables& in) {
          const Variable turned = Permute(in[0], {2, 0, 1});
          return Variables{turned, Transpose(in[0], 0, 2), Reshape(turned, {-1})};
        },
        {shapes.Normal(shapes.Dims(3, 17))}, 3);
  });
}

TEST(ViewTwins, Narrow) {
  CheckTwins([](OddShapes& shapes) {
    const Shape shape = shapes.Dims(3, 17);
    const int64_t start = shapes.Size(shape[1] - 1, 0), length = shapes.Size(shape[1] - start);
    return Moved(
        [=](const Variables& in) {
          return Variables{Narrow(in[0], 1, start, length), Narrow(in[0], 2, -1, 1)};
        },
        {shapes.Normal(shape)}, 2);
  });
}

TEST(ViewTwins, Expand) {
  CheckTwins([](OddShapes& shapes) {
    const int64_t rows = shapes.Size(33), columns = shapes.Size(65), count = shapes.Size(5);
    return Moved(
        [=](const Variables& in) {
          return Variables{Expand(in[0], {count, rows, columns})};
        },
        {shapes.Normal({rows, 1})}, count * columns);
  });
}

TEST(ViewTwins, CatAndStack) {
  CheckTwins([](OddShapes& shapes) {
    const Shape shape = shapes.Dims(2, 33);
    const int64_t dim = shapes.Size(1, 0);
    Shape other = shape;
    other[static_cast<int>(dim)] = shapes.Size(17);
    return Moved(
        [dim](const Variables& in) {
          return Variables{Cat({in[0], in[2], in[1]}, dim), Stack({in[0], in[1]}, dim - 1)};
        },
        {shapes.Normal(shape), shapes.Normal(shape), shapes.Normal(other)}, 2);
  });
}

TEST(ViewTwins, Split) {
  CheckTwins([](OddShapes& shapes) {
    const Shape shape = shapes.Dims(3, 19);
    const int64_t dim = shapes.Size(2, 0), size = shapes.Size(7);
    const int64_t first = shapes.Size(shape[0], 0);
    return Moved(
        [=](const Variables& in) {
          Variables pieces = Split(in[0], size, dim);
          for (const Variable& piece : Split(in[0], {first, shape[0] - first}, 0))
            pieces.push_back(piece);
          return pieces;
        },
        {shapes.Normal(shape)}, 2);
  });
}

TEST(ViewTwins, NegAndCast) {
  CheckTwins([](OddShapes& shapes) {
    return Moved(
        [](const Variables& in) {
          return Variables{Neg(in[0]), Cast(Cast(in[0], DType::kF64), in[0].dtype())};
        },
        {shapes.Normal(shapes.Dims(3, 17))}, 2);
  });
}

}  // namespace
}  // namespace torus::ops
