// What the decoder says of the next token is what the whole model says.
#include "models/nn/text_decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "autograd/node.h"
#include "models/gpt2/gpt2.h"
#include "models/llama/llama.h"
#include "runtime/error.h"
#include "tests/testing/error_of.h"
#include "tests/testing/tolerance.h"

namespace torus {
namespace {

Gpt2Options Small(DType dtype) {
  return {.vocab_size = 29,
          .n_positions = 12,
          .n_embd = 24,
          .n_layer = 3,
          .n_head = 4,
          .scale_attn_by_inverse_layer_idx = true,
          .dtype = dtype};
}

LlamaOptions SmallLlama(DType dtype) {
  return {.vocab_size = 29,
          .hidden_size = 24,
          .intermediate_size = 40,
          .num_hidden_layers = 3,
          .num_attention_heads = 4,
          .num_key_value_heads = 2,
          .dtype = dtype};
}

Tensor Ids(int64_t rows, int64_t count) {
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < rows * count; ++i) ids.push_back((7 * i + 3 * (i / count)) % 29);
  return FromVector(ids, {rows, count});
}

// Logits (N, vocab_size) of the last token, by the model itself.
Tensor Whole(nn::Sequential& model, const Tensor& ids) {
  const NoGrad no_grad;
  const StepContext evaluation{.training = false};
  const Tensor logits = model.Forward(Variable(ids), evaluation).data();
  return logits.Select(1, ids.dim(1) - 1).Contiguous();
}

// The terms of all sums between a token and its logits, each of which the two add in another order.
// In a layer those are of two norms, of the products before and behind attention and of the MLP's
// first, of the scores of a head, of softmax and the values it weighs, and of the MLP's second.
int64_t TermsOnTheWay(int64_t layers, int64_t inner, int64_t tokens) {
  constexpr int64_t kWidth = 24, kHeadWidth = 24 / 4;
  return layers * (5 * kWidth + kHeadWidth + 2 * tokens + inner) + 2 * kWidth;
}

// Errors of one sum pass through those behind it, whose inputs are of the size that norms give
// them: relative to the largest logit they add like those of one long sum.
template <class T>
void ExpectNear(const Tensor& got, const Tensor& want, int64_t terms) {
  ASSERT_EQ(got.shape(), want.shape());
  const std::vector<T> a = ToVector<T>(got), b = ToVector<T>(want);
  double largest = 0;
  for (const T value : b) largest = std::max<double>(largest, std::abs(value));
  const double tolerance = testing::Tolerance(want.dtype(), terms, largest);
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << i;
}

// All texts of `ids`, in pieces, of three layers.
template <class T>
void ExpectAgreesWithTheWhole(const std::shared_ptr<nn::Sequential>& model, int64_t inner) {
  const int64_t terms = TermsOnTheWay(3, inner, 12);
  model->Initialize(3);
  const Tensor ids = Ids(2, 12);
  nn::TextDecoder decoder(model, 12, 2);
  int64_t begin = 0;
  for (const int64_t count : {4, 1, 1, 3, 2, 1}) {  // prompts, single tokens, several at once
    const Tensor logits = decoder.Extend(ids.Narrow(1, begin, count).Contiguous());
    begin += count;
    SCOPED_TRACE(fmt::format("after {} tokens", begin));
    ExpectNear<T>(logits, Whole(*model, ids.Narrow(1, 0, begin).Contiguous()), terms);
  }
  EXPECT_EQ(decoder.length(), 12);
  EXPECT_THROW(decoder.Extend(Ids(2, 1)), BadInput);  // no position is left
  decoder.Reset();
  const Tensor first = ids.Narrow(1, 0, 1).Contiguous();
  ExpectNear<T>(decoder.Extend(first), Whole(*model, first), terms);
}

TEST(TextDecoder, AgreesWithTheWholeGpt2) {
  constexpr int64_t kInner = 4 * 24;
  ExpectAgreesWithTheWhole<double>(Gpt2(Small(DType::kF64)), kInner);
  ExpectAgreesWithTheWhole<float>(Gpt2(Small(DType::kF32)), kInner);
}

TEST(TextDecoder, AgreesWithTheWholeLlama) {
  ExpectAgreesWithTheWhole<double>(Llama(SmallLlama(DType::kF64)), 40);
  ExpectAgreesWithTheWhole<float>(Llama(SmallLlama(DType::kF32)), 40);
}

// Its cache grows several times.
TEST(TextDecoder, TakesLongTexts) {
  LlamaOptions options = SmallLlama(DType::kF64);
  options.num_hidden_layers = 1;
  const auto model = Llama(options);
  model->Initialize(1);
  const Tensor ids = Ids(1, 150);
  nn::TextDecoder decoder(model, 1 << 20);
  Tensor logits;
  for (const int64_t count : {3, 61, 1, 80, 5}) {
    logits = decoder.Extend(ids.Narrow(1, decoder.length(), count).Contiguous());
  }
  ExpectNear<double>(logits, Whole(*model, ids), TermsOnTheWay(1, 40, 150));
}

TEST(TextDecoder, RefusesOtherModelsAndShapes) {
  const auto empty = std::make_shared<nn::Sequential>();
  EXPECT_EQ(testing::ErrorOf([&] { nn::TextDecoder(empty, 12); }),
            "[decoder] requires blocks with attention that keep keys and values (nn::CachedLayer), "
            "got a model of 0 layers without any");
  const auto model = Gpt2(Small(DType::kF32));
  const auto headless = std::make_shared<nn::Sequential>();  // begins with a block
  headless->Add(model->layers()[1].module);
  EXPECT_EQ(testing::ErrorOf([&] { nn::TextDecoder(headless, 12); }),
            "[decoder] requires a layer that embeds tokens and, next to each other, blocks with "
            "attention, got 1 of these, the last in place 0");
  const auto uncached = std::make_shared<nn::Sequential>();
  uncached->Add(model->layers().front().module);
  uncached->Add(model->layers().back().module);
  EXPECT_EQ(testing::ErrorOf([&] { nn::TextDecoder(uncached, 12); }),
            "[decoder] requires blocks with attention that keep keys and values (nn::CachedLayer), "
            "got a model of 2 layers without any");
  nn::TextDecoder decoder(model, 12);
  EXPECT_THROW(decoder.Extend(Ids(2, 1)), BadInput);
  EXPECT_THROW(decoder.Extend(Tensor({1, 0}, DType::kI64)), BadInput);
}

}  // namespace
}  // namespace torus
