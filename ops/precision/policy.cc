#include "ops/precision/policy.h"

#include <unordered_map>

#include "runtime/error.h"

namespace torus::ops {
namespace {

// Close to the lists of torch.autocast for GPUs (torch/csrc/autocast: "lower_precision_fp", "fp32",
// "promote"). Softmax returns f32, as there; a batch norm returns the dtype of its input. A layer
// norm returns the low type, which there it does not: nearly always a product rounds it next.
const std::unordered_map<std::string_view, Policy>& Table() {
  static const std::unordered_map<std::string_view, Policy> table{
      {"linear", Policy::kLow},
      {"matmul", Policy::kLow},
      {"gelu_mlp", Policy::kLow},
      {"conv2d", Policy::kLow},
      {"conv_transpose2d", Policy::kLow},
      {"scaled_dot_product_attention", Policy::kLow},
      {"linear_cross_entropy", Policy::kLowInputs},
      {"conv_chain", Policy::kComposed},
      {"lstm", Policy::kComposed},

      {"layer_norm", Policy::kLowOutput},
      {"rms_norm", Policy::kLowOutput},

      {"softmax", Policy::kFull},
      {"log_softmax", Policy::kFull},
      {"cross_entropy", Policy::kFull},
      {"cross_entropy_of_part", Policy::kFull},
      {"nll_loss", Policy::kFull},
      {"binary_cross_entropy", Policy::kFull},
      {"ctc_loss", Policy::kFull},
      {"sum", Policy::kFull},
      {"mean", Policy::kFull},
      {"prod", Policy::kFull},
      {"norm", Policy::kFull},
      {"var", Policy::kFull},
      {"std", Policy::kFull},
      {"cumsum", Policy::kFull},
      {"pow", Policy::kFull},
      {"exp", Policy::kFull},
      {"expm1", Policy::kFull},
      {"log", Policy::kFull},
      {"log1p", Policy::kFull},
      {"rsqrt", Policy::kFull},
      {"reciprocal", Policy::kFull},
      {"tan", Policy::kFull},
      {"log_sigmoid", Policy::kFull},
      {"softplus", Policy::kFull},

      {"batch_norm", Policy::kFirst},
      {"prelu", Policy::kFirst},
      {"embedding", Policy::kAny},
      {"embedding_bag", Policy::kWidest},
      {"lstm_cell", Policy::kWidest},
      {"cast", Policy::kAny},

      {"add", Policy::kWidest},
      {"sub", Policy::kWidest},
      {"mul", Policy::kWidest},
      {"div", Policy::kWidest},
      {"neg", Policy::kWidest},
      {"maximum", Policy::kWidest},
      {"minimum", Policy::kWidest},
      {"clamp", Policy::kWidest},
      {"where", Policy::kWidest},
      {"amax", Policy::kWidest},
      {"amin", Policy::kWidest},
      {"max", Policy::kWidest},
      {"min", Policy::kWidest},
      {"remainder", Policy::kWidest},
      {"fmod", Policy::kWidest},
      {"sqrt", Policy::kWidest},
      {"erf", Policy::kWidest},
      {"abs", Policy::kWidest},
      {"square", Policy::kWidest},
      {"sin", Policy::kWidest},
      {"cos", Policy::kWidest},
      {"sign", Policy::kWidest},
      {"floor", Policy::kWidest},
      {"ceil", Policy::kWidest},
      {"round", Policy::kWidest},
      {"relu", Policy::kWidest},
      {"relu6", Policy::kWidest},
      {"hardtanh", Policy::kWidest},
      {"leaky_relu", Policy::kWidest},
      {"sigmoid", Policy::kWidest},
      {"tanh", Policy::kWidest},
      {"silu", Policy::kWidest},
      {"elu", Policy::kWidest},
      {"selu", Policy::kWidest},
      {"celu", Policy::kWidest},
      {"mish", Policy::kWidest},
      {"hardsigmoid", Policy::kWidest},
      {"hardswish", Policy::kWidest},
      {"softsign", Policy::kWidest},
      {"threshold", Policy::kWidest},
      {"gelu", Policy::kWidest},
      {"swiglu", Policy::kWidest},
      {"rotary_embedding", Policy::kWidest},
      {"dropout", Policy::kWidest},
      {"max_pool2d", Policy::kWidest},
      {"avg_pool2d", Policy::kWidest},
      {"adaptive_avg_pool2d", Policy::kWidest},
      {"cat", Policy::kWidest},
      {"expand", Policy::kWidest},
      {"index_add", Policy::kWidest},
      {"scatter", Policy::kWidest},
      {"scatter_add", Policy::kWidest},
      {"pad_border", Policy::kWidest},
      {"interpolate", Policy::kWidest},
      {"unfold", Policy::kWidest},
      {"fold", Policy::kWidest},

      {"copy_to_ranks", Policy::kAny},
      {"sum_over_ranks", Policy::kAny},
      {"reshape", Policy::kAny},
      {"transpose", Policy::kAny},
      {"permute", Policy::kAny},
      {"narrow", Policy::kAny},
      {"index", Policy::kAny},
      {"index_select", Policy::kAny},
      {"gather", Policy::kAny},
      {"squeeze", Policy::kAny},
      {"unsqueeze", Policy::kAny},
      {"split", Policy::kAny},
      {"flip", Policy::kAny},
      {"roll", Policy::kAny},
      {"diagonal", Policy::kAny},
      {"diag_embed", Policy::kAny},
      {"diag", Policy::kAny},
      {"pad", Policy::kAny},
      {"sort", Policy::kAny},
      {"topk", Policy::kAny},
  };
  return table;
}

}  // namespace

Policy PolicyOf(std::string_view op) {
  const auto found = Table().find(op);
  Require(found != Table().end(), op, "has no entry in the table of precisions (ops/precision)");
  return found->second;
}

}  // namespace torus::ops
