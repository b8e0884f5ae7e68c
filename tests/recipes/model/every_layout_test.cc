// Small models of three kinds give the bits of one stage by every schedule, cut and number of
// micro-batches, over threads and over processes: with dropout, clipping, tied weights, masks that
// cross the cuts, recompute, and micro-batches of unequal size.
//
// The program runs its tests over threads, and then becomes two processes for the others.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <map>

#include "models/gpt2/gpt2.h"
#include "models/mobilenet_v2/mobilenet_v2.h"
#include "models/nn/loss.h"
#include "models/roberta/roberta.h"
#include "parallel/optim/sgd.h"
#include "parallel/trainer/trainer.h"
#include "parallel/transport/mpi/mpi_world.h"
#include "recipes/model/model_blocks.h"
#include "runtime/rng.h"
#include "tests/parallel/transport/mpi/under_mpirun.h"

namespace torus::recipes {
namespace {

using namespace parallel;  // NOLINT: the trainer's words

constexpr int64_t kRows = 8, kTokens = 7, kVocabulary = 29, kSteps = 4;
constexpr double kRate = 0.05;

// One less in every third step.
int64_t RowsOf(int64_t step) { return step % 3 == 2 ? kRows - 1 : kRows; }

struct Rows {
  std::vector<Tensor> inputs;
  Tensor targets;
};

Rows Images(int64_t step) {
  Tensor x = Empty({kRows, 32, 32, 3}), classes({kRows}, DType::kI64);
  FillNormal(x, 0, 1, RandomStream({.seed = 2, .step = static_cast<uint64_t>(step)}));
  for (int64_t r = 0; r < kRows; ++r) classes.mutable_data<int64_t>()[r] = (r + step) % 5;
  return {{x}, classes};
}

// The end of every second row is padding.
Rows Tokens(int64_t step) {
  const Shape shape{kRows, kTokens};
  Tensor ids(shape, DType::kI64), mask(shape, DType::kI64), targets(shape, DType::kI64);
  for (int64_t i = 0; i < ids.numel(); ++i) {
    const int64_t number = 2 + (step + 5 * i + i * i) % (kVocabulary - 2);
    const bool real = i / kTokens % 2 == 0 || i % kTokens < kTokens - 2;
    ids.mutable_data<int64_t>()[i] = real ? number : 1;
    mask.mutable_data<int64_t>()[i] = real;
    targets.mutable_data<int64_t>()[i] = real ? (number + 3) % kVocabulary : -100;
  }
  return {{ids, mask}, targets};
}

struct Kind {
  std::string name;
  std::function<std::shared_ptr<nn::Sequential>()> make;
  Rows (*rows)(int64_t step);
  std::function<Variable(const std::vector<Variable>&, const Tensor&)> loss;
};

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds{
      {"MobileNetV2", [] { return MobileNetV2({.num_classes = 5, .width_mult = 0.1}); }, Images,
       nn::ClassLoss},
      {"Roberta",
       [] {
         return Roberta({.vocab_size = kVocabulary,
                         .hidden_size = 12,
                         .num_hidden_layers = 4,
                         .num_attention_heads = 3,
                         .intermediate_size = 20,
                         .max_position_embeddings = 18,
                         .head = RobertaHead::kMaskedLm,
                         .head_in_loss = true});
       },
       Tokens, nn::MaskedTokenLoss},
      {"Gpt2",
       [] {
         return Gpt2({.vocab_size = kVocabulary,
                      .n_positions = kTokens,
                      .n_embd = 12,
                      .n_layer = 3,
                      .n_head = 3});
       },
       Tokens, nn::NextTokenLoss}};
  return kinds;
}

struct Layout {
  std::string schedule = "gpipe";
  int stages = 1, chunks = 1;
  Cuts cuts;
  bool recompute = false;
};

// Two ranks each.
const std::vector<Layout> kPairs{{"gpipe", 2},
                                 {"gpipe", 2, 1, {1}, true},
                                 {"1f1b", 2, 1, {4}},
                                 {"zb-h1", 2},
                                 {"zb-h1", 2, 1, {3}, true},
                                 {"interleaved", 4, 2},
                                 {"interleaved", 4, 2, {1, 2, 4}, true}};

const std::vector<Layout> kMoreRanks{{"gpipe", 3, 1, {1, 5}},
                                     {"1f1b", 4, 1, {}, true},
                                     {"zb-h1", 4, 1, {1, 2, 3}},
                                     {"interleaved", 6, 2},
                                     {"gpipe", 6, 1, {1, 2, 3, 4, 5}}};

std::string Words(const Kind& kind, const Layout& layout, int micro_batches) {
  return fmt::format("{}, {}, {} stages, {} a rank, cuts {}, recompute {}, {} micro-batches",
                     kind.name, layout.schedule, layout.stages, layout.chunks,
                     fmt::join(layout.cuts, ","), layout.recompute, micro_batches);
}

TrainingParts PartsOf(const Kind& kind, bool recompute) {
  TrainingParts parts;
  parts.model = [&kind, recompute] {
    const auto model = kind.make();
    model->Initialize(3);
    std::vector<Block> blocks = ModelBlocks(*model);
    for (Block& block : blocks) block.recompute = recompute;
    return blocks;
  };
  parts.loss = [&kind](const auto& outputs, const auto& targets) {
    return kind.loss(outputs, targets[0]);
  };
  parts.optimizer = [](std::vector<NamedVariable> parameters) {
    return std::make_unique<Sgd>(std::move(parameters), SgdOptions{.momentum = 0.9});
  };
  parts.learning_rate = [](int64_t) { return kRate; };
  for (const Tensor& input : kind.rows(0).inputs)
    parts.largest_inputs.push_back({input.shape(), input.dtype()});
  return parts;
}

MiniBatch BatchOf(const Kind& kind, int64_t step, int micro_batches) {
  const Rows all = kind.rows(step);
  const int64_t rows = RowsOf(step);
  MiniBatch batch{.global_samples = rows};
  for (int m = 0; m < micro_batches; ++m) {
    const int64_t begin = rows * m / micro_batches, end = rows * (m + 1) / micro_batches;
    MicroBatch& part = batch.micro_batches.emplace_back();
    for (int64_t r = begin; r < end; ++r) part.samples.push_back(r);
    for (const Tensor& input : all.inputs)
      part.inputs.push_back(input.Narrow(0, begin, end - begin).Clone());
    part.targets = {all.targets.Narrow(0, begin, end - begin).Clone()};
  }
  return batch;
}

struct Outcome {
  std::vector<double> losses;
  std::map<std::string, Tensor> tensors;  // weights, statistics and the optimizer's
};

void Add(const std::vector<NamedTensor>& tensors, Outcome& outcome) {
  for (const NamedTensor& tensor : tensors) outcome.tensors[tensor.name] = tensor.value;
}

// `world`: null for threads of this process.
Outcome Train(const Kind& kind, const Layout& layout, int micro_batches, World* world = nullptr) {
  const TrainerOptions options{.stages = layout.stages,
                               .chunks = layout.chunks,
                               .cuts = layout.cuts,
                               .micro_batches = micro_batches,
                               .schedule = layout.schedule,
                               .seed = 5,
                               .clip_norm = 0.5};
  const TrainingParts parts = PartsOf(kind, layout.recompute);
  const auto trainer = world != nullptr ? std::make_unique<Trainer>(*world, options, parts)
                                        : std::make_unique<Trainer>(options, parts);
  Outcome outcome;
  trainer->Train(kSteps,
                 [&](int64_t step, const RankPlace&) { return BatchOf(kind, step, micro_batches); },
                 {.on_step = [&](const StepReport& r) { outcome.losses.push_back(r.loss); }});
  const TrainState state = trainer->State();
  Add(state.weights, outcome);
  Add(state.optimizer, outcome);
  return outcome;
}

// `part` may have some of the tensors.
void ExpectSameBits(const Outcome& part, const Outcome& whole) {
  EXPECT_FALSE(part.tensors.empty());
  for (const auto& [name, tensor] : part.tensors) {
    const auto at = whole.tensors.find(name);
    ASSERT_NE(at, whole.tensors.end()) << name;
    ASSERT_EQ(tensor.bytes(), at->second.bytes()) << name;
    EXPECT_EQ(std::memcmp(tensor.raw(), at->second.raw(), tensor.bytes()), 0) << name;
  }
}

constexpr int kMicroBatches[] = {1, 2, 3};

TEST(EveryLayout, ThreadsGiveTheBitsOfOneStage) {
  for (const Kind& kind : Kinds())
    for (const int m : kMicroBatches) {
      const Outcome one = Train(kind, {}, m);
      ASSERT_EQ(one.losses.size(), static_cast<size_t>(kSteps));
      for (const auto* layouts : {&kPairs, &kMoreRanks})
        for (const Layout& layout : *layouts) {
          SCOPED_TRACE(Words(kind, layout, m));
          const Outcome other = Train(kind, layout, m);
          EXPECT_EQ(other.losses, one.losses);
          EXPECT_EQ(other.tensors.size(), one.tensors.size());
          ExpectSameBits(other, one);
        }
    }
}

// Each process compares what it owns, and that of rank 0 the losses.
TEST(EveryLayout, ProcessesGiveTheBitsOfOneStage) {
  ASSERT_EQ(MpiWorld::processes(), 2);
  for (const Kind& kind : Kinds())
    for (const int m : kMicroBatches) {
      const Outcome one = Train(kind, {}, m);
      for (const Layout& layout : kPairs) {
        SCOPED_TRACE(Words(kind, layout, m));
        MpiWorld world;
        const Outcome other = Train(kind, layout, m, &world);
        EXPECT_EQ(other.losses, MpiWorld::process() == 0 ? one.losses : std::vector<double>{});
        EXPECT_LT(other.tensors.size(), one.tensors.size());
        ExpectSameBits(other, one);
      }
    }
}

}  // namespace
}  // namespace torus::recipes

int main(int argc, char** argv) {
  using namespace torus::parallel;
  testing::InitGoogleTest(&argc, argv);
  const std::string tests = UnderMpirun() ? "*.Processes*" : "*.Threads*";
  testing::GTEST_FLAG(filter) = tests;
  const int status = RUN_ALL_TESTS();
  if (status != 0 || UnderMpirun()) return status;
  ExecMpirun(2, {argv, argv + argc});
  std::perror("mpirun");
  return 1;
}
