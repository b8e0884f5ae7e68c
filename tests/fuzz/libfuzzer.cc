// The readers under libFuzzer, which looks for inputs that reach new code (docs/fuzzing.md).
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "tests/fuzz/targets.h"

namespace torus::fuzz {
namespace {

std::vector<Target> AllTargets() {
  std::vector<Target> all;
  for (const auto& targets : {ImageTargets(), TensorTargets(), TextTargets()})
    all.insert(all.end(), targets.begin(), targets.end());
  return all;
}

// The one that TORUS_FUZZ_TARGET names.
Target Chosen() {
  const char* const wanted = std::getenv("TORUS_FUZZ_TARGET");
  std::vector<Target> all = AllTargets();
  for (Target& target : all)
    if (wanted != nullptr && target.name == wanted) return std::move(target);
  std::cerr << "TORUS_FUZZ_TARGET must name one of:\n";
  for (const Target& target : all) std::cerr << "  " << target.name << "\n";
  std::exit(2);
}

const Target& Current() {
  static const Target target = Chosen();
  return target;
}

// The target's seeds join the corpus in `folder`.
void WriteSeeds(const std::filesystem::path& folder) {
  int n = 0;
  for (const Bytes& seed : Current().seeds)
    std::ofstream(folder / ("seed" + std::to_string(n++)), std::ios::binary)
        .write(reinterpret_cast<const char*>(seed.data()),
               static_cast<std::streamsize>(seed.size()));
}

}  // namespace
}  // namespace torus::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i)
    if (std::filesystem::is_directory((*argv)[i])) {
      torus::fuzz::WriteSeeds((*argv)[i]);
      break;
    }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto verdict = torus::fuzz::Try(torus::fuzz::Current(), {data, data + size});
  if (!verdict.fault.empty()) {
    std::cerr << verdict.fault << std::endl;
    std::abort();
  }
  return 0;
}
