// Weights from whatever file or folder holds them.
#pragma once

#include <string>
#include <vector>

#include "models/checkpoint/names.h"
#include "models/nn/sequential.h"

namespace torus {

// All tensors of a .safetensors file, a file of torch.save, or a Hugging Face folder. The errors of
// their readers.
std::vector<NamedTensor> ReadWeights(const std::string& path);

// Loads them, their names fitted by `rules` (FitNames), into the model. Strict as FitState;
// floating tensors are cast to the model's dtype.
void LoadWeights(nn::Module& model, const std::string& path, const NameRules& rules = {});

// To fine-tune: as LoadWeights, but the last layer keeps its values where the file has none of its
// own parameters, and tensors of the other heads that `rules` name are left out.
struct BodyNotes {
  std::vector<std::string> kept;      // parameters that the file lacks, which keep their values
  std::vector<std::string> left_out;  // tensors of the file that the model lacks
};
BodyNotes LoadBody(nn::Sequential& model, const std::string& path, const NameRules& rules = {});

}  // namespace torus
