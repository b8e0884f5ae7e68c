// Loads weights from any supported file or folder.
#pragma once

#include <string>
#include <vector>

#include "models/checkpoint/names.h"
#include "models/checkpoint/weights_part.h"
#include "models/nn/sequential.h"

namespace torus {

// Reads all tensors of a .safetensors file, a torch.save file or a Hugging Face folder, or the
// weights of a Torus checkpoint (io/checkpoint_manifest.h). Throws the errors of their readers.
FileWeights ReadWeights(const std::string& path);

// Where weights come from.
struct WeightsSource {
  WeightsSource(std::string file = "", std::string part = "")  // NOLINT: a path is one
      : file(std::move(file)), part(std::move(part)) {}
  WeightsSource(const char* file) : file(file) {}  // NOLINT
  std::string file;                                // or folder
  std::string part;                                // as `wish` of ChoosePart
};

// Reads weights, chooses the part that fits the model (ChoosePart), fits its names by `rules`
// (FitNames) and loads it into the model. As strict as FitState about that part, but leaves tensors
// of other heads that `rules` name, such as a pooler that a classifier does not use. The rest of
// the file is left too, and the result says so. Tensors are cast to the model's dtypes.
TakenWeights LoadWeights(nn::Module& model, const WeightsSource& source,
                         const NameRules& rules = {});
// The same of a file that was read already: ReadWeights(source.file).
TakenWeights LoadWeights(nn::Module& model, const FileWeights& file, const WeightsSource& source,
                         const NameRules& rules = {});

// Loads weights for fine-tuning. Differs from LoadWeights in the last layer: its own parameters
// keep their values if the file has none of them, and so does each of which the file has another
// number of outputs (first size), such as ImageNet's 1000 classes. Tensors of other heads that
// `rules` name are left out.
struct BodyNotes {
  std::vector<std::string> kept;      // parameters that keep their values
  std::vector<std::string> left_out;  // tensors of the part that the model has no place for
  TakenWeights taken;                 // from the file, and what was left there
};
// Does so, and says what was not loaded.
BodyNotes LoadBody(nn::Sequential& model, const WeightsSource& source, const NameRules& rules = {});

}  // namespace torus
