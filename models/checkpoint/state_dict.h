// A model's state under its reference's names and layouts, and files of it.
#pragma once

#include <string>
#include <vector>

#include "models/nn/module.h"

namespace torus {

// Copies of all parameters, then all buffers, as the reference's state_dict has them; a tied one
// once, under its owner's name.
std::vector<NamedTensor> StateDict(const nn::Module& model);

// Copies `state` into the model. Strict: names, shapes and dtypes must be those of StateDict; a
// scalar may also come with shape (1), a tied tensor under any of its names, and
// num_batches_tracked may be absent (0). Otherwise BadInput, tagged `where`, with everything that
// is missing, surplus, misshaped or of another dtype in one message, and the model is as it was.
void LoadStateDict(nn::Module& model, const std::vector<NamedTensor>& state,
                   const std::string& where);

// The same with .safetensors files; the errors of ReadSafetensors and WriteSafetensors. A saved and
// loaded model has equal bits.
void SaveModel(const nn::Module& model, const std::string& path);
void LoadModel(nn::Module& model, const std::string& path);

}  // namespace torus
