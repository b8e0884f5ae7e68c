// Task: a run's model, data and training parts, made from its settings.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/loading/loader.h"
#include "models/checkpoint/load_weights.h"
#include "parallel/trainer/trainer.h"
#include "recipes/data/task_data.h"
#include "recipes/run/batch_order.h"
#include "recipes/settings/settings.h"

namespace torus::recipes {

// Loads mini-batches for the ranks of this process.
class BatchFeed {
 public:
  // `places` are those of this process's ranks: either all of the run or one. `first_step` is the
  // first step that Get will be called for; `threads` are those of the ranks. `part` must outlive
  // this object.
  BatchFeed(const DataPart& part, const Settings& settings,
            const std::vector<parallel::RankPlace>& places, int64_t first_step, double timeout,
            int64_t threads);

  parallel::MiniBatch Get(int64_t step, const parallel::RankPlace& place);
  // Get of `feed`, which a rank's thread that is left behind (parallel::StuckRank) keeps.
  static parallel::BatchFn Fn(std::shared_ptr<BatchFeed> feed) {
    return [feed = std::move(feed)](int64_t step, const parallel::RankPlace& place) {
      return feed->Get(step, place);
    };
  }
  int64_t batches_per_epoch() const { return sampler_.batches_per_epoch(); }

 private:
  int64_t SamplesAt(int64_t step) const;

  const int64_t replicas_, micro_batches_;
  const data::Sampler sampler_;
  std::optional<BatchOrder> order_;     // none if no codec keeps state for each example
  std::optional<data::Loader> loader_;  // none if no rank needs inputs or targets
};

class Task {
 public:
  // Opens the data and fills in the setting that depends on their size: the warm-up. `weights_file`
  // holds the initial weights; empty: they come from the seed. `whole`: to evaluate alone, without
  // --image-cache, and the file must also hold the head; otherwise the body is enough, for
  // fine-tuning. Throws the errors of OpenTaskData.
  Task(const Settings& settings, std::string weights_file, bool whole = false);

  const Settings& settings() const { return settings_; }
  const TaskData& data() const { return data_; }
  int64_t steps_per_epoch() const;
  std::string title() const;  // "MobileNetV2 on Fashion-MNIST"

  std::vector<parallel::Block> Blocks() const;  // BuildBlocks
  // Which initial weights were new or left over, and what was taken from their file. Known after a
  // call of Blocks.
  const BodyNotes& notes() const { return *notes_; }
  parallel::TrainingParts Parts() const;
  // The learning rate at `step` of a run of this data with `settings`.
  double LearningRate(const Settings& settings, int64_t step) const;

 private:
  Settings settings_;
  const std::string weights_file_;
  const bool whole_;
  const std::shared_ptr<BodyNotes> notes_ = std::make_shared<BodyNotes>();
  const TaskData data_;
};

}  // namespace torus::recipes
