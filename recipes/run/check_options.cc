#include "recipes/run/check_options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "data/images/augment.h"
#include "parallel/codec/codec_choice.h"
#include "parallel/codec/make_codec.h"
#include "parallel/collectives/all_reduce.h"
#include "parallel/data_parallel/strategy_factory.h"
#include "parallel/link/link_table.h"
#include "parallel/optim/lr_schedule.h"
#include "parallel/optim/state_type.h"
#include "parallel/pipeline/partition.h"
#include "parallel/schedule/factory.h"
#include "parallel/transport/in_process.h"
#include "parallel/transport/nccl/gpu_links.h"
#include "recipes/blocks/auto_cut.h"
#include "recipes/data/data_names.h"
#include "recipes/model/model_of.h"
#include "recipes/run/collectives.h"
#include "recipes/run/make_optimizer.h"
#include "recipes/run/run_codecs.h"
#include "recipes/settings/device.h"
#include "recipes/settings/precision.h"
#include "runtime/did_you_mean.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

// Rejects NaN too.
template <class T>
void RequireUpTo(const char* flag, T value, T most) {
  Require(value >= 0 && value <= most, "train", "{} must be from 0 to {}, got {}", flag, most,
          value);
}

// A count above this is a typing error, or would overflow a product of counts.
constexpr int64_t kMostRanks = 1024;
constexpr int64_t kMostSteps = int64_t{1} << 40;
constexpr double kMostReal = 1e38;   // within the range of f32
constexpr double kMostMixing = 1e6;  // all shares are a half then

void RequireCount(const char* flag, int64_t value, int64_t most) {
  Require(value >= 1 && value <= most, "train", "{} must be from 1 to {}, got {}", flag, most,
          value);
}

void RequireOneOf(const char* flag, const std::string& value, const std::vector<std::string>& all) {
  if (std::ranges::count(all, value) > 0) return;
  Throw<BadInput>("train", "{} must be one of {}, got {}{}", flag, fmt::join(all, ", "), value,
                  DidYouMean(value, all));
}

void CheckNumbers(const Settings& s) {
  RequireCount("--epochs", s.epochs, 1'000'000);
  RequireCount("--batch-size", s.batch_size, 1 << 24);
  RequireCount("--micro-batches", s.micro_batches, 1 << 16);
  RequireCount("--accumulate", s.accumulate, 1 << 16);
  RequireCount("--stages", s.stages, kMostRanks);
  RequireCount("--chunks", s.chunks, kMostRanks);
  RequireCount("--replicas", s.replicas, kMostRanks);
  RequireCount("--tensor", s.tensor, kMostRanks);
  Require(s.lr > 0 && s.lr <= kMostReal, "train", "--lr must be above 0 and at most {}, got {}",
          kMostReal, s.lr);
  Require(s.momentum >= 0 && s.momentum < 1, "train",
          "--momentum must be from 0 to below 1, got {}", s.momentum);
  Require(s.beta1 >= 0 && s.beta1 < 1, "train", "--beta1 must be from 0 to below 1, got {}",
          s.beta1);
  Require(s.beta2 >= 0 && s.beta2 < 1, "train", "--beta2 must be from 0 to below 1, got {}",
          s.beta2);
  Require(s.image_size >= 0 && s.image_size <= 4096, "train",
          "--image-size must be from 0 to 4096, got {}", s.image_size);
  RequireCount("--length", s.length, 1 << 20);
  RequireUpTo("--epoch-size", s.epoch_size, kMostSteps);
  if (s.warmup != Settings().warmup) RequireUpTo("--warmup", s.warmup, kMostSteps);
  RequireUpTo("--clip-norm", s.clip_norm, kMostReal);
  Require(s.ema >= 0 && s.ema < 1, "train", "--ema must be from 0 to below 1, got {}", s.ema);
  RequireUpTo("--weight-decay", s.weight_decay, kMostReal);
  RequireUpTo("--random-erasing", s.random_erasing, 1.0);
  RequireUpTo("--mixup", s.mixup, kMostMixing);
  RequireUpTo("--cutmix", s.cutmix, kMostMixing);
}

void CheckSchedule(const Settings& s) {
  parallel::CheckScheduleName(s.schedule);
  const bool file = s.schedule.starts_with("csv:");
  Require(s.chunks == 1 || file || parallel::TakesChunks(s.schedule), "train",
          "--chunks {} needs --schedule interleaved or zb-interleaved, got {}", s.chunks,
          s.schedule);
}

void CheckGradientCodec(const Settings& s) {
  if (s.codec_gradients == "none") return;
  const auto codec = parallel::MakeCodec(s.codec_gradients);
  Require(!codec->decodes_from_memory(), "train",
          "--codec-gradients takes no {}: gradients have no samples", codec->name());
  const bool direct = s.collectives == "direct" || s.collectives == "auto";
  Require(
      parallel::TakesCodec(s.strategy) && direct, "train",
      "--codec-gradients needs --strategy ddp or diloco:H and --collectives direct or auto; got "
      "{} and {}",
      s.strategy, s.collectives);
  Require(!s.reproducible, "train",
          "--codec-gradients sums without --reproducible, which was given: leave out one of them");
  Require(s.replicas > 1, "train",
          "--codec-gradients {} needs --replicas above 1, whose gradients are summed, got 1",
          s.codec_gradients);
}

void CheckValidation(const Settings& s) {
  Require(s.validation >= 0 && s.validation < 1, "train",
          "--validation must be from 0 to below 1, got {}", s.validation);
  RequireOneOf("--best", s.best, {"validation", "test"});
  RequireUpTo("--patience", s.patience, kMostSteps);
  Require(s.patience == 0 || ChoosesBest(s), "train",
          "--patience {} needs --validation, or --best test, to know what is better", s.patience);
}

void CheckLora(const Settings& s) {
  RequireUpTo("--lora", s.lora, int64_t{1} << 16);
  if (s.lora == 0) return;
  Require(!s.init.empty(), "train", "--lora adapts weights that are there: it needs --init");
  Require(s.tensor == 1, "train", "--lora adapts whole matrices, and needs --tensor 1, got {}",
          s.tensor);
  if (s.replicas == 1) return;
  Require(!parallel::ExchangesWeights(s.strategy), "train",
          "--lora needs a --strategy that averages no weights (ddp, none), got {}: LoRA's weights "
          "are made from its optimizer's state, which is not averaged",
          s.strategy);
  Require(s.strategy == "ddp" || !parallel::KeepsReplicasEqual(s.strategy), "train",
          "--lora needs a --strategy whose replicas hold whole matrices (ddp, none), got {}",
          s.strategy);
}

// Tensor-parallel ranks' slices of a weight are no blocks of it: they would quantize other blocks
// than one rank, and one that resumes their run.
void CheckOptimizerState(const Settings& s) {
  const parallel::StateType type = StateTypeByName(s.optimizer_state);
  Require(type == parallel::StateType::kF32 || s.optimizer.starts_with("adam"), "train",
          "--optimizer-state {} needs --optimizer adam or adamw, got {}", s.optimizer_state,
          s.optimizer);
  Require(type != parallel::StateType::k8Bit || s.tensor == 1, "train",
          "--optimizer-state 8bit quantizes blocks of whole weights and needs --tensor 1, got {}; "
          "bf16 has no blocks",
          s.tensor);
}

void CheckLabelSmoothing(const Settings& s) {
  Require(s.label_smoothing >= 0 && s.label_smoothing < 1, "train",
          "--label-smoothing must be from 0 to below 1, got {}", s.label_smoothing);
  Require(s.label_smoothing == 0 || s.tensor == 1 || !IsLanguageModel(ModelOf(s).task), "train",
          "--label-smoothing needs the whole vocabulary of a language model on one rank, got "
          "--tensor {}",
          s.tensor);
}

// Of a text's rows, which the model numbers.
void CheckLength(const Settings& s) {
  const ModelSpec model = ModelOf(s);
  Require(model.published.tokens == 0 || s.length <= model.published.input, "train",
          "--length {} is beyond the {} positions of --model {}", s.length, model.published.input,
          s.model);
}

void CheckDocumentMask(const Settings& s) {
  const ModelSpec model = ModelOf(s);
  Require(!s.document_mask || !IsLanguageModel(model.task) || model.takes_documents, "train",
          "--document-mask needs a model that takes the documents of its tokens, GPT-2 or Llama, "
          "got --model {}",
          s.model);
}

void CheckNames(const RunOptions& options) {
  const Settings& s = options.settings;
  RequireOneOf("--data", s.data, DataNames());
  RequireOneOf("--augment", s.augment, data::AugmentNames());
  RequireOneOf("--activation-storage", s.activation_storage, {"f32", "bf16"});
  CheckedPrecision("train", s.precision, s.emulate, CheckedDevice("train", s.device));
  if (!options.schedule) CheckSchedule(s);
  RequireOneOf("--tensor-cuts", s.tensor_cuts, {"shared", "whole"});
  RequireOneOf("--collectives", s.collectives, CollectivesNames());
  RequireOneOf("--gpu-links", s.gpu_links, parallel::GpuLinksNames());
  parallel::CheckStrategy(s.strategy, parallel::AllReduceByName(CollectivesOf(s, false)));
  RequireCount("--bucket-mb", s.bucket_mb, 1 << 20);
  RequireOneOf("--optimizer", s.optimizer, OptimizerNames());
  CheckOptimizerState(s);
  parallel::MakeLrSchedule(s.lr_schedule, {});
  CheckLength(s);
  CheckDocumentMask(s);
  CheckValidation(s);
  CheckLabelSmoothing(s);
  CheckLora(s);
  CheckGradientCodec(s);
  RequireUpTo("--codec-warmup", s.codec_warmup, kMostSteps);
}

void CheckGraphs(const RunOptions& options) {
  const Settings& s = options.settings;
  if (options.cuda_graphs != "on") return;
  Require(s.device == "cuda", "train", "--cuda-graphs on needs --device cuda, got {}", s.device);
  Require(RanksOf(s) == s.replicas, "train",
          "--cuda-graphs on needs one rank that runs the whole pipeline, or replicas of it; got {} "
          "ranks for --replicas {}",
          RanksOf(s), s.replicas);
  Require(!s.sync_batch_norm || s.replicas == 1, "train",
          "--cuda-graphs on steps without --sync-batch-norm, which was given: leave out one of "
          "them");
  Require(!s.reproducible, "train",
          "--cuda-graphs on steps without --reproducible, which was given: leave out one of them");
}

void CheckOthers(const RunOptions& options) {
  RequireUpTo("--max-steps", options.max_steps, kMostSteps);
  RequireUpTo("--checkpoint-every", options.checkpoint_every, kMostSteps);
  RequireUpTo("--eval-every", options.eval_every, kMostSteps);
  RequireCount("--keep", options.keep, 1000);
  Require(options.timeout > 0 && options.timeout <= parallel::kLongestTimeout, "train",
          "--timeout must be above 0 and at most {} seconds, got {}", parallel::kLongestTimeout,
          options.timeout);
  RequireCount("--max-skipped", options.max_skipped, 1 << 20);
  RequireOneOf("--cuda-graphs", options.cuda_graphs, {"auto", "on", "off"});
  parallel::ParseLinks(options.settings.links);
  Require(options.settings.links.empty() || !options.wrap_transport, "train",
          "--link goes around the ranks' own transport, and not around one that is wrapped");
  Require(options.rank_memory.empty() || IsAutoCut(options.settings.cut), "train",
          "--rank-memory needs --cut auto, got \"{}\"", options.settings.cut);
}

void CheckCodecs(const RunOptions& options) {
  const Settings& s = options.settings;
  const int stages = static_cast<int>(s.stages);
  const bool cut = PipelineOf(s).ranks > 1;
  const auto check = [&](const char* flag, const std::string& text) {
    Require(cut || !parallel::ParseCodecChoice(flag, text, stages).any(), "train",
            "{} {} needs a cut between two ranks, but with --schedule {}, --stages {} and --chunks "
            "{} there is one rank",
            flag, text, s.schedule, s.stages, s.chunks);
  };
  check("--codec", s.codec);
  if (!s.codec_backward.empty()) check("--codec-backward", s.codec_backward);
  Require(s.codec_folder.empty() || RemembersSamples(s), "train",
          "--codec-folder {} is for the samples of delta(...), but --codec is {}{}{}",
          s.codec_folder, s.codec, s.codec_backward.empty() ? "" : " and --codec-backward ",
          s.codec_backward);
}

// Both --stages and --cut say how many stages there are.
void CompleteStages(RunOptions& options) {
  Settings& s = options.settings;
  if (IsAutoCut(s.cut)) CountedRate(s.cut);
  if (!s.cut.empty() && !IsAutoCut(s.cut)) {
    const auto stages = static_cast<int64_t>(parallel::ParseCuts(s.cut).size()) + 1;
    Require(s.stages == 1 || s.stages == stages, "train",
            "--cut {} makes {} stages, but --stages is {}", s.cut, stages, s.stages);
    s.stages = stages;
  }
  Require(s.stages % s.chunks == 0, "train",
          "--stages {} must be a multiple of --chunks {}, the stages of each rank", s.stages,
          s.chunks);
  Require(s.stages > 1 || s.cut.empty(), "train", "--cut {} needs two stages, but --stages is 1",
          s.cut);
  CheckCodecs(options);
}

void CheckRanks(const Settings& s) {
  const int64_t ranks = RanksOf(s);
  Require(ranks <= kMostRanks, "train",
          "--stages {}, --chunks {}, --replicas {} and --tensor {} make {} ranks; at most {}",
          s.stages, s.chunks, s.replicas, s.tensor, ranks, kMostRanks);
  Require(s.threads >= 0 && s.threads <= 65536, "train",
          "--threads must be from 0 to 65536 (0: as many as cores), got {}", s.threads);
}

void CheckLinks(const Settings& s) {
  const int named = parallel::ParseLinks(s.links).largest_rank();
  const int64_t ranks = RanksOf(s);
  Require(named < ranks, "train", "--link names rank {}, but there are {} ranks", named, ranks);
}

void CheckGpus(const Settings& s) {
  const parallel::GpuLinks links = parallel::GpuLinksByName(s.gpu_links);
  Require(links != parallel::GpuLinks::kNccl || s.device == "cuda", "train",
          "--gpu-links nccl needs --device cuda, got {}", s.device);
  if (s.device == "cpu") return;
  Require(parallel::WorksOnGpus(s.strategy), "train",
          "--device cuda needs --strategy ddp, local-sgd:H, diloco:H or none, got {}", s.strategy);
}

// Each rank times by itself, and may choose otherwise than the next one.
void CheckAutotune(const Settings& s) {
  if (!s.autotune || s.device == "cpu") return;
  Require(
      s.tensor == 1, "train",
      "--autotune chooses on each rank by itself, and with --tensor {} ranks must choose alike: "
      "give --no-autotune; --plans FILE is the same for all",
      s.tensor);
  Require(!s.reproducible, "train",
          "--autotune chooses on each rank by itself, and with --reproducible ranks must choose "
          "alike: give --no-autotune; --plans FILE is the same for all");
}

void CheckReproducible(const Settings& s) {
  if (!s.reproducible) return;
  Require(parallel::KeepsReplicasEqual(s.strategy), "train",
          "--reproducible needs a --strategy whose replicas agree, got {}", s.strategy);
  Require(CollectivesOf(s, false) == "direct", "train",
          "--reproducible sums in one tree and needs --collectives direct, got {}", s.collectives);
  Require(s.replicas == 1 || std::has_single_bit(static_cast<uint64_t>(PartsOfReplica(s))), "train",
          "--reproducible needs 1, 2, 4, 8, ... micro-batches of each replica, got {} "
          "(--micro-batches {} x --accumulate {})",
          PartsOfReplica(s), s.micro_batches, s.accumulate);
}

void CheckSyncBatchNorm(const Settings& s) {
  if (!s.sync_batch_norm) return;
  Require(!s.reproducible, "train",
          "--sync-batch-norm normalises by the replicas there are, and --reproducible needs what "
          "does not depend on them: give one of the two");
  Require(parallel::KeepsReplicasEqual(s.strategy), "train",
          "--sync-batch-norm needs a --strategy whose replicas agree, got {}", s.strategy);
}

void CheckAverages(const Settings& s) {
  Require(s.ema == 0 || !parallel::ExchangesWeights(s.strategy), "train",
          "--ema averages the weights of equal replicas, got --strategy {}", s.strategy);
}

void CheckTensor(const Settings& s) {
  if (s.tensor == 1) return;
  Require(!IsAutoCut(s.cut), "train",
          "--cut auto measures whole layers; with --tensor {} give the cuts, got {}", s.tensor,
          s.cut);
}

void CheckBatch(const Settings& s) {
  const int64_t parts = PartsOfBatch(s);
  Require(s.batch_size >= parts, "train",
          "--batch-size {} cannot fill {} micro-batches (--replicas {} x --micro-batches {} x "
          "--accumulate {})",
          s.batch_size, parts, s.replicas, s.micro_batches, s.accumulate);
}

}  // namespace

RunOptions CheckedOptions(RunOptions options) {
  Settings& settings = options.settings;
  // How a resumed run is told to go on without its links.
  if (settings.links == std::vector<std::string>{"none"}) settings.links.clear();
  CheckNumbers(settings);
  CheckNames(options);
  CheckOthers(options);
  CompleteStages(options);
  CheckGraphs(options);
  CheckRanks(settings);
  CheckLinks(settings);
  CheckBatch(settings);
  CheckGpus(settings);
  CheckAutotune(settings);
  CheckReproducible(settings);
  CheckSyncBatchNorm(settings);
  CheckAverages(settings);
  CheckTensor(settings);
  if (settings.optimizer != "sgd" || settings.momentum == 0) settings.nesterov = false;
  return options;
}

}  // namespace torus::recipes
