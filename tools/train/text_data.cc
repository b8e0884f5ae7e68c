// A long text, for language models: windows at random to train on, all of the validation part one
// window behind the other to test on.
#include <filesystem>

#include "data/stacked_batch.h"
#include "data/text/language_data.h"
#include "data/text/windows.h"
#include "models/gpt2/gpt2.h"
#include "runtime/error.h"
#include "tools/train/task_data.h"

namespace torus::tools {
namespace {

struct Text {
  data::LanguageData data;
  std::unique_ptr<data::DisjointWindows> validation;
};

Variable Loss(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets) {
  return NextTokenLoss(outputs, targets[0]);
}

}  // namespace

TaskData OpenText(const Settings& settings) {
  Require(!settings.data_dir.empty(), "train",
          "--data text needs --data-dir, a text file or a folder of token files");
  const auto text = std::make_shared<Text>();
  text->data = data::OpenLanguageData(settings.data_dir, settings.tokenizer, settings.vocab_dir);
  const data::Tokens& train = *text->data.train;
  text->validation =
      std::make_unique<data::DisjointWindows>(*text->data.validation, settings.length);
  const data::RandomWindowOptions random{.length = settings.length, .seed = settings.seed};
  const int64_t whole = std::max<int64_t>(1, train.size() / settings.length);
  return {.form = TextForm(std::filesystem::path(settings.data_dir).filename().string(),
                           text->data.tokenizer->vocabulary(), settings.length),
          .unit = "windows",
          .train = {settings.epoch_size > 0 ? settings.epoch_size : whole,
                    data::RandomWindows(train, random), false},
          .test = {text->validation->size(), data::StackedBatches(*text->validation), false},
          .loss = Loss,
          .correct = nullptr,
          .tokenizer = text->data.tokenizer.get(),
          .owner = text};
}

}  // namespace torus::tools
