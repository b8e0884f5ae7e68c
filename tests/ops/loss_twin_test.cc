// Losses and masks in f32 agree with their f64 twins on 200 random odd shapes each, forward and
// backward.
#include <array>

#include "ops/activation/activation.h"
#include "ops/elementwise/extrema.h"
#include "ops/elementwise/power.h"
#include "ops/elementwise/select.h"
#include "ops/loss/mse_loss.h"
#include "ops/loss/nll_loss.h"
#include "tests/ops/op_test.h"

namespace torus::ops {
namespace {

LossReduction AnyReduction(OddShapes& shapes) {
  return std::array{LossReduction::kNone, LossReduction::kSum,
                    LossReduction::kMean}[static_cast<size_t>(shapes.Size(2, 0))];
}

// Losses of normal values: their sum passes through about sqrt(n).
TEST(LossTwins, NllLoss) {
  CheckTwins([](OddShapes& shapes) {
    const int64_t n = shapes.Size(17), c = shapes.Size(65), d = shapes.Size(5);
    const LossReduction reduction = AnyReduction(shapes);
    const Tensor weight = shapes.Uniform({c}, 0.5, 2);
    return Twin{
        .function =
            [=](const Variables& in) {
              const Tensor there = weight.To(in[0].dtype()).To(in[0].data().device());
              return Variables{NllLoss(in[0], in[1], {.weight = there, .reduction = reduction})};
            },
        .inputs = {shapes.Normal({n, c, d}), shapes.Indices({n, d}, c)},
        .terms = n * d,
        .magnitude = reduction == LossReduction::kSum ? std::sqrt(static_cast<double>(n * d)) : 1};
  });
}

// A mean's gradient is compared on the scale of its largest element, not of 1.
TEST(LossTwins, MseLoss) {
  CheckTwins([](OddShapes& shapes) {
    const int64_t n = shapes.Size(33), m = shapes.Size(33);
    const LossReduction reduction = AnyReduction(shapes);
    return Twin{
        .function =
            [=](const Variables& in) { return Variables{MseLoss(in[0], in[1], reduction)}; },
        .inputs = {shapes.Normal({n, m}), shapes.Normal({n, m})},
        .terms = n * m};
  });
}

// The loss is a difference of terms of |x| and log(1 + e^-|x|), both below 4 here.
TEST(LossTwins, BinaryCrossEntropyWithLogits) {
  CheckTwins([](OddShapes& shapes) {
    const int64_t n = shapes.Size(33), m = shapes.Size(33);
    const LossReduction reduction = AnyReduction(shapes);
    const Tensor weight = shapes.Uniform({m}, 0.5, 2), positive = shapes.Uniform({m}, 0.5, 2);
    return Twin{.function =
                    [=](const Variables& in) {
                      const auto there = [&](const Tensor& t) {
                        return t.To(in[0].dtype()).To(in[0].data().device());
                      };
                      return Variables{BinaryCrossEntropyWithLogits(
                          in[0], in[1], {there(weight), there(positive), reduction})};
                    },
                .inputs = {shapes.Uniform({n, m}, -4, 4), shapes.Uniform({n, m}, 0, 1)},
                .terms = n * m,
                .magnitude = 4};
  });
}

TEST(LossTwins, LogSigmoid) {
  CheckTwins([](OddShapes& shapes) {
    return Twin{.function = [](const Variables& in) { return Variables{LogSigmoid(in[0])}; },
                .inputs = {shapes.Uniform(shapes.Dims(2, 65), -8, 8)}};
  });
}

// The row is broadcast and its gradient summed.
TEST(LossTwins, WhereAndMaskedFill) {
  CheckTwins([](OddShapes& shapes) {
    const int64_t rows = shapes.Size(33), columns = shapes.Size(65);
    const Tensor mask = shapes.Indices({rows, columns}, 2).To(DType::kBool);
    return Twin{.function =
                    [mask](const Variables& in) {
                      const Variable m(mask.To(in[0].data().device()));
                      return Variables{Where(m, in[0], in[1]), MaskedFill(in[0], m, -5),
                                       Triu(in[0], -2), Tril(in[0], 1)};
                    },
                .inputs = {shapes.Normal({rows, columns}), shapes.Normal({columns})},
                .gradient_terms = 4 + rows,
                .magnitude = std::sqrt(static_cast<double>(4 + rows))};
  });
}

// Numbers as exponent and base.
TEST(LossTwins, PowOfNumbers) {
  CheckTwins([](OddShapes& shapes) {
    return Twin{.function =
                    [](const Variables& in) {
                      return Variables{Pow(in[0], 3), Pow(in[0], -0.5), Pow(2, in[0])};
                    },
                .inputs = {shapes.Uniform(shapes.Dims(2, 33), 0.5, 2)},
                .gradient_terms = 3};
  });
}

}  // namespace
}  // namespace torus::ops
