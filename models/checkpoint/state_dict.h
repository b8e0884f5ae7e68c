// A model's state under its reference's names and layouts, and files of it.
#pragma once

#include <string>
#include <vector>

#include "models/nn/module.h"

namespace torus {

// Copies of all parameters, then all buffers, as the reference's state_dict has them; a tied one
// once, under its owner's name.
std::vector<NamedTensor> StateDict(const nn::Module& model);

// `state` under the names, in the order and with the shapes of StateDict; values and dtypes stay.
// The model's own values are not read. Strict: names, shapes and dtypes must be those of StateDict,
// but for what PyTorch takes too: one floating dtype for another, a scalar of shape (1), a tied
// tensor under any of its names, and no num_batches_tracked (0). Otherwise BadInput, tagged
// `where`, with everything that is missing, surplus, misshaped or of another dtype in one message.
std::vector<NamedTensor> FitState(const nn::Module& model, const std::vector<NamedTensor>& state,
                                  const std::string& where);

// Copies the fitted state into the model, floating tensors cast to its dtype; equal dtypes keep
// every bit. A model without memory gets it on the CPU. On an error of FitState it is as it was.
void LoadStateDict(nn::Module& model, const std::vector<NamedTensor>& state,
                   const std::string& where);

// The same with .safetensors files; the errors of ReadSafetensors and WriteSafetensors. A saved and
// loaded model has equal bits.
void SaveModel(const nn::Module& model, const std::string& path);
void LoadModel(nn::Module& model, const std::string& path);

}  // namespace torus
