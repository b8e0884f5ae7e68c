// What the decoder says of the next token is what the whole model says.
#include "models/nn/text_decoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autograd/node.h"
#include "models/gpt2/gpt2.h"
#include "models/llama/llama.h"
#include "runtime/error.h"
#include "tests/testing/error_of.h"

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

// Largest difference over the larger of 1 and the largest value.
template <class T>
double Difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  double largest = 1, difference = 0;
  for (int64_t i = 0; i < a.numel(); ++i) {
    const double x = a.data<T>()[i], y = b.data<T>()[i];
    largest = std::max(largest, std::abs(x));
    difference = std::max(difference, std::abs(x - y));
  }
  return difference / largest;
}

// Each of three layers, and the sums in it, round in another order: some 10 sums of 24 to 96 terms.
template <class T>
double Bound() {
  return 10 * 96 * std::numeric_limits<T>::epsilon();
}

// All texts of `ids`, in pieces.
template <class T>
void ExpectAgreesWithTheWhole(const std::shared_ptr<nn::Sequential>& model) {
  model->Initialize(3);
  const Tensor ids = Ids(2, 12);
  nn::TextDecoder decoder(model, 12, 2);
  int64_t begin = 0;
  for (const int64_t count : {4, 1, 1, 3, 2, 1}) {  // prompts, single tokens, several at once
    const Tensor logits = decoder.Extend(ids.Narrow(1, begin, count).Contiguous());
    begin += count;
    EXPECT_LE(Difference<T>(logits, Whole(*model, ids.Narrow(1, 0, begin).Contiguous())),
              Bound<T>())
        << "after " << begin << " tokens";
  }
  EXPECT_EQ(decoder.length(), 12);
  EXPECT_THROW(decoder.Extend(Ids(2, 1)), BadInput);  // no position is left
  decoder.Reset();
  const Tensor first = ids.Narrow(1, 0, 1).Contiguous();
  EXPECT_LE(Difference<T>(decoder.Extend(first), Whole(*model, first)), Bound<T>());
}

TEST(TextDecoder, AgreesWithTheWholeGpt2) {
  ExpectAgreesWithTheWhole<double>(Gpt2(Small(DType::kF64)));
  ExpectAgreesWithTheWhole<float>(Gpt2(Small(DType::kF32)));
}

TEST(TextDecoder, AgreesWithTheWholeLlama) {
  ExpectAgreesWithTheWhole<double>(Llama(SmallLlama(DType::kF64)));
  ExpectAgreesWithTheWhole<float>(Llama(SmallLlama(DType::kF32)));
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
  EXPECT_LE(Difference<double>(logits, Whole(*model, ids)), Bound<double>());
}

TEST(TextDecoder, RefusesOtherModelsAndShapes) {
  const auto empty = std::make_shared<nn::Sequential>();
  EXPECT_THROW(nn::TextDecoder(empty, 12), BadInput);
  const auto model = Gpt2(Small(DType::kF32));
  const auto headless = std::make_shared<nn::Sequential>();  // begins with a block
  headless->Add(model->layers()[1].module);
  EXPECT_THROW(nn::TextDecoder(headless, 12), BadInput);
  const auto uncached = std::make_shared<nn::Sequential>();
  uncached->Add(model->layers().front().module);
  uncached->Add(model->layers().back().module);
  EXPECT_EQ(testing::ErrorOf([&] { nn::TextDecoder(uncached, 12); }),
            "[decoder] needs blocks with attention that keep keys and values (nn::CachedLayer), "
            "got a model of 2 layers without any");
  nn::TextDecoder decoder(model, 12);
  EXPECT_THROW(decoder.Extend(Ids(2, 1)), BadInput);
  EXPECT_THROW(decoder.Extend(Tensor({1, 0}, DType::kI64)), BadInput);
}

}  // namespace
}  // namespace torus
