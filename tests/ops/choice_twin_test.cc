// Extrema, powers, selection, indexing and statistics in f32 agree with their f64 twins on 200
// random odd shapes each, forward and backward.
#include "ops/elementwise/extrema.h"
#include "ops/elementwise/power.h"
#include "ops/elementwise/select.h"
#include "ops/indexing/indexing.h"
#include "ops/reduction/extremum.h"
#include "ops/reduction/logsumexp.h"
#include "ops/reduction/norm.h"
#include "ops/reduction/prod.h"
#include "ops/reduction/variance.h"
#include "tests/ops/op_test.h"

namespace torus::ops {
namespace {

// A row broadcasts over the rows of a matrix; its gradient sums them and the three outputs.
TEST(ChoiceTwins, ExtremaAndSelection) {
  CheckTwins([](OddShapes& shapes) {
    const int64_t rows = shapes.Size(33), columns = shapes.Size(65);
    return Twin{.function =
                    [](const Variables& in) {
                      return Variables{Maximum(in[0], in[1]), Minimum(in[0], in[1]),
                                       Clamp(Tril(in[0], 3), -0.5, 0.5)};
                    },
                .inputs = {shapes.Normal({rows, columns}), shapes.Normal({columns})},
                .gradient_terms = 3 * rows,
                .magnitude = std::sqrt(static_cast<double>(3 * rows))};
  });
}

TEST(ChoiceTwins, Pow) {
  CheckTwins([](OddShapes& shapes) {
    const int64_t rows = shapes.Size(17), columns = shapes.Size(33);
    return Twin{
        .function = [](const Variables& in) { return Variables{Pow(in[0], in[1])}; },
        .inputs = {shapes.Uniform({rows, columns}, 0.5, 2), shapes.Normal({rows, columns})}};
  });
}

TEST(ChoiceTwins, Indexing) {
  CheckTwins([](OddShapes& shapes) {
    const int64_t rows = shapes.Size(19), width = shapes.Size(70), count = shapes.Size(40);
    return Twin{.function =
                    [](const Variables& in) {
                      return Variables{Embedding(in[1], in[0]), IndexSelect(in[0], 0, in[1]),
                                       Gather(in[0], 1, in[2])};
                    },
                .inputs = {shapes.Normal({rows, width}), shapes.Indices({count}, rows),
                           shapes.Indices({rows, count}, width)},
                .gradient_terms = 3 * count,
                .magnitude = std::sqrt(static_cast<double>(3 * count))};
  });
}

// A product's rounding errors are relative: each factor adds one, and the gradient divides.
TEST(ChoiceTwins, Products) {
  CheckTwins([](OddShapes& shapes) {
    const Shape shape = shapes.Dims(3, 11);
    const int64_t dim = shapes.Size(2, 0), count = shape[static_cast<int>(dim)];
    return Twin{.function =
                    [dim](const Variables& in) {
                      return Variables{Prod(in[0], {dim}), Amin(in[0], {dim}),
                                       Min(in[0], dim).values, VectorNorm(in[0], 2, {dim})};
                    },
                .inputs = {shapes.Uniform(shape, 0.5, 2)},
                .terms = count,
                .gradient_terms = 4 * count};
  });
}

// The gradient of a variance passes through the values' distance from their mean, of size 1.
TEST(ChoiceTwins, Statistics) {
  CheckTwins([](OddShapes& shapes) {
    const Shape shape = shapes.Dims(3, 19);
    const int64_t dim = shapes.Size(2, 0), count = shape[static_cast<int>(dim)];
    return Twin{.function =
                    [dim](const Variables& in) {
                      return Variables{Amax(in[0], {dim}), Var(in[0], {dim}, 0),
                                       LogSumExp(in[0], {dim}),
                                       Variable(Argmax(in[0].data(), dim))};
                    },
                .inputs = {shapes.Normal(shape)},
                .terms = count,
                .gradient_terms = 3 * count,
                .magnitude = 1};
  });
}

}  // namespace
}  // namespace torus::ops
