// tools/evaluate: figures of a trained model on images, sentences or a text.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>

#include "data/datasets/open_dataset.h"
#include "data/loading/image_batch.h"
#include "data/loading/stacked_batch.h"
#include "data/text/language_data.h"
#include "data/text/text_set.h"
#include "data/text/trimmed_batch.h"
#include "models/build_model.h"
#include "recipes/data/data_names.h"
#include "recipes/data/left_out.h"
#include "recipes/evaluate/evaluate_classes.h"
#include "recipes/evaluate/evaluate_text.h"
#include "recipes/evaluate/open_text_model.h"
#include "runtime/error.h"
#include "tools/common/flag_kinds.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"

namespace torus::tools {
namespace {

struct Options {
  std::string model, init, data = "cifar10", data_dir, split = "test", normalize = "dataset",
                           tokenizer, vocab_dir;
  int64_t batch = 0, length = 0, image_size = 0;
  bool per_class = false;
};

void AddFlags(CLI::App& app, Options& o) {
  app.add_option("--model", o.model,
                 fmt::format("one of {}; of a Hugging Face folder its config.json says it",
                             fmt::join(ModelNames(), ", ")));
  app.add_option("--init", o.init, "its weights: a .safetensors or .pth file, or such a folder")
      ->required();
  app.add_option("--data", o.data, fmt::format("one of {}", fmt::join(recipes::DataNames(), ", ")))
      ->check(CLI::IsMember(recipes::DataNames()));
  app.add_option("--data-dir", o.data_dir,
                 "folder of the dataset; of text a text file, a token file or a folder of "
                 "tools/tokenize");
  app.add_option(
         "--split", o.split,
         "train, or test (of GLUE dev.tsv, of a text its last tenth); of a text file also all, of "
         "a token file all alone")
      ->check(CLI::IsMember({"train", "test", "all"}));
  app.add_option("--normalize", o.normalize, "dataset, imagenet or half (x / 127.5 - 1)");
  app.add_option("--image-size", o.image_size, "side that images are brought to; 0: their own")
      ->check(CLI::Range(0, 4096));
  app.add_option("--tokenizer", o.tokenizer, "of a file of weights: gpt2, roberta or bytes");
  app.add_option("--vocab-dir", o.vocab_dir,
                 "folder of the vocabulary; default: the model's folder");
  app.add_option(
         "--length", o.length,
         "tokens of a row, to which longer sentences are cut; 0: as many as the model takes")
      ->check(CLI::Range(0, 1 << 20));
  app.add_option("--batch-size", o.batch, "rows at a time; 0: 250 images, 16 texts")
      ->check(CLI::Range(0, 1 << 20));
  app.add_flag("--per-class", o.per_class, "a line for each class");
}

int64_t Or(int64_t given, int64_t usual) { return given > 0 ? given : usual; }

data::Split SplitOf(const Options& o) {
  Require(o.split != "all", "evaluate", "--split all is for --data text");
  return o.split == "test" ? data::Split::kTest : data::Split::kTrain;
}

void Print(const recipes::ClassEvaluation& result, const data::Dataset& dataset, bool per_class) {
  if (const auto left_out = dataset.left_out(); !left_out.empty())
    fmt::print("{}\n", recipes::LeftOutLine(left_out));
  const data::ConfusionMatrix& counts = result.counts;
  for (int64_t c = 0; per_class && c < counts.classes(); ++c)
    fmt::print("{:<16} {:>6} of {:>6} right, F1 {:.4f}\n", dataset.info().classes[c],
               counts.At(c, c), counts.OfTarget(c), data::F1(counts, c));
  fmt::print("samples {}\nloss {:.6f}\nMatthews correlation {:.4f}\n", counts.total(), result.loss,
             data::MatthewsCorrelation(counts));
  // Of two classes GLUE gives that of the second; of more the mean.
  fmt::print("F1 {:.4f}\naccuracy {:.2f} %\n",
             counts.classes() == 2 ? data::F1(counts, 1) : data::MacroF1(counts),
             100 * data::Accuracy(counts));
}

void EvaluateImages(const Options& o) {
  Require(!o.model.empty(), "evaluate", "images need --model");
  Require(ParseModelSpec(o.model).task == ModelTask::kImages, "evaluate",
          "--model {} takes no images", o.model);
  const auto dataset = data::OpenDataset(o.data, UserPath(o.data_dir), SplitOf(o));
  const auto model =
      BuildModel(ParseModelSpec(o.model), static_cast<int64_t>(dataset->info().classes.size()),
                 /*seed=*/0, UserPath(o.init));
  const data::MakeBatch batches = data::ImageBatches(
      *dataset, {.height = o.image_size,
                 .width = o.image_size,
                 .normalization = recipes::NormalizationByName(o.normalize, *dataset)});
  Print(recipes::EvaluateClasses(*model, batches, *dataset, Or(o.batch, 250)), *dataset,
        o.per_class);
}

recipes::TextModel Open(const Options& o) {
  Require(!o.data_dir.empty(), "evaluate", "--data {} needs --data-dir", o.data);
  return recipes::OpenTextModel({.model = o.model,
                                 .init = UserPath(o.init),
                                 .tokenizer = o.tokenizer,
                                 .vocab_dir = UserPath(o.vocab_dir),
                                 .classes = 2});
}

void EvaluateSentences(const Options& o) {
  const recipes::TextModel opened = Open(o);
  const auto* const bpe = dynamic_cast<const data::BpeTokenizer*>(opened.tokenizer.get());
  Require(!IsLanguageModel(opened.task) && bpe != nullptr, "evaluate",
          "--data {} needs a classifier of sentences with a byte-level BPE", o.data);
  const auto dataset =
      data::OpenGlue(o.data, UserPath(o.data_dir), SplitOf(o), *bpe, Or(o.length, opened.longest));
  const recipes::ClassEvaluation result =
      recipes::EvaluateClasses(*opened.model, data::TrimmedBatches(data::StackedBatches(*dataset)),
                               *dataset, Or(o.batch, 16));
  if (dataset->truncated() > 0)
    fmt::print("{}\n",
               recipes::TruncatedLine(dataset->truncated(), dataset->size(), dataset->length()));
  Print(result, *dataset, o.per_class);
}

void EvaluateLanguage(const Options& o) {
  const recipes::TextModel opened = Open(o);
  Require(IsLanguageModel(opened.task), "evaluate", "--data text needs a language model");
  const std::string part = o.split == "test" ? "validation" : o.split;
  const auto tokens = data::OpenTokens(UserPath(o.data_dir), part, *opened.tokenizer);
  const int64_t length = Or(o.length, opened.longest), batch = Or(o.batch, 16);
  const recipes::TextEvaluation result =
      opened.task == ModelTask::kMaskedToken
          ? recipes::EvaluateMaskedText(*opened.model, *tokens, length, batch,
                                        data::TokenMasker(*opened.tokenizer))
          : recipes::EvaluateText(*opened.model, *tokens, length, batch);
  fmt::print("tokens {}\nloss {:.6f}\nperplexity {:.4f}\n", result.tokens, result.loss,
             std::exp(result.loss));
}

void CheckKinds(const CLI::App& app, const Options& o, const std::string& kind) {
  static const std::vector<FlagKinds> flags{{"--normalize", {"images"}},
                                            {"--image-size", {"images"}},
                                            {"--per-class", {"images", "sentences"}},
                                            {"--tokenizer", {"sentences", "a long text"}},
                                            {"--vocab-dir", {"sentences", "a long text"}},
                                            {"--length", {"sentences", "a long text"}}};
  CheckFlagKinds(
      "evaluate", flags, [&](const std::string& flag) { return app.count(flag) > 0; }, kind,
      "--data " + o.data);
}

int Main(int argc, char** argv) {
  Options o;
  CLI::App app("Evaluates a trained model on a dataset.", "evaluate");
  AddFlags(app, o);
  if (PrintsHelp(app, argc, argv)) return 0;
  const std::string kind = recipes::DataKind(o.data);
  CheckKinds(app, o, kind);
  if (kind == "images")
    EvaluateImages(o);
  else if (kind == "sentences")
    EvaluateSentences(o);
  else
    EvaluateLanguage(o);
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("evaluate", [&] { return torus::tools::Main(argc, argv); });
}
