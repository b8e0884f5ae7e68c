// Codecs that remember: error feedback, and the change of each sample.
#include <gtest/gtest.h>

#include "parallel/codec/make_codec.h"
#include "runtime/error.h"
#include "tests/parallel/codec/exact_sort.h"
#include "tests/parallel/codec/round_trip.h"

namespace torus::parallel {
namespace {

double Norm(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += double{value} * value;
  return std::sqrt(sum);
}

// What was given and not received, of all tensors together.
std::vector<float> Missing(const std::string& name, int tensors, size_t count) {
  const auto codec = MakeCodec(name);
  CodecMemory memory, receiver;
  CodecContext context = CodecContext::Flat(static_cast<int64_t>(count));
  std::vector<double> missing(count);
  for (context.step = 0; context.step < tensors; ++context.step) {
    const std::vector<float> values = Draw("normal", count, static_cast<uint32_t>(context.step));
    context.memory = &memory;
    const std::vector<std::byte> bytes = EncodeIn(*codec, context, values);
    context.memory = &receiver;
    const std::vector<float> got = DecodeIn(*codec, context, bytes);
    for (size_t i = 0; i < count; ++i) missing[i] += double{values[i]} - got[i];
  }
  return {missing.begin(), missing.end()};
}

// topk leaves at most a share 1 - p of the squared norm, so the residual's norm is at most
// sqrt(1 - p) / (1 - sqrt(1 - p)) times that of a tensor, however many there were (Karimireddy et
// al., lemma 3). Without feedback the sum grows with their number.
TEST(ErrorFeedback, TheSumOfErrorsStaysBounded) {
  constexpr size_t kCount = 500;
  const double contraction = std::sqrt(0.9);
  const double bound = contraction / (1 - contraction) * 1.2 * std::sqrt(kCount);
  for (const int tensors : {50, 400})
    EXPECT_LT(Norm(Missing("ef(topk:0.1)", tensors, kCount)), bound) << tensors;
  for (const char* name : {"ef(uniform:4)", "ef(randk:0.2)", "ef(kmeans:1)", "ef(f8:e5m2)"})
    EXPECT_LT(Norm(Missing(name, 400, kCount)), bound) << name;
}

TEST(ErrorFeedback, WithoutMemoryOrTrainingItIsTheCodecAlone) {
  const auto plain = MakeCodec("topk:0.1"), fed = MakeCodec("ef(topk:0.1)");
  const std::vector<float> values = Draw("normal", 300, 1);
  CodecMemory memory;
  CodecContext context = CodecContext::Flat(300);
  EXPECT_EQ(EncodeIn(*fed, context, values), EncodeFlat(*plain, values));
  context.memory = &memory;
  EncodeIn(*fed, context, values);
  const CodecMemory before = memory;
  context.training = false;
  EXPECT_EQ(EncodeIn(*fed, context, values), EncodeFlat(*plain, values));
  EXPECT_EQ(memory, before);
}

TEST(ErrorFeedback, WhatCannotBeEncodedLeavesTheResidual) {
  const auto codec = MakeCodec("ef(topk:0.1)");
  CodecMemory memory;
  CodecContext context = CodecContext::Flat(300);
  context.memory = &memory;
  std::vector<float> values = Draw("normal", 300, 1);
  EncodeIn(*codec, context, values);
  const CodecMemory before = memory;
  values[7] = std::nanf("");
  EXPECT_TRUE(EncodeIn(*codec, context, values).empty());
  EXPECT_EQ(memory, before);
}

TEST(ErrorFeedback, ASmallerTensorUsesTheFront) {
  const auto codec = MakeCodec("ef(topk:0.5)");
  CodecMemory memory;
  CodecContext context = CodecContext::Flat(4);
  context.memory = &memory;
  EncodeIn(*codec, context, std::vector<float>{1, 2, 3, 4});  // 1 and 2 stay behind
  context.shape = {2};
  EXPECT_EQ(DecodeIn(*codec, context, EncodeIn(*codec, context, std::vector<float>{5, 1})),
            (std::vector<float>{6, 0}));
  EXPECT_EQ(memory.values["residual"], (std::vector<float>{0, 3, 0, 0}));
}

// As with the loss of runs in f16: what was left of gradients times 8 joins those times 2.
TEST(ErrorFeedback, FollowsTheScaleOfTheValues) {
  const auto codec = MakeCodec("ef(topk:0.5)");
  CodecMemory memory;
  CodecContext context = CodecContext::Flat(2);
  context.memory = &memory;
  context.scale = 8;
  EncodeIn(*codec, context, std::vector<float>{8, 24});  // 8 stays behind
  EXPECT_EQ(memory.values["residual"], (std::vector<float>{1, 0}));
  context.scale = 2;
  EXPECT_EQ(DecodeIn(*codec, context, EncodeIn(*codec, context, std::vector<float>{10, 1})),
            (std::vector<float>{12, 0}));
}

// The sender must not decode into the memory with which it encodes: both ends would then differ.
TEST(ErrorFeedback, AroundACodecWhoseDecoderRemembers) {
  const auto codec = MakeCodec("ef(delta(uniform:2))");
  EXPECT_TRUE(codec->decodes_from_memory());
  constexpr size_t kRow = 50;
  constexpr int kSteps = 40;
  CodecMemory sender, receiver;
  CodecContext context{.shape = {2, kRow}};
  std::vector<double> missing(2 * kRow);
  for (context.step = 0; context.step < kSteps; ++context.step) {
    const std::vector<int64_t> samples{context.step % 3, 10};
    const std::vector<float> values = Draw("normal", 2 * kRow, static_cast<uint32_t>(context.step));
    context.samples = samples;
    context.memory = &sender;
    const std::vector<std::byte> bytes = EncodeIn(*codec, context, values);
    context.memory = &receiver;
    const std::vector<float> got = DecodeIn(*codec, context, bytes);
    if (context.step == 0) {
      EXPECT_EQ(got, values) << "the first visit is exact";
    }
    for (size_t i = 0; i < missing.size(); ++i) missing[i] += double{values[i]} - got[i];
    ASSERT_EQ(sender.parts["ef"], receiver.parts["ef"]) << context.step;
  }
  // Each step rounds three sums of values below 16.
  const double rounding = kSteps * 3 * 16 * 0x1p-24;
  for (size_t i = 0; i < missing.size(); ++i)
    EXPECT_NEAR(missing[i], sender.values["residual"][i], rounding) << i;
  EXPECT_GT(Norm(sender.values["residual"]), 1) << "two bits leave much";
}

TEST(ErrorFeedback, CannotBeInsideOfWhatWorksOnParts) {
  EXPECT_THROW(MakeCodec("delta(ef(uniform:4))"), BadInput);
  EXPECT_THROW(MakeCodec("ef(uniform:4)/sample"), BadInput);
}

TEST(CodecMemory, GoesBackToWhatItWasBeforeASkippedStep) {
  CodecMemory memory;
  memory.values["kept"] = {1, 2};
  memory.parts["inner"].values["q"] = {3};
  const CodecMemory before = memory;
  for (int time = 0; time < 2; ++time) {
    memory.Change("kept")[0] = 5;
    memory.Change("kept").push_back(6);  // the second change of the step
    memory.Change("new") = {7};
    memory.parts["inner"].Change("q")[0] = 8;
    memory.Settle(false);
    EXPECT_EQ(memory, before) << time;
  }
  memory.Change("kept")[0] = 5;
  memory.Settle(true);
  EXPECT_EQ(memory.values["kept"], (std::vector<float>{5, 2}));
  memory.Settle(false);
  EXPECT_EQ(memory.values["kept"], (std::vector<float>{5, 2})) << "of the step before";
}

// A link: both ends, each with its own memory.
class Delta : public ::testing::Test {
 protected:
  std::vector<float> Send(const std::vector<float>& values, const std::vector<int64_t>& samples,
                          bool training = true) {
    CodecContext context{.training = training, .samples = samples};
    const auto rows = static_cast<int64_t>(samples.size());
    context.shape = {rows, static_cast<int64_t>(values.size()) / rows};
    context.memory = &sender_;
    const std::vector<std::byte> bytes = EncodeIn(*codec_, context, values);
    bytes_ = bytes.size();
    context.memory = &receiver_;
    return DecodeIn(*codec_, context, bytes);
  }

  std::unique_ptr<Codec> codec_ = MakeCodec("delta(uniform:4)");
  CodecMemory sender_, receiver_;
  size_t bytes_ = 0;
};

TEST_F(Delta, TheFirstVisitIsExactAndLaterOnesComeNear) {
  const std::vector<float> a = Draw("normal", 200, 1), b = Draw("normal", 200, 2);
  EXPECT_EQ(Send(a, {10, 11}), a);
  EXPECT_EQ(bytes_, 1u + 800);
  EXPECT_EQ(Send(b, {12, 13}), b);
  // The same activations again, a little changed: the error is that of the small change.
  std::vector<float> changed = a;
  for (size_t i = 0; i < changed.size(); ++i) changed[i] += 0.01f * b[i];
  const std::vector<float> got = Send(changed, {10, 11});
  EXPECT_EQ(bytes_, 1u + 8 + 100);
  double most = 0;
  for (size_t i = 0; i < got.size(); ++i)
    most = std::max(most, std::fabs(double{got[i]} - changed[i]));
  EXPECT_LT(most, 0.01 * 7 / 15 / 2 * 1.01) << "half a step of a range of 0.07";
  EXPECT_GT(most, 0);
  EXPECT_EQ(sender_, receiver_);
}

// Sent often enough, the same values arrive.
TEST_F(Delta, ErrorsDoNotAddUp) {
  const std::vector<float> a = Draw("normal", 100, 3), b = Draw("normal", 100, 4);
  Send(a, {1});
  std::vector<float> got;
  for (int visit = 0; visit < 8; ++visit) got = Send(b, {1});
  // Each visit leaves at most a thirtieth of the range, and float32's rounding.
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], b[i], 1e-6);
}

TEST_F(Delta, RowsOfBothKindsInOneTensor) {
  const std::vector<float> a = Draw("normal", 50, 5), b = Draw("normal", 150, 6);
  Send(a, {7});
  const std::vector<float> got = Send(b, {6, 7, 8});
  for (size_t i = 0; i < 150; ++i) {
    const bool changed = i >= 50 && i < 100;
    EXPECT_NEAR(got[i], b[i], changed ? 0.3 : 0) << i;
  }
  EXPECT_EQ(sender_, receiver_);
}

// Both rows are differences to what the visit before has left; the later row is remembered.
TEST_F(Delta, ASampleMayStandTwiceInATensor) {
  const std::vector<float> a = Draw("normal", 50, 5), b = Draw("normal", 150, 6);
  Send(a, {7});
  const std::vector<float> got = Send(b, {7, 3, 7});
  const double half_step = 0.3;  // a sixteenth of less than 9.6, halved
  for (size_t i = 0; i < 150; ++i)
    EXPECT_NEAR(got[i], b[i], i >= 50 && i < 100 ? 0 : half_step) << i;
  EXPECT_EQ(sender_, receiver_);
  EXPECT_EQ(sender_.values["sample 7"], std::vector<float>(got.begin() + 100, got.end()));
  // New ones too.
  EXPECT_EQ(Send(b, {8, 8, 8}), b);
  EXPECT_EQ(sender_.values["sample 8"], std::vector<float>(b.begin() + 100, b.end()));
  EXPECT_EQ(sender_, receiver_);
}

TEST_F(Delta, EvaluationIsExactAndForgotten) {
  const std::vector<float> a = Draw("normal", 50, 7);
  EXPECT_EQ(Send(a, {7}, false), a);
  EXPECT_TRUE(sender_.empty() && receiver_.empty());
}

TEST_F(Delta, RefusesTheChangeOfWhatIsNew) {
  const std::vector<float> a = Draw("normal", 50, 8);
  Send(a, {7});
  receiver_ = {};
  try {
    Send(a, {7});
    FAIL() << "was not refused";
  } catch (const BadInput& error) {
    EXPECT_TRUE(std::string_view(error.what())
                    .starts_with("[delta(uniform:4)] got the change of sample 7 (row 0), of which "
                                 "this end remembers "
                                 "nothing; both ends must remember the same samples"))
        << error.what();
  }
}

}  // namespace
}  // namespace torus::parallel
