// Codec speed, in bytes of float32 input per second, on the calling thread's team
// (OMP_NUM_THREADS).
//
// Inputs: normal values, as after a batch norm, and the same after a ReLU (half of them are equal
// to zero).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "parallel/codec/make_codec.h"
#include "runtime/parallel_for.h"

namespace torus::parallel {
namespace {

std::vector<float> Values(int64_t count, bool relu) {
  std::mt19937 rng(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = relu ? std::max(0.0f, normal(rng)) : normal(rng);
  return values;
}

void Encode(benchmark::State& state, const std::string& name, bool relu) {
  const auto codec = MakeCodec(name);
  const std::vector<float> values = Values(state.range(0), relu);
  std::vector<std::byte> bytes(codec->MaxEncodedBytes(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(codec->Encode(values, bytes));
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4);
}

void Decode(benchmark::State& state, const std::string& name, bool relu) {
  const auto codec = MakeCodec(name);
  std::vector<float> values = Values(state.range(0), relu);
  std::vector<std::byte> bytes(codec->MaxEncodedBytes(state.range(0)));
  bytes.resize(codec->Encode(values, bytes));
  for (auto _ : state) {
    codec->Decode(bytes, values);
    benchmark::DoNotOptimize(values.data());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4);
}

// Copies the same bytes, to compare codecs with.
void CopyBytes(benchmark::State& state) {
  const std::vector<float> values = Values(state.range(0), false);
  std::vector<float> copy(values.size());
  for (auto _ : state) {
    const int64_t count = state.range(0);
    ParallelFor(count, 1 << 15, [&](int64_t begin, int64_t end) {
      std::memcpy(&copy[begin], &values[begin], sizeof(float) * (end - begin));
    });
    benchmark::DoNotOptimize(copy.data());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4);
}

// 40 kB, 4 MB, 16 MB and 64 MB of input; wall-clock time, since a team shares the work.
void Register(const std::string& what, const std::string& name, bool relu,
              void (*run)(benchmark::State&, const std::string&, bool)) {
  const std::string title = "codec/" + what + "/" + name + (relu ? "/relu" : "/normal");
  benchmark::RegisterBenchmark(title.c_str(), run, name, relu)
      ->Arg(10000)
      ->Arg(1 << 20)
      ->Arg(1 << 22)
      ->Arg(1 << 24)
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
}

const bool registered = [] {
  benchmark::RegisterBenchmark("codec/memcpy", CopyBytes)
      ->Arg(1 << 24)
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
  for (const std::string& name : CodecNames())
    for (bool relu : {false, true}) {
      Register("encode", name, relu, Encode);
      Register("decode", name, relu, Decode);
    }
  return true;
}();

}  // namespace
}  // namespace torus::parallel
