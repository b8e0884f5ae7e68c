// tools/convert: the command line of recipes::Convert. It also lists what is in a file of weights.
#include "recipes/convert/convert.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "models/model_spec.h"
#include "recipes/convert/list_tensors.h"
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
  app.add_option(
      "--model", o.model,
      fmt::format("Map the names to this model and check that all tensors fit: one of {}",
                  fmt::join(ModelNames(), ", ")));
  app.add_option("--classes", o.classes,
                 "Number of classes of that model (for a language model: size of its vocabulary)")
      ->check(CLI::Range(1, 1 << 24));
  app.add_option("--dtype", o.dtype, "Convert floating-point tensors to f32, f16, bf16 or f64")
      ->check(CLI::IsMember({"f32", "f16", "bf16", "f64"}));
  app.add_option("--shard-bytes", o.shard_bytes, "Largest size of a folder's shards, in bytes")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 60));
}

void Print(const recipes::ConvertResult& result) {
  for (const std::string& other : result.others) fmt::print("{}\n", other);
  fmt::print("{}", recipes::ListTensors(result.tensors));
}

int Main(int argc, char** argv) {
  recipes::ConvertOptions options;
  CLI::App app("Lists the tensors in a file of weights, and converts it.", "convert");
  AddFlags(app, options);
  if (PrintsHelp(app, argc, argv)) return 0;
  for (std::string* path : {&options.input, &options.output}) *path = UserPath(*path);
  options.on_renamed = [](const Renamed& r) {
    fmt::print("{} -> {}\n", r.from, r.to.empty() ? "left out" : r.to);
  };
  Print(recipes::Convert(options));
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("convert", [&] { return torus::tools::Main(argc, argv); });
}
