// A run taken up again from its checkpoint, and how one is written.
#pragma once

#include <string>

#include "parallel/trainer/train_state.h"
#include "recipes/blocks/cut_choice.h"
#include "recipes/run/run_folder.h"
#include "recipes/settings/settings.h"

namespace torus::recipes {

struct ResumedRun {
  RunFolder folder;
  Settings settings;
  CutChoice cuts;
  parallel::TrainState state;  // in the model's layout
};

// What a checkpoint says of its run.
struct StoredRun {
  Settings settings;
  CutChoice cuts;
};

// As LoadRun, without the tensors.
StoredRun LoadStored(const std::string& path);

// `path`: the run's folder or its checkpoint folder. BadInput names the file that is not as it
// should be.
ResumedRun LoadRun(const std::string& path);

// Writes the checkpoint of a run: tensors under torchvision's names and in its layout, and
// settings.json with the settings and the cuts.
void SaveRun(const ResumedRun& run);

}  // namespace torus::recipes
