// TaskData: the data of a run, whatever their kind: batches to train and test on, and how outputs
// are evaluated.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/datasets/dataset.h"
#include "data/loading/batch_memory.h"
#include "data/text/tokenizer.h"
#include "parallel/trainer/trainer_options.h"
#include "recipes/data/data_form.h"
#include "recipes/data/data_part.h"
#include "recipes/data/task_loss.h"
#include "recipes/settings/settings.h"

namespace torus::recipes {

struct TaskData {
  DataForm form;
  std::string unit;  // what examples are called: "images", "sentences", "windows"
  DataPart train, test;
  DataPart validation;  // held out of the training examples (--validation); size 0: none
  parallel::LossFn loss;
  // Counts the rows that the outputs classify correctly; empty for a language model, which is
  // evaluated by its loss.
  std::function<int64_t(const std::vector<Variable>&, const std::vector<Tensor>&)> correct;
  // The examples that the readers have left out so far, those of training first. Empty if these
  // readers never leave out any.
  std::function<std::vector<data::LeftOut>()> left_out;
  // What they have passed over so far, likewise.
  std::function<std::vector<data::LeftOut>()> passed_over;
  std::string truncated;                       // TruncatedLine of both parts
  std::string cache;                           // what --image-cache has given; empty: not used
  const data::Tokenizer* tokenizer = nullptr;  // of texts
  std::shared_ptr<const void> owner;           // of the tokenizer, and the datasets of `batches`
};

// Opens --data. Throws BadInput if --model does not take this kind of data, and the errors of the
// readers.
TaskData OpenTaskData(const Settings& settings);

// Where the batches of a run are made: pinned if they go to GPUs.
data::BatchMemory BatchMemoryOf(const Settings& settings);

// One function for each kind of data.
TaskData OpenImages(const Settings& settings);     // a name of data::DatasetNames()
TaskData OpenSentences(const Settings& settings);  // a name of data::GlueTasks()
TaskData OpenText(const Settings& settings);       // "text": a file, or a folder of token files

// Without --image-cache, which is of the training images and would be made.
Settings WithoutCache(Settings settings);

// The form of the data, from their name if that is enough (KnownForm); otherwise opens them.
DataForm FormOfData(const Settings& settings);

// The kind of data that a model learns from, one of those of DataKind.
const char* LearnsFrom(ModelTask task);

// The examples that both parts have left out, those of `train` first.
std::vector<data::LeftOut> LeftOutOf(const data::Dataset& train, const data::Dataset& test);
// The same of what both have passed over.
std::vector<data::LeftOut> PassedOverOf(const data::Dataset& train, const data::Dataset& test);

// Counts the rows whose largest logit is that of their class. Of equal logits the first is taken.
int64_t CountCorrect(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets);

}  // namespace torus::recipes
