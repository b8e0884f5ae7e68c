// LabRun: a training run for a lab: epoch by epoch, on a part of the data, with the time of each
// epoch and its parts. It uses the trainer as a library and writes no run folder.
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

// What a question changes in a run besides its settings. All members may be empty.
struct LabParts {
  int64_t images = 0, test_images = 0;  // use the first ones of each set; 0: all
  std::vector<std::string> links;       // emulated links between ranks
  // Keep the trace events of each epoch, with the times of a GPU's work.
  bool traces = false;
  // Every epoch has the order of the first, as if the sampler were never told the epoch.
  bool repeats_first_order = false;
  // Wraps each rank's transport; if there are links, outside of them.
  std::function<std::unique_ptr<parallel::Transport>(parallel::Transport&)> wrap_transport;
  std::function<double(int64_t step)> learning_rate;
  std::function<std::unique_ptr<parallel::Optimizer>(std::vector<NamedVariable>)> optimizer;
  // Called with the blocks of each rank, in rank order, before the first step.
  std::function<void(std::vector<parallel::Block>&)> on_blocks;
};

struct Epoch {
  int64_t number = 0;  // from 1
  int64_t steps = 0, images = 0;
  double seconds = 0;                // on rank 0, including everything
  double data_seconds = 0;           // of these, rank 0's waits for its batches
  double loss = 0;                   // mean over the images, each taken in the forward of its step
  double accuracy = 0;               // likewise, from 0 to 1
  std::vector<double> losses;        // of each step
  std::vector<trace::Event> events;  // empty unless traced

  double SecondsWithoutData() const { return seconds - data_seconds; }
  double ImagesPerSecond() const { return static_cast<double>(images) / seconds; }
};

struct TestScore {
  double loss = 0, accuracy = 0;
  int64_t images = 0;
};

// Its calls throw tools::Stopped if a signal has requested the end (tools/common/stop_signal.h).
class LabRun {
 public:
  // Throws the errors of recipes::Run before its first step, and BadInput if there are fewer images
  // than one batch.
  LabRun(const recipes::Settings& settings, LabParts parts = {});

  // Trains one epoch: all complete batches of the training images.
  Epoch TrainEpoch();
  // Trains the next `count` steps, which must end within the epoch. Returns them as an Epoch.
  Epoch TrainSteps(int64_t count);
  // Evaluates on the test images.
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
  std::atomic<bool> counts_{false};  // while training: Test counts by itself
  std::atomic<int64_t> correct_{0};
  std::unique_ptr<parallel::Trainer> trainer_;
  std::shared_ptr<recipes::BatchFeed> feed_;
};

}  // namespace torus::labs
