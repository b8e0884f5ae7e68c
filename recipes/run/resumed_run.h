// Reads and writes the checkpoint that a run is resumed from.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "parallel/trainer/trainer.h"
#include "recipes/blocks/cut_choice.h"
#include "recipes/data/data_order.h"
#include "recipes/run/run_folder.h"
#include "recipes/settings/settings.h"
#include "runtime/io/checkpoint_reader.h"

namespace torus::recipes {

// What a checkpoint stores about its run.
struct StoredRun {
  Settings settings;
  CutChoice cuts;
  std::optional<DataOrder> data{};  // absent in checkpoints of older versions
};

struct ResumedRun : StoredRun {
  RunFolder folder;
  // Open, but its tensors are not read yet; each rank reads those that it needs.
  std::shared_ptr<const io::CheckpointReader> checkpoint;
  std::string from;    // the folder that `checkpoint` is in
  bool newest = true;  // false: a newer checkpoint was skipped, or not asked for
  std::string note{};  // why it was skipped
  int64_t step() const { return checkpoint->manifest().step; }
};

// Whether runs with settings `a` and `b` have the same cuts.
inline bool CutAlike(const Settings& a, const Settings& b) {
  return a.stages == b.stages && a.cut == b.cut;
}

// As LoadRun, but without the tensors.
StoredRun LoadStored(const std::string& path);

// Opens a checkpoint. `path` is the run's folder, for its newest undamaged checkpoint, or the
// folder of one of its checkpoints, for that one. Throws BadInput, naming the file that is missing
// or damaged.
ResumedRun LoadRun(const std::string& path);

// The text files of a run's checkpoint: settings.json, with the settings, the cuts and the data
// order.
std::map<std::string, std::string> TextsOf(const StoredRun& run);

// Writes the newest checkpoint of a run (parallel::Trainer::Save) with the text files of `run` and
// `more`. The trainer may also be an application's own; `train --resume` can then continue its run.
void SaveRun(const RunFolder& folder, const StoredRun& run, parallel::Trainer& trainer,
             const std::map<std::string, std::string>& more = {});

}  // namespace torus::recipes
