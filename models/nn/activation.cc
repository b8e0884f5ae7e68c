#include "models/nn/activation.h"

#include <fmt/ranges.h>

#include <map>
#include <ranges>

#include "ops/activation/activation.h"
#include "ops/elementwise/elementwise.h"
#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus::nn {
namespace {

Variable Gelu(const Variable& x) { return ops::Gelu(x); }
Variable GeluTanh(const Variable& x) { return ops::Gelu(x, "tanh"); }
// Hendrycks and Gimpel 2016, section 2: the logistic approximation.
Variable QuickGelu(const Variable& x) { return ops::Mul(x, ops::Sigmoid(ops::Mul(x, 1.702))); }

}  // namespace

ActivationFn ActivationByName(const std::string& name, const std::string& where) {
  static const std::map<std::string, ActivationFn> kKnown = {{"gelu", Gelu},
                                                             {"gelu_new", GeluTanh},
                                                             {"gelu_pytorch_tanh", GeluTanh},
                                                             {"gelu_fast", GeluTanh},
                                                             {"relu", ops::Relu},
                                                             {"silu", ops::Silu},
                                                             {"gelu_python", Gelu},
                                                             {"gelu_accurate", GeluTanh},
                                                             {"gelu_python_tanh", GeluTanh},
                                                             {"quick_gelu", QuickGelu},
                                                             {"swish", ops::Silu},
                                                             {"tanh", ops::Tanh},
                                                             {"sigmoid", ops::Sigmoid}};
  const auto found = kKnown.find(name);
  Require(found != kKnown.end(), where, "there is no activation function {}; known: {}",
          io::Printable(name), fmt::join(std::views::keys(kKnown), ", "));
  return found->second;
}

}  // namespace torus::nn
