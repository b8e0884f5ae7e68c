// Folders of models as Hugging Face's transformers writes them: config.json, and the weights in
// model.safetensors or in shards that model.safetensors.index.json lists; older ones in
// pytorch_model.bin, a file of torch.save, or in shards that pytorch_model.bin.index.json lists.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/io/safetensors.h"
#include "runtime/tensor.h"

namespace torus {

struct HuggingFaceFolder {
  nlohmann::json config;
  std::vector<NamedTensor> tensors;  // under the file's names, in its layout
  NarrowTypes narrow = {};
  // Where the index and the shards contradict each other, in words: tensors that a shard lacks or
  // has besides. Transformers writes such folders for tied tensors. Ignored when written.
  std::vector<std::string> differences = {};
  // Name -> content of other files to write, such as a tokenizer's. ReadHuggingFace leaves it
  // empty.
  std::map<std::string, std::string> files;
};

// Reads a folder; all files come from the same commit of it (io/one_commit.h), and those that
// WriteHuggingFace wrote are checked against its checksums (io/file_sum.h). Throws BadInput tagged
// with the file for a damaged one, for a missing or malformed config.json or index, for a shard
// name that is not a file of the folder, and for a tensor that two shards have with different
// values. Of several forms of the weights takes the first in the order above, as transformers does.
HuggingFaceFolder ReadHuggingFace(const std::string& folder);

// Reads config.json alone.
nlohmann::json ReadHuggingFaceConfig(const std::string& folder);

// Reads the `files` of a folder, which the tokenizer, text generation and image processing need:
// all .json, .txt, .model, .bpe and .jinja files except config.json and the shard indices.
std::map<std::string, std::string> ReadHuggingFaceFiles(const std::string& folder);

// Writes the folder atomically (io/folder.h), with the checksums of all files. Weights larger than
// `shard_bytes` are split into shards of at most that size; a tensor that is larger alone gets a
// shard of its own. In `config`, sets the key "torch_dtype", which all versions of transformers
// read, to the dtype of the first floating tensor, and removes "dtype", the newer name of the same
// setting.
void WriteHuggingFace(const std::string& folder, const HuggingFaceFolder& model,
                      uint64_t shard_bytes = 5'000'000'000);

}  // namespace torus
