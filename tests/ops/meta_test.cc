// Every op on the device meta, where tensors have shapes and no memory: outputs and gradients have
// the shapes and dtypes that the same call gives on the CPU.
#include <set>

#include "autograd/backward.h"
#include "autograd/op_observer.h"
#include "ops/activation/activation.h"
#include "ops/attention/attention.h"
#include "ops/convolution/conv1d.h"
#include "ops/convolution/conv_transpose.h"
#include "ops/dropout/dropout.h"
#include "ops/elementwise/cast.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/extrema.h"
#include "ops/elementwise/math.h"
#include "ops/elementwise/power.h"
#include "ops/elementwise/select.h"
#include "ops/indexing/indexing.h"
#include "ops/layer_norm/group_norm.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/layer_norm/rms_norm.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/ctc_loss.h"
#include "ops/loss/distance.h"
#include "ops/loss/linear_cross_entropy.h"
#include "ops/loss/margin_losses.h"
#include "ops/loss/mse_loss.h"
#include "ops/loss/probability_losses.h"
#include "ops/matmul/linear.h"
#include "ops/matmul/matmul.h"
#include "ops/mlp/mlp.h"
#include "ops/reduction/cumsum.h"
#include "ops/reduction/extremum.h"
#include "ops/reduction/logsumexp.h"
#include "ops/reduction/reduction.h"
#include "ops/reduction/variance.h"
#include "ops/softmax/softmax.h"
#include "ops/view/join.h"
#include "ops/view/view.h"
#include "tests/ops/op_test.h"

namespace torus::ops {
namespace {

// One call. `op` is the name that it records, empty where it records none.
struct Row {
  std::string op;
  std::vector<Tensor> inputs;  // floating ones require a gradient
  testing::CheckedFunction call;
};

Tensor F32(const Shape& shape) { return Full(shape, 0.5); }
Tensor Indices(const Shape& shape) { return Zeros(shape, DType::kI64); }
Tensor Mask(const Shape& shape) { return Full(shape, 1, DType::kBool); }

// A row of one input and one output.
template <class F>
Row One(const std::string& op, const Shape& shape, const F& f) {
  return {op, {F32(shape)}, Of(f)};
}

// A row of two inputs that broadcast.
template <class F>
Row Two(const std::string& op, const F& f) {
  return {op, {F32({2, 1, 3}), F32({4, 1})}, [f](const Variables& in) {
            return Variables{f(in[0], in[1])};
          }};
}

using V = const Variable&;

std::vector<Row> PointwiseRows() {
  return {Two("add", [](V a, V b) { return Add(a, b, 2); }),
          Two("sub", [](V a, V b) { return Sub(a, b); }),
          Two("mul", [](V a, V b) { return Mul(a, b); }),
          Two("div", [](V a, V b) { return Div(a, b); }),
          Two("", [](V a, V b) { return Div(a, b, DivRounding::kFloor); }),
          Two("maximum", Maximum),
          Two("minimum", Minimum),
          Two("pow", [](V a, V b) { return Pow(a, b); }),
          One("add", {2, 3}, [](V x) { return Add(x, 1.5); }),
          One("pow", {2, 3}, [](V x) { return Pow(x, 0.5); }),
          One("pow", {2, 3}, [](V x) { return Pow(2, x); }),
          One("clamp", {2, 3}, [](V x) { return Clamp(x, 0, 1); }),
          One("cast", {2, 3}, [](V x) { return Cast(x, DType::kF64); }),
          One("neg", {2, 3}, Neg),
          One("exp", {2, 3}, Exp),
          One("log", {2, 3}, Log),
          One("sqrt", {2, 3}, Sqrt),
          One("rsqrt", {2, 3}, Rsqrt),
          One("erf", {2, 3}, Erf),
          One("abs", {2, 3}, Abs),
          One("where", {2, 3}, [](V x) { return Tril(x, 1); }),
          One("where", {2, 3}, [](V x) { return Triu(x); }),
          {"where",
           {Mask({2, 1}), F32({2, 3}), F32({3})},
           [](const Variables& in) { return Variables{Where(in[0], in[1], in[2])}; }},
          {"where", {F32({2, 3}), Mask({2, 3})}, [](const Variables& in) {
             return Variables{MaskedFill(in[0], in[1], -1)};
           }}};
}

std::vector<Row> ActivationRows() {
  return {One("relu", {2, 3}, Relu),
          One("relu6", {2, 3}, Relu6),
          One("hardtanh", {2, 3}, [](V x) { return Hardtanh(x); }),
          One("leaky_relu", {2, 3}, [](V x) { return LeakyRelu(x); }),
          One("sigmoid", {2, 3}, Sigmoid),
          One("log_sigmoid", {2, 3}, LogSigmoid),
          One("tanh", {2, 3}, Tanh),
          One("silu", {2, 3}, Silu),
          One("gelu", {2, 3}, [](V x) { return Gelu(x, "tanh"); }),
          One("softplus", {2, 3}, [](V x) { return Softplus(x); }),
          One("softmax", {2, 3}, [](V x) { return Softmax(x, 0); }),
          One("log_softmax", {2, 3}, [](V x) { return LogSoftmax(x, 1); }),
          One("dropout", {2, 3}, [](V x) {
            return Dropout(x, 0.5, {.seed = 1, .samples = {0, 1}}, 0);
          })};
}

std::vector<Row> ReductionRows() {
  return {One("sum", {2, 3, 4},
              [](V x) {
                return Sum(x, {0, 2});
              }),
          One("mean", {2, 3, 4}, [](V x) { return Mean(x, {1}, true); }),
          One("amax", {2, 3, 4},
              [](V x) {
                return Amax(x, {0, 2});
              }),
          One("", {2, 3, 4}, [](V x) { return Variable(Argmax(x.data(), 1)); }),
          One("var", {2, 3, 4}, [](V x) { return Var(x, {0}); }),
          One("exp", {2, 3, 4},
              [](V x) {
                return LogSumExp(x, {0, 1}, true);
              }),
          One("cumsum", {2, 3, 4}, [](V x) { return Cumsum(x, 1); })};
}

std::vector<Row> ViewRows() {
  return {One("reshape", {2, 3, 4},
              [](V x) {
                return Reshape(x, {4, -1});
              }),
          One("reshape", {2, 3, 4}, [](V x) { return Flatten(x, 1); }),
          One("transpose", {2, 3, 4}, [](V x) { return Transpose(x, 0, 2); }),
          One("permute", {2, 3, 4},
              [](V x) {
                return Permute(x, {2, 0, 1});
              }),
          One("narrow", {2, 3, 4}, [](V x) { return Narrow(x, 1, -2, 2); }),
          One("expand", {2, 1, 4},
              [](V x) {
                return Expand(x, {5, 2, 3, 4});
              }),
          One("squeeze", {2, 1, 4}, [](V x) { return Squeeze(x); }),
          One("unsqueeze", {2, 4}, [](V x) { return Unsqueeze(x, 1); }),
          {"cat",
           {F32({2, 3}), F32({2, 1})},
           [](const Variables& in) { return Variables{Cat(in, 1)}; }},
          {"cat",
           {F32({2, 3}), F32({2, 3})},
           [](const Variables& in) { return Variables{Stack(in, 1)}; }},
          {"split", {F32({5, 3})}, [](const Variables& in) { return Split(in[0], 2); }}};
}

std::vector<Row> IndexingRows() {
  return {{"index_select",
           {F32({4, 3}), Indices({5})},
           [](const Variables& in) { return Variables{IndexSelect(in[0], 1, in[1])}; }},
          {"gather",
           {F32({4, 3}), Indices({2, 3})},
           [](const Variables& in) { return Variables{Gather(in[0], 0, in[1])}; }},
          {"embedding",
           {Indices({2, 5}), F32({7, 3})},
           [](const Variables& in) { return Variables{Embedding(in[0], in[1], 0)}; }},
          {"embedding", {Indices({2, 5}), F32({7, 3})}, [](const Variables& in) {
             return Variables{Embedding(in[0], in[1], 0, 1.0, 2, /*scale_grad_by_freq=*/true)};
           }}};
}

std::vector<Row> ProductRows() {
  return {
      {"linear",
       {F32({2, 3, 4}), F32({5, 4}), F32({5})},
       [](const Variables& in) { return Variables{Linear(in[0], in[1], in[2])}; }},
      {"linear",
       {F32({3, 4}), F32({4, 5})},
       [](const Variables& in) { return Variables{LinearInOut(in[0], in[1])}; }},
      {"gelu_mlp",
       {F32({2, 3, 4}), F32({4, 5}), F32({5}), F32({5, 6}), F32({6})},
       [](const Variables& in) {
         return Variables{FusedGeluMlp(in[0], {in[1], in[2], in[3], in[4]})};
       }},
      {"matmul",
       {F32({2, 1, 3, 4}), F32({3, 4, 5})},
       [](const Variables& in) { return Variables{Matmul(in[0], in[1])}; }},
      {"matmul",
       {F32({2, 3, 4}), F32({4})},
       [](const Variables& in) { return Variables{Matmul(in[0], in[1])}; }},
      {"layer_norm",
       {F32({2, 3, 4}), F32({4}), F32({4})},
       [](const Variables& in) { return Variables{LayerNorm(in[0], {4}, in[1], in[2])}; }},
      {"mul",
       {F32({2, 3, 4}), F32({4}), F32({4})},
       [](const Variables& in) {
         return Variables{GroupNorm(in[0], 2, in[1], in[2]), InstanceNorm(in[0], in[1], in[2])};
       }},
      {"conv_transpose2d",
       {F32({2, 3, 4, 6}), F32({6, 3, 2, 2}), F32({4})},
       [](const Variables& in) {
         return Variables{ConvTranspose2d(in[0], in[1], in[2], {.stride = {2, 1}, .groups = 2})};
       }},
      {"conv_transpose2d",
       {F32({2, 5, 6}), F32({6, 3, 4}), F32({4, 3, 6})},
       [](const Variables& in) {
         return Variables{Conv1d(ConvTranspose1d(in[0], in[1]), Narrow(in[2], 2, 0, 4))};
       }},
      {"rms_norm",
       {F32({2, 3, 4}), F32({4})},
       [](const Variables& in) { return Variables{RmsNorm(in[0], {4}, in[1])}; }},
      {"scaled_dot_product_attention",
       {F32({2, 4, 3, 8}), F32({1, 2, 5, 8}), F32({2, 2, 5, 6}), Mask({5})},
       [](const Variables& in) {
         return Variables{ScaledDotProductAttention(in[0], in[1], in[2],
                                                    {.attn_mask = in[3], .enable_gqa = true})};
       }},
      // An added mask that wants a gradient is composed of other ops.
      {"softmax",
       {F32({2, 3, 8}), F32({2, 5, 8}), F32({2, 5, 6}), F32({3, 5})},
       [](const Variables& in) {
         return Variables{
             ScaledDotProductAttention(in[0], in[1], in[2], {.attn_mask = Exp(in[3])})};
       }}};
}

std::vector<Row> LossRows() {
  return {{"cross_entropy",
           {F32({4, 5, 2}), Indices({4, 2})},
           [](const Variables& in) { return Variables{CrossEntropy(in[0], in[1])}; }},
          {"cross_entropy",
           {F32({4, 5}), Indices({4})},
           [](const Variables& in) {
             return Variables{CrossEntropy(in[0], in[1], {.reduction = LossReduction::kNone})};
           }},
          {"nll_loss",
           {F32({4, 5}), Indices({4}), F32({5})},
           [](const Variables& in) {
             return Variables{
                 CrossEntropy(in[0], in[1], {.weight = in[2].data(), .label_smoothing = 0.1})};
           }},
          {"log_softmax",
           {F32({4, 5}), F32({4, 5})},
           [](const Variables& in) { return Variables{CrossEntropy(in[0], in[1])}; }},
          {"linear_cross_entropy",
           {F32({2, 3, 4}), F32({7, 4}), F32({7}), Indices({2, 3})},
           [](const Variables& in) {
             return Variables{LinearCrossEntropy(in[0], in[1], in[2], in[3])};
           }},
          {"mean",
           {F32({4, 5}), F32({4, 5})},
           [](const Variables& in) { return Variables{MseLoss(in[0], in[1])}; }},
          {"ctc_loss",
           {F32({6, 2, 5}), Indices({2, 3}), Indices({2}), Indices({2})},
           [](const Variables& in) {
             return Variables{CtcLoss(in[0], in[1].data(), in[2].data(), in[3].data())};
           }},
          {"binary_cross_entropy",
           {F32({4, 5}), F32({4, 5})},
           [](const Variables& in) { return Variables{BinaryCrossEntropy(in[0], in[1])}; }},
          {"where",
           {F32({4, 5}), F32({4, 5})},
           [](const Variables& in) {
             return Variables{KlDiv(in[0], in[1]), HingeEmbeddingLoss(in[0], in[1]),
                              CosineSimilarity(in[0], in[1])};
           }},
          {"clamp",
           {F32({4, 5}), F32({4, 5}), F32({4, 5})},
           [](const Variables& in) {
             return Variables{MarginRankingLoss(in[0], in[1], in[2]),
                              TripletMarginLoss(in[0], in[1], in[2]),
                              GaussianNllLoss(in[0], in[1], in[2])};
           }},
          {"log_sigmoid", {F32({4, 5}), F32({4, 5})}, [](const Variables& in) {
             return Variables{BinaryCrossEntropyWithLogits(in[0], in[1])};
           }}};
}

std::vector<Row> AllRows() {
  std::vector<Row> all;
  for (const auto& rows : {PointwiseRows(), ActivationRows(), ReductionRows(), ViewRows(),
                           IndexingRows(), ProductRows(), LossRows()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

struct NamesOfOps : OpObserver {
  void OnOp(std::string_view op, const Variables&, const Variables&) override {
    seen.insert(std::string(op));
  }
  void OnProduct(int64_t) override {}
  std::set<std::string> seen;
};

std::string KindOf(const Tensor& t) {
  return t.defined() ? fmt::format("{} {}", Name(t.dtype()), t.shape()) : "none";
}

// What the outputs are, and the gradients of the inputs.
std::vector<std::string> KindsOn(Device device, const Row& row) {
  Variables leaves, outputs;
  std::vector<Tensor> seeds;
  std::vector<std::string> kinds;
  for (const Tensor& input : row.inputs)
    leaves.emplace_back(input.To(device), IsFloating(input.dtype()));
  for (const Variable& y : row.call(leaves)) {
    EXPECT_EQ(ToString(y.data().device()), ToString(device));
    kinds.push_back(KindOf(y.data()));
    if (!y.requires_grad()) continue;
    outputs.push_back(y);
    seeds.push_back(Full(y.shape(), 1, y.dtype(), device));
  }
  if (!outputs.empty()) Backward(outputs, seeds);
  for (const Variable& leaf : leaves) kinds.push_back(KindOf(leaf.grad()));
  return kinds;
}

TEST(Meta, ShapesAndDtypesAreThoseOfTheCpu) {
  for (const Row& row : AllRows()) {
    SCOPED_TRACE(row.op);
    const std::vector<std::string> wanted = KindsOn({}, row);
    NamesOfOps names;
    EXPECT_EQ(KindsOn(kMetaDevice, row), wanted);
    EXPECT_TRUE(row.op.empty() || names.seen.contains(row.op));
  }
}

// A model's parameters are real where only its shapes are asked for.
TEST(Meta, OneInputWithoutMemoryIsEnough) {
  for (const Row& row : AllRows())
    for (size_t meta = 0; meta < row.inputs.size(); ++meta) {
      SCOPED_TRACE(row.op);
      Variables inputs;
      for (size_t i = 0; i < row.inputs.size(); ++i)
        inputs.emplace_back(i == meta ? row.inputs[i].To(kMetaDevice) : row.inputs[i]);
      for (const Variable& y : row.call(inputs)) EXPECT_EQ(y.data().device(), kMetaDevice);
    }
}

}  // namespace
}  // namespace torus::ops
