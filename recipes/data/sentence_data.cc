// Sentences, or pairs of them, to classify: the tasks of GLUE.
#include "data/loading/stacked_batch.h"
#include "data/text/open_tokenizer.h"
#include "data/text/text_set.h"
#include "recipes/data/left_out.h"
#include "recipes/data/order_hash.h"
#include "recipes/data/task_data.h"
#include "recipes/data/validation_part.h"
#include "recipes/model/model_of.h"
#include "recipes/model/model_tokenizer.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

struct Sentences {
  std::unique_ptr<data::BpeTokenizer> tokenizer;
  std::unique_ptr<data::TextSet> train, test;
};

std::unique_ptr<data::BpeTokenizer> Open(const Settings& settings) {
  Require(!settings.vocab_dir.empty(), "train",
          "--data {} needs --vocab-dir, the folder of the tokenizer's vocabulary", settings.data);
  const ModelSpec model = ModelOf(settings);
  const std::string name = TokenizerFor(model, settings.tokenizer, settings.vocab_dir);
  Require(name == "gpt2" || name == "roberta", "train",
          "--data {} needs --tokenizer roberta or gpt2, got {}", settings.data, name);
  auto tokenizer =
      name == "gpt2" ? data::OpenGpt2(settings.vocab_dir) : data::OpenRoberta(settings.vocab_dir);
  CheckTokenizer(model, *tokenizer);
  return tokenizer;
}

// Holds out the share --validation of the training sentences.
void HoldOut(const Settings& settings, TaskData& task) {
  if (settings.validation == 0) return;
  DataPart whole = task.train;
  whole.shuffle = false;
  task.validation = Divide(recipes::HoldOut(whole.size, settings.validation), whole, task.train);
}

}  // namespace

TaskData OpenSentences(const Settings& settings) {
  Require(!settings.data_dir.empty(), "train",
          "--data {} needs --data-dir, the folder of train.tsv and dev.tsv", settings.data);
  const auto sentences = std::make_shared<Sentences>();
  sentences->tokenizer = Open(settings);
  const auto open = [&](data::Split split) {
    return data::OpenGlue(settings.data, settings.data_dir, split, *sentences->tokenizer,
                          settings.length);
  };
  sentences->train = open(data::Split::kTrain);
  sentences->test = open(data::Split::kTest);
  const data::TextSet &train = *sentences->train, &test = *sentences->test;
  const data::BatchMemory memory = BatchMemoryOf(settings);
  TaskData task{
      .form = SentenceForm(DataTitle(settings.data),
                           static_cast<int64_t>(train.info().classes.size()), settings.length),
      .unit = "sentences",
      .train = {train.size(), data::StackedBatches(train, memory), true, OrderHash(train)},
      .test = {test.size(), data::StackedBatches(test, memory), false, OrderHash(test)},
      .loss = TaskLoss(ModelOf(settings), PrecisionOf(settings), settings.label_smoothing),
      .correct = CountCorrect,
      .left_out = [sentences] { return LeftOutOf(*sentences->train, *sentences->test); },
      .truncated = TruncatedLine(train.truncated() + test.truncated(), train.size() + test.size(),
                                 settings.length),
      .tokenizer = sentences->tokenizer.get(),
      .owner = sentences};
  HoldOut(settings, task);
  return task;
}

}  // namespace torus::recipes
