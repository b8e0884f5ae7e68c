// Every op on the device meta, where tensors have shapes and no memory: outputs and gradients have
// the shapes and dtypes that the same call gives on the CPU. Products, losses and what indexes are
// in meta_products_test.cc.
#include "ops/activation/activation.h"
#include "ops/activation/swiglu.h"
#include "ops/dropout/dropout.h"
#include "ops/elementwise/cast.h"
#include "ops/elementwise/comparison.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/extrema.h"
#include "ops/elementwise/math.h"
#include "ops/elementwise/power.h"
#include "ops/elementwise/remainder.h"
#include "ops/elementwise/select.h"
#include "ops/indexing/index.h"
#include "ops/pad/pad.h"
#include "ops/reduction/cumsum.h"
#include "ops/reduction/extremum.h"
#include "ops/reduction/logsumexp.h"
#include "ops/reduction/norm.h"
#include "ops/reduction/prod.h"
#include "ops/reduction/reduction.h"
#include "ops/reduction/truth.h"
#include "ops/reduction/variance.h"
#include "ops/resampling/interpolate.h"
#include "ops/resampling/pixel_shuffle.h"
#include "ops/resampling/unfold.h"
#include "ops/rotary/rotary.h"
#include "ops/softmax/softmax.h"
#include "ops/view/diagonal.h"
#include "ops/view/join.h"
#include "ops/view/order.h"
#include "ops/view/repeat.h"
#include "ops/view/view.h"
#include "tests/ops/meta_rows.h"

namespace torus::ops {
namespace {

std::vector<Row> PointwiseRows() {
  return {Two("add", [](V a, V b) { return Add(a, b, 2); }),
          Two("sub", [](V a, V b) { return Sub(a, b); }),
          Two("mul", [](V a, V b) { return Mul(a, b); }),
          Two("div", [](V a, V b) { return Div(a, b); }),
          Two("", [](V a, V b) { return Div(a, b, DivRounding::kFloor); }),
          Two("remainder", [](V a, V b) { return Remainder(a, b); }),
          Two("fmod", [](V a, V b) { return Fmod(a, b); }),
          Two("", [](V a, V b) { return LogicalAnd(Ne(a, b), Ge(a, 1)); }),
          Two("", [](V a, V b) { return LogicalOr(Lt(a, b), LogicalNot(IsFinite(a))); }),
          {"",
           {Indices({2, 1}), Indices({3})},
           [](const Variables& in) {
             return Variables{Add(in[0], Neg(in[1])), Div(in[0], in[1]), Sign(Sub(in[0], in[1])),
                              Div(in[0], Add(in[1], 1), DivRounding::kTrunc)};
           }},
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
          One("expm1", {2, 3}, Expm1),
          One("log1p", {2, 3}, Log1p),
          One("reciprocal", {2, 3}, Reciprocal),
          One("square", {2, 3}, Square),
          One("sin", {2, 3}, Sin),
          One("cos", {2, 3}, Cos),
          One("tan", {2, 3}, Tan),
          One("sign", {2, 3}, Sign),
          One("floor", {2, 3}, Floor),
          One("ceil", {2, 3}, Ceil),
          One("round", {2, 3}, [](V x) { return Round(x, 1); }),
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
          One("elu", {2, 3}, [](V x) { return Elu(x); }),
          One("selu", {2, 3}, Selu),
          One("celu", {2, 3}, [](V x) { return Celu(x); }),
          One("mish", {2, 3}, Mish),
          One("hardsigmoid", {2, 3}, Hardsigmoid),
          One("hardswish", {2, 3}, Hardswish),
          One("softsign", {2, 3}, Softsign),
          One("threshold", {2, 3}, [](V x) { return Threshold(x, 0.1, 2); }),
          One("mul", {2, 3, 4}, [](V x) { return Glu(x, 0); }),
          {"prelu",
           {F32({2, 3}), F32({3})},
           [](const Variables& in) { return Variables{Prelu(in[0], in[1])}; }},
          One("rotary_embedding", {2, 3, 4}, [](V x) { return RotaryEmbedding(x); }),
          {"swiglu",
           {F32({2, 3}), F32({2, 3})},
           [](const Variables& in) { return Variables{Swiglu(in[0], in[1])}; }},
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
          One("amin", {2, 3, 4}, [](V x) { return Amin(x, {1}, true); }),
          One("max", {2, 3, 4}, [](V x) { return Max(x); }),
          One("min", {2, 3, 4}, [](V x) { return Min(x, 1).values; }),
          One("", {2, 3, 4}, [](V x) { return Max(x, 2, true).indices; }),
          One("", {2, 3, 4}, [](V x) { return Any(x, {0}); }),
          One("", {2, 3, 4}, [](V x) { return All(x); }),
          One("", {2, 3, 4}, [](V x) { return Sum(CountNonzero(x, {1})); }),
          One("prod", {2, 3, 4}, [](V x) { return Prod(x, {1}); }),
          One("norm", {2, 3, 4}, [](V x) { return VectorNorm(x, 3, {0}); }),
          One("norm", {2, 3, 4}, [](V x) { return VectorNorm(x); }),
          One("std", {2, 3, 4}, [](V x) { return Std(x, {0}); }),
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
          One("index", {2, 3, 4},
              [](V x) {
                return Index(x, {0, kNewAxis, Slice({}, {}, 2)});
              }),
          One("", {2, 3, 4},
              [](V x) {
                return Index(x, {kEllipsis, Arange(2).View({1, 2})});
              }),
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

std::vector<Row> MoveRows() {
  return {One("flip", {2, 3}, [](V x) { return Flip(x, {1}); }),
          One("roll", {2, 3},
              [](V x) {
                return Roll(x, {1, 1}, {0, 1});
              }),
          One("expand", {2, 3},
              [](V x) {
                return Repeat(x, {2, 1, 3});
              }),
          One("expand", {2, 3}, [](V x) { return RepeatInterleave(x, 2, 1); }),
          One("diagonal", {2, 3}, [](V x) { return Diagonal(x, 1); }),
          One("diag_embed", {2, 3}, [](V x) { return DiagEmbed(x, -1); }),
          One("diag", {2, 3}, [](V x) { return Diag(x); }),
          One("pad", {2, 3},
              [](V x) {
                return Pad(x, {1, -1, 0, 2});
              }),
          One("pad_border", {2, 3},
              [](V x) {
                return Pad(x, {2, -1}, "reflect");
              }),
          One("pad_border", {2, 3},
              [](V x) {
                return Pad(x, {1, 1, 1, 0}, "circular");
              }),
          {"split", {F32({5, 3})}, [](const Variables& in) { return Chunk(in[0], 2); }},
          {"squeeze", {F32({2, 3})}, [](const Variables& in) { return Unbind(in[0], 1); }}};
}

std::vector<Row> ImageRows() {
  return {
      One("interpolate", {2, 3, 4, 2},
          [](V x) {
            return Interpolate(x, {.size = {5, 2}, .mode = "bilinear"});
          }),
      One("interpolate", {2, 3, 2}, [](V x) { return Interpolate(x, {.scale_factor = {1.5}}); }),
      One("unfold", {2, 3, 4, 2}, [](V x) { return Unfold(x, {2}, {1}, {1}); }),
      One("fold", {2, 6, 8},
          [](V x) {
            return Fold(x, {3, 4}, {2});
          }),
      One("permute", {2, 3, 2, 4}, [](V x) { return PixelShuffle(x, 2); }),
      One("permute", {2, 4, 2, 3}, [](V x) { return PixelUnshuffle(x, 2); })};
}

std::vector<Row> AllRows() {
  std::vector<Row> all;
  for (const auto& rows :
       {PointwiseRows(), ActivationRows(), ReductionRows(), ViewRows(), MoveRows(), ImageRows()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

TEST(Meta, ShapesAndDtypesAreThoseOfTheCpu) { ExpectKindsOfTheCpu(AllRows()); }

TEST(Meta, OneInputWithoutMemoryIsEnough) { ExpectOneInputOnMetaIsEnough(AllRows()); }

}  // namespace
}  // namespace torus::ops
