#include "tools/common/flag_table.h"

#include <algorithm>

#include "runtime/error.h"

namespace torus::tools {
namespace {

constexpr FlagContext kContexts[] = {
    // Kinds of data.
    {"images", "applies to images only"},
    {"image-files", "applies to datasets of image files only"},
    {"texts", "applies to sentences and long texts only"},
    {"text", "applies to long texts only"},
    {"classes", "applies to images and sentences only"},
    {"vocabulary", "needs a tokenizer with a vocabulary"},
    // What a program is to do.
    {"training", "needs training", false},
    {"scored", "needs --validation, or --best test"},
    {"new", "applies to new runs only"},
    {"weights", "needs --init"},
    {"encode", "cannot be given with --decoded", false},
    {"encodes", "cannot be given with --train, which makes a vocabulary"},
    {"files", "cannot be given with --links"},
    {"one-codec", "cannot be given with --all, which measures all codecs"},
    {"trains", "applies to experiments that train only"},
    {"steps", "needs --step_json"},
    {"collectives", "needs --collectives"},
    {"no-collectives", "cannot be given with --collectives"},
    {"kernels", "applies to kernels and steps only"},
    {"no-fit", "cannot be given with --fit, which takes all from its file", false},
    {"no-file", "cannot be given with --file, which has it"},
    {"no-trace", "cannot be given with --from-trace, which has it"},
    {"draw", "needs --draw"},
    {"output", "needs an output"},
    {"tensors", "needs a .safetensors file or a folder as output"},
    {"onnx", "needs an .onnx file as output"},
    {"folder", "needs a folder as output"},
    {"model", "needs --model"},
    // Questions of the labs.
    {"whole-epochs", "is for q4_1, q4_2 and q5, which train whole epochs"},
    {"some-steps", "is for q7, which trains some steps"},
    {"two-batches", "is for q4_1 and q4_2, which compare two batches"},
    {"tests", "is for q4_1, q4_2, q5 and q6, which test"},
    {"full-memory", "is for q1, which fills the memory"},
    {"several-ranks", "is for all questions but q1, which runs on one rank"},
    // Optimizer.
    {"sgd", "needs --optimizer sgd"},
    {"adam", "needs --optimizer adam or adamw"},
    {"momentum", "needs --optimizer sgd with --momentum above 0"},
    // Ranks and what lies between them.
    {"stages", "needs more than one stage"},
    {"chunks", "needs --schedule interleaved or zb-interleaved"},
    {"cut", "needs a cut between two ranks"},
    {"auto", "needs --cut auto"},
    {"codec", "needs a codec"},
    {"samples", "is for the samples of delta(...)"},
    {"replicas", "needs --replicas above 1"},
    {"buckets", "needs --strategy ddp, local-sgd:H, diloco:H or gossip:GRAPH"},
    {"sums", "needs --strategy ddp or diloco:H"},
    {"tensor", "needs --tensor above 1"},
    {"ranks", "needs more than one rank"},
    // Devices and numbers.
    {"gpu", "needs --device cuda"},
    {"low", "needs --precision bf16 or f16"},
    {"sampling", "needs --temperature above 0"},
    {"stdin", "needs --stdin"},
    {"no-stdin", "cannot be given with --stdin, whose lines are the prompts"},
};

constexpr std::string_view kExperiments =
    "altogether data_parallel_breakdown gpt3xl_baselines gpt3xl_networks parameters "
    "pipeline_vs_data_parallel roberta_data_parallel_throughput sort_quantization";
// Programs of the labs.
constexpr std::string_view kQuestions = "q1 q2 q3_1 q3_2 q4_1 q4_2 q5 q6 q7";

constexpr FlagRow kTable[] = {
    {"train",
     "--model --data --data-dir --init --seed --batch-size --stages --cut "
     "--micro-batches "
     "--accumulate --replicas --tensor --device --precision --threads --memory-limit --timeout "
     "--resume --eval-only --describe --presets --verify-resume --find-lr",
     ""},
    {"train", "--init-part", "weights"},
    {"train", "--lora", "weights training", "0"},
    {"train", "--image-size", "images"},
    {"train", "--augment --random-erasing --mixup --cutmix", "images training"},
    {"train", "--image-cache", "image-files training"},
    {"train", "--length --tokenizer", "texts"},
    {"train", "--vocab-dir", "texts vocabulary"},
    {"train", "--document-mask", "text"},
    {"train", "--epoch-size", "text training"},
    {"train",
     "--drop-last --epochs --optimizer --lr --weight-decay --clip-norm --gradient-norm "
     "--label-smoothing --ema "
     "--lr-schedule "
     "--warmup --recompute --activation-storage --reproducible --max-skipped --out "
     "--checkpoint-every --keep --eval-every --max-steps --validation --best",
     "training"},
    {"train", "--patience", "scored training", "0"},
    {"train", "--momentum", "sgd training"},
    {"train", "--beta1 --beta2", "adam training"},
    {"train", "--optimizer-state", "adam training", "f32"},
    {"train", "--nesterov", "momentum training"},
    {"train", "--chunks", "chunks", "1"},
    {"train", "--schedule", "stages"},
    {"train", "--codec", "cut", "none"},
    {"train", "--codec-backward", "cut training", "none"},
    {"train", "--codec-warmup", "codec training", "0"},
    {"train", "--codec-folder", "samples"},
    {"train", "--strategy --collectives --sync-batch-norm", "replicas training"},
    {"train", "--bucket-mb", "replicas buckets training"},
    {"train", "--codec-gradients", "replicas sums training", "none"},
    {"train", "--tensor-cuts", "tensor cut"},
    {"train", "--emulate", "low"},
    {"train", "--gpu-links --cuda-graphs", "gpu"},
    {"train", "--autotune", "gpu training", "false"},
    {"train", "--plans", "gpu training new", "none"},
    {"train", "--rank-memory", "auto"},
    {"train", "--link", "ranks", "none"},
    {"train", "--preset", "new"},

    {"measure_blocks", "--model --size --batch --classes --repeats", ""},

    {"evaluate",
     "--model --init --init-part --data --data-dir --split --batch-size --precision --device "
     "--threads "
     "--memory-limit --json",
     ""},
    {"evaluate", "--normalize --image-size", "images"},
    {"evaluate", "--per-class --predictions", "classes"},
    {"evaluate", "--tokenizer --length", "texts"},
    {"evaluate", "--vocab-dir", "texts vocabulary"},
    {"evaluate", "--emulate", "low"},

    {"generate", "--model --vocab-dir --tokens --temperature --precision --device --stdin", ""},
    {"generate", "--threads --special-tokens --length --stop --repetition-penalty", ""},
    {"generate", "--prompt", "no-stdin"},
    {"generate", "--batch-size", "stdin"},
    {"generate", "--top-k --top-p --seed", "sampling"},
    {"generate", "--emulate", "low"},

    {"convert", "--model --init-part", ""},
    {"convert", "--classes", "model"},
    {"convert", "--overwrite", "output"},
    {"convert", "--dtype", "tensors"},
    {"convert", "--image-size", "onnx"},
    {"convert", "--shard-bytes", "folder"},

    {"tokenize", "--out --train", ""},
    {"tokenize", "--tokenizer --shard-tokens", "encodes"},
    {"tokenize", "--vocab-dir --special-tokens", "encodes vocabulary"},

    {"codec", "--decoded", ""},
    {"codec", "--codec", "encode one-codec"},
    {"codec", "--all --repeats --links --json", "encode"},
    {"codec", "--picture --encoded", "encode files"},

    {"simulate", "--fit --json", ""},
    {"simulate", "--file --from-trace --draw --tensor --replicas", "no-fit"},
    {"simulate", "--ranks --micro-batches --chunks --backward-input-share --link",
     "no-fit no-file"},
    {"simulate", "--forward --backward", "no-fit no-file no-trace"},
    {"simulate", "--reduce --step --encode --decode --boundary --state --activations",
     "no-fit no-file"},
    {"simulate", "--svg --csv", "no-fit draw"},
    {"simulate", "--model --tensor-link --tensor-cuts --tensor-activation", "no-fit tensor"},
    {"simulate", "--strategy --weights --replica-link", "no-fit replicas"},

    {"report", "--out --json", ""},

    {"bench", "--step_json --memory --collectives", ""},
    {"bench", "--threads", "no-collectives"},
    {"bench", "--model --recompute", "steps"},
    {"bench", "--precision", "kernels"},
    {"bench", "--emulate", "kernels low"},
    {"bench", "--ranks --bytes --case --rounds", "collectives"},

    {"mpi_bench", "--collectives", ""},
    {"mpi_bench", "--links", "no-collectives"},
    {"mpi_bench", "--case --bytes --rounds", "collectives"},

    {"replay", "--device", ""},

    {kExperiments, "--out --dry-run", ""},
    {kExperiments, "--scale --seeds --data", "trains"},

    {kQuestions,
     "--quick --blank --out --data-dir --model --data --device --lr --seed --batches --images "
     "--rank-threads",
     ""},
    {kQuestions, "--epochs", "whole-epochs"},
    {kQuestions, "--steps", "some-steps"},
    {kQuestions, "--small-batch", "two-batches"},
    {kQuestions, "--test-images", "tests"},
    {kQuestions, "--memory-limit", "full-memory"},
    {kQuestions, "--ranks --link", "several-ranks"},

    {"grade grade_all", "--seed --json --junit --cpu-seconds --memory --deadline", ""},
    {"grade_all", "--csv", ""},

    {"cuda_bench", "--rounds --step --precision --product --tokens --values --autotune", ""},

    {"ledger", "--step --precision --kernels --json --counts", ""},
};

}  // namespace

std::span<const FlagContext> FlagContexts() { return kContexts; }
std::span<const FlagRow> FlagTable() { return kTable; }

const FlagContext& ContextNamed(std::string_view name) {
  const auto found = std::ranges::find(kContexts, name, &FlagContext::name);
  TORUS_CHECK(found != std::end(kContexts), "the table of flags has no context {}", name);
  return *found;
}

const FlagRow* RowOf(std::string_view program, std::string_view flag) {
  for (const FlagRow& row : kTable)
    if (std::ranges::count(Words(row.programs), program) > 0 &&
        std::ranges::count(Words(row.flags), flag) > 0)
      return &row;
  return nullptr;
}

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace torus::tools
