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
  // Name -> content of other files to write, such as a tokenizer's. ReadHuggingFace leaves it
  // empty.
  std::map<std::string, std::string> files;
};

// Reads a folder; all files come from the same commit of it (io/one_commit.h). Throws BadInput
// tagged with the file for a missing or malformed config.json or index, for a shard name that is
// not a file of the folder, and for tensors that a shard lacks or that the index does not list (all
// in one message).
HuggingFaceFolder ReadHuggingFace(const std::string& folder);

// Reads config.json alone.
nlohmann::json ReadHuggingFaceConfig(const std::string& folder);

// Reads the `files` of a folder, which the tokenizer, text generation and image processing need:
// all .json, .txt, .model, .bpe and .jinja files except config.json and the shard indices.
std::map<std::string, std::string> ReadHuggingFaceFiles(const std::string& folder);

// Writes the folder atomically (io/folder.h). Weights larger than `shard_bytes` are split into
// shards of at most that size; a tensor that is larger alone gets a shard of its own. In `config`,
// sets the key "torch_dtype", which all versions of transformers read, to the dtype of the first
// floating tensor, and removes "dtype", the newer name of the same setting.
void WriteHuggingFace(const std::string& folder, const HuggingFaceFolder& model,
                      uint64_t shard_bytes = 5'000'000'000);

}  // namespace torus
