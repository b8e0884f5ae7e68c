// tools/convert: the command line of recipes::Convert. It also lists what is in a file of weights.
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

namespace torus::tools {
namespace {

void AddFlags(CLI::App& app, recipes::ConvertOptions& o) {
  app.add_option("input", o.input,
                 "A .safetensors file, a file written by torch.save (.pt .pth .th .bin), or a "
                 "Hugging Face folder")
      ->required();
  app.add_option("output", o.output,
                 "A .safetensors file, or a name without extension for a new or empty Hugging Face "
                 "folder (which also gets the tokenizer if the input is such a folder). Default: "
                 "only list the input");
  app.add_flag("--overwrite", o.overwrite, "Replace an output file that is there already");
  app.add_option(
      "--model", o.model,
      fmt::format(
          "Map the names to this model and check that all tensors fit: one of {}. Default: none",
          fmt::join(ModelNames(), ", ")));
  app.add_option(
      "--init-part", o.part,
      "Which tensors of the file to take, such as model_ema. Default: with --model those "
      "that fit it best, else all");
  app.add_option("--classes", o.classes,
                 "Number of classes of that model (for a language model: size of its vocabulary). "
                 "Default: none")
      ->check(CLI::Range(1, 1 << 24));
  app.add_option("--dtype", o.dtype,
                 "Convert floating-point tensors to f32, f16, bf16 or f64. Default: as they are")
      ->check(CLI::IsMember({"f32", "f16", "bf16", "f64"}));
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

int Main(int argc, char** argv) {
  recipes::ConvertOptions options;
  CLI::App app("Lists the tensors in a file of weights, and converts it.", "convert");
  AddFlags(app, options);
  if (PrintsHelp(app, argc, argv)) return 0;
  const bool folder = !options.output.empty() && !options.output.ends_with(".safetensors");
  CheckFlags("convert", GivenBy(app),
             {{"model", !options.model.empty(), "which has them"},
              {"output", !options.output.empty(), "got only an input, which is listed"},
              {"folder", folder, "got " + (options.output.empty() ? "none" : options.output)}});
  for (std::string* path : {&options.input, &options.output}) *path = UserPath(*path);
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
