#include "recipes/convert/convert.h"

#include <algorithm>
#include <filesystem>

#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/load_weights.h"
#include "models/checkpoint/state_dict.h"
#include "models/checkpoint/torch_file.h"
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
          "{} would be a folder with config.json, which {} does not have", o.output, o.input);
  const std::string folder = io::CommittedFolder(o.output);
  const bool fits = folder.empty() ? !fs::exists(o.output) : fs::is_empty(folder);
  Require(fits, "convert", "the output must be a new or empty folder, got {}, which is {}",
          o.output, folder.empty() ? "a file" : "not empty");
}

void CheckOptions(const ConvertOptions& o) {
  Require(o.classes == 0 || !o.model.empty(), "convert", "--classes {} needs --model", o.classes);
  Require(o.model.empty() || o.classes >= 1, "convert", "--model {} needs --classes", o.model);
  if (WritesFolder(o)) CheckOutputFolder(o);
}

struct Input {
  ConvertResult result;
  HuggingFaceFolder folder;  // configuration and other files, where these are written too
};

Input ReadFolder(const ConvertOptions& o, const std::string& path) {
  Input input{.result = {.tensors = ReadWeights(path)}, .folder = {}};
  if (!WritesFolder(o)) return input;
  input.folder.config = ReadHuggingFaceConfig(path);
  input.folder.files = ReadHuggingFaceFiles(path);
  return input;
}

Input Read(const ConvertOptions& o) {
  if (!io::CommittedFolder(o.input).empty())
    return io::OpenOneCommit(o.input, [&](const std::string& path) { return ReadFolder(o, path); });
  if (o.input.ends_with(".safetensors"))
    return {.result = {.tensors = ReadWeights(o.input)}, .folder = {}};
  TorchFile file = ReadTorchFile(o.input);
  return {.result = {.tensors = std::move(file.tensors), .others = std::move(file.others)},
          .folder = {}};
}

// Changes names and shapes to the model's; keeps values and dtypes.
void MapNames(const ConvertOptions& o, ConvertResult& result) {
  const ModelSpec spec = ParseModelSpec(o.model, o.models == nullptr ? Models() : *o.models);
  const auto model = spec.build(spec.Config(o.classes), spec.name, {});
  std::vector<Renamed> renamed;
  std::vector<NamedTensor> fitted =
      FitNames(*model, std::move(result.tensors), spec.names, &renamed);
  if (o.on_renamed) std::ranges::for_each(renamed, o.on_renamed);
  result.tensors = FitState(*model, std::move(fitted), o.input);
}

void Cast(const std::string& dtype, ConvertResult& result) {
  const DType floating[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kF64};
  const auto* const wanted =
      std::ranges::find_if(floating, [&](DType each) { return Name(each) == dtype; });
  Require(wanted != std::end(floating), "convert", "--dtype must be f32, f16, bf16 or f64, got {}",
          dtype);
  for (auto& [name, value] : result.tensors) {
    if (!IsFloating(value.dtype()) || value.dtype() == *wanted) continue;
    const int64_t before = CountNonFinite(value);
    value = value.To(*wanted);
    const int64_t more = CountNonFinite(value) - before;
    if (more > 0) result.overflowed.push_back({name, more});
  }
}

void Write(const ConvertOptions& o, Input& input) {
  const std::vector<NamedTensor>& tensors = input.result.tensors;
  if (!WritesFolder(o))
    return io::ReplaceFile(o.output, [&](const std::string& fresh) {
      WriteSafetensors(fresh, tensors, {{"format", "pt"}});
    });
  input.folder.tensors = tensors;
  WriteHuggingFace(o.output, input.folder, o.shard_bytes);
}

}  // namespace

ConvertResult Convert(const ConvertOptions& options) {
  CheckOptions(options);
  Input input = Read(options);
  ConvertResult& result = input.result;
  if (!options.model.empty()) MapNames(options, result);
  if (!options.dtype.empty()) Cast(options.dtype, result);
  if (!options.output.empty()) Write(options, input);
  return std::move(result);
}

}  // namespace torus::recipes
