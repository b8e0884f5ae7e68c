// Compares ops with recorded cases of another framework: //tools:replay -- [--device cpu|cuda]
// FILES_OR_FOLDERS.
#include <CLI/CLI.hpp>
#include <iostream>

#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"
#include "tools/replay/replay.h"

namespace torus::replay {
namespace {

int Main(int argc, char** argv) {
  CLI::App app("Computes cases whose results another framework recorded, and compares.", "replay");
  std::string device = "cpu";
  std::vector<std::string> paths;
  app.add_option("--device", device, "Device")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  app.add_option("cases", paths, "Case files, or folders of them (.safetensors)")
      ->required()
      ->type_name("FILES_OR_FOLDERS");
  if (tools::PrintsHelp(app, argc, argv)) return 0;
  for (std::string& path : paths) path = tools::UserPath(path);
  const Device where{device == "cuda" ? DeviceKind::kCuda : DeviceKind::kCpu};
  return Replay(FindCases(paths), where, std::cout).failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace torus::replay

int main(int argc, char** argv) {
  return torus::tools::RunMain("replay", [&] { return torus::replay::Main(argc, argv); });
}
