// The trained model as other programs read it.
#pragma once

#include <string>

#include "parallel/trainer/train_state.h"
#include "recipes/run/run_folder.h"
#include "recipes/run/task.h"

namespace torus::recipes {

// Whether there is anything to write.
bool ExportsModel(const Task& task);

// Writes a folder of Hugging Face's: config.json, model.safetensors with the weights (their moving
// averages where the run keeps them), and the tokenizer of its texts. Where transformers has no
// such model (those of images, and GPT-3 XL) it writes a file of the averages and buffers, or
// nothing if the run keeps none: the checkpoint has the weights themselves. Returns the path
// written, empty for none.
std::string ExportModel(const Task& task, const parallel::TrainState& state,
                        const RunFolder& folder);

}  // namespace torus::recipes
