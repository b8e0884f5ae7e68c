// A run taken up again from its checkpoint, and how one is written.
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

// What a checkpoint says of its run.
struct StoredRun {
  Settings settings;
  CutChoice cuts;
  std::optional<DataOrder> data{};  // none of an older checkpoint
};

struct ResumedRun : StoredRun {
  RunFolder folder;
  // Opened: its tensors are still to be read, by the ranks that need them.
  std::shared_ptr<const io::CheckpointReader> checkpoint;
  std::string from;    // the folder that `checkpoint` is in
  bool newest = true;  // false: a newer checkpoint was passed over, or not asked for
  std::string note{};  // why it was passed over
  int64_t step() const { return checkpoint->manifest().step; }
};

// Whether a run with settings `a` is cut where one with `b` is.
inline bool CutAlike(const Settings& a, const Settings& b) {
  return a.stages == b.stages && a.cut == b.cut;
}

// As LoadRun, without the tensors.
StoredRun LoadStored(const std::string& path);

// `path`: the run's folder, for its newest checkpoint that is whole, or the folder of one of its
// checkpoints, for that one. BadInput names the file that is not as it should be.
ResumedRun LoadRun(const std::string& path);

// The texts of a run's checkpoint: settings.json, with the settings, the cuts and what is known of
// the data.
std::map<std::string, std::string> TextsOf(const StoredRun& run);

// Writes the newest checkpoint of a run (parallel::Trainer::Save), with `more` texts beside those
// of `run`. An application's own Trainer may be the one that trained: then `train --resume` goes
// on.
void SaveRun(const RunFolder& folder, const StoredRun& run, parallel::Trainer& trainer,
             const std::map<std::string, std::string>& more = {});

}  // namespace torus::recipes
