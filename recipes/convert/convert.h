// Convert: weights from one form of file to another, as one call. tools/convert is a command line
// around it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/checkpoint/names.h"
#include "models/descriptor.h"
#include "runtime/tensor.h"

namespace torus::recipes {

struct ConvertOptions {
  // A .safetensors file, a file of torch.save, a folder of Hugging Face's or a run's checkpoint.
  std::string input;
  // A .safetensors file, or any other name for a folder of Hugging Face's, new or empty, made from
  // an input that is one, with its tokenizer. Empty: nothing is written.
  std::string output;
  std::string model;    // as Settings::model: names become this model's, and all must fit; or empty
  int64_t classes = 0;  // of that model (of a language model: its vocabulary)
  std::string dtype;    // of floating tensors: "f32", "f16", "bf16", "f64"; empty: as they are
  uint64_t shard_bytes = 5'000'000'000;  // the largest shard of a folder
  // Told of every name that is mapped to `model`'s, before what does not fit is refused.
  std::function<void(const Renamed&)> on_renamed;
  // As Settings::models.
  const std::vector<ModelDescriptor>* models = nullptr;
};

struct ConvertResult {
  std::vector<NamedTensor> tensors;  // as they were written
  std::vector<std::string> others;   // what else a file of torch.save holds: "best_prec1 = 91.73"
};

// BadInput, naming options by their flags, for what contradicts each other, and listing all
// tensors that do not fit the model; also the errors of the readers and writers. Nothing is written
// then.
ConvertResult Convert(const ConvertOptions& options);

}  // namespace torus::recipes
