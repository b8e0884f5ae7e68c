#include "tests/fuzz/fuzz.h"

#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "runtime/error.h"

namespace torus::fuzz {
namespace {

#ifdef TORUS_SANITIZER
constexpr bool kBounded = false;
#else
constexpr bool kBounded = true;
#endif

size_t AddressSpace() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * 4096;
}

// While one lives, this process may add at most so much address space.
class MemoryBound {
 public:
  explicit MemoryBound(size_t bytes) {
    if (!kBounded) return;
    getrlimit(RLIMIT_AS, &before_);
    rlimit bound = before_;
    bound.rlim_cur = std::min<rlim_t>(AddressSpace() + bytes, before_.rlim_max);
    setrlimit(RLIMIT_AS, &bound);
  }
  ~MemoryBound() {
    if (kBounded) setrlimit(RLIMIT_AS, &before_);
  }
  MemoryBound(const MemoryBound&) = delete;
  MemoryBound& operator=(const MemoryBound&) = delete;

 private:
  rlimit before_{};
};

bool SpeaksOfMemory(const std::string& what) {
  return what.find("emory") != std::string::npos || what.find("outofmem") != std::string::npos;
}

// What is wrong with how the input was refused; empty when nothing.
std::string FaultOf(const std::string& what) {
  if (what.empty() || what.find('\n') != std::string::npos) return "not one line: " + what;
  if (what.size() > 2000) return "a long message: " + what.substr(0, 200);
  if (SpeaksOfMemory(what)) return "beyond the bound on memory: " + what;
  return "";
}

int64_t Inputs(const Target& target) {
  const char* wanted = std::getenv("TORUS_FUZZ_INPUTS");
  return wanted == nullptr ? target.inputs : std::atoll(wanted);
}

}  // namespace

Verdict Try(const Target& target, const Bytes& bytes) {
  const MemoryBound bound(target.most_bytes);
  try {
    target.read(bytes);
    return {};
  } catch (const BadInput& e) {
    return {true, FaultOf(e.what())};
  } catch (const std::exception& e) {
    return {true, fmt::format("no BadInput: {}", e.what())};
  }
}

void RunFuzz(const Target& target) {
  for (const Bytes& seed : target.seeds) {
    const Verdict verdict = Try(target, seed);
    ASSERT_FALSE(verdict.refused) << target.name << " refuses a seed: " << verdict.fault;
  }
  const int64_t inputs = Inputs(target);
  std::cout << fmt::format("{}: {} inputs", target.name, inputs) << std::endl;
  int64_t refused = 0;
  for (int64_t n = 0; n < inputs; ++n) {
    const uint64_t number = HashName(target.name.c_str()) + static_cast<uint64_t>(n);
    const size_t seed = number % target.seeds.size();
    const Bytes& other = target.seeds[(seed + 1) % target.seeds.size()];
    const Verdict verdict = Try(target, Mutator(number).Mutate(target.seeds[seed], other));
    ASSERT_EQ(verdict.fault, "") << target.name << ", input " << n;
    refused += verdict.refused;
  }
  std::cout << fmt::format("{}: {} refused, {} read", target.name, refused, inputs - refused)
            << std::endl;
  EXPECT_GT(refused, 0) << target.name;
}

std::string NameOf(const ::testing::TestParamInfo<Target>& info) {
  std::string name;
  for (const char c : info.param.name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
  return name;
}

Bytes BytesOf(const std::string& text) { return {text.begin(), text.end()}; }

Bytes FileBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return BytesOf({std::istreambuf_iterator<char>(in), {}});
}

void Overwrite(const std::string& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

std::string NewFolder(const std::string& name) {
  const std::string folder = ::testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

std::string InFile(const Bytes& bytes) {
  const std::string path = ::testing::TempDir() + "/fuzzed";
  Overwrite(path, bytes);
  return path;
}

}  // namespace torus::fuzz
