// A run taken up again from its checkpoint, and how one is written.
#pragma once

#include <optional>
#include <string>

#include "parallel/trainer/train_state.h"
#include "recipes/blocks/cut_choice.h"
#include "recipes/data/data_order.h"
#include "recipes/run/run_folder.h"
#include "recipes/settings/settings.h"

namespace torus::recipes {

struct ResumedRun {
  RunFolder folder;
  Settings settings;
  CutChoice cuts;
  parallel::TrainState state;
  std::optional<DataOrder> data{};  // none of an older checkpoint
  bool newest = true;               // false: a newer checkpoint was passed over, or not asked for
  std::string note{};               // why it was passed over
};

// What a checkpoint says of its run.
struct StoredRun {
  Settings settings;
  CutChoice cuts;
  std::optional<DataOrder> data{};
};

// Whether a run with settings `a` is cut where one with `b` is.
inline bool CutAlike(const Settings& a, const Settings& b) {
  return a.stages == b.stages && a.cut == b.cut;
}

// As LoadRun, without the tensors.
StoredRun LoadStored(const std::string& path);

// `path`: the run's folder, for its newest checkpoint that can be read, or the folder of one of its
// checkpoints, for that one. BadInput names the file that is not as it should be.
ResumedRun LoadRun(const std::string& path);

// Writes the newest checkpoint of a run: its state (parallel::SaveCheckpoint), and settings.json
// with the settings, the cuts and what is known of the data. An application's own Trainer may be
// the one that trained: then `train --resume` goes on.
void SaveRun(const ResumedRun& run);

}  // namespace torus::recipes
