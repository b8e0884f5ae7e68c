// The trained model as other programs read it.
#pragma once

#include <string>

#include "parallel/trainer/trainer.h"
#include "tools/train/task.h"

namespace torus::tools {

// Writes a folder of Hugging Face's: config.json, model.safetensors with the weights (their moving
// averages where the run keeps them), and the tokenizer of its texts. Writes nothing and returns
// false where transformers has no such model: those of images, and GPT-3 XL.
bool ExportModel(const Task& task, const parallel::Trainer& trainer, const std::string& folder);

}  // namespace torus::tools
