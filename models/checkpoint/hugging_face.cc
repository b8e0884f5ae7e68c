#include "models/checkpoint/hugging_face.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "models/checkpoint/torch_file.h"
#include "runtime/error.h"
#include "runtime/io/checkpoint_manifest.h"
#include "runtime/io/file.h"
#include "runtime/io/file_sum.h"
#include "runtime/io/folder.h"
#include "runtime/io/folder_names.h"
#include "runtime/io/json.h"
#include "runtime/io/one_commit.h"
#include "runtime/io/safetensors.h"

namespace torus {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char *kConfig = "config.json", *kWhole = "model.safetensors",
                     *kIndex = "model.safetensors.index.json", *kTorch = "pytorch_model.bin",
                     *kTorchIndex = "pytorch_model.bin.index.json";

void WriteText(const fs::path& path, const std::string& text) {
  io::OutputFile file(path.string(), io::IfExists::kRefuse);
  file.Write(text);
  file.Close(/*durable=*/true);
}

// Whether a file belongs to the model besides its weights.
bool GoesAlong(const std::string& name) {
  if (name == kConfig || name == io::kCheckpointManifest || name == io::kFolderSums ||
      name.ends_with(".index.json"))
    return false;
  return std::ranges::any_of(std::array{".json", ".txt", ".model", ".bpe", ".jinja"},
                             [&](const char* ending) { return name.ends_with(ending); });
}

// Maps each shard to the tensor names it must hold.
std::map<std::string, std::set<std::string>> ReadIndex(const std::string& path) {
  const json index = io::ReadJsonObject(path), names = index.value("weight_map", json());
  Require(names.is_object(), path, "has no \"weight_map\"");
  std::map<std::string, std::set<std::string>> shards;
  for (const auto& [name, shard] : names.items()) {
    Require(shard.is_string(), path, "{} has no shard's name but {}", io::Printable(name),
            io::Brief(shard));
    const std::string file = shard.get<std::string>();
    Require(io::IsFileName(file), path, "shard \"{}\" is not the name of a file in this folder",
            io::Printable(file));
    shards[file].insert(name);
  }
  return shards;
}

// A file of weights in either format, by its name.
void ReadFile(const std::string& path, HuggingFaceFolder& into) {
  if (path.ends_with(".safetensors")) {
    SafetensorsFile file = ReadSafetensors(path);
    std::ranges::move(file.tensors, std::back_inserter(into.tensors));
    into.narrow.merge(file.narrow);
  } else {
    TorchFile file = ReadTorchFile(path);
    std::ranges::move(file.tensors, std::back_inserter(into.tensors));
    into.narrow.merge(file.narrow);
  }
}

bool SameBits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Tensor x = a.Contiguous(), y = b.Contiguous();
  return x.bytes() == 0 || std::memcmp(x.raw(), y.raw(), x.bytes()) == 0;
}

// Leaves one of the tensors that several shards have, which must be the same.
void MergeDoubles(const std::string& index, std::vector<NamedTensor>& tensors) {
  std::map<std::string, Tensor> seen;
  std::erase_if(tensors, [&](const NamedTensor& tensor) {
    const auto [first, fresh] = seen.try_emplace(tensor.name, tensor.value);
    Require(fresh || SameBits(first->second, tensor.value), index,
            "two shards have {}, with different values", io::Printable(tensor.name));
    return !fresh;
  });
}

void ReadShards(const fs::path& folder, const char* index_name, HuggingFaceFolder& into) {
  const std::string index = (folder / index_name).string();
  for (auto& [file, names] : ReadIndex(index)) {
    const size_t before = into.tensors.size();
    ReadFile((folder / file).string(), into);
    for (size_t i = before; i < into.tensors.size(); ++i)
      if (const std::string& name = into.tensors[i].name; names.erase(name) == 0)
        into.differences.push_back(fmt::format("{} has {}, which {} does not place there",
                                               io::Printable(file), io::Printable(name),
                                               index_name));
    for (const std::string& name : names)
      into.differences.push_back(fmt::format("{} lacks {}, which {} places there",
                                             io::Printable(file), io::Printable(name), index_name));
  }
  MergeDoubles(index, into.tensors);
}

// Greedy, in the given order.
std::vector<std::vector<NamedTensor>> Split(const std::vector<NamedTensor>& tensors,
                                            uint64_t shard_bytes) {
  std::vector<std::vector<NamedTensor>> shards(1);
  uint64_t bytes = 0;
  for (const NamedTensor& tensor : tensors) {
    if (bytes + tensor.value.bytes() > shard_bytes && !shards.back().empty()) {
      shards.emplace_back();
      bytes = 0;
    }
    bytes += tensor.value.bytes();
    shards.back().push_back(tensor);
  }
  return shards;
}

void WriteShards(const fs::path& folder, const std::vector<std::vector<NamedTensor>>& shards,
                 const NarrowTypes& narrow) {
  json index = {{"metadata", json::object()}, {"weight_map", json::object()}};
  uint64_t total = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string file = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
    WriteSafetensors((folder / file).string(), shards[i], {{"format", "pt"}}, narrow,
                     io::IfExists::kRefuse);
    for (const NamedTensor& tensor : shards[i]) {
      index["weight_map"][tensor.name] = file;
      total += tensor.value.bytes();
    }
  }
  index["metadata"]["total_size"] = total;
  WriteText(folder / kIndex, index.dump(2) + "\n");
}

const char* TorchName(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return "float64";
    case DType::kBF16:
      return "bfloat16";
    case DType::kF16:
      return "float16";
    default:
      return "float32";
  }
}

// The first floating tensor, or the end: the dtypes of counters and positions do not matter.
std::vector<NamedTensor>::const_iterator FirstFloating(const std::vector<NamedTensor>& tensors) {
  return std::ranges::find_if(
      tensors, [](const NamedTensor& tensor) { return IsFloating(tensor.value.dtype()); });
}

}  // namespace

json ReadHuggingFaceConfig(const std::string& folder) {
  Require(fs::is_directory(folder), folder, "is no folder");
  const fs::path config = fs::path(folder) / kConfig;
  Require(fs::exists(config), folder,
          "must have a {}, as Hugging Face's folders have and RUN/model of tools/train; got none",
          kConfig);
  return io::ReadJsonObject(config.string());
}

std::map<std::string, std::string> ReadHuggingFaceFiles(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const std::string& name : io::NamesIn(folder)) {
    const std::string path = folder + "/" + name;
    if (fs::is_regular_file(path) && GoesAlong(name)) files[name] = io::InputFile(path).ReadAll();
  }
  return files;
}

namespace {

HuggingFaceFolder ReadCommit(const std::string& folder) {
  const fs::path path(folder);
  io::CheckFolderSums(folder);
  HuggingFaceFolder read{.config = ReadHuggingFaceConfig(folder), .tensors = {}, .files = {}};
  for (const auto& [whole, index] : {std::pair{kWhole, kIndex}, std::pair{kTorch, kTorchIndex}}) {
    if (fs::exists(path / whole)) return ReadFile((path / whole).string(), read), read;
    if (fs::exists(path / index)) return ReadShards(path, index, read), read;
  }
  Throw<BadInput>(folder, "has none of {}, {}, {} and {}", kWhole, kIndex, kTorch, kTorchIndex);
}

}  // namespace

HuggingFaceFolder ReadHuggingFace(const std::string& folder) {
  return io::OpenOneCommit(folder, ReadCommit);
}

void WriteHuggingFace(const std::string& folder, const HuggingFaceFolder& model,
                      uint64_t shard_bytes) {
  io::FolderWriter writer(folder);
  const fs::path path(writer.temporary());
  json config = model.config;
  const auto first = FirstFloating(model.tensors);
  if (first != model.tensors.end()) {
    config["torch_dtype"] = TorchName(first->value.dtype());
    config.erase("dtype");  // its newer name, which takes precedence
  }
  WriteText(path / kConfig, config.dump(2) + "\n");
  for (const auto& [name, content] : model.files) WriteText(path / name, content);
  const auto shards = Split(model.tensors, shard_bytes);
  if (shards.size() == 1)
    WriteSafetensors((path / kWhole).string(), model.tensors, {{"format", "pt"}}, model.narrow,
                     io::IfExists::kRefuse);
  else
    WriteShards(path, shards, model.narrow);
  io::WriteFolderSums(writer.temporary());
  writer.Commit();
}

}  // namespace torus
