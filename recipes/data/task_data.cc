#include "recipes/data/task_data.h"

#include <algorithm>

#include "recipes/data/data_names.h"
#include "recipes/model/model_of.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

// The model, after a check that it takes such data.
ModelSpec FittingModel(const Settings& settings) {
  const ModelSpec model = ModelOf(settings);
  const std::string wanted = LearnsFrom(model.task), got = DataKind(settings.data);
  Require(wanted == got, "train", "--model {} learns from {}, but --data {} is {}", settings.model,
          wanted, settings.data, got);
  return model;
}

}  // namespace

const char* LearnsFrom(ModelTask task) {
  if (task == ModelTask::kImages) return "images";
  return IsLanguageModel(task) ? "a long text" : "sentences";
}

TaskData OpenTaskData(const Settings& settings) {
  const ModelSpec model = FittingModel(settings);
  if (model.task == ModelTask::kImages) return OpenImages(settings);
  return IsLanguageModel(model.task) ? OpenText(settings) : OpenSentences(settings);
}

data::BatchMemory BatchMemoryOf(const Settings& settings) {
  return settings.device == "cuda" ? data::BatchMemory::kPinned : data::BatchMemory::kOrdinary;
}

Settings WithoutCache(Settings settings) {
  settings.image_cache = "";
  return settings;
}

DataForm FormOfData(const Settings& settings) {
  FittingModel(settings);
  const std::optional<DataForm> known = KnownForm(settings);
  return known ? *known : OpenTaskData(WithoutCache(settings)).form;
}

std::vector<data::LeftOut> LeftOutOf(const data::Dataset& train, const data::Dataset& test) {
  std::vector<data::LeftOut> all = train.left_out();
  for (data::LeftOut& left_out : test.left_out()) all.push_back(std::move(left_out));
  return all;
}

std::vector<data::LeftOut> PassedOverOf(const data::Dataset& train, const data::Dataset& test) {
  std::vector<data::LeftOut> all = train.passed_over();
  for (data::LeftOut& other : test.passed_over()) all.push_back(std::move(other));
  return all;
}

int64_t CountCorrect(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets) {
  const Tensor logits = outputs[0].data().To(DType::kF32).Contiguous();
  const int64_t rows = logits.dim(0), classes = logits.dim(1);
  const float* row = logits.data<float>();
  const int64_t* target = targets[0].data<int64_t>();
  int64_t correct = 0;
  for (int64_t n = 0; n < rows; ++n, row += classes)
    correct += std::max_element(row, row + classes) - row == target[n];
  return correct;
}

}  // namespace torus::recipes
