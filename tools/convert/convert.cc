// tools/convert: prints what is in a file of weights, maps its names to a model's, and writes it in
// another form.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/load_weights.h"
#include "models/checkpoint/names.h"
#include "models/checkpoint/state_dict.h"
#include "models/checkpoint/torch_file.h"
#include "models/model_spec.h"
#include "runtime/error.h"
#include "runtime/io/folder_place.h"
#include "runtime/io/safetensors.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"
#include "tools/convert/list_tensors.h"

namespace torus::tools {
namespace {

struct Options {
  std::string input, output, model, dtype;
  int64_t classes = 0;
  uint64_t shard_bytes = 5'000'000'000;
};

void AddFlags(CLI::App& app, Options& o) {
  app.add_option("input", o.input,
                 "a .safetensors file, a file of torch.save (.pt .pth .th .bin), or a Hugging Face "
                 "folder")
      ->required();
  app.add_option(
      "output", o.output,
      "a .safetensors file or, without an ending, a Hugging Face folder, new or empty (of "
      "an input that is one, with its tokenizer); without it the input is only listed");
  app.add_option("--model", o.model,
                 fmt::format("map names to this model and check that all fit: one of {}",
                             fmt::join(ModelNames(), ", ")));
  app.add_option("--classes", o.classes, "of that model (of a language model: its vocabulary)")
      ->check(CLI::Range(1, 1 << 24));
  app.add_option("--dtype", o.dtype, "convert floating tensors to f32, f16, bf16 or f64")
      ->check(CLI::IsMember({"f32", "f16", "bf16", "f64"}));
  app.add_option("--shard-bytes", o.shard_bytes, "largest shard of a folder")
      ->check(NotNegative)
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 60));
}

bool WritesFolder(const Options& o) {
  return !o.output.empty() && !o.output.ends_with(".safetensors");
}

// A folder is committed whole, so it would take the place of all that is there.
void CheckOutputFolder(const Options& o) {
  const std::string path = UserPath(o.output);
  Require(!std::filesystem::is_regular_file(UserPath(o.input)), "convert",
          "{} would be a folder with config.json, which {} does not have", o.output, o.input);
  const std::string folder = io::CommittedFolder(path);
  const bool fits =
      folder.empty() ? !std::filesystem::exists(path) : std::filesystem::is_empty(folder);
  Require(fits, "convert", "the output must be a new or empty folder, got {}, which is {}",
          o.output, folder.empty() ? "a file" : "not empty");
}

std::vector<NamedTensor> Read(const Options& o) {
  const std::string path = UserPath(o.input);
  if (std::filesystem::is_directory(path) || path.ends_with(".safetensors"))
    return ReadWeights(path);
  TorchFile file = ReadTorchFile(path);
  for (const std::string& other : file.others) fmt::print("{}\n", other);
  return std::move(file.tensors);
}

std::vector<NamedTensor> Convert(std::vector<NamedTensor> tensors, const std::string& dtype) {
  for (const DType wanted : {DType::kF32, DType::kF16, DType::kBF16, DType::kF64}) {
    if (Name(wanted) != dtype) continue;
    for (NamedTensor& tensor : tensors)
      if (IsFloating(tensor.value.dtype())) tensor.value = tensor.value.To(wanted);
  }
  return tensors;
}

// Names and shapes as the model has them, values and dtypes as they came; BadInput, listing all,
// for what does not fit.
std::vector<NamedTensor> MapNames(const Options& o, std::vector<NamedTensor> tensors) {
  Require(o.classes >= 1, "convert", "--model {} needs --classes", o.model);
  const ModelSpec spec = ParseModelSpec(o.model);
  const auto model = spec.build(spec.Config(o.classes), spec.name, {});
  std::vector<Renamed> renamed;
  tensors = FitNames(*model, std::move(tensors), spec.names, &renamed);
  for (const Renamed& r : renamed)
    fmt::print("{} -> {}\n", r.from, r.to.empty() ? "left out" : r.to);
  return FitState(*model, tensors, o.input);
}

void Write(const Options& o, const std::vector<NamedTensor>& tensors) {
  const std::string path = UserPath(o.output);
  if (!WritesFolder(o)) return WriteSafetensors(path, tensors, {{"format", "pt"}});
  const std::string input = UserPath(o.input);
  WriteHuggingFace(path, {ReadHuggingFaceConfig(input), tensors, ReadHuggingFaceFiles(input)},
                   o.shard_bytes);
}

int Main(int argc, char** argv) {
  Options o;
  CLI::App app("Prints what is in a file of weights, and converts it.", "convert");
  AddFlags(app, o);
  if (PrintsHelp(app, argc, argv)) return 0;
  Require(o.classes == 0 || !o.model.empty(), "convert", "--classes {} needs --model", o.classes);
  if (WritesFolder(o)) CheckOutputFolder(o);
  std::vector<NamedTensor> tensors = Read(o);
  if (!o.model.empty()) tensors = MapNames(o, std::move(tensors));
  tensors = Convert(std::move(tensors), o.dtype);
  fmt::print("{}", ListTensors(tensors));
  if (!o.output.empty()) Write(o, tensors);
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("convert", [&] { return torus::tools::Main(argc, argv); });
}
