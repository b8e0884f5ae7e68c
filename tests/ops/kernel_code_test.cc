// What nvcc makes of the hot kernels: they load and store 16 bytes at a time, and take no more
// registers than is known, nor local memory. Needs --config=cuda, and a folder with cuobjdump and
// nvdisasm in TORUS_CUOBJDUMP (tests/cuda_disassembler); skips without.
#include <cxxabi.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>

namespace torus {
namespace {

namespace fs = std::filesystem;

struct Code {
  int loads = 0, stores = 0;  // of 16 bytes, from and to global memory
  int registers = 0, stack = 0;
};

std::string OutputOf(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string output;
  std::array<char, 1 << 16> some;
  while (const size_t count = std::fread(some.data(), 1, some.size(), pipe.get()))
    output.append(some.data(), count);
  return output;
}

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
    return OutputOf("PATH=" + tools + ":$PATH cuobjdump " + what + " " + object.string());
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
  static const std::regex function(R"(Function (\S+):)"), use(R"(REG:(\d+) STACK:(\d+))");
  std::string name;
  each_line(run("-res-usage"), [&](const std::string& line) {
    std::smatch match;
    if (std::regex_search(line, match, function)) name = NameOf(match[1]);
    if (!std::regex_search(line, match, use)) return;
    all[name].registers = std::stoi(match[1]);
    all[name].stack = std::stoi(match[2]);
  });
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
  for (const Hot& hot : kHot) {
    int found = 0;
    for (const auto& [name, code] : all) {
      if (name.find(hot.kernel) == std::string::npos) continue;
      ++found;
      EXPECT_GE(code.loads, hot.loads) << name;
      EXPECT_GE(code.stores, hot.stores) << name;
      EXPECT_LE(code.registers, hot.registers) << name;
      EXPECT_EQ(code.stack, 0) << name;
    }
    EXPECT_GT(found, 0) << hot.kernel;
  }
}

}  // namespace
}  // namespace torus
