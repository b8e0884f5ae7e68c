// Loads weights from any supported file or folder.
#pragma once

#include <string>
#include <vector>

#include "models/checkpoint/names.h"
#include "models/nn/sequential.h"

namespace torus {

// Reads all tensors of a .safetensors file, a torch.save file or a Hugging Face folder, or the
// weights of a Torus checkpoint (io/checkpoint_manifest.h). Throws the errors of their readers.
std::vector<NamedTensor> ReadWeights(const std::string& path);

// Reads weights, fits their names by `rules` (FitNames) and loads them into the model. As strict as
// FitState; floating tensors are cast to the model's dtype.
void LoadWeights(nn::Module& model, const std::string& path, const NameRules& rules = {});

// Loads weights for fine-tuning. Differs from LoadWeights in the last layer: its own parameters
// keep their values if the file has none of them, and so does each of which the file has another
// number of outputs (first size), such as ImageNet's 1000 classes. Tensors of other heads that
// `rules` name are left out.
struct BodyNotes {
  std::vector<std::string> kept;      // parameters that keep their values
  std::vector<std::string> left_out;  // tensors of the file that the model has no place for
};
BodyNotes LoadBody(nn::Sequential& model, const std::string& path, const NameRules& rules = {});

}  // namespace torus
