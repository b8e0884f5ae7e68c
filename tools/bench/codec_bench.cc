// Codec speed, in bytes of float32 input a second, on the calling thread's team (OMP_NUM_THREADS).
//
// Inputs: normal values, as behind a batch norm, and their positive half, as behind a ReLU (half of
// them tied at zero).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "parallel/codec/make_codec.h"

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

// 40 kB, 4 MB and 16 MB of input; wall-clock time, since a team shares the work.
void Register(const std::string& what, const std::string& name, bool relu,
              void (*run)(benchmark::State&, const std::string&, bool)) {
  const std::string title = "codec/" + what + "/" + name + (relu ? "/relu" : "/normal");
  benchmark::RegisterBenchmark(title.c_str(), run, name, relu)
      ->Arg(10000)
      ->Arg(1 << 20)
      ->Arg(1 << 22)
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
}

const bool registered = [] {
  for (const std::string& name : CodecNames())
    for (bool relu : {false, true}) {
      Register("encode", name, relu, Encode);
      Register("decode", name, relu, Decode);
    }
  return true;
}();

}  // namespace
}  // namespace torus::parallel
