// Activations, pooling, softmax, losses and dropout in f32 agree with their f64 twins on 200 random
// odd shapes each, forward and backward.
#include "ops/activation/activation.h"
#include "ops/dropout/dropout.h"
#include "ops/elementwise/math.h"
#include "ops/loss/cross_entropy.h"
#include "ops/pooling/average_pool.h"
#include "ops/pooling/max_pool.h"
#include "ops/softmax/softmax.h"
#include "tests/ops/op_test.h"

namespace torus::ops {
namespace {

using Unary = std::function<Variable(const Variable&)>;

// Several functions of one input, each an output. `magnitude` is of what cancels on the way.
Twin UnaryTwin(const std::vector<Unary>& functions, const Tensor& input, double magnitude = 0) {
  return {.function =
              [functions](const Variables& in) {
                Variables out;
                for (const Unary& f : functions) out.push_back(f(in[0]));
                return out;
              },
          .inputs = {input},
          .gradient_terms = static_cast<int64_t>(functions.size()),
          .magnitude = magnitude};
}

TEST(LayerTwins, PiecewiseActivations) {
  CheckTwins([](OddShapes& shapes) {
    return UnaryTwin({Relu, Relu6, [](const Variable& x) { return Hardtanh(x, -0.5, 0.75); },
                      [](const Variable& x) { return LeakyRelu(x, 0.1); }, Abs},
                     shapes.Uniform(shapes.Dims(3, 33), -8, 8));
  });
}

// The tails, such as 0.5 x (1 + tanh(...)), are small differences of values up to 0.5 * 8.
TEST(LayerTwins, SmoothActivations) {
  CheckTwins([](OddShapes& shapes) {
    return UnaryTwin({Sigmoid, Tanh, Silu, [](const Variable& x) { return Gelu(x); },
                      [](const Variable& x) { return Gelu(x, "tanh"); },
                      [](const Variable& x) { return Softplus(x); }, Erf},
                     shapes.Uniform(shapes.Dims(2, 33), -8, 8), 4);
  });
}

TEST(LayerTwins, PositiveFunctions) {
  CheckTwins([](OddShapes& shapes) {
    return UnaryTwin({Exp, Log, Sqrt, Rsqrt}, shapes.Uniform(shapes.Dims(2, 33), 0.25, 4));
  });
}

TEST(LayerTwins, MaxPool) {
  CheckTwins([](OddShapes& shapes) {
    const int64_t kernel = shapes.Size(4), h = shapes.Size(13, kernel), w = shapes.Size(13, kernel);
    const MaxPool2dOptions options{.kernel_size = {kernel},
                                   .stride = {shapes.Size(3), shapes.Size(3)},
                                   .padding = {shapes.Size(kernel / 2, 0)},
                                   .ceil_mode = shapes.Coin()};
    return Twin{.function =
                    [options](const Variables& in) {
                      const MaxPoolResult pooled = MaxPool2dWithIndices(in[0], options);
                      return Variables{pooled.output, Variable(pooled.indices)};
                    },
                .inputs = {shapes.Normal({shapes.Size(3), h, w, shapes.Size(70)})},
                .gradient_terms = kernel * kernel};
  });
}

TEST(LayerTwins, AveragePool) {
  CheckTwins([](OddShapes& shapes) {
    const int64_t kernel = shapes.Size(4), h = shapes.Size(13, kernel), w = shapes.Size(13, kernel);
    const AvgPool2dOptions options{.kernel_size = {kernel},
                                   .stride = {shapes.Size(3), shapes.Size(3)},
                                   .padding = {shapes.Size(kernel / 2, 0)},
                                   .ceil_mode = shapes.Coin(),
                                   .count_include_pad = shapes.Coin()};
    const Dims adaptive{shapes.Size(7), shapes.Size(7)};
    // Averages of normal values pass through sums of at most one each pixel.
    return Twin{
        .function =
            [=](const Variables& in) {
              return Variables{AvgPool2d(in[0], options), AdaptiveAvgPool2d(in[0], adaptive)};
            },
        .inputs = {shapes.Normal({shapes.Size(3), h, w, shapes.Size(70)})},
        .terms = h * w,
        .gradient_terms = kernel * kernel + adaptive[0] * adaptive[1],
        .magnitude = 1};
  });
}

TEST(LayerTwins, Softmax) {
  CheckTwins([](OddShapes& shapes) {
    const Shape shape = shapes.Dims(3, 37);
    const int64_t dim = shapes.Size(2, 0);
    return Twin{.function =
                    [dim](const Variables& in) {
                      return Variables{Softmax(in[0], dim), LogSoftmax(in[0], dim)};
                    },
                .inputs = {shapes.Normal(shape)},
                .terms = shape[static_cast<int>(dim)],
                .gradient_terms = shape[static_cast<int>(dim)],
                .magnitude = std::sqrt(static_cast<double>(shape[static_cast<int>(dim)]))};
  });
}

TEST(LayerTwins, CrossEntropy) {
  CheckTwins([](OddShapes& shapes) {
    const int64_t n = shapes.Size(17), c = shapes.Size(133), d = shapes.Size(5);
    const double smoothing = shapes.Coin() ? 0.1 : 0;
    const Tensor weight = shapes.Uniform({c}, 0.5, 2);
    return Twin{.function =
                    [=](const Variables& in) {
                      const Tensor there = weight.To(in[0].dtype()).To(in[0].data().device());
                      return Variables{CrossEntropy(
                          in[0], in[1], {.weight = there, .label_smoothing = smoothing})};
                    },
                .inputs = {shapes.Normal({n, c, d}), shapes.Indices({n, d}, c)},
                .terms = n * d * c,
                .gradient_terms = c};
  });
}

TEST(LayerTwins, Dropout) {
  CheckTwins([](OddShapes& shapes) {
    const int64_t n = shapes.Size(5);
    StepContext context{.seed = 3};
    for (int64_t i = 0; i < n; ++i) context.samples.push_back(i);
    return UnaryTwin({[=](const Variable& x) { return Dropout(x, 0.3, context, 1); }},
                     shapes.Normal({n, shapes.Size(9), shapes.Size(33)}));
  });
}

}  // namespace
}  // namespace torus::ops
