// LabRun: a run as a lab looks at it: epoch by epoch on a part of the data, with where the time of
// each epoch went. It is the trainer's library call without a run's folder.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parallel/trainer/trainer.h"
#include "recipes/run/task.h"
#include "runtime/trace.h"

namespace torus::labs {

// What a question changes of a run besides its settings; all may be empty.
struct LabParts {
  int64_t images = 0, test_images = 0;  // the first ones of either set; 0: all
  std::vector<std::string> links;       // emulated
  bool traces = false;                  // keeps the events of each epoch
  // Every epoch has the order of the first, as where a sampler is never told the epoch.
  bool repeats_first_order = false;
  // Around the links' transport, where there are links.
  std::function<std::unique_ptr<parallel::Transport>(parallel::Transport&)> wrap_transport;
  std::function<double(int64_t step)> learning_rate;
  std::function<std::unique_ptr<parallel::Optimizer>(std::vector<NamedVariable>)> optimizer;
  // Sees the blocks of each rank, in rank order, before the first step.
  std::function<void(std::vector<parallel::Block>&)> on_blocks;
};

struct Epoch {
  int64_t number = 0;  // from 1
  int64_t steps = 0, images = 0;
  double seconds = 0;          // on rank 0, everything included
  double data_seconds = 0;     // of these, rank 0's waits for its batches
  double loss = 0;             // mean over the images, each before the step that learns from it
  double accuracy = 0;         // likewise, from 0 to 1
  std::vector<double> losses;  // of each step
  std::vector<trace::Event> events;  // empty unless traced

  double SecondsWithoutData() const { return seconds - data_seconds; }
  double ImagesPerSecond() const { return static_cast<double>(images) / seconds; }
};

struct TestScore {
  double loss = 0, accuracy = 0;
  int64_t images = 0;
};

class LabRun {
 public:
  // The errors of recipes::Run before its first step; BadInput unless a batch fits the images.
  LabRun(const recipes::Settings& settings, LabParts parts = {});

  // All whole batches of the training images.
  Epoch TrainEpoch();
  // The next `count` steps, which must end within the epoch; returns as an epoch.
  Epoch TrainSteps(int64_t count);
  // The whole test images.
  TestScore Test();

  int64_t steps_per_epoch() const { return batches_per_epoch_; }
  int64_t images_per_epoch() const { return batches_per_epoch_ * settings_.batch_size; }
  const recipes::Settings& settings() const { return settings_; }
  const recipes::TaskData& data() const { return task_.data(); }
  parallel::Trainer& trainer() { return *trainer_; }

 private:
  parallel::TrainerOptions Options() const;
  std::unique_ptr<parallel::Transport> Wrapped(parallel::Transport& world) const;
  parallel::TrainingParts Parts();
  parallel::LossFn CountingLoss();
  parallel::BatchFn Batches();
  double DataWait() const;

  const LabParts parts_;
  const recipes::Settings settings_;
  const recipes::Task task_;
  const recipes::DataPart train_, test_;
  const int64_t batches_per_epoch_;
  std::atomic<bool> counts_{false};  // training: Test counts by itself
  std::atomic<int64_t> correct_{0};
  std::unique_ptr<parallel::Trainer> trainer_;
  std::unique_ptr<recipes::BatchFeed> feed_;
};

}  // namespace torus::labs
