// tools/evaluate: the command line of recipes::Evaluate.
#include "recipes/evaluate/evaluate.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "models/model_spec.h"
#include "recipes/data/data_names.h"
#include "recipes/data/data_places.h"
#include "recipes/data/left_out.h"
#include "recipes/evaluate/run_weights.h"
#include "runtime/io/folder_place.h"
#include "runtime/parallel_for.h"
#include "tools/common/check_flags.h"
#include "tools/common/limit_memory.h"
#include "tools/common/output.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"

namespace torus::tools {
namespace {

using recipes::EvaluateOptions;
using recipes::EvaluateResult;

struct Flags {
  EvaluateOptions options;
  bool per_class = false;
  int threads = 0;
  uint64_t memory_limit = 0;
  std::string json, predictions;
};

void AddFlags(CLI::App& app, Flags& flags) {
  EvaluateOptions& o = flags.options;
  app.add_option(
      "--model", o.model,
      fmt::format(
          "One of {}. Default for a Hugging Face folder: as its config.json says; for a run: "
          "its own",
          fmt::join(ModelNames(), ", ")));
  app.add_option(
         "--init", o.init,
         "Weights: a .safetensors or .pth file, a Hugging Face folder, the folder of a run of "
         "train, or one of its checkpoints")
      ->required();
  app.add_option("--init-part", o.init_part,
                 "Which weights of the --init file to take, such as model_ema. Default: those that "
                 "fit the model best; of several, the ones that are no average");
  app.add_option("--data", o.data,
                 fmt::format("One of {}. Default: the run's; other weights need it",
                             fmt::join(recipes::DataNames(), ", ")))
      ->check(CLI::IsMember(recipes::DataNames()));
  app.add_option("--data-dir", o.data_dir,
                 "Folder of the dataset. For text: a text file, a token file, or a folder written "
                 "by tools/tokenize. Default: where the run had it, or "
                 "below $TORUS_DATA, or the dataset's usual place");
  app.add_option("--split", o.split,
                 "train or test (for GLUE dev.tsv, for a text its last tenth); a text file also "
                 "has all, a token file only all")
      ->check(CLI::IsMember({"train", "test", "all"}));
  app.add_option("--normalize", o.normalize,
                 "Normalization of images: dataset, imagenet or half (x / 127.5 - 1)");
  app.add_option("--image-size", o.image_size,
                 "Height and width to which images are resized; 0: their own")
      ->check(CLI::Range(0, 4096));
  app.add_option(
      "--tokenizer", o.tokenizer,
      "gpt2, roberta, json or bytes, for weights without a tokenizer of their own, or with "
      "--vocab-dir. Default: the model's own, for a folder what its files or those in "
      "--vocab-dir say");
  app.add_option("--vocab-dir", o.vocab_dir,
                 "Folder of the vocabulary. Default: the model's folder, or for a file of weights "
                 "its place below $TORUS_DATA");
  app.add_option(
         "--length", o.length,
         "Tokens per row; longer sentences are truncated. 0: as in the run that trained the "
         "model, or as many as the model takes")
      ->check(CLI::Range(0, 1 << 20));
  app.add_option("--batch-size", o.batch, "Samples per batch; 0: 250 images or 16 texts")
      ->check(CLI::Range(0, 1 << 20));
  app.add_option("--precision", o.precision,
                 "Precision of matrix products, convolutions and attention: f32, bf16, or on a GPU "
                 "f16 and tf32");
  app.add_flag("--emulate", o.emulate, "Round to that type but compute in f32, on any processor");
  app.add_option("--device", o.device, "cpu or cuda");
  app.add_flag("--per-class", flags.per_class, "Print the accuracy of each class");
  app.add_option("--threads", flags.threads, "CPU threads; 0: one per core")
      ->check(CLI::Range(0, 4096));
  app.add_option("--memory-limit", flags.memory_limit,
                 "Limit for the memory of all tensors together: 3GB, 512MB, or bytes. Default: "
                 "most of what the process may use")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{1} << 20, uint64_t{1} << 60));
  app.add_option("--predictions", flags.predictions,
                 "Write what the model says of each example to this file, a line of JSON each: "
                 "the example's number, and file if it has one, its class, the predicted class, "
                 "and the probability of that. Default: none");
  app.add_option("--json", flags.json,
                 "Write the result, with that of each class, to this file too. Default: none");
}

// With two classes, GLUE reports the F1 of the second class; with more, the mean.
double HeadlineF1(const data::ConfusionMatrix& counts) {
  return counts.classes() == 2 ? data::F1(counts, 1) : data::MacroF1(counts);
}

void PrintClasses(const EvaluateResult& result, bool per_class) {
  const data::ConfusionMatrix& counts = result.classes->counts;
  for (int64_t c = 0; per_class && c < counts.classes(); ++c)
    fmt::print("{:<16} {:>6} of {:>6} right, F1 {:.4f}\n", result.class_names[c], counts.At(c, c),
               counts.OfTarget(c), data::F1(counts, c));
  fmt::print("samples {}\nloss {:.6f}\nMatthews correlation {:.4f}\n", counts.total(),
             result.classes->loss, data::MatthewsCorrelation(counts));
  fmt::print("F1 {:.4f}\naccuracy {:.2f} %\n", HeadlineF1(counts), 100 * data::Accuracy(counts));
}

void Print(const EvaluateResult& result, const std::string& init, bool per_class) {
  if (!result.warning.empty()) fmt::print(stderr, "evaluate: {}\n", result.warning);
  if (const std::string line = result.taken.Line(init); !line.empty()) fmt::print("{}\n", line);
  if (!result.truncated.empty()) fmt::print("{}\n", result.truncated);
  if (!result.passed_over.empty())
    fmt::print("{}\n",
               recipes::LeftOutText(result.passed_over, false, "", recipes::Omitted::kOthers));
  if (!result.left_out.empty()) fmt::print("{}\n", recipes::LeftOutText(result.left_out));
  if (result.classes) PrintClasses(result, per_class);
  if (result.text)
    fmt::print("tokens {}\nloss {:.6f}\nperplexity {:.4f}\n", result.text->tokens,
               result.text->loss, std::exp(result.text->loss));
}

nlohmann::json ToJson(const recipes::ClassEvaluation& classes,
                      const std::vector<std::string>& names) {
  const data::ConfusionMatrix& counts = classes.counts;
  nlohmann::json each = nlohmann::json::array();
  for (int64_t c = 0; c < counts.classes(); ++c)
    each.push_back({{"name", names[c]},
                    {"right", counts.At(c, c)},
                    {"samples", counts.OfTarget(c)},
                    {"f1", data::F1(counts, c)}});
  return {{"samples", counts.total()},
          {"loss", classes.loss},
          {"accuracy", data::Accuracy(counts)},
          {"f1", HeadlineF1(counts)},
          {"matthews_correlation", data::MatthewsCorrelation(counts)},
          {"classes", each}};
}

std::string ToJson(const EvaluateResult& result) {
  nlohmann::json json = nlohmann::json::object();
  if (result.classes) json = ToJson(*result.classes, result.class_names);
  if (result.text)
    json = {{"tokens", result.text->tokens},
            {"loss", result.text->loss},
            {"perplexity", std::exp(result.text->loss)}};
  json["left_out"] = result.left_out.size();
  return json.dump(2) + "\n";
}

std::string PredictionLines(const EvaluateResult& result) {
  std::string lines;
  for (const recipes::Prediction& one : result.classes->predictions) {
    nlohmann::ordered_json line = {{"example", one.example}};
    if (!result.files.empty()) line["file"] = result.files[one.example];
    line["class"] = result.class_names[one.target];
    line["predicted"] = result.class_names[one.predicted];
    line["probability"] = one.probability;
    // A name of a file may be no UTF-8.
    lines += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return lines;
}

std::vector<HereOrNot> ContextsOf(const EvaluateOptions& o) {
  const std::string kind = o.data.empty() ? "" : recipes::DataKind(o.data);
  const std::string not_to =
      fmt::format("not to {} (--data {})", kind == "a long text" ? "long texts" : kind, o.data);
  return {{"images", kind == "images", not_to},
          {"texts", kind != "images", not_to},
          {"classes", kind != "a long text", not_to},
          {"vocabulary", o.tokenizer != "bytes", "and --tokenizer bytes has none"},
          {"low", o.precision == "bf16" || o.precision == "f16", "got " + o.precision}};
}

// A folder that says its model has that model's vocabulary.
void UseCommonFolder(EvaluateOptions& o) {
  using recipes::InCommonFolder;
  if (o.data_dir.empty()) o.data_dir = InCommonFolder(recipes::PlaceOf(o.data));
  const bool own = std::filesystem::exists(io::CommittedFolder(o.init) + "/config.json");
  if (o.vocab_dir.empty() && !own && recipes::NeedsPublishedVocabulary(o.tokenizer, o.data))
    o.vocab_dir = InCommonFolder(recipes::kVocabularyPlace);
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Evaluates a trained model on a dataset.", "evaluate");
  AddFlags(app, flags);
  if (PrintsHelp(app, argc, argv)) return 0;
  EvaluateOptions& o = flags.options;
  for (std::string* path : {&o.init, &o.data_dir, &o.vocab_dir, &flags.json, &flags.predictions})
    *path = UserPath(*path);
  o = recipes::WithRunSettings(o);
  UseCommonFolder(o);
  CheckFlags("evaluate", GivenBy(app), ContextsOf(o));
  CheckOutput("evaluate", "--json", flags.json);
  CheckOutput("evaluate", "--predictions", flags.predictions);
  if (flags.threads > 0) SetTeamSize(flags.threads);
  LimitMemory(flags.memory_limit);
  const EvaluateResult result = recipes::Evaluate(o);
  Print(result, o.init, flags.per_class);
  if (!flags.json.empty()) WriteOutput(flags.json, ToJson(result));
  if (!flags.predictions.empty()) WriteOutput(flags.predictions, PredictionLines(result));
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("evaluate", [&] { return torus::tools::Main(argc, argv); });
}
