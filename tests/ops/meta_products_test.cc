// Products, norms, losses and ops that index on the device meta, as meta_test.cc.
#include "ops/attention/attention.h"
#include "ops/convolution/conv1d.h"
#include "ops/convolution/conv_transpose.h"
#include "ops/einsum/einsum.h"
#include "ops/elementwise/math.h"
#include "ops/indexing/embedding_bag.h"
#include "ops/indexing/indexing.h"
#include "ops/indexing/scatter.h"
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
#include "ops/recurrent/lstm.h"
#include "ops/recurrent/lstm_cell.h"
#include "ops/sort/sort.h"
#include "ops/view/view.h"
#include "tests/ops/meta_rows.h"

namespace torus::ops {
namespace {

std::vector<Row> IndexingRows() {
  return {{"index_select",
           {F32({4, 3}), Indices({5})},
           [](const Variables& in) { return Variables{IndexSelect(in[0], 1, in[1])}; }},
          {"gather",
           {F32({4, 3}), Indices({2, 3})},
           [](const Variables& in) { return Variables{Gather(in[0], 0, in[1])}; }},
          {"gather",
           {F32({4, 3}), Indices({1, 3})},
           [](const Variables& in) { return Variables{TakeAlongDim(in[0], in[1], 0)}; }},
          {"scatter",
           {F32({4, 3}), Indices({2, 3}), F32({2, 4})},
           [](const Variables& in) { return Variables{Scatter(in[0], 0, in[1], in[2])}; }},
          {"scatter",
           {F32({4, 3}), Indices({2, 3})},
           [](const Variables& in) { return Variables{Scatter(in[0], 0, in[1], 2)}; }},
          {"scatter_add",
           {F32({4, 3}), Indices({2, 3}), F32({2, 3})},
           [](const Variables& in) { return Variables{ScatterAdd(in[0], 0, in[1], in[2])}; }},
          {"index_add",
           {F32({4, 3}), Indices({2}), F32({2, 3})},
           [](const Variables& in) { return Variables{IndexAdd(in[0], 0, in[1], in[2], 2)}; }},
          {"sort",
           {F32({4, 3})},
           [](const Variables& in) {
             const SortResult sorted = Sort(in[0], 0);
             return Variables{sorted.values, Variable(sorted.indices)};
           }},
          {"topk",
           {F32({4, 3})},
           [](const Variables& in) {
             const SortResult top = TopK(in[0], 2);
             return Variables{top.values, Variable(top.indices)};
           }},
          {"embedding",
           {Indices({2, 5}), F32({7, 3})},
           [](const Variables& in) { return Variables{Embedding(in[0], in[1], 0)}; }},
          {"embedding",
           {Indices({2, 5}), F32({7, 3})},
           [](const Variables& in) {
             return Variables{Embedding(in[0], in[1], 0, 1.0, 2, /*scale_grad_by_freq=*/true)};
           }},
          {"embedding_bag",
           {Indices({5}), F32({7, 3}), Indices({4})},
           [](const Variables& in) {
             return Variables{EmbeddingBag(in[0], in[1], in[2], {.padding_idx = 1})};
           }},
          {"embedding_bag", {Indices({2, 5}), F32({7, 3})}, [](const Variables& in) {
             return Variables{EmbeddingBag(in[0], in[1], {}, {.mode = BagMode::kMax})};
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
      {"matmul",
       {F32({2, 3}), F32({3, 4}), F32({4, 2})},
       [](const Variables& in) { return Variables{Einsum("ij,jk,ki->ki", in)}; }},
      {"mul",
       {F32({3}), F32({4})},
       [](const Variables& in) {
         return Variables{Outer(in[0], in[1]), Tensordot(in[0], in[1], 0)};
       }},
      {"lstm_cell",
       {F32({2, 12}), F32({2, 12}), F32({2, 3})},
       [](const Variables& in) {
         const LstmCellState next = LstmCell(in[0], in[1], in[2]);
         return Variables{next.h, next.c};
       }},
      {"lstm_cell",
       {F32({9, 2, 12}), F32({12, 3}), F32({2, 3}), F32({2, 3})},
       [](const Variables& in) {
         const LstmOutput y = Lstm(in[0], in[1], in[2], in[3]);
         return Variables{y.h, y.c};
       }},
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
  for (const auto& rows : {IndexingRows(), ProductRows(), LossRows()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

TEST(MetaProducts, ShapesAndDtypesAreThoseOfTheCpu) { ExpectKindsOfTheCpu(AllRows()); }

TEST(MetaProducts, OneInputWithoutMemoryIsEnough) { ExpectOneInputOnMetaIsEnough(AllRows()); }

}  // namespace
}  // namespace torus::ops
