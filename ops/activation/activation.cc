#include "ops/activation/activation.h"

#include "autograd/undefined_input.h"
#include "ops/activation/activation_functors.h"
#include "ops/elementwise/binary.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/record_map.h"
#include "ops/sum/sum.h"
#include "ops/view/view.h"

namespace torus::ops {
namespace {

Tensor Product(const Tensor& a, const Tensor& b) {
  return ApplyBinary("prelu", BinaryOp::kMul, a, b);
}

// A factor's gradient is selected, not multiplied by 0: times an infinity that would be NaN.
Variable PreluOf(const Variable& input, const Variable& weight) {
  const Tensor &x = input.data(), &w = weight.data();
  const Tensor positive = ApplyCompare("prelu", CompareOp::kLess, Number(0, x), x);
  return Record(
      "prelu", ApplySelect("prelu", positive, x, Product(x, w)), {input, weight},
      [x = SavedActivation(input), w = Saved(weight),
       mask = Saved(positive)](const GradContext& g) {
        const auto activation = [&] {
          return ApplySelect("prelu", mask.get(), g.grad(), Product(g.grad(), w.get()));
        };
        const auto slope = [&] {
          const Tensor all =
              ApplySelect("prelu", mask.get(), Number(0, g.grad()), Product(g.grad(), x.get()));
          return SumTo(all, w.get().shape());
        };
        return Gradients{g.wants(0) ? activation() : Tensor(), g.wants(1) ? slope() : Tensor()};
      });
}

}  // namespace

Variable Relu(const Variable& input) { return RecordMap("relu", input, ReluFunctor{}); }

Variable Relu6(const Variable& input) { return RecordMap("relu6", input, HardtanhFunctor{0, 6}); }

Variable Hardtanh(const Variable& input, double min_val, double max_val) {
  Require(min_val <= max_val, "hardtanh", "min_val {} is above max_val {}", min_val, max_val);
  return RecordMap("hardtanh", input, HardtanhFunctor{min_val, max_val});
}

Variable LeakyRelu(const Variable& input, double negative_slope) {
  return RecordMap("leaky_relu", input, LeakyReluFunctor{negative_slope});
}

Variable Sigmoid(const Variable& input) { return RecordMap("sigmoid", input, SigmoidFunctor{}); }

Variable LogSigmoid(const Variable& input) {
  return RecordMap("log_sigmoid", input, LogSigmoidFunctor{});
}

Variable Tanh(const Variable& input) { return RecordMap("tanh", input, TanhFunctor{}); }

Variable Silu(const Variable& input) { return RecordMap("silu", input, SiluFunctor{}); }

Variable Gelu(const Variable& input, std::string_view approximate) {
  Require(approximate == "none" || approximate == "tanh", "gelu",
          "approximate must be none or tanh, got {}", approximate);
  return approximate == "none" ? RecordMap("gelu", input, GeluFunctor{})
                               : RecordMap("gelu", input, GeluTanhFunctor{});
}

Variable Elu(const Variable& input, double alpha) {
  return RecordMap("elu", input, EluFunctor{alpha, 1, 1});
}

Variable Selu(const Variable& input) {
  return RecordMap("selu", input, EluFunctor{1.6732632423543772, 1.0507009873554805, 1});
}

Variable Celu(const Variable& input, double alpha) {
  Require(alpha != 0, "celu", "alpha must not be 0");
  return RecordMap("celu", input, EluFunctor{alpha, 1, 1 / alpha});
}

Variable Mish(const Variable& input) { return RecordMap("mish", input, MishFunctor{}); }

Variable Hardsigmoid(const Variable& input) {
  return RecordMap("hardsigmoid", input, HardsigmoidFunctor{});
}

Variable Hardswish(const Variable& input) {
  return RecordMap("hardswish", input, HardswishFunctor{});
}

Variable Softsign(const Variable& input) { return RecordMap("softsign", input, SoftsignFunctor{}); }

Variable Threshold(const Variable& input, double threshold, double value) {
  return RecordMap("threshold", input, ThresholdFunctor{threshold, value});
}

Variable Prelu(const Variable& input, const Variable& weight) {
  RequireDefined("prelu", input, weight);
  const int64_t channels = input.rank() == 0 ? 1 : input.dim(-1);
  Require(weight.rank() <= 1 && (weight.numel() == 1 || weight.numel() == channels), "prelu",
          "the weight must have 1 or {} elements, got {}", channels, weight.shape());
  Require(weight.rank() <= input.rank(), "prelu", "a scalar needs a scalar weight, got {}",
          weight.shape());
  return InPrecision("prelu", PreluOf, input, weight);
}

Variable Glu(const Variable& input, int64_t dim) {
  RequireDefined("glu", input);
  Require(input.rank() > 0, "glu", "a scalar has no halves");
  const int d = NormalizeDim("glu", dim, input.rank());
  const int64_t half = input.dim(d) / 2;
  Require(input.dim(d) % 2 == 0, "glu", "dimension {} of {} must be even", d, input.shape());
  return Mul(Narrow(input, d, 0, half), Sigmoid(Narrow(input, d, half, half)));
}

Variable Softplus(const Variable& input, double beta, double threshold) {
  Require(beta != 0, "softplus", "beta must not be 0");
  return RecordMap("softplus", input, SoftplusFunctor{beta, threshold});
}

}  // namespace torus::ops
