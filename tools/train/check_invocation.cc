#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "data/images/augment.h"
#include "models/model_spec.h"
#include "parallel/codec/make_codec.h"
#include "parallel/collectives/all_reduce.h"
#include "parallel/optim/lr_schedule.h"
#include "parallel/pipeline/partition.h"
#include "parallel/schedule/factory.h"
#include "parallel/transport/in_process.h"
#include "recipes/data/data_names.h"
#include "recipes/data/task_data.h"
#include "recipes/run/make_optimizer.h"
#include "runtime/error.h"
#include "tools/common/flag_kinds.h"
#include "tools/train/invocation.h"

namespace torus::tools {
namespace {

// Refuses a NaN too.
template <class T>
void RequireUpTo(const char* flag, T value, T most) {
  Require(value >= 0 && value <= most, "train", "{} must be from 0 to {}, got {}", flag, most,
          value);
}

// One past this and a count is a slip of the keyboard, or would overflow a product of counts.
constexpr int64_t kMostRanks = 1024;
constexpr int64_t kMostSteps = int64_t{1} << 40;
constexpr double kMostReal = 1e38;  // what an f32 still holds

void RequireCount(const char* flag, int64_t value, int64_t most) {
  Require(value >= 1 && value <= most, "train", "{} must be from 1 to {}, got {}", flag, most,
          value);
}

void RequireOneOf(const char* flag, const std::string& value, const std::vector<std::string>& all) {
  Require(std::find(all.begin(), all.end(), value) != all.end(), "train",
          "{} must be one of {}, got {}", flag, fmt::join(all, ", "), value);
}

void CheckNumbers(const recipes::Settings& s) {
  RequireCount("--epochs", s.epochs, 1'000'000);
  RequireCount("--batch-size", s.batch_size, 1 << 24);
  RequireCount("--micro-batches", s.micro_batches, 1 << 16);
  RequireCount("--accumulate", s.accumulate, 1 << 16);
  RequireCount("--stages", s.stages, kMostRanks);
  RequireCount("--replicas", s.replicas, kMostRanks);
  Require(s.lr > 0 && s.lr <= kMostReal, "train", "--lr must be above 0 and at most {}, got {}",
          kMostReal, s.lr);
  Require(s.momentum >= 0 && s.momentum < 1, "train",
          "--momentum must be from 0 to below 1, got {}", s.momentum);
  Require(s.beta2 >= 0 && s.beta2 < 1, "train", "--beta2 must be from 0 to below 1, got {}",
          s.beta2);
  Require(s.image_size >= 0 && s.image_size <= 4096, "train",
          "--image-size must be from 0 to 4096, got {}", s.image_size);
  RequireCount("--length", s.length, 1 << 20);
  RequireUpTo("--epoch-size", s.epoch_size, kMostSteps);
  if (s.warmup != recipes::Settings().warmup) RequireUpTo("--warmup", s.warmup, kMostSteps);
  RequireUpTo("--clip-norm", s.clip_norm, kMostReal);
  Require(s.ema >= 0 && s.ema < 1, "train", "--ema must be from 0 to below 1, got {}", s.ema);
  RequireUpTo("--weight-decay", s.weight_decay, kMostReal);
}

void CheckNames(const recipes::Settings& s) {
  RequireOneOf("--data", s.data, recipes::DataNames());
  RequireOneOf("--augment", s.augment, data::AugmentNames());
  RequireOneOf("--activation-storage", s.activation_storage, {"f32", "bf16"});
  RequireOneOf("--schedule", s.schedule, parallel::ScheduleNames());
  RequireOneOf("--collectives", s.collectives, parallel::AllReduceNames());
  RequireOneOf("--optimizer", s.optimizer, recipes::OptimizerNames());
  parallel::MakeLrSchedule(s.lr_schedule, {});
  ParseModelSpec(s.model);
  parallel::MakeCodec(s.codec);
}

void CheckOthers(const Invocation& invocation) {
  RequireUpTo("--max-steps", invocation.max_steps, kMostSteps);
  RequireUpTo("--checkpoint-every", invocation.checkpoint_every, kMostSteps);
  RequireUpTo("--eval-every", invocation.eval_every, kMostSteps);
  RequireCount("--keep", invocation.keep, 1000);
  Require(invocation.timeout > 0 && invocation.timeout <= parallel::kLongestTimeout, "train",
          "--timeout must be above 0 and at most {} seconds, got {}", parallel::kLongestTimeout,
          invocation.timeout);
  RequireCount("--max-skipped", invocation.max_skipped, 1 << 20);
  const bool resumed = !invocation.resume.empty();
  Require(!resumed || invocation.preset.empty(), "train",
          "--preset {} says nothing of a resumed run, which has its own settings",
          invocation.preset);
  Require(!invocation.eval_only || resumed || !invocation.settings.init.empty(), "train",
          "--eval-only needs weights: give --init FILE or --resume DIR");
}

void CheckKinds(const Invocation& invocation) {
  static const std::vector<FlagKinds> flags{{"--augment", {"images"}},
                                            {"--image-size", {"images"}},
                                            {"--length", {"sentences", "a long text"}},
                                            {"--tokenizer", {"sentences", "a long text"}},
                                            {"--vocab-dir", {"sentences", "a long text"}},
                                            {"--epoch-size", {"a long text"}}};
  const std::string& model = invocation.settings.model;
  CheckFlagKinds(
      "train", flags, [&](const std::string& flag) { return invocation.given.contains(flag); },
      recipes::LearnsFrom(ParseModelSpec(model).task), "--model " + model);
}

// Stages and cuts each say how many parts there are.
void CompleteStages(Invocation& invocation) {
  recipes::Settings& s = invocation.settings;
  const bool listed = !s.cut.empty() && s.cut != "auto";
  if (listed) {
    const auto stages = static_cast<int64_t>(parallel::ParseCuts(s.cut).size()) + 1;
    Require(!invocation.given.contains("--stages") || s.stages == stages, "train",
            "--cut {} makes {} stages, but --stages is {}", s.cut, stages, s.stages);
    s.stages = stages;
  }
  Require(s.stages > 1 || s.cut.empty(), "train", "--cut {} needs two stages, but --stages is 1",
          s.cut);
  if (s.stages > 1) return;
  Require(!invocation.given.contains("--codec") || s.codec == "none", "train",
          "--codec {} needs a cut to work on, but --stages is 1", s.codec);
  s.codec = "none";
}

void CompleteThreads(Invocation& invocation) {
  recipes::Settings& s = invocation.settings;
  const int64_t ranks = s.stages * s.replicas;
  Require(ranks <= kMostRanks, "train", "--stages {} x --replicas {} are {} ranks; at most {}",
          s.stages, s.replicas, ranks, kMostRanks);
  const bool too_few = !invocation.resume.empty() && s.threads < ranks;  // as it was laid out
  if (!invocation.given.contains("--threads") && (s.threads == 0 || too_few))
    s.threads = std::max<int64_t>(ranks, std::max(1u, std::thread::hardware_concurrency()));
  Require(s.threads >= ranks && s.threads <= 65536, "train",
          "--threads must give each of the {} ranks one, and be at most 65536, got {}", ranks,
          s.threads);
}

void CheckBatch(const recipes::Settings& s) {
  const int64_t parts = PartsOfBatch(s);
  Require(s.batch_size >= parts, "train",
          "--batch-size {} cannot fill {} micro-batches (--replicas {} x --micro-batches {} x "
          "--accumulate {})",
          s.batch_size, parts, s.replicas, s.micro_batches, s.accumulate);
}

// Without SGD's momentum there is nothing for Nesterov's look-ahead: an error where it was asked
// for.
void CompleteNesterov(Invocation& invocation) {
  recipes::Settings& s = invocation.settings;
  if (s.optimizer == "sgd" && s.momentum > 0) return;
  Require(!s.nesterov || !invocation.given.contains("--nesterov"), "train",
          "--nesterov needs --optimizer sgd with --momentum above 0");
  s.nesterov = false;
}

void CheckBeta2(const Invocation& invocation) {
  const std::string& optimizer = invocation.settings.optimizer;
  Require(optimizer != "sgd" || !invocation.given.contains("--beta2"), "train",
          "--beta2 needs --optimizer adam or adamw, got {}", optimizer);
}

}  // namespace

void CheckAndComplete(Invocation& invocation) {
  CheckNumbers(invocation.settings);
  CheckNames(invocation.settings);
  CheckOthers(invocation);
  CheckKinds(invocation);
  CompleteStages(invocation);
  CompleteThreads(invocation);
  CheckBatch(invocation.settings);
  CompleteNesterov(invocation);
  CheckBeta2(invocation);
}

}  // namespace torus::tools
