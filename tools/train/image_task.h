// ImageTask: an image classifier's model, data and training parts, made from a run's settings.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/loader.h"
#include "models/nn/sequential.h"
#include "parallel/trainer/trainer.h"
#include "tools/train/settings.h"

namespace torus::tools {

// Feeds the ranks of a trainer from a loader.
class BatchFeed {
 public:
  // `first_step`: of the sampler, the first that will be asked for; `readers`: ranks of a replica
  // that fetch a micro-batch.
  BatchFeed(const data::Dataset& dataset, const Settings& settings, bool training,
            int64_t first_step, double timeout);

  parallel::MiniBatch Get(int64_t step, const parallel::RankPlace& place);
  parallel::BatchFn fn() {
    return [this](int64_t step, const parallel::RankPlace& place) { return Get(step, place); };
  }
  int64_t batches_per_epoch() const { return sampler_.batches_per_epoch(); }

 private:
  int64_t SamplesAt(int64_t step) const;

  const int64_t replicas_, micro_batches_;
  const data::Sampler sampler_;
  data::Loader loader_;
};

class ImageTask {
 public:
  // Opens the datasets and completes the settings by what follows from their size: the warm-up.
  // `weights_file`: where the initial weights come from; empty: from the seed. BadInput and
  // BrokenEnvironment as data::OpenDataset.
  ImageTask(const Settings& settings, std::string weights_file);

  const Settings& settings() const { return settings_; }
  const data::Dataset& train() const { return *train_; }
  const data::Dataset& test() const { return *test_; }
  int64_t steps_per_epoch() const;
  std::string title() const;  // "MobileNetV2 on Fashion-MNIST"

  // Shape of the inputs of the largest micro-batch.
  Shape LargestInput() const;
  // The initial model: equal bits on every call.
  std::shared_ptr<nn::Sequential> Model() const;
  std::vector<parallel::Block> Blocks() const;
  parallel::TrainingParts Parts() const;

 private:
  Settings settings_;
  const std::string weights_file_;
  std::unique_ptr<data::Dataset> train_, test_;
};

}  // namespace torus::tools
