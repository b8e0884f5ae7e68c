// Tensors that skip stages go straight from the stage that stashes them to the one that takes them,
// and change no bit.
#include "parallel/pipeline/skip_connections.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "autograd/node.h"
#include "parallel/codec/make_codec.h"
#include "parallel/pipeline/stage.h"
#include "parallel/schedule/factory.h"
#include "runtime/dispatch.h"
#include "runtime/error.h"
#include "runtime/kernels.h"
#include "tests/parallel/pipeline/pipeline_run.h"

namespace torus::parallel {
namespace {

using tiny::TrainPipeline;
using tiny::TrainPlain;
using Vars = std::vector<Variable>;

// Block 3 of the tiny model gives two values, of which block 5 needs the second.
std::vector<Block> OneSkip(bool recompute = false) {
  std::vector<Block> blocks = tiny::MakeBlocks(1);
  blocks[3].stashes = {"early"};
  blocks[5].takes = {"early"};
  for (Block& block : blocks) block.recompute = recompute;
  return blocks;
}

void Stash(Block& block, const std::string& name) {
  block.stashes.push_back(name);
  block.forward = [forward = block.forward](const Vars& x, const StepContext& context) {
    Vars y = forward(x, context);
    y.push_back(y[0]);
    return y;
  };
}

// A quarter of the sum: the model still learns.
Variable Mix(const Variable& a, const Variable& b) {
  Tensor mixed = a.data().Clone();
  Dispatch("mix", mixed.device(), [&] {
    AddInPlace(mixed, b.data());
    ScaleInPlace(mixed, 0.25f);
  });
  return Record("mix", mixed, {a, b}, [](const GradContext& g) {
    Tensor grad = g.grad().Clone();
    ScaleInPlace(grad, 0.25f);
    return Gradients{grad, grad};
  });
}

// Mixes what it takes with the block's first input.
void Take(Block& block, const std::string& name) {
  block.takes.push_back(name);
  block.forward = [forward = block.forward](const Vars& x, const StepContext& context) {
    Vars inputs = x;
    const Variable taken = inputs.back();
    inputs.pop_back();
    inputs[0] = Mix(inputs[0], taken);
    return forward(inputs, context);
  };
}

// Skips that overlap, are taken in another order than stashed, and begin where a value has several
// uses already.
std::vector<Block> ManySkips() {
  std::vector<Block> blocks = OneSkip();
  Stash(blocks[0], "wide");
  Stash(blocks[1], "wide, later");
  Take(blocks[2], "wide, later");
  Take(blocks[2], "wide");
  Stash(blocks[2], "narrow");
  Take(blocks[6], "narrow");
  return blocks;
}

const std::vector<Cuts> kCuts{{1},    {2},    {3},       {4},    {5},       {6},
                              {4, 5}, {2, 6}, {1, 3, 5}, {3, 4}, {1, 2, 6}, {1, 2, 3, 4, 5, 6}};

TEST(SkipConnections, GiveTheBitsOfPassingFromBlockToBlock) {
  const tiny::Trained plain = TrainPlain(3, 10, 3);
  for (const Cuts& cuts : kCuts)
    for (const bool recompute : {false, true}) {
      const int stages = static_cast<int>(cuts.size()) + 1;
      EXPECT_EQ(TrainPipeline({.schedule = MakeSchedule("gpipe", {stages, 3}),
                               .cuts = cuts,
                               .blocks = [=] { return OneSkip(recompute); }}),
                plain)
          << stages << " stages, recompute " << recompute;
    }
}

TEST(SkipConnections, GiveTheSameBitsWhereverTheModelIsCut) {
  for (const int m : {1, 3, 5}) {
    const tiny::Trained one =
        TrainPipeline({.schedule = MakeSchedule("gpipe", {1, m}), .blocks = ManySkips});
    EXPECT_LT(one.losses[2], one.losses[0]);
    EXPECT_NE(one, TrainPlain(3, 10, m));
    for (const Cuts& cuts : kCuts) {
      const int stages = static_cast<int>(cuts.size()) + 1;
      EXPECT_EQ(
          TrainPipeline(
              {.schedule = MakeSchedule("gpipe", {stages, m}), .cuts = cuts, .blocks = ManySkips}),
          one)
          << stages << " stages, " << m << " micro-batches";
    }
  }
}

// Several stages a rank: some skips stay on it, and some go backwards among the ranks.
TEST(SkipConnections, WorkWithEverySchedule) {
  const std::map<int, Cuts> cuts{{2, {4}}, {3, {2, 4}}, {4, {1, 3, 5}}, {6, {1, 2, 3, 4, 5}}};
  const std::vector<std::pair<const char*, PipelineSize>> all{
      {"1f1b", {.ranks = 4}},
      {"zb-h1", {.ranks = 2}},
      {"zb-h1", {.ranks = 3}},
      {"u-shaped", {.ranks = 2, .both_ends = true}},
      {"u-shaped", {.ranks = 3, .both_ends = true}},
      {"interleaved", {.ranks = 2, .chunks = 2}},
      {"interleaved", {.ranks = 3, .chunks = 2}},
      {"zb-interleaved", {.ranks = 2, .chunks = 2}},
      {"zb-interleaved", {.ranks = 2, .chunks = 3}},
      {"zb-v", {.ranks = 2, .chunks = 2}},
      {"zb-v", {.ranks = 3, .chunks = 2}},
      {"v-half", {.ranks = 2, .chunks = 2}},
      {"v-half", {.ranks = 3, .chunks = 2}},
      {"v-min", {.ranks = 3, .chunks = 2}},
      {"dualpipe-v", {.ranks = 1, .chunks = 2}},
      {"dualpipe-v", {.ranks = 2, .chunks = 2}},
      {"dualpipe-v", {.ranks = 3, .chunks = 2}},
      {"interleaved", {.ranks = 2, .chunks = 3}}};
  for (const int m : {1, 2, 5}) {
    const tiny::Trained one =
        TrainPipeline({.schedule = MakeSchedule("gpipe", {1, m}), .blocks = ManySkips});
    for (auto [name, size] : all) {
      size.micro_batches = m;
      EXPECT_EQ(TrainPipeline({.schedule = MakeSchedule(name, size),
                               .cuts = cuts.at(size.stages()),
                               .blocks = ManySkips}),
                one)
          << name << ", " << size.ranks << " ranks, " << m << " micro-batches";
    }
  }
}

// 7 samples in 3 steps; each tensor has 6 columns.
constexpr uint64_t kSentBytes = 6 * 7 * 3 * sizeof(float);

using Sent = std::map<std::pair<int, bool>, uint64_t>;  // by peer and direction

// What each of three ranks sends; the skip goes from the first to the last. `f16_at`: the cut whose
// activations are sent as f16; 0: none.
std::vector<Sent> SentBytes(int f16_at) {
  std::vector<Sent> all(3);
  TrainPipeline({.schedule = MakeSchedule("gpipe", {3, 3}),
                 .cuts = {4, 5},
                 .samples = 7,
                 .adjust =
                     [&](int, Transport&, ExecutorOptions& options) {
                       if (f16_at > 0) options.activation_codec_at[f16_at] = MakeCodec("f16");
                     },
                 .at_end =
                     [&](int rank, Executor& executor) {
                       for (const CutTraffic& t : executor.traffic())
                         all[rank][{t.peer, t.forward}] += t.sent_bytes;
                     },
                 .blocks = [] { return OneSkip(); }});
  return all;
}

TEST(SkipConnections, GoStraightToTheirReader) {
  EXPECT_EQ(SentBytes(0),
            (std::vector<Sent>{{{{1, true}, kSentBytes}, {{2, true}, kSentBytes}},
                               {{{0, false}, kSentBytes}, {{2, true}, kSentBytes}},
                               {{{0, false}, kSentBytes}, {{1, false}, kSentBytes}}}));
}

TEST(SkipConnections, HaveTheCodecOfTheCutBeforeTheirReader) {
  const uint64_t half = kSentBytes / 2;
  const std::vector<Sent> first = SentBytes(1), second = SentBytes(2);
  EXPECT_EQ(first[0], (Sent{{{1, true}, half}, {{2, true}, kSentBytes}}));
  EXPECT_EQ(second[0], (Sent{{{1, true}, kSentBytes}, {{2, true}, half}}));
  EXPECT_EQ(second[1], (Sent{{{0, false}, kSentBytes}, {{2, true}, half}}));
}

TEST(SkipConnections, AreFoundByStage) {
  const std::vector<SkipConnection> wide{{"wide", 0, 1}, {"narrow", 1, 2}, {"early", 1, 2}};
  EXPECT_EQ(FindSkipConnections(ManySkips(), {1, 5}), wide);
  EXPECT_TRUE(FindSkipConnections(ManySkips(), {}).empty());
}

void ExpectRefused(const std::vector<Block>& blocks, const char* why) {
  try {
    FindSkipConnections(blocks, {1});
    FAIL() << "accepted: " << why;
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
}

TEST(SkipConnections, RefuseNamesThatDoNotFit) {
  std::vector<Block> blocks = OneSkip();
  blocks[4].takes = {"early"};
  ExpectRefused(blocks, "one block may take early, got layer4 and join");
  blocks = OneSkip();
  blocks[4].stashes = {"early"};
  ExpectRefused(blocks, "one block may stash early, got split and layer4");
  blocks = OneSkip();
  blocks[5].takes = {};
  ExpectRefused(blocks, "block split stashes early, which no block takes");
  blocks = OneSkip();
  blocks[3].stashes = {};
  ExpectRefused(blocks, "block join takes early, which no block stashes");
  blocks = OneSkip();
  std::swap(blocks[3], blocks[5]);
  ExpectRefused(blocks, "must be taken by a later block than split, which stashes it, got join");
}

TEST(SkipConnections, ABlockMustGiveWhatItStashes) {
  Block block;
  block.name = "empty";
  block.stashes = {"early"};
  block.forward = [](const Vars&, const StepContext&) { return Vars{}; };
  const Stage stage({block}, 0);
  EXPECT_THROW(stage.Forward({}, {}), BadInput);
}

TEST(SkipConnections, AnExecutorMustKnowThem) {
  EXPECT_THROW(TrainPipeline({.schedule = MakeSchedule("gpipe", {2, 3}),
                              .cuts = {4},
                              .adjust = [](int, Transport&,
                                           ExecutorOptions& options) { options.skips.clear(); },
                              .blocks = ManySkips}),
               BadInput);
}

}  // namespace
}  // namespace torus::parallel
