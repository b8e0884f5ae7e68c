// tools/evaluate: the command line of recipes::Evaluate.
#include "recipes/evaluate/evaluate.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>

#include "models/model_spec.h"
#include "recipes/data/data_names.h"
#include "recipes/data/left_out.h"
#include "tools/common/flag_kinds.h"
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
};

void AddFlags(CLI::App& app, Flags& flags) {
  EvaluateOptions& o = flags.options;
  app.add_option(
      "--model", o.model,
      fmt::format("One of {}. Default for a Hugging Face folder: as its config.json says",
                  fmt::join(ModelNames(), ", ")));
  app.add_option(
         "--init", o.init,
         "Weights: a .safetensors or .pth file, a Hugging Face folder, or a run's checkpoint")
      ->required();
  app.add_option("--data", o.data, fmt::format("One of {}", fmt::join(recipes::DataNames(), ", ")))
      ->check(CLI::IsMember(recipes::DataNames()));
  app.add_option("--data-dir", o.data_dir,
                 "Folder of the dataset. For text: a text file, a token file, or a folder written "
                 "by tools/tokenize");
  app.add_option("--split", o.split,
                 "train or test (for GLUE dev.tsv, for a text its last tenth); a text file also "
                 "has all, a token file only all")
      ->check(CLI::IsMember({"train", "test", "all"}));
  app.add_option("--normalize", o.normalize,
                 "Normalization of images: dataset, imagenet or half (x / 127.5 - 1)");
  app.add_option("--image-size", o.image_size,
                 "Height and width to which images are resized; 0: their own")
      ->check(CLI::Range(0, 4096));
  app.add_option("--tokenizer", o.tokenizer,
                 "Tokenizer for the model of a weights file: gpt2, roberta or bytes");
  app.add_option("--vocab-dir", o.vocab_dir,
                 "Folder of the vocabulary. Default: the model's folder");
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
  app.add_flag(
      "--emulate", o.emulate,
      "For --precision bf16 and f16: round to that type but compute in f32, on any processor");
  app.add_option("--device", o.device, "cpu or cuda");
  app.add_flag("--per-class", flags.per_class, "Print the accuracy of each class");
}

void PrintClasses(const EvaluateResult& result, bool per_class) {
  const data::ConfusionMatrix& counts = result.classes->counts;
  for (int64_t c = 0; per_class && c < counts.classes(); ++c)
    fmt::print("{:<16} {:>6} of {:>6} right, F1 {:.4f}\n", result.class_names[c], counts.At(c, c),
               counts.OfTarget(c), data::F1(counts, c));
  fmt::print("samples {}\nloss {:.6f}\nMatthews correlation {:.4f}\n", counts.total(),
             result.classes->loss, data::MatthewsCorrelation(counts));
  // With two classes, GLUE reports the F1 of the second class; with more, the mean.
  fmt::print("F1 {:.4f}\naccuracy {:.2f} %\n",
             counts.classes() == 2 ? data::F1(counts, 1) : data::MacroF1(counts),
             100 * data::Accuracy(counts));
}

void Print(const EvaluateResult& result, bool per_class) {
  if (!result.warning.empty()) fmt::print(stderr, "evaluate: {}\n", result.warning);
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

void CheckKinds(const CLI::App& app, const std::string& data) {
  static const std::vector<FlagKinds> flags{{"--normalize", {"images"}},
                                            {"--image-size", {"images"}},
                                            {"--per-class", {"images", "sentences"}},
                                            {"--tokenizer", {"sentences", "a long text"}},
                                            {"--vocab-dir", {"sentences", "a long text"}},
                                            {"--length", {"sentences", "a long text"}}};
  CheckFlagKinds(
      "evaluate", flags, [&](const std::string& flag) { return app.count(flag) > 0; },
      recipes::DataKind(data), "--data " + data);
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Evaluates a trained model on a dataset.", "evaluate");
  AddFlags(app, flags);
  if (PrintsHelp(app, argc, argv)) return 0;
  EvaluateOptions& o = flags.options;
  CheckKinds(app, o.data);
  for (std::string* path : {&o.init, &o.data_dir, &o.vocab_dir}) *path = UserPath(*path);
  Print(recipes::Evaluate(o), flags.per_class);
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("evaluate", [&] { return torus::tools::Main(argc, argv); });
}
