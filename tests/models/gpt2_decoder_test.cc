// What the decoder says of the next token is what the whole model says.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autograd/node.h"
#include "models/gpt2/decoder.h"
#include "runtime/error.h"

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

template <class T>
class Gpt2DecoderTest : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(Gpt2DecoderTest, Types);

TYPED_TEST(Gpt2DecoderTest, AgreesWithTheWholeModel) {
  const Gpt2Options options = Small(std::is_same_v<TypeParam, double> ? DType::kF64 : DType::kF32);
  const auto model = Gpt2(options);
  model->Initialize(3);
  const Tensor ids = Ids(2, 12);
  Gpt2Decoder decoder(model, options, 2);
  int64_t begin = 0;
  for (const int64_t count : {4, 1, 1, 3, 2, 1}) {  // prompts, single tokens, several at once
    const Tensor logits = decoder.Extend(ids.Narrow(1, begin, count).Contiguous());
    begin += count;
    EXPECT_LE(Difference<TypeParam>(logits, Whole(*model, ids.Narrow(1, 0, begin).Contiguous())),
              Bound<TypeParam>())
        << "after " << begin << " tokens";
  }
  EXPECT_EQ(decoder.length(), 12);
  EXPECT_THROW(decoder.Extend(Ids(2, 1)), BadInput);  // no position is left
  decoder.Reset();
  const Tensor first = ids.Narrow(1, 0, 1).Contiguous();
  EXPECT_LE(Difference<TypeParam>(decoder.Extend(first), Whole(*model, first)), Bound<TypeParam>());
}

TEST(Gpt2Decoder, RefusesOtherModelsAndShapes) {
  const Gpt2Options options = Small(DType::kF32);
  EXPECT_THROW(Gpt2Decoder(std::make_shared<nn::Sequential>(), options), BadInput);
  Gpt2Options deeper = options;
  deeper.n_layer = 4;
  EXPECT_THROW(Gpt2Decoder(Gpt2(options), deeper), BadInput);
  Gpt2Decoder decoder(Gpt2(options), options);
  EXPECT_THROW(decoder.Extend(Ids(2, 1)), BadInput);
  EXPECT_THROW(decoder.Extend(Tensor({1, 0}, DType::kI64)), BadInput);
}

}  // namespace
}  // namespace torus
