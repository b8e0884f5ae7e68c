// Codecs in runs of tensor-parallel ranks: what crosses a cut is the same on all slices of a stage,
// and so is all that codecs remember of it and of gradients that no slice divides.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "parallel/trainer/checkpoint.h"
#include "tests/recipes/model/recording_codec.h"
#include "tests/recipes/model/split_models.h"
#include "tests/testing/same_bits.h"
#include "tests/testing/tolerance.h"

namespace torus::recipes {
namespace {

using namespace parallel;  // NOLINT: the trainer's words
using namespace testing;   // NOLINT: the models

const char* const kRemembering[] = {"ef(topk:0.3)", "ef(powersgd:1+f16)", "delta(uniform:3)",
                                    "ef(delta(uniform:3))", "ef(uniform:2:stochastic)"};

std::vector<const SplitKind*> F32Kinds() { return {&F32Gpt2(), &F32Roberta()}; }

std::function<std::unique_ptr<Codec>()> Named(const std::string& name) {
  return [name] { return MakeCodec(name); };
}

// A run whose cuts' codec writes into `log`.
TrainerOptions Recorded(int tensor, const std::string& codec, std::shared_ptr<CodecLog> log) {
  TrainerOptions options = SplitOptions(tensor, 2);
  options.codec = [codec, log = std::move(log)] {
    return std::make_unique<RecordingCodec>(codec, log);
  };
  return options;
}

void ExpectAllEqual(const std::map<CodecLog::Key, std::vector<Values>>& log, int tensor) {
  EXPECT_EQ(log.size(), 4u * 4 * 2) << "steps x micro-batches x directions";
  for (const auto& [key, of_slices] : log) {
    ASSERT_EQ(of_slices.size(), static_cast<size_t>(tensor));
    for (const Values& values : of_slices) EXPECT_EQ(values, of_slices[0]);
  }
}

// By the name without the rank's own part; all slices of it must be equal.
void ExpectEqualMemories(const std::vector<NamedTensor>& codecs, int tensor) {
  std::map<std::string, std::vector<Values>> memories;
  for (const NamedTensor& memory : codecs)
    memories[memory.name.substr(memory.name.find('/'))].push_back(ToVector<float>(memory.value));
  EXPECT_FALSE(memories.empty());
  for (const auto& [name, of_slices] : memories) {
    ASSERT_EQ(of_slices.size(), static_cast<size_t>(tensor)) << name;
    for (const Values& values : of_slices) EXPECT_EQ(values, of_slices[0]) << name;
  }
}

TEST(TensorCodecs, AllSlicesOfAStageGiveAndGetTheSame) {
  for (const SplitKind* split : F32Kinds())
    for (const char* codec : {"sortq:8", "uniform:4:stochastic", "ef(topk:0.3)", "delta(uniform:3)",
                              "ef(powersgd:1+f16)"})
      for (const int tensor : {2, 4}) {
        SCOPED_TRACE(fmt::format("{}, {}, {}", split->kind.name, codec, tensor));
        const auto log = std::make_shared<CodecLog>();
        SplitRun run(*split, Recorded(tensor, codec, log));
        for (const double loss : run.Steps(4)) EXPECT_TRUE(std::isfinite(loss));
        ExpectAllEqual(log->given, tensor);
        ExpectAllEqual(log->restored, tensor);
        if (MakeCodec(codec)->is_stateful())
          ExpectEqualMemories(run.trainer->State().codecs, tensor);
      }
}

// Forward through the layers over all that is summed there, on both sides.
double F32Tolerance(double largest) {
  const int64_t terms = 2 * (kSplitLayers + 2) * kRows * kTokens * kVocabulary;
  return 2 * ::torus::testing::Tolerance(DType::kF32, terms, largest);
}

double Largest(const Values& values) {
  double largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(double{value}));
  return largest;
}

// The stream of the activations, and of their gradients, at the cut before stage 1.
bool IsActivation(const CodecLog::Key& key) { return (std::get<2>(key) >> 16) % 2 == 0; }
CodecLog::Key GradientOf(const CodecLog::Key& key) {
  const auto& [step, micro_batch, stream] = key;
  return {step, micro_batch, stream + (1 << 16)};
}

// How far the loss may move where the decoded activations of two runs differ: to first order by
// the differences times the gradients there. Twice that for what is beyond.
double LossBound(const CodecLog& one, const CodecLog& split, int64_t step) {
  double moved = 0;
  for (const auto& [key, restored] : one.restored) {
    if (std::get<0>(key) != step || !IsActivation(key)) continue;
    const Values &a = restored[0], &b = split.restored.at(key)[0];
    const Values& gradient = one.given.at(GradientOf(key))[0];
    for (size_t i = 0; i < a.size(); ++i)
      moved += std::abs(double{gradient[i]} * (double{a[i]} - double{b[i]}));
  }
  return 2 * moved;
}

// A value that rounding takes across the border between two of the codec's steps, half way between
// what they decode to, comes out as the other one of these.
void ExpectNearestOf(const Values& given, const Values& a, const Values& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  const auto [low, high] = std::ranges::minmax(given);
  const double step = (double{high} - low) / 255;
  for (size_t i = 0; i < a.size(); ++i) {
    const double apart = std::abs(double{a[i]} - double{b[i]});
    if (apart <= tolerance) continue;
    EXPECT_LE(apart, step + tolerance);
    EXPECT_NEAR(given[i], (double{a[i]} + double{b[i]}) / 2, tolerance);
  }
}

// Each step from the same state.
TEST(TensorCodecs, AStepIsThatOfOneRankButForTheStepsOfTheCodec) {
  for (const SplitKind* split : F32Kinds())
    for (const std::string codec : {"sortq:8", "uniform:8"}) {
      SCOPED_TRACE(split->kind.name + ", " + codec);
      const auto log = std::make_shared<CodecLog>(), log_of_two = std::make_shared<CodecLog>();
      SplitRun one(*split, Recorded(1, codec, log)), two(*split, Recorded(2, codec, log_of_two));
      for (int64_t step = 0; step < 4; ++step) {
        two.trainer->SetState(one.trainer->State());
        const double loss = one.Step(), of_two = two.Step();
        const double bound = LossBound(*log, *log_of_two, step);
        EXPECT_NEAR(of_two, loss, F32Tolerance(loss) + bound);
        EXPECT_LT(bound, 0.01 * loss);
      }
      for (const auto& [key, given] : log->given) {
        if (!IsActivation(key)) continue;
        const double tolerance = F32Tolerance(Largest(given[0]));
        const Values& of_two = log_of_two->given.at(key)[0];
        for (size_t i = 0; i < of_two.size(); ++i) ASSERT_NEAR(of_two[i], given[0][i], tolerance);
        if (codec == "uniform:8")
          ExpectNearestOf(given[0], log->restored.at(key)[0], log_of_two->restored.at(key)[0],
                          tolerance);
      }
    }
}

// Through a checkpoint, after three of six steps.
void ExpectGoesOn(const TrainerOptions& options) {
  SplitRun whole(F32Gpt2(), options), first(F32Gpt2(), options), rest(F32Gpt2(), options);
  const std::vector<double> losses = whole.Steps(6);
  first.Steps(3);
  const std::string folder = ::testing::TempDir() + "/tensor_codecs";
  std::filesystem::remove_all(folder);
  first.trainer->Save(folder);
  rest.trainer->SetState(LoadCheckpoint(folder));
  EXPECT_EQ(rest.Steps(3), std::vector<double>(losses.begin() + 3, losses.end()));
  const TrainState a = rest.trainer->State(), b = whole.trainer->State();
  torus::testing::ExpectSameBits(a.weights, b.weights);
  torus::testing::ExpectSameBits(a.codecs, b.codecs);
  EXPECT_FALSE(a.codecs.empty());
}

TEST(TensorCodecs, ARunThatGoesOnGivesTheBitsOfOneThatNeverStopped) {
  for (const char* codec : kRemembering) {
    SCOPED_TRACE(codec);
    TrainerOptions options = SplitOptions(2, 2);
    options.codec = Named(codec);
    ExpectGoesOn(options);
  }
  TrainerOptions options = SplitOptions(2, 1, 2);
  options.reduce_codec = Named("ef(powersgd:1)");
  ExpectGoesOn(options);
}

// Of each slice in files of its own.
TEST(TensorCodecs, MayKeepSamplesInFiles) {
  TrainerOptions options = SplitOptions(2, 2);
  options.codec = Named("delta(uniform:3)");
  SplitRun in_memory(F32Gpt2(), options);
  options.codec_folder = ::testing::TempDir() + "/tensor_codec_files";
  std::filesystem::remove_all(options.codec_folder);
  SplitRun in_files(F32Gpt2(), options);
  EXPECT_EQ(in_files.Steps(6), in_memory.Steps(6));
  torus::testing::ExpectSameBits(in_files.trainer->State().weights,
                                 in_memory.trainer->State().weights);
  for (const int slice : {0, 1})
    EXPECT_TRUE(std::filesystem::exists(
        fmt::format("{}/tensor {} of 2 in replica 0", options.codec_folder, slice)));
}

// What no slice divides has one gradient on all slices, though their vocabularies, 15 and 14 of 29
// tokens or 8 and 7, differ and so does what lies beside it in their buckets.
void ExpectEqualWholeGradients(const TrainerOptions& options) {
  std::set<std::string> splits;
  for (const Block& block : BlocksOf(F32Gpt2().kind, false))
    for (const NamedSplit& one : block.splits) splits.insert(one.name);
  SplitRun run(F32Gpt2(), options);
  run.Steps(3);
  int compared = 0;
  for (const auto& [rank, gradients] : run.gradients)
    for (const auto& [name, gradient] : gradients) {
      if (splits.contains(name)) continue;
      ++compared;
      EXPECT_EQ(ToVector<float>(gradient), ToVector<float>(run.gradients.at(0).at(name)))
          << "rank " << rank << ", " << name;
    }
  EXPECT_GT(compared, 2 * kSplitLayers * options.tensor);
}

TEST(TensorCodecs, OfReplicasLeaveWhatIsWholeEqual) {
  for (const int tensor : {2, 4})
    for (const char* codec : {"sortq:8", "uniform:4:stochastic", "ef(randk:0.3)", "ef(powersgd:1)"})
      for (const size_t bytes : {size_t{600}, size_t{1} << 20}) {
        SCOPED_TRACE(fmt::format("{}, {}, {}", codec, tensor, bytes));
        TrainerOptions options = SplitOptions(tensor, 1, 2);
        options.bucket_bytes = bytes;
        options.reduce_codec = Named(codec);
        ExpectEqualWholeGradients(options);
      }
}

// Other collectives add in an order that depends on an element's place in its bucket.
TEST(TensorCodecs, AnyCollectivesLeaveWhatIsWholeEqual) {
  for (const char* collectives : {"direct", "ring", "halving-doubling", "tree"})
    for (const size_t bytes : {size_t{600}, size_t{1} << 20}) {
      SCOPED_TRACE(fmt::format("{}, {}", collectives, bytes));
      TrainerOptions options = SplitOptions(2, 1, 4);
      options.bucket_bytes = bytes;
      options.collectives = collectives;
      ExpectEqualWholeGradients(options);
    }
}

// Each link's figures, as if nothing had gone through a codec.
std::map<std::pair<int, int>, uint64_t> Uncompressed(const std::string& reduce_codec) {
  TrainerOptions options = SplitOptions(2, 1, 2);
  if (!reduce_codec.empty()) options.reduce_codec = Named(reduce_codec);
  SplitRun run(F32Gpt2(), options);
  run.Steps(2);
  std::map<std::pair<int, int>, uint64_t> bytes;
  for (const LinkBytes& link : run.trainer->totals().links)
    bytes[{link.from, link.to}] = link.uncompressed;
  return bytes;
}

TEST(TensorCodecs, TotalsSayWhatWouldHaveBeenSentOnEachLink) {
  const auto plain = Uncompressed("");
  EXPECT_EQ(plain.size(), 4u * 2);
  EXPECT_EQ(Uncompressed("uniform:4"), plain);
}

}  // namespace
}  // namespace torus::recipes
