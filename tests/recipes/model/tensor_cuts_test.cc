// What crosses a cut between tensor-parallel ranks: in shares or whole, to the same bits, and in as
// many bytes as each says.
#include <algorithm>

#include "parallel/codec/make_codec.h"
#include "tests/recipes/model/split_models.h"
#include "tests/testing/same_bits.h"

namespace torus::recipes {
namespace {

using namespace parallel;  // NOLINT: the trainer's words
using namespace testing;   // NOLINT: the models

struct Result {
  std::vector<double> losses;
  TrainState state;
  std::vector<LinkBytes> links;
};

Result Train(const SplitKind& split, TrainerOptions options, bool shared) {
  options.share_cuts = shared;
  SplitRun run(split, options);
  Result result{run.Steps(3)};
  result.losses.push_back(run.Evaluate());
  result.state = run.trainer->State();
  result.links = run.trainer->totals().links;
  return result;
}

void ExpectBothWaysAlike(const SplitKind& split, const TrainerOptions& options) {
  const Result shared = Train(split, options, true), whole = Train(split, options, false);
  EXPECT_EQ(shared.losses, whole.losses);
  torus::testing::ExpectSameBits(shared.state.weights, whole.state.weights);
  torus::testing::ExpectSameBits(shared.state.optimizer, whole.state.optimizer);
  torus::testing::ExpectSameBits(shared.state.codecs, whole.state.codecs);
}

TEST(TensorCuts, SharesGiveTheBitsOfWholeMessages) {
  for (const SplitKind& split : SplitKinds())
    for (const int tensor : {2, 4})
      for (const char* schedule : {"gpipe", "1f1b", "zb-h1"}) {
        SCOPED_TRACE(fmt::format("{}, {}, {}", split.kind.name, tensor, schedule));
        TrainerOptions options = SplitOptions(tensor, 2);
        options.schedule = schedule;
        ExpectBothWaysAlike(split, options);
      }
}

TEST(TensorCuts, OfSeveralStagesARankAndOfReplicasToo) {
  TrainerOptions options = SplitOptions(2, 4, 2);
  options.schedule = "interleaved";
  options.chunks = 2;
  for (const SplitKind& split : SplitKinds()) ExpectBothWaysAlike(split, options);
}

// Encoded bytes are shared out, also by a thread beside the rank's own.
TEST(TensorCuts, BehindACodecToo) {
  for (const char* codec : {"sortq:8", "ef(topk:0.3)", "delta(uniform:3)"})
    for (const bool beside : {false, true}) {
      SCOPED_TRACE(fmt::format("{}, beside {}", codec, beside));
      TrainerOptions options = SplitOptions(4, 2);
      options.codec = [codec] { return MakeCodec(codec); };
      options.encodes_beside = beside;
      ExpectBothWaysAlike(F32Gpt2(), options);
    }
}

uint64_t SentAs(const Result& result, const std::string& what, int from) {
  uint64_t sent = 0;
  for (const LinkBytes& link : result.links)
    if (link.what == what && link.from == from) sent += link.sent;
  return sent;
}

// Of GPT-3, at whose cut the hidden states alone pass: 8 rows of 7 tokens in f64, forward and
// backward in three steps. Evaluation is not counted.
TEST(TensorCuts, BytesAreTheClosedForm) {
  constexpr uint64_t kSteps = 3, kStates = kRows * kTokens * kSplitWidth * sizeof(double);
  const SplitKind& gpt3 = SplitKinds().back();
  ASSERT_EQ(gpt3.kind.name, "Gpt3");
  for (const int tensor : {1, 2, 4}) {
    const uint64_t share = kStates / static_cast<uint64_t>(tensor);
    const Result shared = Train(gpt3, SplitOptions(tensor, 2), true),
                 whole = Train(gpt3, SplitOptions(tensor, 2), false);
    for (int t = 0; t < tensor; ++t) {
      EXPECT_EQ(SentAs(whole, "activations", t), kSteps * kStates);
      EXPECT_EQ(SentAs(whole, "gradients", tensor + t), kSteps * kStates);
      EXPECT_EQ(SentAs(shared, "activations", t), kSteps * share);
      EXPECT_EQ(SentAs(shared, "gradients", tensor + t), kSteps * share);
      // What came in shares goes on to the others of the stage that took it.
      const uint64_t others = static_cast<uint64_t>(tensor) - 1;
      for (const int rank : {t, tensor + t})
        EXPECT_EQ(SentAs(shared, "tensor-parallel", rank) - SentAs(whole, "tensor-parallel", rank),
                  others * kSteps * share)
            << "rank " << rank;
    }
  }
}

}  // namespace
}  // namespace torus::recipes
