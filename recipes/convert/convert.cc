#include "recipes/convert/convert.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/load_weights.h"
#include "models/checkpoint/state_dict.h"
#include "models/descriptor.h"
#include "models/model_spec.h"
#include "runtime/error.h"
#include "runtime/io/folder_place.h"
#include "runtime/io/one_commit.h"
#include "runtime/io/replaced_file.h"
#include "runtime/io/safetensors.h"
#include "runtime/non_finite.h"

namespace torus::recipes {
namespace {

namespace fs = std::filesystem;

bool WritesFolder(const ConvertOptions& o) {
  return !o.output.empty() && !o.output.ends_with(".safetensors");
}

// A folder is written atomically, so it would replace everything that is there.
void CheckOutputFolder(const ConvertOptions& o) {
  Require(!fs::is_regular_file(o.input), "convert",
          "the output of a file must end in .safetensors, got {} (a folder is written of a folder)",
          o.output);
  for (const char* other : {".pt", ".pth", ".th", ".bin", ".ckpt", ".npz", ".gguf", ".onnx", ".h5"})
    Require(!o.output.ends_with(other), "convert",
            "the output must end in .safetensors or be a folder, got {}", o.output);
  const std::string folder = io::CommittedFolder(o.output);
  const bool fits = folder.empty() ? !fs::exists(o.output) : fs::is_empty(folder);
  Require(fits, "convert", "the output must be a new or empty folder, got {}, which is {}",
          o.output, folder.empty() ? "a file" : "not empty");
}

void CheckOptions(const ConvertOptions& o) {
  Require(o.classes == 0 || !o.model.empty(), "convert", "--classes {} needs --model", o.classes);
  Require(o.model.empty() || o.classes >= 1, "convert", "--model {} needs --classes", o.model);
  if (WritesFolder(o)) CheckOutputFolder(o);
  std::error_code none;
  Require(o.overwrite || WritesFolder(o) || o.output.empty() || !fs::exists(o.output, none),
          "convert", "{} is there already: give another output, or --overwrite", o.output);
}

struct Input {
  ConvertResult result;
  HuggingFaceFolder folder;  // configuration and other files, where these are written too
};

// The types of those tensors that share memory with a tensor of such a type in the file: they may
// have other names by now.
NarrowTypes NarrowOf(const FileWeights& file, const std::vector<NamedTensor>& tensors) {
  std::map<const Storage*, std::string> types;
  for (const NamedTensor& tensor : file.tensors)
    if (const auto found = file.narrow.find(tensor.name); found != file.narrow.end())
      types[tensor.value.storage().get()] = found->second;
  NarrowTypes narrow;
  for (const NamedTensor& tensor : tensors)
    if (const auto found = types.find(tensor.value.storage().get()); found != types.end())
      narrow[tensor.name] = found->second;
  return narrow;
}

// Tells of each name that changes, from its full name in the file.
void Report(const ConvertOptions& o, const WeightsPart& part, const std::vector<Renamed>& renamed) {
  if (!o.on_renamed) return;
  std::map<std::string, std::string> to;
  for (const Renamed& change : renamed) to[change.from] = change.to;
  const std::string prefix = part.taken.part.empty() ? "" : part.taken.part + ".";
  for (const NamedTensor& tensor : part.tensors) {
    const auto found = to.find(tensor.name);
    const Renamed change{prefix + tensor.name, found == to.end() ? tensor.name : found->second};
    if (change.from != change.to) o.on_renamed(change);
  }
}

// The part that fits the model, with its names and shapes; values and dtypes stay.
ConvertResult MapNames(const ConvertOptions& o, const FileWeights& file) {
  const ModelSpec spec = ParseModelSpec(o.model, o.models == nullptr ? Models() : *o.models);
  const auto model = spec.build(spec.Config(o.classes), spec.name, {});
  WeightsPart part = ChoosePart(*model, file, spec.names, o.part, o.input);
  std::vector<Renamed> renamed;
  std::vector<NamedTensor> fitted = FitNames(*model, part.tensors, spec.names, &renamed);
  Report(o, part, renamed);
  return {.tensors = FitState(*model, std::move(fitted), o.input), .taken = std::move(part.taken)};
}

ConvertResult Choose(const ConvertOptions& o, const FileWeights& file) {
  if (!o.model.empty()) return MapNames(o, file);
  WeightsPart part = NamedPart(file, o.part, o.input);
  return {.tensors = std::move(part.tensors), .taken = std::move(part.taken)};
}

Input ReadFrom(const ConvertOptions& o, const std::string& path) {
  const FileWeights file = ReadWeights(path);
  Input input{.result = Choose(o, file), .folder = {}};
  input.result.narrow = NarrowOf(file, input.result.tensors);
  input.result.others = file.others;
  if (!WritesFolder(o)) return input;
  input.folder.config = ReadHuggingFaceConfig(path);
  input.folder.files = ReadHuggingFaceFiles(path);
  return input;
}

Input Read(const ConvertOptions& o) {
  if (io::CommittedFolder(o.input).empty()) return ReadFrom(o, o.input);
  return io::OpenOneCommit(o.input, [&](const std::string& path) { return ReadFrom(o, path); });
}

void Cast(const std::string& dtype, ConvertResult& result) {
  const DType floating[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kF64};
  const auto* const wanted =
      std::ranges::find_if(floating, [&](DType each) { return Name(each) == dtype; });
  Require(wanted != std::end(floating), "convert", "--dtype must be f32, f16, bf16 or f64, got {}",
          dtype);
  for (auto& [name, value] : result.tensors) {
    if (!IsFloating(value.dtype())) continue;
    const int64_t before = CountNonFinite(value);
    value = value.To(*wanted);
    result.narrow.erase(name);
    const int64_t more = CountNonFinite(value) - before;
    if (more > 0) result.overflowed.push_back({name, more});
  }
}

void Write(const ConvertOptions& o, Input& input) {
  const std::vector<NamedTensor>& tensors = input.result.tensors;
  if (!WritesFolder(o))
    return io::ReplaceFile(o.output, [&](const std::string& fresh) {
      WriteSafetensors(fresh, tensors, {{"format", "pt"}}, input.result.narrow);
    });
  input.folder.tensors = tensors;
  input.folder.narrow = input.result.narrow;
  WriteHuggingFace(o.output, input.folder, o.shard_bytes);
}

}  // namespace

ConvertResult Convert(const ConvertOptions& options) {
  CheckOptions(options);
  Input input = Read(options);
  ConvertResult& result = input.result;
  if (!options.dtype.empty()) Cast(options.dtype, result);
  if (!options.output.empty()) Write(options, input);
  return std::move(result);
}

}  // namespace torus::recipes
