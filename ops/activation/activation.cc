#include "ops/activation/activation.h"

#include "ops/activation/activation_functors.h"
#include "ops/elementwise/record_map.h"

namespace torus::ops {

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

Variable Softplus(const Variable& input, double beta, double threshold) {
  Require(beta != 0, "softplus", "beta must not be 0");
  return RecordMap("softplus", input, SoftplusFunctor{beta, threshold});
}

}  // namespace torus::ops
