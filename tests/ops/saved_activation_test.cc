#include "autograd/saved_activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "autograd/backward.h"
#include "ops/activation/activation.h"
#include "ops/attention/attention.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/matmul/linear.h"
#include "runtime/allocator.h"
#include "runtime/error.h"
#include "runtime/rng.h"

namespace torus {

namespace internal {
size_t KnownCopies();  // saved_activation.cc
}

namespace {

Tensor Random(const Shape& shape, uint64_t number) {
  Tensor values(shape, DType::kF32);
  FillUniform(values, -2, 2, RandomStream({.seed = 5, .layer = number}));
  return values;
}

Tensor Rounded(const Tensor& tensor) { return tensor.To(DType::kBF16).To(DType::kF32); }

using Op = std::function<Variable(const std::vector<Variable>&)>;

struct Outcome {
  std::vector<float> out;
  std::vector<std::vector<float>> gradients;
};

Outcome Through(const Op& op, const std::vector<Tensor>& inputs, DType storage) {
  std::vector<Variable> leaves;
  for (const Tensor& input : inputs) leaves.emplace_back(input, true);
  const ActivationStorage scope(storage);
  const Variable y = op(leaves);
  Backward({y}, {Random(y.shape(), 99)});
  Outcome outcome{ToVector<float>(y.data()), {}};
  for (const Variable& leaf : leaves) outcome.gradients.push_back(ToVector<float>(leaf.grad()));
  return outcome;
}

// Gradient `i` under bf16 storage is the one that the op gives for rounded inputs; the output is
// the one of the inputs as they are.
void ExpectGradientOfRounded(const Op& op, const std::vector<Tensor>& inputs,
                             const std::vector<Tensor>& rounded, size_t i) {
  const Outcome stored = Through(op, inputs, DType::kBF16);
  EXPECT_EQ(stored.out, Through(op, inputs, DType::kF32).out);
  EXPECT_EQ(stored.gradients[i], Through(op, rounded, DType::kF32).gradients[i]);
  EXPECT_NE(stored.gradients[i], Through(op, inputs, DType::kF32).gradients[i]);
}

Variable Linear(const std::vector<Variable>& in) { return ops::Linear(in[0], in[1], Variable()); }

TEST(ActivationStorage, AWeightsGradientIsOfTheRoundedInput) {
  const Tensor x = Random({2, 3, 7}, 1), w = Random({5, 7}, 2);
  ExpectGradientOfRounded(Linear, {x, w}, {Rounded(x), w}, 1);
}

TEST(ActivationStorage, ParametersAreNotRounded) {
  const Tensor x = Random({4, 7}, 1), w = Random({5, 7}, 2);
  EXPECT_EQ(Through(Linear, {x, w}, DType::kBF16).gradients[0],
            Through(Linear, {x, w}, DType::kF32).gradients[0]);
}

TEST(ActivationStorage, AFunctionsGradientIsOfTheRoundedInput) {
  const Op gelu = [](const std::vector<Variable>& in) { return ops::Gelu(in[0]); };
  const Tensor x = Random({3, 17}, 3);
  ExpectGradientOfRounded(gelu, {x}, {Rounded(x)}, 0);
}

// Views of one storage, packed together, and a view of a small part, packed alone.
TEST(ActivationStorage, StridesAndOffsetsComeBack) {
  for (const int64_t parts : {1, 3, 7}) {
    const Tensor all = Random({4, 6 * parts}, 4), w = Random({5, 4}, 2);
    const Op op = [&](const std::vector<Variable>& in) {
      const Tensor view = all.Narrow(1, 6 * parts - 6, 6).Transpose(0, 1);
      return ops::Linear(Variable(view), in[0], Variable());
    };
    const Outcome stored = Through(op, {w}, DType::kBF16);
    const Op rounded = [&](const std::vector<Variable>& in) {
      const Tensor view = Rounded(all).Narrow(1, 6 * parts - 6, 6).Transpose(0, 1);
      return ops::Linear(Variable(view), in[0], Variable());
    };
    EXPECT_EQ(stored.gradients[0], Through(rounded, {w}, DType::kF32).gradients[0]) << parts;
  }
}

// Softmax of n scores near 1 in size, each off by 2^-9 of it at most in the backward: the gradients
// differ by a few times 2^-9 of their own size, and by no more than 2^-4 in norm.
TEST(ActivationStorage, AttentionIsWithinTheRoundingOfItsInputs) {
  const Op attention = [](const std::vector<Variable>& in) {
    return ops::ScaledDotProductAttention(in[0], in[1], in[2], {.is_causal = true});
  };
  const std::vector<Tensor> qkv{Random({1, 2, 9, 8}, 1), Random({1, 2, 9, 8}, 2),
                                Random({1, 2, 9, 8}, 3)};
  const Outcome exact = Through(attention, qkv, DType::kF32),
                stored = Through(attention, qkv, DType::kBF16);
  EXPECT_EQ(stored.out, exact.out);
  for (size_t i = 0; i < 3; ++i) {
    double error = 0, norm = 0;
    for (size_t j = 0; j < exact.gradients[i].size(); ++j) {
      error += std::pow(stored.gradients[i][j] - exact.gradients[i][j], 2);
      norm += std::pow(exact.gradients[i][j], 2);
    }
    EXPECT_GT(error, 0);
    EXPECT_LT(error, norm / 256);
  }
}

size_t LiveBytes() { return AllocatorFor({}).stats().live_bytes; }

TEST(ActivationStorage, OpsThatSaveOneTensorShareItsCopy) {
  const ActivationStorage scope(DType::kBF16);
  Tensor x = Random({1 << 16}, 1);
  const size_t before = LiveBytes();
  const SavedActivation first(x), again(x);
  EXPECT_EQ(LiveBytes() - before, x.bytes() / 2);
  // Other values need another copy, and the first keeps what it saw.
  const std::vector<float> old = ToVector<float>(Rounded(x));
  x.mutable_data<float>()[0] = 100;
  const SavedActivation other(x);
  EXPECT_EQ(LiveBytes() - before, x.bytes());
  EXPECT_EQ(ToVector<float>(first.get()), old);
  EXPECT_EQ(ToVector<float>(again.get()), old);
  EXPECT_EQ(other.get().data<float>()[0], 100);
}

// The first reader's f32 copy waits for the second, but not for longer than until something else is
// unpacked, and not where nobody else will read it.
TEST(ActivationStorage, ReadersOneAfterTheOtherShareOneUnpacking) {
  const ActivationStorage scope(DType::kBF16);
  const Tensor x = Random({64}, 1), z = Random({64}, 2);
  SavedActivation first(x), second(x), other(z);
  const std::weak_ptr<Storage> unpacked = first.get().storage();
  EXPECT_FALSE(unpacked.expired());
  EXPECT_EQ(second.get().storage(), unpacked.lock());
  const std::weak_ptr<Storage> others = other.get().storage();
  EXPECT_TRUE(unpacked.expired());
  EXPECT_TRUE(others.expired());
  const std::weak_ptr<Storage> again = first.get().storage();
  EXPECT_FALSE(again.expired());
  first = SavedActivation();
  EXPECT_EQ(second.get().storage(), again.lock());
  EXPECT_TRUE(again.expired());
}

TEST(ActivationStorage, ForgetsCopiesThatAreGone) {
  const ActivationStorage scope(DType::kBF16);
  constexpr size_t kKept = 300;
  std::vector<Tensor> tensors;
  std::vector<SavedActivation> kept;
  for (size_t i = 0; i < 20000; ++i) {
    const Tensor x = Full({2}, static_cast<double>(i));
    const SavedActivation saved(x);
    if (i % 50 != 0 || i / 50 >= kKept) continue;
    tensors.push_back(x);
    kept.push_back(saved);
  }
  EXPECT_GE(internal::KnownCopies(), kKept);
  EXPECT_LE(internal::KnownCopies(), 2 * (kKept + 1));
  // Those that are held are shared still.
  const size_t before = LiveBytes();
  for (const Tensor& x : tensors) kept.emplace_back(x);
  EXPECT_EQ(LiveBytes(), before);
  EXPECT_EQ(kept[kKept - 1].get().data<float>()[0], kept.back().get().data<float>()[0]);
}

TEST(ActivationStorage, LeavesOtherDtypesAndThePlainModeAlone) {
  const Tensor wide = Full({3}, 1.0 / 3, DType::kF64), x = Full({3}, 1.0 / 3);
  EXPECT_EQ(SavedActivation(x).get().storage(), x.storage());
  const ActivationStorage scope(DType::kBF16);
  EXPECT_EQ(SavedActivation(wide).get().storage(), wide.storage());
  EXPECT_FALSE(SavedActivation(Tensor()).defined());
  EXPECT_FALSE(SavedActivation(Tensor()).get().defined());
  EXPECT_THROW(ActivationStorage(DType::kF16), BadInput);
}

TEST(ActivationStorage, ATensorKeptInFullMayNotChange) {
  Tensor x = Full({3}, 1);
  const SavedActivation saved(x);
  x.mutable_data<float>()[0] = 2;
  EXPECT_THROW(saved.get(), BadInput);
}

}  // namespace
}  // namespace torus
