#include "tests/layering/include_rules.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string>

namespace torus::layering {
namespace {

// In `ours` and `libraries`: no bound.
constexpr std::string_view kAll = "*";

// `inner` is `outer` or lies in it.
bool IsIn(std::string_view inner, std::string_view outer) {
  return inner == outer ||
         (inner.starts_with(outer) && inner.substr(outer.size()).starts_with('/'));
}

struct Library {
  std::string_view prefix;
  std::string_view name;
};

// The first prefix that fits.
constexpr std::array kLibraries{
    Library{"fmt/", "fmt"},
    Library{"nlohmann/", "JSON"},
    Library{"CLI/", "CLI11"},
    Library{"stb/", "stb"},
    Library{"jpeglib.h", "libjpeg"},
    Library{"jerror.h", "libjpeg"},
    Library{"webp/", "libwebp"},
    Library{"tiff", "libtiff"},
    Library{"zlib.h", "zlib"},
    Library{"pcre2.h", "PCRE2"},
    Library{"seccomp.h", "libseccomp"},
    Library{"google/protobuf/", "protobuf"},
    Library{"hwy/", "Highway"},
    Library{"dnnl", "oneDNN"},
    Library{"oneapi/", "oneDNN"},
    Library{"Eigen/", "Eigen"},
    Library{"omp.h", "OpenMP"},
    Library{"mpi.h", "OpenMPI"},
    Library{"nccl.h", "NCCL"},
    Library{"cudnn", "cuDNN"},
    Library{"cublasLt", "cuBLASLt"},
    Library{"cub/", "CUB"},
    Library{"thrust/", "CUB"},
    Library{"cuda", "CUDA"},
    Library{"gtest/", "GoogleTest"},
    Library{"gmock/", "GoogleTest"},
    Library{"benchmark/", "Benchmark"},
    Library{"torus/", "Torus"},     // as installed: for examples
    Library{"torch/", "libtorch"},  // beside Torus: tools/bench/libtorch
    Library{"lab_", "labs"},        // headers that come with the files of tools/labs
};

constexpr std::array<std::string_view, 32> kSystem{
    "sys/",     "linux/",     "arpa/",     "netinet/",  "bits/",      "unistd.h", "fcntl.h",
    "dirent.h", "dlfcn.h",    "pthread.h", "sched.h",   "signal.h",   "poll.h",   "netdb.h",
    "spawn.h",  "termios.h",  "time.h",    "stdio.h",   "stdlib.h",   "stddef.h", "stdint.h",
    "string.h", "errno.h",    "limits.h",  "math.h",    "execinfo.h", "cpuid.h",  "immintrin.h",
    "malloc.h", "ucontext.h", "cxxabi.h",  "sanitizer/"};

// The folder that a row means where `folder` lies in it: "models/gpt2" of "models/*", for instance.
// Empty where it does not lie there.
std::string_view Meant(std::string_view row, std::string_view folder) {
  if (!row.ends_with("/*")) return IsIn(folder, row) ? row : "";
  const size_t parent = row.size() - 1;  // with its slash
  if (folder.size() <= parent || !folder.starts_with(row.substr(0, parent))) return "";
  return folder.substr(0, std::min(folder.find('/', parent), folder.size()));
}

struct OwnRule {
  const Rule* rule = nullptr;
  std::string_view folder;  // all of which the source may include
};

// The row of the innermost folder that holds `path`; one that names it before one with a star.
OwnRule RuleOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view folder = slash == path.npos ? "" : path.substr(0, slash);
  OwnRule best;
  for (const Rule& rule : IncludeTable()) {
    const std::string_view meant = Meant(rule.folder, folder);
    if (rule.folder.empty() ? !folder.empty() : meant.empty()) continue;
    const bool inner = best.rule == nullptr || meant.size() > best.folder.size() ||
                       (meant == best.folder && meant == rule.folder);
    if (inner) best = {&rule, meant};
  }
  return best;
}

bool IsOurs(std::string_view header) {
  return std::ranges::any_of(IncludeTable(), [&](const Rule& rule) {
    const std::string_view top = rule.folder.substr(0, rule.folder.find('/'));
    return !top.empty() && IsIn(header, top);
  });
}

bool MayIncludeOurs(const OwnRule& own, std::string_view header) {
  if (!own.folder.empty() && IsIn(header, own.folder)) return true;
  return std::ranges::any_of(own.rule->ours, [&](std::string_view allowed) {
    if (allowed == kAll) return !IsIn(header, "tools") && !IsIn(header, "tests");
    return IsIn(header, allowed);
  });
}

// Labs' headers are for their own files, which are compiled without the rest.
bool MayIncludeLibrary(const Rule& rule, std::string_view path, std::string_view header) {
  const auto library = LibraryOf(header);
  if (!library.has_value()) return false;
  if (library->empty()) return true;
  if (*library == "labs") return path.find("tools/labs/") != path.npos;
  return std::ranges::any_of(rule.libraries, [&](std::string_view allowed) {
    return allowed == kAll ? *library != "GoogleTest" || rule.folder == "tests"
                           : allowed == *library;
  });
}

struct Include {
  std::string_view header;
  bool quoted;
};

// The include that a line makes, if any.
std::optional<Include> ParseInclude(std::string_view line) {
  const auto skip = [&](std::string_view blank) {
    line.remove_prefix(std::min(line.find_first_not_of(blank), line.size()));
  };
  const auto take = [&](std::string_view word) {
    skip(" \t");
    if (!line.starts_with(word)) return false;
    line.remove_prefix(word.size());
    return true;
  };
  if (!take("#") || !take("include")) return std::nullopt;
  skip(" \t");
  if (line.empty() || (line[0] != '"' && line[0] != '<')) return std::nullopt;
  const bool quoted = line[0] == '"';
  const size_t end = line.find(quoted ? '"' : '>', 1);
  if (end == line.npos) return std::nullopt;
  return Include{line.substr(1, end - 1), quoted};
}

}  // namespace

// runtime/error.h shows fmt to all who see runtime, so whoever may include runtime may name fmt. A
// folder with cuDNN, cuBLASLt, CUB or NCCL needs CUDA's own headers for them.
const std::vector<Rule>& IncludeTable() {
  static const std::vector<Rule> table{
      {"", {kAll}, {}},
      {"runtime", {}, {"OpenMP", "Highway", "fmt", "JSON", "CUDA"}},
      {"runtime/io", {"runtime"}, {"JSON", "zlib", "fmt"}},
      {"autograd", {"runtime"}, {"fmt"}},
      {"ops",
       {"autograd", "runtime"},
       {"oneDNN", "Eigen", "Highway", "cuDNN", "cuBLASLt", "CUB", "CUDA", "fmt"}},
      {"models", {"ops", "autograd", "runtime"}, {"JSON", "fmt"}},
      {"models/nn", {"ops", "autograd", "runtime"}, {"fmt"}},
      {"models/checkpoint", {"models/nn", "autograd", "runtime"}, {"JSON", "fmt"}},
      {"models/*",
       {"models/descriptor.h", "models/folders.h", "models/checkpoint", "models/nn", "ops",
        "autograd", "runtime"},
       {"JSON", "fmt"}},
      {"data/files", {"runtime"}, {"zlib", "fmt"}},
      {"data/images", {"data/files", "runtime"}, {"stb", "libjpeg", "libwebp", "libtiff", "fmt"}},
      {"data/datasets", {"data/images", "data/files", "runtime"}, {"JSON", "fmt"}},
      {"data/loading", {"data/datasets", "data/images", "runtime"}, {"fmt"}},
      {"data/text",
       {"data/loading", "data/datasets", "data/files", "runtime"},
       {"PCRE2", "JSON", "fmt"}},
      {"data/metrics", {"runtime"}, {"fmt"}},
      {"parallel/link", {"runtime/error.h"}, {}},
      {"parallel/schedule", {"parallel/link", "runtime/error.h"}, {}},
      {"parallel/transport", {"parallel/link", "runtime"}, {"OpenMPI", "NCCL", "CUDA", "fmt"}},
      {"parallel/collectives", {"parallel/transport", "runtime"}, {"fmt"}},
      {"parallel/codec", {"runtime"}, {"Eigen", "Highway", "CUB", "CUDA", "fmt"}},
      {"parallel/optim", {"autograd", "runtime"}, {"Highway", "CUB", "CUDA", "fmt"}},
      {"parallel/pipeline",
       {"parallel/schedule", "parallel/transport", "parallel/codec", "autograd", "runtime"},
       {"fmt"}},
      {"parallel/data_parallel",
       {"parallel/collectives", "parallel/codec", "parallel/optim", "autograd", "runtime"},
       {"fmt"}},
      {"parallel/trainer", {"parallel", "autograd", "runtime"}, {"fmt"}},
      {"recipes", {"data", "models", "ops", "parallel", "autograd", "runtime"}, {"JSON", "fmt"}},
      {"tools", {kAll, "tools"}, {kAll}},
      {"docs", {kAll}, {}},
      {"tests", {kAll, "tools"}, {kAll}},
  };
  return table;
}

std::optional<std::string_view> LibraryOf(std::string_view header) {
  const auto starts = [&](std::string_view prefix) { return header.starts_with(prefix); };
  const auto known = std::ranges::find_if(kLibraries, starts, &Library::prefix);
  if (known != kLibraries.end()) return known->name;
  // A bare word is the C++ standard library's.
  const bool standard = header.find_first_of("/.") == header.npos;
  if (standard || std::ranges::any_of(kSystem, starts)) return "";
  return std::nullopt;
}

std::vector<std::string> CheckSource(std::string_view path, std::string_view text) {
  const OwnRule own = RuleOf(path);
  if (own.rule == nullptr) return {std::string(path) + ": its folder is not in the include table"};
  std::vector<std::string> violations;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto include = ParseInclude(line);
    if (!include.has_value()) continue;
    const auto [header, quoted] = *include;
    const bool ours = quoted && IsOurs(header);
    if (ours ? MayIncludeOurs(own, header) : MayIncludeLibrary(*own.rule, path, header)) continue;
    violations.push_back(std::string(path) + ":" + std::to_string(number) + ": may not include " +
                         (quoted ? '"' : '<') + std::string(header) + (quoted ? '"' : '>'));
  }
  return violations;
}

}  // namespace torus::layering
