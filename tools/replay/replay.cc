#include "tools/replay/replay.h"

#include <algorithm>
#include <filesystem>

#include "runtime/allocator.h"
#include "tools/replay/run_model.h"
#include "tools/replay/run_op.h"
#include "tools/replay/run_optimizer.h"
#include "tools/replay/run_train.h"

namespace torus::replay {
namespace {

namespace fs = std::filesystem;

Comparison RunCase(const Case& c) {
  const std::string kind = c.spec["op"];
  if (kind == "model") return RunModel(c);
  if (kind == "train") return RunTrain(c);
  if (kind == "optimizer") return RunOptimizer(c);
  return RunOp(c);
}

void RunFile(const std::string& file, Device device, Totals& totals, std::ostream& out) {
  const std::string name = fs::path(file).stem().string();
  auto line = [&](const char* verdict, const std::string& why) {
    out << fmt::format("{:<11} {}: {}", verdict, name, why) << std::endl;
  };
  try {
    const Comparison result = RunCase(ReadCase(file, device));
    ++(result.passed() ? totals.passed : totals.failed);
    line(result.passed() ? "pass" : "fail", result.Summary());
  } catch (const Unsupported& e) {
    ++totals.unsupported;
    line("unsupported", e.what());
  } catch (const std::exception& e) {
    ++totals.failed;
    line("fail", e.what());
  }
}

std::vector<std::string> FilesOf(const fs::path& folder) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path().string());
  Require(!files.empty(), folder.string(), "the folder has no .safetensors file");
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<std::string> FindCases(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    Require(fs::exists(path), path, "no such file or folder");
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    const std::vector<std::string> inside = FilesOf(path);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

Totals Replay(const std::vector<std::string>& files, Device device, std::ostream& out) {
  AllocatorFor(device);  // throws where this build has no such device
  Totals totals;
  for (const std::string& file : files) RunFile(file, device, totals, out);
  out << fmt::format("{} passed, {} failed, {} unsupported", totals.passed, totals.failed,
                     totals.unsupported)
      << std::endl;
  return totals;
}

}  // namespace torus::replay
