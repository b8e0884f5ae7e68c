// What holds of text models alone: what they do not see, heads that are left to the loss, sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "autograd/backward.h"
#include "models/gpt2/gpt2.h"
#include "models/gpt3/gpt3.h"
#include "models/llama/llama.h"
#include "models/nn/loss.h"
#include "models/roberta/roberta.h"
#include "ops/loss/cross_entropy.h"
#include "ops/view/view.h"
#include "runtime/rng.h"
#include "tests/models/text_inputs.h"
#include "tests/testing/error_of.h"
#include "tests/testing/tolerance.h"

namespace torus {
namespace {

TEST(Roberta, RefusesMoreTokensThanPositions) {
  const auto model = Roberta(SmallRoberta(RobertaHead::kClassification));
  const Variable ids(Full({1, 17}, 5, DType::kI64));
  EXPECT_THROW(model->Forward(ids, Context(1)), BadInput);
}

// What stands behind the padding mask is not seen: other tokens there change no logit.
TEST(Roberta, PaddingIsNotSeen) {
  const auto model = Roberta(SmallRoberta(RobertaHead::kClassification));
  model->Initialize(1);
  StepContext ctx = Context(4);
  ctx.training = false;
  std::vector<Variable> inputs = Tokens(true), others = Tokens(true);
  std::vector<int64_t> ids = ToVector<int64_t>(others[0].data());
  const std::vector<int64_t> mask = ToVector<int64_t>(others[1].data());
  for (size_t i = 0; i < ids.size(); ++i)
    if (mask[i] == 0) ids[i] = 9;
  others[0] = Variable(FromVector(ids, {4, 6}));
  EXPECT_EQ(ToVector<float>(model->ForwardAll(inputs, ctx)[0].data()),
            ToVector<float>(model->ForwardAll(others, ctx)[0].data()));
}

TEST(Gpt2, NextTokensAreShiftedLabels) {
  const Tensor labels = FromVector<int64_t>({3, 4, 5, 6, -100, 8}, {2, 3});
  EXPECT_EQ(ToVector<int64_t>(NextTokens(labels)),
            (std::vector<int64_t>{4, 5, -100, -100, 8, -100}));
}

// Expects the same loss and gradients but for rounding. A value of them is the sum of at most 40
// terms behind four layers of 12 to 48.
void ExpectSameGradients(const std::vector<Model>& models,
                         const std::function<Variable(Model)>& loss_of) {
  std::vector<double> losses;
  for (const Model& model : models) {
    model->Initialize(1);
    const Variable loss = loss_of(model);
    Backward({loss});
    losses.push_back(loss.data().Item());
  }
  EXPECT_NEAR(losses[0], losses[1], testing::Tolerance(DType::kF32, 300, losses[0]));
  for (size_t i = 0; i < models[0]->Parameters().size(); ++i) {
    const NamedVariable parameter = models[0]->Parameters()[i];
    const std::vector<float> want = ToVector<float>(parameter.value.grad());
    const std::vector<float> got = ToVector<float>(models[1]->Parameters()[i].value.grad());
    float largest = 1e-3f;  // of gradients that are zero but for rounding, as a key's bias
    for (const float w : want) largest = std::max(largest, std::abs(w));
    for (size_t j = 0; j < want.size(); ++j)
      ASSERT_NEAR(got[j], want[j], testing::Tolerance(DType::kF32, 600, largest)) << parameter.name;
  }
}

Variable LossOfNext(const Model& model) {
  const Tensor targets = NextTokens(Tokens(false)[0].data());
  return nn::NextTokenLoss(model->ForwardAll(Tokens(false), Context(4)), targets);
}

TEST(Gpt2, AHeadInTheLossGivesTheSameGradients) {
  Gpt2Options options = SmallGpt2(true);
  const Model plain = Gpt2(options);
  options.head_in_loss = true;
  ExpectSameGradients({plain, Gpt2(options)}, LossOfNext);
}

TEST(Gpt3, AHeadInTheLossGivesTheSameGradients) {
  Gpt3Options options = SmallGpt3(Gpt3Head::kLm);
  const Model plain = Gpt3(options);
  options.head_in_loss = true;
  const Model fused = Gpt3(options);
  fused->Initialize(1);
  EXPECT_EQ(fused->ForwardAll(Tokens(false), Context(4))[0].shape(), (Shape{4, 6, 12}));
  ExpectSameGradients({plain, fused}, LossOfNext);
}

// Of the plain logits, with cross entropy's own way to leave places out.
Variable LossOfMasked(const Model& model) {
  Tensor targets = Full({4, 6}, -100, DType::kI64);
  for (const int64_t place : {1, 2, 9, 20}) targets.mutable_data<int64_t>()[place] = 3 + place;
  const std::vector<Variable> outputs = model->ForwardAll(Tokens(false), Context(4));
  if (outputs.size() > 1) return nn::MaskedTokenLoss(outputs, targets);
  return ops::CrossEntropy(ops::Reshape(outputs[0], {24, 40}), Variable(targets.Reshape({24})));
}

TEST(Roberta, AHeadInTheLossGivesTheSameGradients) {
  RobertaOptions options = SmallRoberta(RobertaHead::kMaskedLm);
  const Model plain = Roberta(options);
  options.head_in_loss = true;
  const Model fused = Roberta(options);
  fused->Initialize(1);
  EXPECT_EQ(fused->ForwardAll(Tokens(false), Context(4))[0].shape(), (Shape{4, 6, 12}));
  ExpectSameGradients({plain, fused}, LossOfMasked);
}

TEST(Roberta, TheLossOfMaskedTokensTakesLogitsToo) {
  const Variable logits(FromVector<float>({0, 1, 2, 3, 9, 0}, {1, 3, 2}));
  const Tensor targets = FromVector<int64_t>({-100, 0, -100}, {1, 3});
  const double loss = nn::MaskedTokenLoss({logits}, targets).data().Item();
  EXPECT_NEAR(loss, std::log(1 + std::exp(1.0)), testing::Tolerance(DType::kF32, 2, 3));
}

// A row of documents of 4, 1 and 3 tokens, the second of which is `middle`.
std::vector<Variable> ThreeDocuments(int64_t middle) {
  return {Variable(FromVector<int64_t>({3, 4, 5, 6, middle, 7, 8, 9}, {1, 8})),
          Variable(FromVector<int64_t>({1, 1, 1, 1, 2, 3, 3, 3}, {1, 8}))};
}

void ExpectNear(const Tensor& got, const Tensor& want, int64_t terms, const std::string& of) {
  const std::vector<float> a = ToVector<float>(got), b = ToVector<float>(want);
  ASSERT_EQ(a.size(), b.size()) << of;
  float largest = 0;
  for (const float w : b) largest = std::max(largest, std::abs(w));
  for (size_t i = 0; i < b.size(); ++i)
    ASSERT_NEAR(a[i], b[i], testing::Tolerance(DType::kF32, terms, largest)) << of;
}

// The logits and gradients of a row of documents are those of rows with one each, but for rounding:
// sums behind four layers as above. Llama's angles, up to 7 here and not restarted, are off by as
// many roundings.
void ExpectDocumentsAreApart(const std::function<Model()>& make) {
  const Model packed = make(), alone = make();
  packed->Initialize(1);
  alone->Initialize(1);
  const StepContext evaluation{.training = false, .samples = {0}};
  const std::vector<Variable> row = ThreeDocuments(2);
  const Variable logits = packed->ForwardAll(row, evaluation)[0];
  Tensor seed(logits.shape(), logits.dtype());
  FillNormal(seed, 0, 1, RandomStream({.seed = 3}));
  Backward({logits}, {seed});
  for (const auto& [begin, count] : {std::pair(0, 4), std::pair(4, 1), std::pair(5, 3)}) {
    const auto part = [begin = begin, count = count](const Tensor& whole) {
      return whole.Narrow(1, begin, count).Contiguous();
    };
    const Variable own = alone->Forward(Variable(part(row[0].data())), evaluation);
    ExpectNear(part(logits.data()), own.data(), 300, "logits");
    Backward({own}, {part(seed)});
  }
  for (size_t i = 0; i < alone->Parameters().size(); ++i) {
    const NamedVariable parameter = alone->Parameters()[i];
    ExpectNear(packed->Parameters()[i].value.grad(), parameter.value.grad(), 600, parameter.name);
  }
}

// Other tokens of one document change no bit of another's logits, but do of its own.
void ExpectOtherDocumentsAreNotSeen(const Model& model) {
  model->Initialize(1);
  const auto logits_of = [&](int64_t middle) {
    return model
        ->ForwardAll(ThreeDocuments(middle), StepContext{.training = false, .samples = {0}})[0]
        .data();
  };
  const Tensor one = logits_of(2), other = logits_of(11);
  const auto part = [](const Tensor& logits, int64_t begin, int64_t count) {
    return ToVector<float>(logits.Narrow(1, begin, count).Contiguous());
  };
  EXPECT_EQ(part(one, 0, 4), part(other, 0, 4));
  EXPECT_NE(part(one, 4, 1), part(other, 4, 1));
  EXPECT_EQ(part(one, 5, 3), part(other, 5, 3));
}

TEST(Gpt2, DocumentsOfARowAreApart) {
  ExpectDocumentsAreApart([] { return Gpt2(SmallGpt2(true)); });
  ExpectOtherDocumentsAreNotSeen(Gpt2(SmallGpt2(true)));
}

TEST(Llama, DocumentsOfARowAreApart) {
  ExpectDocumentsAreApart([] { return Llama(SmallLlama(false)); });
  ExpectOtherDocumentsAreNotSeen(Llama(SmallLlama(false)));
}

TEST(Gpt2, NeedsADocumentOfEachToken) {
  const Variable ids(Full({1, 4}, 5, DType::kI64)), documents(Full({1, 3}, 1, DType::kI64));
  EXPECT_EQ(testing::ErrorOf([&] {
              Gpt2(SmallGpt2(true))->ForwardAll({ids, documents}, Context(1));
            }),
            "[gpt2] needs documents (1, 4), got (1, 3)");
}

// A token's logits do not depend on what comes behind it.
void ExpectTheFutureIsNotSeen(const Model& model) {
  model->Initialize(1);
  StepContext ctx = Context(1);
  ctx.training = false;
  auto first_two = [&](int64_t last) {
    const Variable ids(FromVector<int64_t>({3, 4, last}, {1, 3}));
    const Tensor logits = model->Forward(ids, ctx).data();
    return ToVector<float>(logits.Narrow(1, 0, 2).Contiguous());
  };
  EXPECT_EQ(first_two(5), first_two(6));
}

TEST(Gpt2, TheFutureIsNotSeen) { ExpectTheFutureIsNotSeen(Gpt2(SmallGpt2(true))); }
TEST(Llama, TheFutureIsNotSeen) { ExpectTheFutureIsNotSeen(Llama(SmallLlama(false))); }

TEST(Llama, AHeadInTheLossGivesTheSameGradients) {
  LlamaOptions options = SmallLlama(true);
  const Model plain = Llama(options);
  options.head_in_loss = true;
  ExpectSameGradients({plain, Llama(options)}, LossOfNext);
}

TEST(Llama, RefusesSizesThatDoNotDivide) {
  const auto error = [](int64_t heads, int64_t key_heads, int64_t width) {
    LlamaOptions o = SmallLlama(false);
    o.num_attention_heads = heads;
    o.num_key_value_heads = key_heads;
    o.hidden_size = width;
    return testing::ErrorOf([&] { Llama(o); });
  };
  EXPECT_EQ(error(4, 3, 8),
            "[llama] num_key_value_heads must divide num_attention_heads, got 3 and 4");
  EXPECT_EQ(error(3, 3, 8), "[llama] num_attention_heads must divide hidden_size, got 3 and 8");
  EXPECT_EQ(error(2, 2, 6), "[llama] a head's width must be even, got 3");
}

}  // namespace
}  // namespace torus
