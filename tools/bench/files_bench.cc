// Checksums of files, and files of weights that carry them: written to the disk, and read back.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "runtime/crc32c.h"
#include "runtime/io/safetensors.h"
#include "runtime/tensor.h"

namespace torus {
namespace {

namespace fs = std::filesystem;

Tensor Weights(int64_t megabytes) { return Full({megabytes * 1'000'000 / 4}, 0.5, DType::kF32); }

void Report(benchmark::State& state, const Tensor& weights) {
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(weights.bytes()));
}

void Sum(benchmark::State& state, int64_t megabytes) {
  const Tensor weights = Weights(megabytes);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        Crc32c({static_cast<const std::byte*>(weights.raw()), weights.bytes()}));
  Report(state, weights);
}

// A file for the time of the benchmark.
class BenchFile {
 public:
  BenchFile()
      : path_(fs::temp_directory_path() / fmt::format("torus_bench_{}.safetensors", getpid())) {}
  ~BenchFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  BenchFile(const BenchFile&) = delete;
  BenchFile& operator=(const BenchFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  const fs::path path_;
};

void Save(benchmark::State& state, int64_t megabytes) {
  const BenchFile file;
  const Tensor weights = Weights(megabytes);
  for (auto _ : state) WriteSafetensors(file.path(), {{"weights", weights}});
  Report(state, weights);
}

void Load(benchmark::State& state, int64_t megabytes) {
  const BenchFile file;
  const Tensor weights = Weights(megabytes);
  WriteSafetensors(file.path(), {{"weights", weights}});
  for (auto _ : state)
    benchmark::DoNotOptimize(ReadSafetensors(file.path()).tensors[0].value.raw());
  Report(state, weights);
}

const bool registered = [] {
  for (const int64_t megabytes : {47, 498}) {
    const auto add = [&](const char* name, auto function) {
      benchmark::RegisterBenchmark(fmt::format("files/{}/{}MB", name, megabytes).c_str(), function,
                                   megabytes)
          ->Unit(benchmark::kMillisecond)
          ->UseRealTime();
    };
    add("crc32c", Sum);
    add("save", Save);
    add("load", Load);
  }
  return true;
}();

}  // namespace
}  // namespace torus
