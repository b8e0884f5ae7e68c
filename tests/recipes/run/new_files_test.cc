// That no file of a folder that is being committed replaces one that is there: a committed file may
// have its name. This program's own open and link stand before the system's.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdarg>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include "models/checkpoint/hugging_face.h"
#include "recipes/run/run.h"
#include "tests/recipes/run/image_run.h"

namespace {

std::mutex mutex;
// By name, what the files of new commits (io/folder.h) are opened with.
std::multimap<std::string, int> opened;

void Note(const std::string& path, int flags) {
  const std::filesystem::path file(path);
  if ((flags & O_CREAT) == 0 || path.find(".torus/new-") == std::string::npos) return;
  const std::lock_guard lock(mutex);
  opened.emplace(file.filename(), flags);
}

using Open = int (*)(const char*, int, ...);

}  // namespace

extern "C" int open(const char* path, int flags, ...) {
  static const auto real = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "open"));
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  Note(path, flags);
  return real(path, flags, mode);
}

// As on a file system without hard links: what is kept is copied.
extern "C" int link(const char*, const char*) noexcept {
  errno = EPERM;
  return -1;
}

namespace torus::recipes::testing {
namespace {

void ExpectExclusive(std::initializer_list<const char*> names) {
  for (const char* name : names) EXPECT_TRUE(opened.contains(name)) << name;
  for (const auto& [name, flags] : opened) {
    EXPECT_NE(flags & O_EXCL, 0) << name;
    EXPECT_EQ(flags & O_TRUNC, 0) << name;
  }
}

class NewFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    opened.clear();
  }
  const std::string folder_ = ::testing::TempDir() + "/new_files";
};

TEST_F(NewFiles, OfCheckpointsOfTheBestAndOfEarlierOnesAreCreatedExclusively) {
  RunOptions options{.settings = SmallSettings(2, 1, 2), .out = folder_, .checkpoint_every = 1};
  options.settings.epochs = 1;
  options.settings.ema = 0.5;
  options.settings.best = "test";
  options.max_steps = 2;
  options.keep = 2;
  options.eval_every = 1;
  recipes::Run(options);
  ExpectExclusive({"weights-0.safetensors", "weights-1.safetensors", "optimizer-0.safetensors",
                   "averages-1.safetensors", "settings.json", "checkpoint.json", "test.json"});
  EXPECT_GE(opened.count("weights-0.safetensors"), 4u);  // checkpoint and copies
}

TEST_F(NewFiles, OfHuggingFaceFoldersAreCreatedExclusively) {
  const HuggingFaceFolder model{.config = nlohmann::json::object(),
                                .tensors = {{"a", Arange(64)}, {"b", Arange(64)}},
                                .files = {{"tokenizer.json", "{}"}}};
  WriteHuggingFace(folder_, model, 1 << 20);
  WriteHuggingFace(folder_, model, 100);
  ExpectExclusive({"config.json", "tokenizer.json", "model.safetensors",
                   "model-00001-of-00002.safetensors", "model.safetensors.index.json",
                   "torus_checksums.json"});
}

}  // namespace
}  // namespace torus::recipes::testing
