// TaskData: what a run's --data is, whatever its kind: batches to train on and to test on, and how
// outputs are judged.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/datasets/dataset.h"
#include "data/loading/batch.h"
#include "data/text/tokenizer.h"
#include "parallel/trainer/trainer_options.h"
#include "recipes/data/data_form.h"
#include "recipes/data/task_loss.h"
#include "recipes/settings/settings.h"

namespace torus::recipes {

// Examples to train on, or to test on.
struct DataPart {
  int64_t size = 0;  // examples an epoch
  data::MakeBatch batches;
  bool shuffle = false;  // by the sampler, each epoch anew
  uint64_t order = 0;    // OrderHash of the examples
};

struct TaskData {
  DataForm form;
  std::string unit;  // what examples are called: "images", "sentences", "windows"
  DataPart train, test;
  parallel::LossFn loss;
  // Rows that the outputs get right; empty for a language model, which is judged by its loss.
  std::function<int64_t(const std::vector<Variable>&, const std::vector<Tensor>&)> correct;
  // What the readers have left out so far, of training first; empty where they leave nothing out.
  std::function<std::vector<data::LeftOut>()> left_out;
  std::string truncated;                       // TruncatedLine of both parts
  const data::Tokenizer* tokenizer = nullptr;  // of texts
  std::shared_ptr<const void> owner;           // of the tokenizer, and the datasets of `batches`
};

// What --model takes says which kind of data --data must be. BadInput where it is another, and the
// errors of the readers.
TaskData OpenTaskData(const Settings& settings);

// The kinds, each in a file of its own.
TaskData OpenImages(const Settings& settings);     // a name of data::DatasetNames()
TaskData OpenSentences(const Settings& settings);  // a name of data::GlueTasks()
TaskData OpenText(const Settings& settings);       // "text": a file, or a folder of token files

// Their form, from the name of the data where that is enough; else they are opened.
DataForm FormOfData(const Settings& settings);

// What a model learns from, a DataKind.
const char* LearnsFrom(ModelTask task);

// Of both parts, `train` first.
std::vector<data::LeftOut> LeftOutOf(const data::Dataset& train, const data::Dataset& test);

// Rows whose largest logit is that of their class; of equal ones the first counts.
int64_t CountCorrect(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets);

}  // namespace torus::recipes
