// tools/convert: the command line of recipes::Convert and onnx::ExportOnnx. It also lists what is
// in a file of weights.
#include "recipes/convert/convert.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "models/model_spec.h"
#include "recipes/convert/list_tensors.h"
#include "tools/common/check_flags.h"
#include "tools/common/output.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"
#include "tools/convert/onnx/export_onnx.h"

namespace torus::tools {
namespace {

void AddFlags(CLI::App& app, recipes::ConvertOptions& o, int64_t& image_size) {
  app.add_option("input", o.input,
                 "A .safetensors file, a file written by torch.save (.pt .pth .th .bin), or a "
                 "Hugging Face folder; for ONNX also the folder of a run")
      ->required();
  app.add_option("output", o.output,
                 "A .safetensors file; an .onnx file with the model and its weights in f32; or a "
                 "name without extension for a new or empty Hugging Face folder (which also gets "
                 "the tokenizer if the input is such a folder). Default: only list the input");
  app.add_flag("--overwrite", o.overwrite, "Replace an output file that is there already");
  app.add_option(
      "--model", o.model,
      fmt::format(
          "Map the names to this model and check that all tensors fit: one of {}. Default: none; "
          "for ONNX that of the run or folder",
          fmt::join(ModelNames(), ", ")));
  app.add_option(
      "--init-part", o.part,
      "Which tensors of the file to take, such as model_ema. Default: with --model those "
      "that fit it best, else all");
  app.add_option("--classes", o.classes,
                 "Number of classes of that model (for a language model: size of its vocabulary). "
                 "Default: none; for ONNX as many as the weights have")
      ->check(CLI::Range(1, 1 << 24));
  app.add_option("--dtype", o.dtype,
                 "Convert floating-point tensors to f32, f16, bf16 or f64. Default: as they are")
      ->check(CLI::IsMember({"f32", "f16", "bf16", "f64"}));
  app.add_option("--image-size", image_size,
                 "Height and width of images for the ONNX form of a VGG model, which fixes them; "
                 "0: as in the run, or as published. Default: 0")
      ->check(CLI::Range(0, 4096));
  app.add_option("--shard-bytes", o.shard_bytes, "Largest size of a folder's shards, in bytes")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 60));
}

void Print(const recipes::ConvertResult& result, const std::string& input) {
  if (const std::string line = result.taken.Line(input); !line.empty()) fmt::print("{}\n", line);
  for (const std::string& other : result.others) fmt::print("{}\n", other);
  fmt::print("{}", recipes::ListTensors(result.tensors, result.narrow));
}

void WarnOfInfinities(const std::vector<recipes::Overflowed>& tensors, const std::string& dtype) {
  if (tensors.empty()) return;
  int64_t values = 0;
  for (const recipes::Overflowed& tensor : tensors) values += tensor.values;
  std::fflush(stdout);
  fmt::print(
      stderr,
      "convert: warning: {} value{} beyond the largest of {} became infinite, in {} tensor{}; "
      "the first is {}\n",
      values, values == 1 ? "" : "s", dtype, tensors.size(), tensors.size() == 1 ? "" : "s",
      tensors[0].name);
}

std::vector<HereOrNot> Contexts(const recipes::ConvertOptions& o) {
  const bool output = !o.output.empty(), onnx = o.output.ends_with(".onnx");
  const std::string got = "got " + (output ? o.output : "none");
  return {{"model", !o.model.empty(), "which has them"},
          {"output", output, "got only an input, which is listed"},
          {"tensors", output && !onnx, got},
          {"onnx", onnx, got},
          {"folder", output && !onnx && !o.output.ends_with(".safetensors"), got}};
}

int Export(const recipes::ConvertOptions& o, int64_t image_size) {
  CheckOutput("convert", "the output", o.output);
  const onnx::Exported exported = onnx::ExportOnnx(o, image_size);
  if (const std::string line = exported.taken.Line(o.input); !line.empty())
    fmt::print("{}\n", line);
  fmt::print("wrote {}\nONNX {}\n", FullPath(o.output), exported.signature);
  return 0;
}

int Main(int argc, char** argv) {
  recipes::ConvertOptions options;
  CLI::App app("Lists the tensors in a file of weights, and converts it.", "convert");
  int64_t image_size = 0;
  AddFlags(app, options, image_size);
  if (PrintsHelp(app, argc, argv)) return 0;
  CheckFlags("convert", GivenBy(app), Contexts(options));
  for (std::string* path : {&options.input, &options.output}) *path = UserPath(*path);
  if (options.output.ends_with(".onnx")) return Export(options, image_size);
  options.on_renamed = [](const Renamed& r) {
    fmt::print("{} -> {}\n", r.from, r.to.empty() ? "left out" : r.to);
  };
  const recipes::ConvertResult result = recipes::Convert(options);
  Print(result, options.input);
  if (!options.output.empty()) fmt::print("wrote {}\n", FullPath(options.output));
  WarnOfInfinities(result.overflowed, options.dtype);
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("convert", [&] { return torus::tools::Main(argc, argv); });
}
