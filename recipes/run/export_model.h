// The trained model as other programs read it.
#pragma once

#include <map>
#include <string>

#include "recipes/run/run_folder.h"
#include "recipes/run/task.h"

namespace torus::recipes {

// Whether there is anything to write.
bool ExportsModel(const Task& task);

// Writes a folder of Hugging Face's: config.json, model.safetensors with the weights (their moving
// averages where the run keeps them), and the tokenizer of its texts. Where transformers has no
// such model (those of images, and GPT-3 XL) it writes a file of the averages and buffers, or
// nothing if the run keeps none: the checkpoint has the weights themselves. All tensors are those
// of the run's newest checkpoint. Returns the path written, empty for none.
std::string ExportModel(const Task& task, const RunFolder& folder);

// The files that such a folder has beside the weights, by name: a checkpoint has them too, so that
// evaluate and generate read it as it is. None where transformers has no such model.
std::map<std::string, std::string> ModelFiles(const Task& task);

}  // namespace torus::recipes
