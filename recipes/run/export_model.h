// Exports the trained model for other programs.
#pragma once

#include <map>
#include <string>

#include "recipes/run/run_folder.h"
#include "recipes/run/task.h"

namespace torus::recipes {

// Whether ExportModel writes anything.
bool ExportsModel(const Task& task);

// Writes a Hugging Face folder: config.json (which also says how long the rows of the training
// were, trained_length.h, and for a Llama which tokens begin and end a text), model.safetensors
// with the weights (or their moving averages if the run keeps them), and the tokenizer. If
// transformers has no such model (image models and GPT-3 XL), writes a file with the moving
// averages and buffers, or nothing if the run keeps no averages, since the checkpoint has the
// weights. All tensors are those of the run's newest checkpoint. Returns the path written; empty
// for none.
std::string ExportModel(const Task& task, const RunFolder& folder);

// The contents, by name, of the files that such a folder has besides the weights. A checkpoint has
// them too, so that evaluate and generate can read it directly. Empty if transformers has no such
// model.
std::map<std::string, std::string> ModelFiles(const Task& task);

}  // namespace torus::recipes
