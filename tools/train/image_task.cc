#include "tools/train/image_task.h"

#include <algorithm>

#include "data/image_batch.h"
#include "data/micro_batch.h"
#include "data/open_dataset.h"
#include "ops/loss/cross_entropy.h"
#include "parallel/optim/lr_schedule.h"
#include "parallel/optim/sgd.h"
#include "runtime/error.h"
#include "tools/common/model_blocks.h"
#include "tools/train/layer_list.h"
#include "tools/train/model_spec.h"

namespace torus::tools {
namespace {

using parallel::RankPlace;

data::Sampler MakeSampler(const data::Dataset& dataset, const Settings& settings, bool training,
                          int64_t first_step) {
  data::Sampler sampler({.size = dataset.size(),
                         .batch_size = settings.batch_size,
                         .seed = settings.seed,
                         .shuffle = training});
  sampler.Seek(sampler.PositionOf(first_step));
  return sampler;
}

data::MakeBatch Batches(const data::Dataset& dataset, const Settings& settings, bool training) {
  return data::ImageBatches(
      dataset, {.augment = training ? settings.augment : "none", .seed = settings.seed});
}

// Threads that make batches take their time from the ranks, so there are few.
int Workers(const Settings& settings) {
  return static_cast<int>(std::clamp<int64_t>(settings.threads / 2, 1, 8));
}

data::LoaderOptions MakeLoaderOptions(const Settings& settings, double timeout) {
  return {.replicas = static_cast<int>(settings.replicas),
          .micro_batches = static_cast<int>(settings.micro_batches * settings.accumulate),
          .readers = settings.stages == 1 ? 1 : 2,
          .workers = Workers(settings),
          .timeout_seconds = timeout};
}

// Rows whose largest logit is that of their class; of equal ones the first counts.
int64_t CountCorrect(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets) {
  const Tensor logits = outputs[0].data().Contiguous();
  const int64_t rows = logits.dim(0), classes = logits.dim(1);
  const float* row = logits.data<float>();
  const int64_t* target = targets[0].data<int64_t>();
  int64_t correct = 0;
  for (int64_t n = 0; n < rows; ++n, row += classes)
    correct += std::max_element(row, row + classes) - row == target[n];
  return correct;
}

Variable Loss(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets) {
  return ops::CrossEntropy(outputs[0], Variable(targets[0]));
}

std::string DataTitle(const std::string& name) {
  if (name == "fashion-mnist") return "Fashion-MNIST";
  return name == "cifar10" ? "CIFAR-10" : name;
}

// --warmup, or its default.
int64_t WarmupSteps(const Settings& settings, int64_t total_steps) {
  if (settings.warmup >= 0) return settings.warmup;
  if (settings.lr_schedule == "one-cycle") return 0;  // it has a rise of its own
  return std::min<int64_t>(100, total_steps / 10);
}

}  // namespace

BatchFeed::BatchFeed(const data::Dataset& dataset, const Settings& settings, bool training,
                     int64_t first_step, double timeout)
    : replicas_(settings.replicas),
      micro_batches_(settings.micro_batches * settings.accumulate),
      sampler_(MakeSampler(dataset, settings, training, first_step)),
      loader_(sampler_, Batches(dataset, settings, training),
              MakeLoaderOptions(settings, timeout)) {}

int64_t BatchFeed::SamplesAt(int64_t step) const {
  const data::SamplerOptions& options = sampler_.options();
  const int64_t begin = sampler_.PositionOf(step).number * options.batch_size;
  return std::min(options.batch_size, options.size - begin);
}

parallel::MiniBatch BatchFeed::Get(int64_t step, const RankPlace& place) {
  parallel::MiniBatch batch{.global_samples = SamplesAt(step)};
  for (int64_t m = 0; m < micro_batches_; ++m) {
    parallel::MicroBatch& part = batch.micro_batches.emplace_back();
    const data::Range rows = data::PartOf(batch.global_samples, replicas_ * micro_batches_,
                                          place.replica * micro_batches_ + m);
    for (int64_t row = rows.begin; row < rows.end; ++row) part.samples.push_back(row);
    if (!place.first && !place.last) continue;
    const data::Loader::BatchPtr made = loader_.Fetch(step, place.replica, static_cast<int>(m));
    TORUS_CHECK(made->samples == part.samples, "step {}, micro-batch {}", step, m);
    if (place.first) part.inputs = made->inputs;
    if (place.last) part.targets = {made->target};
  }
  return batch;
}

ImageTask::ImageTask(const Settings& settings, std::string weights_file)
    : settings_(settings),
      weights_file_(std::move(weights_file)),
      train_(data::OpenDataset(settings.data, settings.data_dir, data::Split::kTrain)),
      test_(data::OpenDataset(settings.data, settings.data_dir, data::Split::kTest)) {
  settings_.warmup = WarmupSteps(settings_, steps_per_epoch() * settings_.epochs);
}

int64_t ImageTask::steps_per_epoch() const {
  return (train_->size() + settings_.batch_size - 1) / settings_.batch_size;
}

std::string ImageTask::title() const {
  return fmt::format("{} on {}", ParseModelSpec(settings_.model).title, DataTitle(settings_.data));
}

Shape ImageTask::LargestInput() const {
  const int64_t parts = PartsOfBatch(settings_);
  const Shape& image = test_->info().image;
  return {(settings_.batch_size + parts - 1) / parts, image[0], image[1], image[2]};
}

std::shared_ptr<nn::Sequential> ImageTask::Model() const {
  return BuildModel(settings_.model, static_cast<int64_t>(test_->info().classes.size()),
                    settings_.seed, weights_file_);
}

std::vector<parallel::Block> ImageTask::Blocks() const {
  std::vector<parallel::Block> blocks = ModelBlocks(Model(), LargestInput());
  const std::vector<bool> recomputed =
      ParseLayerList("--recompute", settings_.recompute, static_cast<int>(blocks.size()));
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i].recompute = recomputed[i];
  return blocks;
}

parallel::TrainingParts ImageTask::Parts() const {
  const int64_t epoch = steps_per_epoch(), total = epoch * settings_.epochs;
  const parallel::LrSchedule factor = parallel::MakeLrSchedule(
      settings_.lr_schedule,
      {.total_steps = total, .warmup_steps = settings_.warmup, .steps_per_epoch = epoch});
  const parallel::SgdOptions sgd{.momentum = settings_.momentum,
                                 .weight_decay = settings_.weight_decay,
                                 .nesterov = settings_.nesterov};
  return {.model = [this] { return Blocks(); },
          .loss = Loss,
          .correct = CountCorrect,
          .optimizer =
              [sgd](std::vector<NamedVariable> parameters) {
                return std::make_unique<parallel::Sgd>(std::move(parameters), sgd);
              },
          .learning_rate = [factor, lr = settings_.lr](int64_t step) { return lr * factor(step); },
          .largest_inputs = {{LargestInput(), DType::kF32}}};
}

}  // namespace torus::tools
