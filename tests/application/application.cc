// An application outside of the tree: it links //:torus alone, and trains its own model through its
// own codec and schedule.
//   application DATA OUT
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "recipes/run/resumed_run.h"
#include "recipes/run/run.h"
#include "tests/application/own_parts.h"

using namespace torus;  // NOLINT

int main(int argc, char** argv) try {
  if (argc != 3) throw BadInput("usage: application DATA OUT");
  application::AddHalfCodec();
  recipes::RunOptions options{.out = argv[2], .schedule = application::Alternating};
  options.settings.models = &application::Models();
  options.settings.model = "pixels";
  options.settings.data_dir = argv[1];
  options.settings.stages = 2;
  options.settings.cut = "2";
  options.settings.codec = "half";
  options.settings.schedule = "alternating";
  options.settings.epochs = 10;
  options.settings.batch_size = 16;
  options.settings.lr = 0.02;
  const recipes::RunResult result = recipes::Run(options);
  fmt::print("accuracy {}\n", *result.test->accuracy);
  const auto summary = nlohmann::json::parse(result.summary);
  for (const auto& link : summary["links"])
    fmt::print("{} {} of {}\n", link["what"].get<std::string>(), link["sent_bytes"].get<int64_t>(),
               link["float32_bytes"].get<int64_t>());

  const recipes::ResumedRun saved = recipes::LoadRun(result.folder);
  fmt::print("step {}, {} weights of {}\n", saved.step(),
             saved.checkpoint->entries(io::kWeights).size(), saved.settings.model);
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
