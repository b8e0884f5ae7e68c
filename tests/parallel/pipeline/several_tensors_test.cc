// What crosses a cut may be several tensors of several types: an activation with token numbers and
// a mask. They arrive as they were; gradients come back for the floating ones alone.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <mutex>

#include "autograd/node.h"
#include "parallel/codec/make_codec.h"
#include "parallel/pipeline/executor.h"
#include "parallel/pipeline/partition.h"
#include "parallel/schedule/factory.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/dispatch.h"
#include "runtime/kernels.h"
#include "runtime/rng.h"

namespace torus::parallel {
namespace {

using Vars = std::vector<Variable>;
constexpr int64_t kWidth = 4, kIds = 7;
constexpr int kRows = 9, kMicroBatches = 3;

void LookupForward(const Tensor& x, const Tensor& ids, const Tensor& mask, const Tensor& table,
                   Tensor& y) {
  for (int64_t r = 0; r < x.dim(0); ++r)
    for (int64_t i = 0; i < kWidth && mask.data<bool>()[r]; ++i)
      y.mutable_data<float>()[r * kWidth + i] =
          std::tanh(x.data<float>()[r * kWidth + i] +
                    table.data<float>()[ids.data<int64_t>()[r] * kWidth + i]);
}

// y(r, :) = mask(r) ? tanh(x(r, :) + table(ids(r), :)) : 0
Variable Lookup(const Variable& x, const Tensor& ids, const Tensor& mask, const Variable& table) {
  Tensor y = Zeros(x.shape(), DType::kF32, x.data().device());
  Dispatch("lookup", y.device(), [&] { LookupForward(x.data(), ids, mask, table.data(), y); });
  return Record("lookup", y, {x, table}, [y, ids](const GradContext& g) {
    Tensor dx = Zeros(y.shape()), dt = Zeros({kIds, kWidth});
    for (int64_t r = 0; r < y.dim(0); ++r)
      for (int64_t i = 0; i < kWidth; ++i) {
        const float v = y.data<float>()[r * kWidth + i];
        const float d = v == 0 ? 0 : g.grad().data<float>()[r * kWidth + i] * (1 - v * v);
        dx.mutable_data<float>()[r * kWidth + i] = d;
        dt.mutable_data<float>()[ids.data<int64_t>()[r] * kWidth + i] += d;
      }
    return Gradients{g.wants(0) ? dx : Tensor(), g.wants(1) ? dt : Tensor()};
  });
}

std::vector<Block> MakeBlocks(bool recompute) {
  std::vector<Block> blocks;
  for (uint64_t b = 0; b < 3; ++b) {
    Tensor values = Empty({kIds, kWidth});
    FillUniform(values, -1, 1, RandomStream({.seed = 2, .layer = b}));
    const Variable table(values, true);
    Block& block = blocks.emplace_back();
    block.name = fmt::format("lookup{}", b);
    block.parameters = {{block.name + ".table", table}};
    block.forward = [table](const Vars& x, const StepContext&) {
      return Vars{Lookup(x[0], x[1].data(), x[2].data(), table), x[1], x[2]};
    };
    block.recompute = recompute;
  }
  return blocks;
}

Variable Loss(const Vars& outputs, const std::vector<Tensor>&) {
  const Tensor& y = outputs[0].data();
  const float rows = static_cast<float>(y.dim(0));
  float sum = 0;
  for (int64_t i = 0; i < y.numel(); ++i) sum += y.data<float>()[i] * y.data<float>()[i];
  return Record("squares", Full({}, sum / rows), {outputs[0]}, [y, rows](const GradContext& g) {
    Tensor d = y.Clone();
    ScaleInPlace(d, 2 * g.grad().Item() / rows);
    return Gradients{d};
  });
}

MiniBatch MakeBatch(int64_t step) {
  MiniBatch batch{.step = step, .global_samples = kRows};
  for (int m = 0; m < kMicroBatches; ++m) {
    constexpr int kPart = kRows / kMicroBatches;
    MicroBatch& part = batch.micro_batches.emplace_back();
    Tensor x = Empty({kPart, kWidth}), ids(Shape{kPart}, DType::kI64),
           mask(Shape{kPart}, DType::kBool);
    FillUniform(
        x, -1, 1,
        RandomStream({.step = static_cast<uint64_t>(step), .sample = static_cast<uint64_t>(m)}));
    for (int r = 0; r < kPart; ++r) {
      part.samples.push_back(m * kPart + r);
      ids.mutable_data<int64_t>()[r] = (step + 3 * m + 2 * r) % kIds;
      mask.mutable_data<bool>()[r] = (step + m + r) % 3 != 0;
    }
    part.inputs = {x, ids, mask};
  }
  return batch;
}

struct Trained {
  std::vector<double> losses;
  std::map<std::string, std::vector<float>> gradients;  // of the last step
  std::vector<CutTraffic> traffic;
};

struct Run {
  Cuts cuts;
  std::string codec = "none";
  bool recompute = false, encodes_beside = false;
};

Trained Train(const Run& run) {
  const int stages = static_cast<int>(run.cuts.size()) + 1;
  Trained trained;
  std::mutex mutex;
  RunRanks(stages, [&](Transport& transport) {
    std::vector<Stage> all = MakeStages(MakeBlocks(run.recompute), run.cuts);
    Stage& mine = all[transport.rank()];
    ExecutorOptions options{.loss = Loss,
                            .activation_codec = MakeCodec(run.codec),
                            .gradient_codec = MakeCodec(run.codec),
                            .encodes_beside = run.encodes_beside};
    options.on_step = [&](int, int64_t) {
      const std::lock_guard lock(mutex);
      for (NamedVariable p : mine.Parameters()) {
        trained.gradients[p.name] = ToVector<float>(p.value.grad());
        p.value.ZeroGrad();
      }
      return true;
    };
    Executor executor(transport, MakeSchedule("gpipe", {stages, kMicroBatches}),
                      {{transport.rank(), &mine}}, options);
    executor.AgreeOnShapes({{{kRows / kMicroBatches, kWidth}, DType::kF32},
                            {{kRows / kMicroBatches}, DType::kI64},
                            {{kRows / kMicroBatches}, DType::kBool}});
    std::vector<double> losses;
    for (int64_t step = 0; step < 2; ++step)
      losses.push_back(executor.Run(MakeBatch(step), RunMode::kTrain).loss);
    const std::lock_guard lock(mutex);
    if (transport.rank() == stages - 1) trained.losses = losses;
    for (const CutTraffic& cut : executor.traffic()) trained.traffic.push_back(cut);
  });
  return trained;
}

TEST(SeveralTensors, EveryCutGivesTheSameBits) {
  const Trained one = Train({});
  ASSERT_EQ(one.gradients.size(), 3u);
  EXPECT_GT(one.losses[0], 0);
  for (const Cuts& cuts : {Cuts{1}, Cuts{2}, Cuts{1, 2}}) {
    for (const bool recompute : {false, true}) {
      const Trained cut = Train({cuts, "none", recompute});
      EXPECT_EQ(one.losses, cut.losses);
      EXPECT_EQ(one.gradients, cut.gradients);
    }
  }
}

TEST(SeveralTensors, GradientsOfTheFloatingOnesAloneComeBack) {
  const Trained cut = Train({.cuts = {1}});
  ASSERT_EQ(cut.traffic.size(), 2u);
  for (const CutTraffic& link : cut.traffic) {
    const uint64_t floats = 2 * kRows * kWidth * sizeof(float);
    EXPECT_EQ(link.raw_bytes, link.forward ? floats + 2 * kRows * (sizeof(int64_t) + 1) : floats);
    EXPECT_EQ(link.sent_bytes, link.raw_bytes);
  }
}

// The codec takes the floats alone: numbers and mask decide the same rows, or the loss would be far
// off. sortq:16 keeps 12 bits within each of 16 buckets: values below 1 move by less than 2^-12.
TEST(SeveralTensors, ACodecLeavesNumbersAndMasksAsTheyAre) {
  const Trained one = Train({}), coded = Train({.cuts = {1, 2}, .codec = "sortq:16"});
  for (size_t i = 0; i < one.losses.size(); ++i)
    EXPECT_NEAR(one.losses[i], coded.losses[i], 3 * 2 * kWidth * std::ldexp(1, -12));
}

TEST(SeveralTensors, AnEncoderBesideTheRankChangesNoBit) {
  const Trained plain = Train({.cuts = {1, 2}, .codec = "sortq:8"});
  const Trained beside = Train({.cuts = {1, 2}, .codec = "sortq:8", .encodes_beside = true});
  EXPECT_EQ(beside.losses, plain.losses);
  EXPECT_EQ(beside.gradients, plain.gradients);
  const auto bytes = [](const Trained& trained) {
    std::map<std::pair<int, bool>, std::pair<uint64_t, uint64_t>> bytes;
    for (const CutTraffic& cut : trained.traffic)
      bytes[{cut.stage, cut.forward}] = {cut.raw_bytes, cut.sent_bytes};
    return bytes;
  };
  EXPECT_EQ(bytes(beside), bytes(plain));
}

}  // namespace
}  // namespace torus::parallel
