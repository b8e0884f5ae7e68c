// Weights from whatever file or folder holds them.
#pragma once

#include <string>
#include <vector>

#include "models/checkpoint/names.h"
#include "models/nn/sequential.h"

namespace torus {

// All tensors of a .safetensors file, a file of torch.save, or a Hugging Face folder, and of a
// checkpoint of ours (io/checkpoint_manifest.h) its weights. The errors of their readers.
std::vector<NamedTensor> ReadWeights(const std::string& path);

// Loads them, their names fitted by `rules` (FitNames), into the model. Strict as FitState;
// floating tensors are cast to the model's dtype.
void LoadWeights(nn::Module& model, const std::string& path, const NameRules& rules = {});

// To fine-tune: as LoadWeights, but the last layer keeps its values where the file has none of its
// own parameters, and those of its own parameters of which the file has another number of outputs
// (another first size: ImageNet's 1000 classes); tensors of the other heads that `rules` name are
// left out.
struct BodyNotes {
  std::vector<std::string> kept;      // parameters that keep their values
  std::vector<std::string> left_out;  // tensors of the file that the model has no place for
};
BodyNotes LoadBody(nn::Sequential& model, const std::string& path, const NameRules& rules = {});

}  // namespace torus
