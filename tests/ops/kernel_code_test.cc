// What nvcc makes of the hot kernels: they load and store 16 bytes at a time, and take no more
// registers than is known, nor local memory. Prints the table of docs/gpu_results.md. Needs
// --config=cuda, and a folder with cuobjdump and nvdisasm in TORUS_CUOBJDUMP
// (tests/cuda_disassembler); skips without.
#include <cxxabi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "tests/testing/command.h"

namespace torus {
namespace {

namespace fs = std::filesystem;

struct Code {
  int loads = 0, stores = 0;                 // of 16 bytes, from and to global memory
  int registers = 0, stack = 0, shared = 0;  // the last two in bytes
};

// The function's name in C++, without namespaces.
std::string NameOf(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  static const std::regex space(R"(\(anonymous namespace\)::|\b(_GLOBAL__N_\w*|[a-z_]+)::)");
  return status == 0 ? std::regex_replace(text.get(), space, "") : symbol;
}

// By function, of one object.
void Read(const std::string& tools, const fs::path& object, std::map<std::string, Code>& all) {
  const auto run = [&](const char* what) {
    return testing::RunCommand("PATH=" + tools + ":$PATH cuobjdump -arch sm_90 " + what + " " +
                               object.string())
        .output;
  };
  const auto each_line = [](const std::string& text, const auto& f) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      f(text.substr(at, end - at));
      at = end + 1;
    }
  };
  Code* code = nullptr;
  each_line(run("-sass"), [&](const std::string& line) {
    if (const size_t at = line.find("Function : "); at != std::string::npos)
      code = &all[NameOf(line.substr(at + 11))];
    if (code == nullptr) return;
    if (line.find("LDG.E.128") != std::string::npos) ++code->loads;
    if (line.find("STG.E.128") != std::string::npos) ++code->stores;
  });
  static const std::regex function(R"(Function (\S+):)"),
      use(R"(REG:(\d+) STACK:(\d+) SHARED:(\d+))");
  std::string name;
  each_line(run("-res-usage"), [&](const std::string& line) {
    std::smatch match;
    if (std::regex_search(line, match, function)) name = NameOf(match[1]);
    if (!std::regex_search(line, match, use)) return;
    all[name].registers = std::stoi(match[1]);
    all[name].stack = std::stoi(match[2]);
    all[name].shared = std::stoi(match[3]);
  });
}

// Of a block, from the kernel's name.
int ThreadsOf(const std::string& name) {
  static const std::regex rows(R"(RowsKernel<(\d+),)");
  std::smatch match;
  if (std::regex_search(name, match, rows)) return std::stoi(match[1]);
  return name.find("FlashKernel<") == std::string::npos ? 256 : 128;  // ForEachKernel
}

// How many blocks a multiprocessor of compute capability 9.0 runs at once: it has 2^16 registers,
// which warps get by 256, four warps at a time, 2048 threads, and 228 KiB of shared memory, of
// which 1 KiB of each block is CUDA's; cuobjdump counts it where a block has any of its own.
int BlocksAtOnce(const Code& code, int threads) {
  const int of_warp = (code.registers * 32 + 255) / 256 * 256;
  const int warps = (1 << 16) / of_warp / 4 * 4;
  const int by_registers = warps / (threads / 32), by_threads = 2048 / threads,
            by_shared = (228 << 10) / std::max(code.shared, 1 << 10);
  return std::min({by_registers, by_threads, by_shared, 32});
}

void PrintRow(const std::string& name, const Code& code) {
  const int threads = ThreadsOf(name), blocks = BlocksAtOnce(code, threads);
  const size_t begin = name.starts_with("void ") ? 5 : 0;
  std::printf("| `%s` | %d | %d | %d | %d | %d %% |\n",
              name.substr(begin, name.find('(') - begin).c_str(), code.registers, code.shared,
              threads, blocks, 100 * blocks * threads / 2048);
}

struct Hot {
  const char* kernel;  // part of its name
  int loads, stores;   // of 16 bytes, at least
  int registers;       // at most
};

// By what takes most of a step (docs/ledger.md).
const std::vector<Hot> kHot{
    {"UnaryMap<MappedForward<GeluFunctor, BFloat16>", 1, 1, 43},
    {"BinaryMap<MappedBackward<GeluFunctor, BFloat16>", 2, 1, 38},
    {"UnaryMap<MappedForward<ReluFunctor, BFloat16>", 1, 1, 20},
    {"BinaryMap<MappedBackward<ReluFunctor, BFloat16>", 2, 1, 26},
    {"BinaryMap<Combination<AddFunctor, BFloat16, BFloat16, BFloat16>", 2, 1, 28},
    {"BinaryMap<SumOfTwo<float>", 2, 1, 30},
    {"BinaryMap<SumOfTwo<BFloat16>", 2, 1, 28},
    {"UnaryMap<CastTo<BFloat16, float>", 1, 0, 18},
    {"FillMap<float>", 0, 1, 22},
    {"CopyPacks<BFloat16, BFloat16, 8>", 1, 1, 32},
    {"RowsKernel<32, NormalizeRows<float, BFloat16>", 8, 0, 150},
    {"BackwardPart<float, BFloat16>", 4, 2, 96},
    {"LogitRow<BFloat16, float>", 2, 0, 31},
    // Packs of four channels, which are 8 bytes in 16 bits.
    {"StatisticsOfChunks<BFloat16, 4", 0, 0, 56},
    {"ForEachKernel<NormalizeRows<BFloat16, 4>", 0, 0, 70},
    {"GradientSumsOfChunks<BFloat16, 4", 0, 0, 116},
    {"InputGradients<BFloat16, 4>", 0, 0, 91},
    // Four arrays at once, 4 bytes a thread.
    {"OverPieces<AdamEntry<float, BFloat16>", 0, 0, 50},
    {"OverPieces<SgdEntry<float, BFloat16>", 0, 0, 39},
    // Packs of four channels.
    {"ForwardTile<BFloat16, 3, 1>", 0, 0, 100},
    {"ForwardTile<BFloat16, 3, 2>", 0, 0, 80},
    {"ForwardTile<BFloat16, 5, 1>", 0, 0, 145},
    {"ForwardTile<BFloat16, 5, 2>", 0, 0, 104},
    {"InputGradientTile<BFloat16, 3, 1>", 0, 0, 102},
    {"InputGradientTile<BFloat16, 3, 2>", 0, 0, 94},
    {"InputGradientTile<BFloat16, 5, 1>", 0, 0, 137},
    {"InputGradientTile<BFloat16, 5, 2>", 0, 0, 94},
    {"WeightGradientPart<BFloat16, 3, 1>", 0, 0, 135},
    {"WeightGradientPart<BFloat16, 3, 2>", 0, 0, 88},
    {"WeightGradientPart<BFloat16, 5, 1>", 0, 0, 194},
    {"WeightGradientPart<BFloat16, 5, 2>", 0, 0, 194},
    // Loads to shared memory go past registers.
    {"FlashKernel<FlashForward<BFloat16, 64>", 0, 0, 159},
    {"FlashKernel<FlashForward<BFloat16, 128>", 0, 0, 223},
    {"FlashKernel<KeyGradientTile<BFloat16, 64>", 0, 0, 218},
    {"FlashKernel<KeyGradientTile<BFloat16, 128>", 0, 0, 251},
    {"FlashKernel<QueryGradientTile<BFloat16, 64>", 0, 0, 162},
    {"FlashKernel<QueryGradientTile<BFloat16, 128>", 0, 0, 252},
    {"FlashKernel<StateOfRows<BFloat16>", 0, 0, 30},
    // Four elements, which one draw of random words decides: 8 bytes.
    {"DropThenAdd<BFloat16, BFloat16>", 0, 0, 28},
    {"DropGradient<BFloat16, BFloat16>", 0, 0, 26},
    // An element a thread.
    {"LargestOfWindow<BFloat16>", 0, 0, 38},
    {"PassedBack<BFloat16>", 0, 0, 40},
    {"AveragedWindow<BFloat16>", 0, 0, 56},
    {"SharesOfPixel<BFloat16>", 0, 0, 36},
};

TEST(KernelCode, OfHotKernels) {
  const char* const tools = std::getenv("TORUS_CUOBJDUMP");
  if (tools == nullptr) GTEST_SKIP() << "no TORUS_CUOBJDUMP: code of kernels is NOT tested";
  std::map<std::string, Code> all;
  for (const char* folder : {"ops", "runtime", "parallel"})
    if (fs::exists(folder))
      for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.path().extension() == ".o") Read(tools, fs::canonical(entry.path()), all);
  ASSERT_FALSE(all.empty()) << "needs --config=cuda";
  std::puts(
      "| Kernel | Registers | Shared bytes | Threads | Blocks at once | Occupancy |\n"
      "|---|---|---|---|---|---|");
  for (const Hot& hot : kHot) {
    int found = 0;
    for (const auto& [name, code] : all) {
      if (name.find(hot.kernel) == std::string::npos) continue;
      ++found;
      EXPECT_GE(code.loads, hot.loads) << name;
      EXPECT_GE(code.stores, hot.stores) << name;
      EXPECT_LE(code.registers, hot.registers) << name;
      EXPECT_EQ(code.stack, 0) << name;
      PrintRow(name, code);
    }
    EXPECT_GT(found, 0) << hot.kernel;
  }
}

}  // namespace
}  // namespace torus
