#include "recipes/evaluate/evaluate.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <utility>

#include "autograd/precision.h"
#include "data/datasets/image_files.h"
#include "data/datasets/open_dataset.h"
#include "data/loading/image_batch.h"
#include "data/loading/stacked_batch.h"
#include "data/text/language_data.h"
#include "data/text/text_set.h"
#include "data/text/trimmed_batch.h"
#include "models/build_model.h"
#include "models/descriptor.h"
#include "recipes/data/data_names.h"
#include "recipes/data/left_out.h"
#include "recipes/evaluate/open_text_model.h"
#include "recipes/evaluate/run_weights.h"
#include "recipes/model/output_order.h"
#include "recipes/model/trained_length.h"
#include "recipes/settings/device.h"
#include "recipes/settings/precision.h"
#include "runtime/error.h"
#include "runtime/io/folder_place.h"

namespace torus::recipes {
namespace {

int64_t Or(int64_t given, int64_t usual) { return given > 0 ? given : usual; }

void CheckOptions(const EvaluateOptions& o) {
  Require(!o.init.empty(), "evaluate",
          "needs weights: --init FILE, RUN, or a folder of Hugging Face's");
  std::error_code none;
  Require(std::filesystem::exists(o.init, none) || !io::CommittedFolder(o.init).empty(), "evaluate",
          "--init {}: there is no such file or folder", o.init);
  Require(!o.data.empty(), "evaluate",
          "--data is required, since {} does not say what it was trained on: one of {}", o.init,
          fmt::join(DataNames(), ", "));
  const std::pair<const char*, int64_t> sizes[] = {
      {"--image-size", o.image_size}, {"--length", o.length}, {"--batch-size", o.batch}};
  for (const auto& [flag, size] : sizes)
    Require(size >= 0, "evaluate", "{} must not be negative, got {}", flag, size);
}

data::Split SplitOf(const EvaluateOptions& o) {
  Require(o.split == "test" || o.split == "train", "evaluate",
          "--split must be train or test for --data {}, got {} (all is for a text)", o.data,
          o.split);
  return o.split == "test" ? data::Split::kTest : data::Split::kTrain;
}

std::vector<std::string> FilesOf(const data::Dataset& dataset) {
  std::vector<std::string> paths;
  if (const auto* const files = dynamic_cast<const data::ImageFiles*>(&dataset))
    for (int64_t i = 0; i < files->size(); ++i) paths.push_back(files->path(i));
  return paths;
}

EvaluateResult ResultOf(ClassEvaluation classes, const data::Dataset& dataset, TakenWeights taken) {
  return {.classes = std::move(classes),
          .class_names = dataset.info().classes,
          .files = FilesOf(dataset),
          .left_out = dataset.left_out(),
          .passed_over = dataset.passed_over(),
          .taken = std::move(taken)};
}

EvaluateResult EvaluateImages(const EvaluateOptions& o) {
  Require(!o.model.empty(), "evaluate",
          "--model is required for images: {} does not name its model, as the folder of a run does",
          o.init);
  const ModelSpec spec = ParseModelSpec(o.model, o.models == nullptr ? Models() : *o.models);
  Require(spec.task == ModelTask::kImages, "evaluate", "--model {} takes no images", o.model);
  const auto dataset = data::OpenDataset(o.data, o.data_dir, SplitOf(o));
  TakenWeights taken;
  const auto model = BuildModel(spec, static_cast<int64_t>(dataset->info().classes.size()),
                                /*seed=*/0, {o.init, o.init_part}, nullptr, &taken);
  model->MoveTo(CheckedDevice("evaluate", o.device));
  const data::MakeBatch batches =
      data::ImageBatches(*dataset, {.height = o.image_size,
                                    .width = o.image_size,
                                    .normalization = NormalizationByName(o.normalize, *dataset),
                                    .evaluates = true});
  return ResultOf(EvaluateClasses(*model, batches, *dataset, Or(o.batch, 250), {}, o.stop_token),
                  *dataset, std::move(taken));
}

TextModel Open(const EvaluateOptions& o) {
  Require(!o.data_dir.empty(), "evaluate", "--data {} needs --data-dir", o.data);
  TextModel opened = OpenTextModel({.model = o.model,
                                    .init = o.init,
                                    .init_part = o.init_part,
                                    .tokenizer = o.tokenizer,
                                    .vocab_dir = o.vocab_dir,
                                    .classes = 2,
                                    .models = o.models});
  opened.model->MoveTo(CheckedDevice("evaluate", o.device));
  return opened;
}

EvaluateResult EvaluateSentences(const EvaluateOptions& o) {
  const TextModel opened = Open(o);
  const auto* const bpe = dynamic_cast<const data::BpeTokenizer*>(opened.tokenizer.get());
  Require(!IsLanguageModel(opened.task) && bpe != nullptr, "evaluate",
          "--data {} needs a classifier of sentences with a byte-level BPE", o.data);
  const auto dataset =
      data::OpenGlue(o.data, o.data_dir, SplitOf(o), *bpe, opened.RowLength(o.length));
  EvaluateResult result = ResultOf(
      EvaluateClasses(*opened.model, data::TrimmedBatches(data::StackedBatches(*dataset)), *dataset,
                      Or(o.batch, 16), OutputOrder(opened.config, dataset->info().classes, o.init),
                      o.stop_token),
      *dataset, opened.taken);
  result.truncated = TruncatedLine(dataset->truncated(), dataset->size(), dataset->length());
  result.warning = BeyondTraining(o.length, opened.trained);
  return result;
}

EvaluateResult EvaluateLongText(const EvaluateOptions& o) {
  const TextModel opened = Open(o);
  Require(IsLanguageModel(opened.task), "evaluate", "--data text needs a language model");
  const std::string part = o.split == "test" ? "validation" : o.split;
  const auto tokens = data::OpenTokens(o.data_dir, part, *opened.tokenizer);
  const int64_t length = opened.RowLength(o.length), batch = Or(o.batch, 16);
  return {.taken = opened.taken,
          .text = opened.task == ModelTask::kMaskedToken
                      ? EvaluateMaskedText(*opened.model, *tokens, length, batch,
                                           data::TokenMasker(*opened.tokenizer), o.stop_token)
                      : EvaluateText(*opened.model, *tokens, length, batch, o.stop_token),
          .warning = BeyondTraining(o.length, opened.trained)};
}

}  // namespace

EvaluateResult Evaluate(const EvaluateOptions& given) {
  const EvaluateOptions options = WithRunSettings(given);
  CheckOptions(options);
  const WithPrecision precision(CheckedPrecision("evaluate", options.precision, options.emulate,
                                                 CheckedDevice("evaluate", options.device)));
  const std::string kind = DataKind(options.data);
  if (kind == "images") return EvaluateImages(options);
  return kind == "sentences" ? EvaluateSentences(options) : EvaluateLongText(options);
}

}  // namespace torus::recipes
