#include "tools/train/invocation.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "data/images/augment.h"
#include "models/model_spec.h"
#include "parallel/codec/make_codec.h"
#include "parallel/data_parallel/strategy_factory.h"
#include "parallel/schedule/factory.h"
#include "parallel/transport/nccl/gpu_links.h"
#include "recipes/data/data_names.h"
#include "recipes/data/task_data.h"
#include "recipes/model/usual_settings.h"
#include "recipes/run/collectives.h"
#include "recipes/run/make_optimizer.h"
#include "recipes/settings/presets.h"
#include "runtime/error.h"
#include "tools/common/parse_flags.h"
#include "tools/common/user_path.h"

namespace torus::tools {
namespace {

constexpr char kAbout[] =
    "Trains a model as a pipeline of stages, each on a rank (a thread) of its own, times "
    "a number of replicas. Without --model, --data or --preset it runs the preset "
    "mobilenet_v2-fashion-mnist; a --model alone begins with one stage, no codec and the optimizer "
    "that is usual for it.";

constexpr char kMore[] =
    "What it leaves in --out: summary.json, metrics.jsonl, trace.json (open it in "
    "ui.perfetto.dev), "
    "report.html, checkpoint/ with each stage's tensors under torchvision's names, earlier/ and "
    "best/ "
    "with others of its kind; of GPT-2 and RoBERTa model/ for other programs; of other models with "
    "--ema averaged_weights.safetensors.\n"
    "Ctrl-C ends the step, writes a checkpoint and says how to resume; a second one quits at "
    "once.\n"
    "Status: 0 done, 2 a mistake in flags or files, 1 another failure, 130 or 143 stopped by a "
    "signal.";

// "Of what: a (this), b (that)".
std::string Choices(const std::string& of,
                    const std::vector<std::pair<std::string, std::string>>& choices) {
  std::vector<std::string> all;
  for (const auto& [name, about] : choices) all.push_back(fmt::format("{} ({})", name, about));
  return fmt::format("{}: {}", of, fmt::join(all, ", "));
}

void AddRunFlags(CLI::App& app, recipes::Settings& s) {
  const char* group = "What is trained";
  app.add_option("--model", s.model,
                 fmt::format("One of {}; mobilenet_v2:W has a width multiplier W, a transformer "
                             "NAME:N has N layers, amoebanetd:L,F has L layers and F filters",
                             fmt::join(ModelNames(), ", ")))
      ->group(group);
  app.add_option("--data", s.data, fmt::format("One of {}", fmt::join(recipes::DataNames(), ", ")))
      ->group(group);
  app.add_option("--tokenizer", s.tokenizer,
                 "Of text: chars, bytes, gpt2 or roberta; by default that of token files, else "
                 "the model's own; of a GPT on a text file without --vocab-dir bytes")
      ->group(group);
  app.add_option("--vocab-dir", s.vocab_dir, "Folder of the vocabulary of gpt2 or roberta")
      ->group(group);
  app.add_option("--image-size", s.image_size,
                 "Side of the square that images are brought to; 0: that of the dataset")
      ->group(group);
  app.add_option("--length", s.length, "Tokens of a row of text")->group(group);
  app.add_option("--epoch-size", s.epoch_size,
                 "Windows of a long text in an epoch; 0: as many as lie side by side in it")
      ->group(group);
  app.add_flag("--drop-last", s.drop_last,
               "Leave out the last batch of an epoch where it is smaller than the others");
  app.get_option("--drop-last")->group("What is trained");
  app.add_option("--augment", s.augment,
                 Choices("Random changes of training images", data::AugmentDescriptions()))
      ->group("What is trained");
  app.add_option(
         "--init", s.init,
         "Weights to begin with: a .safetensors or .pth file, a folder of Hugging Face's, or a "
         "checkpoint's (else random)")
      ->group("What is trained");
  app.add_option("--seed", s.seed, "Of weights, order, augmentation and dropout")
      ->group("What is trained");
}

void AddOptimizerFlags(CLI::App& app, recipes::Settings& s) {
  const char* group = "How it is optimized";
  app.add_option("--epochs", s.epochs, "Passes over the training set")->group(group);
  app.add_option("--batch-size", s.batch_size, "Samples a step, over all replicas")->group(group);
  app.add_option("--optimizer", s.optimizer,
                 Choices("By default the model's usual one", recipes::OptimizerDescriptions()))
      ->default_str("")
      ->group(group);
  app.add_option("--lr", s.lr, "Peak learning rate; by default the model's usual one")
      ->default_str("")
      ->group(group);
  app.add_option("--momentum", s.momentum, "Of SGD: from 0 to below 1")->group(group);
  app.add_option("--beta1", s.beta1, "Of Adam: decay of the mean gradient")->group(group);
  app.add_option("--beta2", s.beta2,
                 "Of Adam: decay of the mean square; by default the model's usual one")
      ->default_str("")
      ->group(group);
  app.add_flag("--nesterov,!--no-nesterov", s.nesterov, "Nesterov's momentum, or the plain one");
  app.get_option("--nesterov")->group(group);
  app.add_option(
         "--weight-decay", s.weight_decay,
         "Of every parameter; Adam leaves out biases and norms. By default the model's usual "
         "one")
      ->default_str("")
      ->group(group);
  app.add_option("--clip-norm", s.clip_norm,
                 "Largest norm of the whole gradient; a larger one is scaled down to it; 0: none. "
                 "By default "
                 "the model's usual one")
      ->default_str("")
      ->group(group);
  app.add_option("--ema", s.ema,
                 "Decay of a moving average of the weights, which is then what is evaluated (0.999 "
                 "follows the last thousand steps). 0: none")
      ->group(group);
  app.add_option(
         "--lr-schedule", s.lr_schedule,
         "Over the steps of --epochs: constant, cosine[:F], linear[:F], polynomial:P[:F] "
         "(down to F "
         "of the peak), one-cycle, or step:N:G (times G every N epochs). By default the model's "
         "usual one")
      ->default_str("")
      ->group(group);
  app.add_option(
         "--warmup", s.warmup,
         "Steps in which the rate rises to --lr; by default a tenth of the run, at most 100")
      ->default_str("")
      ->group(group);
}

void AddParallelFlags(CLI::App& app, recipes::Settings& s, Invocation& invocation) {
  const char* group = "How it is laid out over ranks";
  app.add_option("--stages", s.stages,
                 "Parts of the model, each on a rank of its own (but --chunks of them on each with "
                 "that flag)")
      ->group(group);
  app.add_option("--chunks", s.chunks, "Stages of each rank, for --schedule interleaved")
      ->group(group);
  app.add_option(
         "--cut", s.cut,
         "First layer of each stage but the first, as --describe numbers them (1,18); auto: "
         "what the simulator says is fastest, by times measured now, with the links, the codec and "
         "--rank-memory; auto:50GFLOPS: by counted costs, at that speed of a rank; by default "
         "balanced by a static cost")
      ->group(group);
  app.add_option("--micro-batches", s.micro_batches, "Parts of a replica's share of a batch")
      ->group(group);
  app.add_option("--accumulate", s.accumulate,
                 "Rounds of the pipeline, of --micro-batches each, whose gradients make one step; "
                 "more rounds of smaller parts need less memory")
      ->group(group);
  app.add_option("--recompute", s.recompute,
                 "Layers whose activations are computed again in the backward instead of kept, as "
                 "--describe numbers them: none, all, or such as 0,3,7-9")
      ->group(group);
  app.add_option(
         "--activation-storage", s.activation_storage,
         "How the others are kept until the backward: f32, or bf16 in half the memory, with "
         "gradients of rounded activations")
      ->group(group);
  app.add_option(
         "--precision", s.precision,
         "Of products, convolutions and attention: f32, bf16, or on a GPU f16 and tf32, all "
         "with sums in f32; weights, their gradients, losses and statistics stay f32. With "
         "f16 the loss is scaled, and the scale found by itself")
      ->group(group);
  app.add_flag("--emulate", s.emulate,
               "With --precision bf16 or f16: round to it and compute in f32, on any processor")
      ->group(group);
  app.add_option("--replicas", s.replicas, "Copies of the pipeline, which share every batch")
      ->group(group);
  app.add_option("--tensor", s.tensor,
                 "Ranks that compute each layer of RoBERTa or a GPT together, each with a slice of "
                 "its weights (Megatron-LM's tensor parallelism); it must divide the heads")
      ->group(group);
  app.add_option("--tensor-cuts", s.tensor_cuts,
                 "What crosses a cut, which those ranks all have: shared (each sends its share, "
                 "and they gather it behind the cut) or whole (each sends all of it)")
      ->group(group);
  app.add_option("--schedule", s.schedule,
                 Choices("Order of a pipeline's work", parallel::ScheduleDescriptions()))
      ->group(group);
  app.add_option(
         "--strategy", s.strategy,
         Choices("How the replicas come to the same weights, with the same bits but for none",
                 parallel::StrategyDescriptions()))
      ->group(group);
  app.add_option(
         "--collectives", s.collectives,
         Choices("How gradients are summed over replicas", recipes::CollectivesDescriptions()))
      ->group(group);
  app.add_option(
         "--bucket-mb", s.bucket_mb,
         "Of ddp: MiB of gradients that are all-reduced together, as soon as the backward has them")
      ->group(group);
  app.add_flag(
      "--reproducible", s.reproducible,
      "The same bits for any number of replicas with as many micro-batches in all (and one "
      "thread a rank); kept by --resume, where --replicas then decides --micro-batches");
  app.get_option("--reproducible")->group(group);
  app.add_flag("--sync-batch-norm", s.sync_batch_norm,
               "Normalise each micro-batch by the mean and variance of those of all replicas "
               "(torch.nn.SyncBatchNorm): two small exchanges for each norm and micro-batch");
  app.get_option("--sync-batch-norm")->group(group);
  app.add_option(
         "--codec", s.codec,
         Choices("Of activations and gradients that cross a cut", parallel::CodecDescriptions()))
      ->group(group);
  app.add_option("--codec-backward", s.codec_backward,
                 "Of the gradients alone; by default --codec. Both also by cut, named by the stage "
                 "behind it: 1:sortq:8,2:none")
      ->default_str("")
      ->group(group);
  app.add_option("--codec-gradients", s.codec_gradients,
                 "Of the gradients that replicas sum with ddp, each parameter's by itself; ef(...) "
                 "around it keeps what was not sent")
      ->group(group);
  app.add_option("--codec-warmup", s.codec_warmup,
                 "Steps at the beginning in which all that crosses a cut is sent as it is")
      ->group(group);
  app.add_option("--codec-folder", s.codec_folder,
                 "Folder where delta(...) keeps its samples, in files, of which checkpoints have "
                 "no copy; by default in memory, and copied")
      ->default_str("")
      ->group(group);
  app.add_option("--device", s.device,
                 "Where to compute: cpu, or cuda, whose GPUs the ranks of a host take in turn")
      ->group(group);
  app.add_option(
         "--gpu-links", s.gpu_links,
         Choices("How the memory of GPUs goes from rank to rank", parallel::GpuLinksDescriptions()))
      ->group(group);
  app.add_option(
         "--cuda-graphs", invocation.cuda_graphs,
         "Whether steps on a GPU are launched as one CUDA graph each: auto (where shapes are "
         "fixed, on one rank that runs the whole model), on (else an error; replicas too), off")
      ->group(group);
  app.add_option("--threads", s.threads, "Of a host, shared by its ranks; by default the cores")
      ->default_str("")
      ->group(group);
  app.add_option(
         "--memory-limit", invocation.memory_limit,
         "Most memory of all tensors together: 3GB, 512MB, or bytes; by default most of what "
         "the process may have")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{1} << 20, uint64_t{1} << 60))
      ->default_str("")
      ->group(group);
  app.add_option("--rank-memory", invocation.rank_memory,
                 "Most memory that --cut auto plans for a rank, or for each rank of a pipeline: "
                 "1GB or 2GB,1GB,1GB")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 60))
      ->default_str("")
      ->group(group);
  app.add_option("--timeout", invocation.timeout,
                 "Seconds without any progress of a rank until the others give it up")
      ->group(group);
  app.add_option("--link", invocation.links,
                 "Emulate a slower link between all ranks, or with 0-1: or 0>1: before it between "
                 "two, both ways or one: LATENCY,BANDWIDTH[,window=BYTES][,jitter=TIME], as "
                 "10ms,1Gbps,window=64KB; may be given several times")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--max-skipped", invocation.max_skipped,
                 "Steps in a row that may be skipped because their loss or gradients are not "
                 "finite; then the run ends with the weights before them")
      ->group(group);
}

void AddFileFlags(CLI::App& app, Invocation& invocation) {
  const char* group = "Files and runs";
  app.add_option("--data-dir", invocation.settings.data_dir,
                 "Folder of the dataset, by default its usual place; of --data text a file, or a "
                 "folder of tools/tokenize")
      ->group(group);
  app.add_option("--out", invocation.out,
                 "Folder for what the run leaves; by default runs/NAME-DATE")
      ->group(group);
  app.add_option("--checkpoint-every", invocation.checkpoint_every,
                 "Steps between checkpoints; 0: at the end of each epoch")
      ->group(group);
  app.add_option(
         "--keep", invocation.keep,
         "Checkpoints to keep, the latest ones; the best by the test figure is kept besides")
      ->group(group);
  app.add_option("--eval-every", invocation.eval_every,
                 "Steps between evaluations on the test set; 0: at the end of each epoch")
      ->group(group);
  app.add_option(
         "--max-steps", invocation.max_steps,
         "Stop after that many steps in all, also within an epoch; 0: no limit. The learning "
         "rate's schedule stays that of --epochs")
      ->group(group);
  app.add_option(
         "--resume", invocation.resume,
         "Go on with the run in this folder, with its own settings; only where its data lie, "
         "more --epochs and how it is laid out over ranks may be others")
      ->group(group);
  app.add_flag("--eval-only", invocation.eval_only,
               "Evaluate the weights of --init or --resume on the test set, and end");
  app.get_option("--eval-only")->group(group);
  app.add_flag("--describe", invocation.describe,
               "Print the layers, the stages and the schedule, and end; reads no data, and of a "
               "--model alone describes the published one");
  app.get_option("--describe")->group(group);
  app.add_option("--preset", invocation.preset,
                 "Settings by name, which the other flags override; --presets lists them")
      ->group(group);
  app.add_flag("--presets", invocation.presets, "Print the presets, and end");
  app.get_option("--presets")->group(group);
}

std::string FlagOf(const CLI::Option& option) { return "--" + option.get_lnames().front(); }

void MakeAbsolute(std::string& path) {
  if (!path.empty()) path = std::filesystem::absolute(UserPath(path)).lexically_normal().string();
}

// Makes the path in csv:FILE absolute, as for other files.
void MakeScheduleAbsolute(std::string& schedule) {
  constexpr std::string_view kFile = "csv:";
  if (!schedule.starts_with(kFile)) return;
  std::string path = schedule.substr(kFile.size());
  MakeAbsolute(path);
  schedule = std::string(kFile) + path;
}

void AddFlags(CLI::App& app, Invocation& invocation) {
  app.footer(kMore);
  app.option_defaults()->always_capture_default();
  AddRunFlags(app, invocation.settings);
  AddOptimizerFlags(app, invocation.settings);
  AddParallelFlags(app, invocation.settings, invocation);
  AddFileFlags(app, invocation);
}

// The settings to which flags are then applied: those of --preset; else, if --model or --data is
// given, the model's usual ones; else those of the default preset.
recipes::Settings Beginning(const CLI::App& app, const Invocation& invocation) {
  if (!invocation.preset.empty()) return recipes::PresetSettings(invocation.preset);
  const bool said = app.count("--model") + app.count("--data") > 0;
  return said ? recipes::UsualSettings(invocation.settings.model)
              : recipes::PresetSettings(recipes::kDefaultPreset);
}

}  // namespace

Invocation ParseInvocation(int argc, const char* const* argv) {
  Invocation invocation;
  CLI::App app(kAbout, "train");
  AddFlags(app, invocation);
  invocation.help = ParseFlags(app, argc, argv);
  if (!invocation.help.empty()) return invocation;
  invocation.settings = Beginning(app, invocation);
  ParseFlags(app, argc, argv);  // what it is not given it leaves as it is
  if (invocation.presets) {
    invocation.help = recipes::ListPresets();
    return invocation;
  }
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0) invocation.given.insert(FlagOf(*option));
  invocation.runs = UserPath("runs");
  for (std::string* path :
       {&invocation.settings.data_dir, &invocation.settings.vocab_dir, &invocation.settings.init,
        &invocation.settings.codec_folder, &invocation.out, &invocation.resume})
    MakeAbsolute(*path);
  MakeScheduleAbsolute(invocation.settings.schedule);
  return invocation;
}

}  // namespace torus::tools
