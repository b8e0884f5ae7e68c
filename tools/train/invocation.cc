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
#include "tools/common/help_text.h"
#include "tools/common/parse_flags.h"
#include "tools/common/user_path.h"

namespace torus::tools {
namespace {

constexpr char kAbout[] =
    "Trains a model, optionally as a pipeline of stages on several ranks (threads or processes) "
    "and "
    "with several replicas. Without --model, --data and --preset it trains the preset "
    "mobilenet_v2-fashion-mnist. With --model alone it uses that model's usual optimizer, one "
    "stage "
    "and no codec.";

constexpr char kMore[] =
    "Files in --out: summary.json, metrics.jsonl, trace.json (for ui.perfetto.dev), report.html, "
    "and checkpoint/ with the tensors of each stage under torchvision's names; earlier/ and best/ "
    "hold further checkpoints. plans-RANK.json has the choices of --autotune. GPT-2 and RoBERTa "
    "also write model/, which other programs can load; "
    "other models with --ema write averaged_weights.safetensors.\n"
    "Ctrl-C finishes the current step, writes a checkpoint and prints how to resume. A second "
    "Ctrl-C quits at once.\n"
    "Exit status: 0 success; 2 wrong flags or files; 1 any other failure; 130 or 143 stopped by a "
    "signal.";

void AddRunFlags(CLI::App& app, recipes::Settings& s) {
  app.option_defaults()->group("Model and data");
  app.add_option(
      "--model", s.model,
      fmt::format("One of {}. mobilenet_v2:W sets the width multiplier, NAME:N the number "
                  "of a transformer's layers, amoebanetd:L,F layers and filters, llama:L,W,H,K "
                  "layers, width, heads and heads of keys, vit_s_16:I the height of images",
                  fmt::join(ModelNames(), ", ")));
  app.add_option("--data", s.data, fmt::format("One of {}", fmt::join(recipes::DataNames(), ", ")));
  app.add_option(
      "--tokenizer", s.tokenizer,
      "Tokenizer of text data: chars, bytes, gpt2, roberta or json. Default: the one that made "
      "the token files, otherwise the model's own; for a GPT on a text file without "
      "--vocab-dir, bytes");
  app.add_option(
      "--vocab-dir", s.vocab_dir,
      "Folder with the vocabulary of gpt2 or roberta, or with the tokenizer.json of json. "
      "Default: bpe_gpt2_roberta below $TORUS_DATA");
  app.add_option("--image-size", s.image_size,
                 "Height and width to which images are resized; 0: the dataset's own size");
  app.add_option("--image-cache", s.image_cache,
                 "Folder in which the decoded training images of image-folder or food101 are kept, "
                 "shrunk to a shorter side of 8/7 of --image-size (256 for 224); made at the first "
                 "use, and anew when the files change. What is cut from a shrunk image differs "
                 "a little from what is cut from the file. Default: files are decoded each time");
  app.add_option("--length", s.length, "Tokens per row of text");
  app.add_flag("--document-mask", s.document_mask,
               "Attention of GPT-2 and Llama stays within a document of a long text, and GPT-2's "
               "positions begin anew in each. A document begins with the token that ends the one "
               "before it");
  app.add_option(
      "--epoch-size", s.epoch_size,
      "Rows of --length tokens per epoch of a long text; 0: as many as fit side by side");
  app.add_flag("--drop-last", s.drop_last,
               "Drop the last batch of an epoch if it is smaller than the others");
  app.add_option("--augment", s.augment,
                 Choices("Random augmentation of training images", data::AugmentDescriptions()));
  app.add_option("--random-erasing", s.random_erasing,
                 "Probability that a window of a training image, of 2 to 33 % of its area, is "
                 "erased to the mean; 0: never");
  app.add_option("--mixup", s.mixup,
                 "Blend each training image with the next one of its batch, by shares of the "
                 "distribution Beta(A, A), and their classes alike; 0: never. 0.2 is usual. With "
                 "--cutmix each image takes one of the two");
  app.add_option("--cutmix", s.cutmix,
                 "Put a window of the next image of its batch into each training image, of a share "
                 "of the distribution Beta(A, A); 0: never. 1 is usual");
  app.add_option("--validation", s.validation,
                 "Share of the training examples to hold out and validate on, such as 0.1 (of a "
                 "text its end): always the same ones, whatever the seed. 0: none");
  app.add_option("--patience", s.patience,
                 "End training after this many evaluations in a row that were no better than the "
                 "best before them; 0: never");
  app.add_option("--init", s.init,
                 "Initial weights: a .safetensors or .pth file, a Hugging Face folder, or a "
                 "checkpoint folder. Default: random");
  app.add_option("--init-part", s.init_part,
                 "Which weights of the --init file to take, such as model_ema. Default: those that "
                 "fit the model best; of several, the ones that are no average");
  app.add_option("--seed", s.seed, "Seed for weights, shuffling, augmentation and dropout");
}

void AddOptimizerFlags(CLI::App& app, recipes::Settings& s) {
  app.option_defaults()->group("Optimization");
  app.add_option("--epochs", s.epochs, "Passes over the training set");
  app.add_option("--batch-size", s.batch_size, "Samples per step, over all replicas");
  app.add_option("--optimizer", s.optimizer,
                 Choices("Default: the model's usual one", recipes::OptimizerDescriptions()));
  app.add_option(
      "--optimizer-state", s.optimizer_state,
      Choices("What Adam's moments are kept in", {{"f32", "8 bytes a parameter"},
                                                  {"bf16", "4 bytes, rounded by chance"},
                                                  {"8bit", "2 bytes, quantized by blocks"}}));
  app.add_option("--lr", s.lr, "Peak learning rate. Default: the model's usual one");
  app.add_option("--momentum", s.momentum, "Momentum of SGD, at least 0 and below 1");
  app.add_option("--beta1", s.beta1, "Adam's decay rate of the mean of gradients");
  app.add_option(
      "--beta2", s.beta2,
      "Adam's decay rate of the mean of squared gradients. Default: the model's usual one");
  app.add_flag("--nesterov,!--no-nesterov", s.nesterov, "Nesterov momentum for SGD");
  app.add_option("--weight-decay", s.weight_decay,
                 "Weight decay of all parameters; Adam, AdamW and Lion leave out biases and norms. "
                 "Default: the model's usual one");
  app.add_option("--clip-norm", s.clip_norm,
                 "Scale the gradient down if its global norm is larger than this; 0: never. "
                 "Default: the model's usual one");
  app.add_flag("--gradient-norm,!--no-gradient-norm", s.gradient_norm,
               "Write the norm of each step's gradient to the metrics without --clip-norm too, "
               "which has it anyway. One exchange more per step between the stages");
  app.add_option("--label-smoothing", s.label_smoothing,
                 "Share of each target's probability that the loss of training spreads evenly over "
                 "all classes or tokens; evaluations do not");
  app.add_option(
      "--lora", s.lora,
      "Train, instead of each weight of a linear layer, two matrices of this rank whose "
      "product is added to it (LoRA); nothing else but a classifier's head. 0: train all");
  app.add_option("--ema", s.ema,
                 "Decay of an exponential moving average of the weights, which is then evaluated "
                 "(0.999 averages about the last 1000 steps); 0: none");
  app.add_option(
      "--lr-schedule", s.lr_schedule,
      "Learning rate over the steps of --epochs: constant, cosine[:F], linear[:F], "
      "polynomial:P[:F] (down to F times the peak), one-cycle, or step:N:G (times G every "
      "N epochs). Default: the model's usual one");
  app.add_option("--warmup", s.warmup,
                 "Steps in which the learning rate rises to --lr. Default: a tenth of the run, at "
                 "most 100");
}

void AddPipelineFlags(CLI::App& app, recipes::Settings& s) {
  app.option_defaults()->group("Pipeline");
  app.add_option("--stages", s.stages,
                 "Parts into which the model is cut, each on its own rank (with --chunks N, N of "
                 "them on each rank; with --schedule u-shaped, first and last on one; with zb-v, "
                 "v-half, v-min and dualpipe-v, two on each)");
  app.add_option("--chunks", s.chunks,
                 "Stages per rank, for --schedule interleaved and zb-interleaved");
  app.add_option(
      "--cut", s.cut,
      "Where to cut the model: the first layer of each stage but the first, numbered as "
      "in --describe (1,18). auto: the cut that the simulator finds fastest from times "
      "measured now, given the links, the codec of activations (not those of single cuts) and "
      "--rank-memory. auto:50GFLOPS: the same from counted operations at that speed per rank. "
      "Default: balanced by a static cost model");
  app.add_option("--micro-batches", s.micro_batches,
                 "Micro-batches into which each replica's share of a batch is split");
  app.add_option("--accumulate", s.accumulate,
                 "Gradient accumulation: rounds of --micro-batches micro-batches per step. More "
                 "rounds need less memory");
  app.add_option("--recompute", s.recompute,
                 "Layers whose activations are recomputed in the backward pass instead of stored, "
                 "numbered as in --describe: none, all, or a list such as 0,3,7-9");
  app.add_option(
      "--activation-storage", s.activation_storage,
      "How the other activations are stored until the backward pass: f32, or bf16 in half "
      "the memory, where gradients then come from rounded activations");
  app.add_option("--schedule", s.schedule,
                 Choices("Order of forward and backward passes", parallel::ScheduleDescriptions()));
  app.add_option("--codec", s.codec,
                 Choices("Compression of activations and gradients sent between stages",
                         parallel::CodecDescriptions()));
  app.add_option("--codec-backward", s.codec_backward,
                 "Codec for the gradients sent between stages. Default: --codec. Both flags also "
                 "take a codec per cut, named by the stage after it: 1:sortq:8,2:none");
  app.add_option("--codec-warmup", s.codec_warmup, "Number of first training steps without codecs");
  app.add_option("--codec-folder", s.codec_folder,
                 "Folder in which delta(...) keeps its samples as files; checkpoints do not copy "
                 "them. Default: in memory, copied into checkpoints");
}

void AddReplicaFlags(CLI::App& app, recipes::Settings& s) {
  app.option_defaults()->group("Data and tensor parallelism");
  app.add_option("--replicas", s.replicas, "Copies of the model, each with a share of every batch");
  app.add_option(
      "--strategy", s.strategy,
      Choices("How replicas keep the same weights. Those without a name in capitals, but for "
              "none, give the same bits",
              parallel::StrategyDescriptions()));
  app.add_option("--collectives", s.collectives,
                 Choices("All-reduce algorithm for gradients", recipes::CollectivesDescriptions()));
  app.add_option(
      "--bucket-mb", s.bucket_mb,
      "MiB of gradients or weights that are summed at once by --strategy ddp (as soon as "
      "the backward pass has filled a bucket), local-sgd:H, diloco:H and gossip:GRAPH");
  app.add_option("--codec-gradients", s.codec_gradients,
                 "Codec for the gradients that ddp sums over replicas, or the differences that "
                 "diloco sums, one tensor per parameter; ef(...) adds error feedback");
  app.add_flag(
      "--reproducible", s.reproducible,
      "Same bits for any number of replicas with the same total number of micro-batches, on "
      "one thread per rank. A run resumed with other --replicas adapts --micro-batches");
  app.add_flag("--sync-batch-norm", s.sync_batch_norm,
               "Batch norm over the micro-batches of all replicas (torch.nn.SyncBatchNorm): two "
               "small exchanges for each norm and micro-batch");
  app.add_option("--tensor", s.tensor,
                 "Tensor-parallel ranks that share each layer of RoBERTa or a GPT (Megatron-LM); "
                 "must divide the number of attention heads");
  app.add_option("--tensor-cuts", s.tensor_cuts,
                 "What tensor-parallel ranks send to the next stage: shared (each a part, gathered "
                 "by the receivers) or whole (each the whole tensor)");
}

void AddMachineFlags(CLI::App& app, recipes::Settings& s, Invocation& invocation) {
  app.option_defaults()->group("Devices, precision and links");
  app.add_option("--device", s.device,
                 "cpu, or cuda: the ranks of a host are distributed over its GPUs in turn");
  app.add_option("--precision", s.precision,
                 "Precision of matrix products, convolutions and attention: f32, bf16, or on a GPU "
                 "f16 and tf32, always with sums in f32. Weights, their gradients, losses and "
                 "statistics stay f32. f16 uses dynamic loss scaling");
  app.add_flag("--emulate", s.emulate, "Round to that type but compute in f32, on any processor");
  app.add_option(
      "--gpu-links", s.gpu_links,
      Choices("How data in GPU memory goes from rank to rank", parallel::GpuLinksDescriptions()));
  app.add_option("--cuda-graphs", invocation.cuda_graphs,
                 "Whether each step on a GPU is launched as one CUDA graph: auto (if shapes are "
                 "fixed and one rank runs the whole model), on (with replicas too; an error if "
                 "impossible), or off");
  app.add_flag(
      "--autotune,!--no-autotune", s.autotune,
      "Time what cuBLASLt and cuDNN propose for each product, convolution and attention in "
      "the first steps on a GPU, and take the quickest. The choices are kept in --out, and "
      "--resume takes them from there");
  app.add_option(
      "--plans", invocation.plans,
      "Choices of --autotune to begin with: a file of cuda_bench --autotune, or the "
      "folder of a run. none, with --resume: without those of the run. Default: none, or "
      "with --resume those of the run");
  app.add_option("--threads", s.threads,
                 "CPU threads per host, shared equally by its ranks; what is left over goes to the "
                 "ranks with the most work (with --tensor it is unused). Default: the number of "
                 "cores that the process may use (on the smallest host), or of ranks if larger");
  app.add_option(
         "--memory-limit", invocation.memory_limit,
         "Limit for the memory of all tensors together: 3GB, 512MB, or bytes. Default: most "
         "of what the process may use")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{1} << 20, uint64_t{1} << 60));
  app.add_option("--rank-memory", invocation.rank_memory,
                 "Memory that --cut auto may plan for every rank (1GB), or for each rank of a "
                 "pipeline (2GB,1GB,1GB)")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 60));
  app.add_option(
         "--link", s.links,
         "Emulate a slower link: LATENCY,BANDWIDTH[,window=BYTES][,jitter=TIME], such as "
         "10ms,1Gbps,window=64KB, between all ranks; with 0-1: in front between ranks 0 and "
         "1 both ways, with 0>1: one way. May be repeated. none: none any more, for --resume. "
         "Default: "
         "the links as they are")
      ->allow_extra_args(false);
  app.add_option("--timeout", invocation.timeout,
                 "Seconds without progress after which a rank counts as lost");
  app.add_option("--max-skipped", invocation.max_skipped,
                 "Consecutive steps that may be skipped because the loss or a gradient is not "
                 "finite; then the run ends with the weights from before them");
}

void AddFileFlags(CLI::App& app, Invocation& invocation) {
  app.option_defaults()->group("Files and runs");
  app.add_option("--data-dir", invocation.settings.data_dir,
                 "Folder of the dataset. For --data text: a text file, or a folder written by "
                 "tools/tokenize. Default: its place below $TORUS_DATA, or the "
                 "dataset's usual place");
  app.add_option("--out", invocation.out, "Folder for the run's files. Default: runs/NAME-DATE");
  app.add_option("--checkpoint-every", invocation.checkpoint_every,
                 "Steps between checkpoints; 0: at the end of each epoch");
  app.add_option(
      "--keep", invocation.keep,
      "Number of latest checkpoints to keep; the best one is kept too, by --validation or "
      "--best test");
  app.add_option("--eval-every", invocation.eval_every,
                 "Steps between evaluations, on the part of --validation if there is one, else on "
                 "the test set; 0: at the end of each epoch");
  app.add_option("--best", invocation.settings.best,
                 "Where best/ is chosen: validation, by the part of --validation if there is one; "
                 "or test, by the test set, whose figure for it is then no fair one");
  app.add_option("--max-steps", invocation.max_steps,
                 "Stop after this many steps in total, even within an epoch; 0: no limit. The "
                 "learning rate schedule still follows --epochs");
  app.add_option(
      "--resume", invocation.resume,
      "Continue the run in this folder with its own settings. Only the place of the data, "
      "a larger --epochs, and the layout over ranks may be given anew. Default: a new run");
  app.add_flag("--eval-only", invocation.eval_only,
               "Evaluate the weights of --init or --resume on the test set, and exit");
  app.add_flag("--find-lr", invocation.find_lr,
               "Train 100 steps with learning rates that rise from 1e-7 to 10, print their losses, "
               "suggest the rate at which the loss falls fastest, and exit");
  app.add_option("--verify-resume", invocation.verify_resume,
                 "Check resuming: train N steps, stop, resume in a fresh folder for N more, train "
                 "2 N without a stop, and compare the bits of weights and optimizer state. The "
                 "folders are in --out. Exit status 1 if a tensor differs, and which")
      ->type_name("N")
      ->default_str("");
  app.add_flag("--describe", invocation.describe,
               "Print layers, stages and schedule, and exit. Reads no data; with --model alone it "
               "describes the published model");
  app.add_option("--preset", invocation.preset,
                 "Named settings, which other flags override; --presets lists them. Default: "
                 "mobilenet_v2-fashion-mnist without --model and --data");
  app.add_flag("--presets", invocation.presets, "List the presets, and exit");
}

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
  AddRunFlags(app, invocation.settings);
  AddOptimizerFlags(app, invocation.settings);
  AddPipelineFlags(app, invocation.settings);
  AddReplicaFlags(app, invocation.settings);
  AddMachineFlags(app, invocation.settings, invocation);
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
  invocation.program = argv[0];
  invocation.given = GivenBy(app);
  invocation.runs = UserPath("runs");
  for (std::string* path : {&invocation.settings.data_dir, &invocation.settings.vocab_dir,
                            &invocation.settings.init, &invocation.settings.codec_folder,
                            &invocation.settings.image_cache, &invocation.out, &invocation.resume})
    MakeAbsolute(*path);
  if (invocation.plans != "none") MakeAbsolute(invocation.plans);
  MakeScheduleAbsolute(invocation.settings.schedule);
  return invocation;
}

}  // namespace torus::tools
