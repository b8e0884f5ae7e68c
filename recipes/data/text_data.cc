// A long text, for language models: trains on random windows, and tests on all of the text's last
// part in consecutive windows, as it validates on what --validation holds out. For a masked
// language model the windows are masked: differently in each epoch for training, always in the same
// way for tests, regardless of the run's seed. With --document-mask the documents of all windows
// are numbered.
#include <filesystem>

#include "data/loading/stacked_batch.h"
#include "data/text/document_batches.h"
#include "data/text/language_data.h"
#include "data/text/masking.h"
#include "data/text/tokens.h"
#include "data/text/windows.h"
#include "recipes/data/order_hash.h"
#include "recipes/data/task_data.h"
#include "recipes/data/validation_part.h"
#include "recipes/model/model_of.h"
#include "recipes/model/model_tokenizer.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

struct Text {
  data::LanguageData data;
  std::unique_ptr<data::TokenPart> train, held_out;  // of data.train; held_out is null without
  std::unique_ptr<data::DisjointWindows> held_out_windows, test;
};

// Divides the training tokens by --validation.
void HoldOut(const Settings& settings, int64_t length, Text& text) {
  const data::Tokens& all = *text.data.train;
  const int64_t count =
      settings.validation == 0 ? all.size() : TokensToTrainOn(all.size(), settings.validation);
  text.train = std::make_unique<data::TokenPart>(all, 0, count);
  if (count == all.size()) return;
  text.held_out = std::make_unique<data::TokenPart>(all, count, all.size() - count);
  text.held_out_windows = std::make_unique<data::DisjointWindows>(*text.held_out, length);
}

DataPart PartOf(const data::DisjointWindows& windows, const data::Tokens& tokens,
                data::BatchMemory memory) {
  return {windows.size(), data::StackedBatches(windows, memory), false, OrderHash(tokens)};
}

// Tokens of text in a row of --length tokens.
int64_t TextLength(const Settings& settings, bool masked) {
  if (!masked) return settings.length;
  Require(settings.length > data::TokenMasker::kAround, "train",
          "--length must be at least {} for a model of masked words, got {}",
          data::TokenMasker::kAround + 1, settings.length);
  return settings.length - data::TokenMasker::kAround;
}

// A folder of token files names its tokenizer.
std::string TokenizerOf(const Settings& settings, const ModelDescriptor& model) {
  std::error_code error;
  if (std::filesystem::is_directory(settings.data_dir, error)) return settings.tokenizer;
  return TokenizerFor(model, settings.tokenizer, settings.vocab_dir);
}

// Masks all parts of the data.
void Mask(TaskData& task, uint64_t seed, data::BatchMemory memory) {
  const data::TokenMasker masker(*task.tokenizer);
  task.train.batches =
      data::MaskedBatches(task.train.batches, masker, {.seed = seed, .each_epoch = true}, memory);
  for (DataPart* part : {&task.test, &task.validation})
    if (part->size > 0) part->batches = data::MaskedBatches(part->batches, masker, {}, memory);
}

// Numbers the documents of all parts of the data.
void NumberDocuments(TaskData& task, data::BatchMemory memory) {
  const int32_t end = task.tokenizer->end_of_text();
  Require(end >= 0, "train",
          "--document-mask needs a tokenizer with a token that ends a text, got {}",
          task.tokenizer->name());
  for (DataPart* part : {&task.train, &task.test, &task.validation})
    if (part->size > 0) part->batches = data::DocumentBatches(part->batches, end, memory);
}

}  // namespace

TaskData OpenText(const Settings& settings) {
  Require(!settings.data_dir.empty(), "train",
          "--data text needs --data-dir, a text file or a folder of token files");
  const ModelSpec model = ModelOf(settings);
  const bool masked = model.task == ModelTask::kMaskedToken;
  const int64_t length = TextLength(settings, masked);
  const auto text = std::make_shared<Text>();
  text->data =
      data::OpenLanguageData(settings.data_dir, TokenizerOf(settings, model), settings.vocab_dir);
  CheckTokenizer(model, *text->data.tokenizer);
  HoldOut(settings, length, *text);
  const data::Tokens &train = *text->train, &test = *text->data.validation;
  text->test = std::make_unique<data::DisjointWindows>(test, length);
  // Of masked windows, what the masks make of them is copied.
  const data::BatchMemory memory = BatchMemoryOf(settings);
  const data::BatchMemory windows = masked ? data::BatchMemory::kOrdinary : memory;
  const data::RandomWindowOptions random{
      .length = length, .seed = settings.seed, .memory = windows};
  const int64_t whole = std::max<int64_t>(1, train.size() / length);
  TaskData task{
      .form = TextForm(std::filesystem::path(settings.data_dir).filename().string(),
                       text->data.tokenizer->vocabulary(), settings.length, settings.document_mask),
      .unit = "windows",
      .train = {settings.epoch_size > 0 ? settings.epoch_size : whole,
                data::RandomWindows(train, random), false, OrderHash(train)},
      .test = PartOf(*text->test, test, windows),
      .loss = TaskLoss(model, PrecisionOf(settings), settings.label_smoothing),
      .correct = nullptr,
      .tokenizer = text->data.tokenizer.get(),
      .owner = text};
  if (text->held_out) task.validation = PartOf(*text->held_out_windows, *text->held_out, windows);
  if (masked) Mask(task, settings.seed, memory);
  if (settings.document_mask) NumberDocuments(task, memory);
  return task;
}

}  // namespace torus::recipes
