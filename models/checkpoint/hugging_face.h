// Folders of models as Hugging Face's transformers writes them: config.json, and the weights in
// model.safetensors or in shards that model.safetensors.index.json lists.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace torus {

struct HuggingFaceFolder {
  nlohmann::json config;
  std::vector<NamedTensor> tensors;  // under the file's names, in its layout
  // Name -> content of what else is to be written: a tokenizer's. ReadHuggingFace leaves it empty.
  std::map<std::string, std::string> files;
};

// All files are of one commit of the folder (io/one_commit.h).
// BadInput tagged with the file for a missing or malformed config.json or index, a shard's name
// that is not that of a file in the folder, and, all in one message, tensors that a shard lacks or
// has beyond the index.
HuggingFaceFolder ReadHuggingFace(const std::string& folder);

// config.json alone.
nlohmann::json ReadHuggingFaceConfig(const std::string& folder);

// `files` of a folder: what a tokenizer, text generation and image processing need beside the
// weights, which are all files .json, .txt, .model, .bpe and .jinja but config.json and the indices
// of shards.
std::map<std::string, std::string> ReadHuggingFaceFiles(const std::string& folder);

// Writes the folder whole (io/folder.h), in shards of at most `shard_bytes` where the weights
// exceed them; a tensor larger than that has a shard of its own. `config` gets the key
// "torch_dtype", that of the first floating tensor, which all versions of transformers read, and
// loses "dtype", which says the same to newer ones.
void WriteHuggingFace(const std::string& folder, const HuggingFaceFolder& model,
                      uint64_t shard_bytes = 5'000'000'000);

}  // namespace torus
