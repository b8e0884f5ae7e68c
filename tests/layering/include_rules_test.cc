#include "tests/layering/include_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace torus::layering {
namespace {

using Lines = std::vector<std::string>;

bool Allowed(std::string_view path, const std::string& what) {
  return CheckSource(path, "#include " + what + "\n").empty();
}

TEST(IncludeRules, NamesFileLineAndHeader) {
  EXPECT_EQ(
      CheckSource("parallel/codec/x.h",
                  "#pragma once\n#include \"runtime/tensor.h\"\n  #  include \"ops/y.h\"  // no\n"),
      (Lines{"parallel/codec/x.h:3: may not include \"ops/y.h\""}));
  EXPECT_EQ(CheckSource("ops/a/b.cu", "#include <zlib.h>"),
            (Lines{"ops/a/b.cu:1: may not include <zlib.h>"}));
}

TEST(IncludeRules, FoldersAsTheTableSays) {
  EXPECT_TRUE(Allowed("runtime/io/x.cc", "\"runtime/tensor.h\""));
  EXPECT_FALSE(Allowed("runtime/x.cc", "\"autograd/variable.h\""));
  EXPECT_TRUE(Allowed("ops/a/x.cc", "\"autograd/variable.h\""));
  EXPECT_FALSE(Allowed("ops/a/x.cu", "\"parallel/transport/x.h\""));
  EXPECT_FALSE(Allowed("models/x.cc", "\"parallel/pipeline/stage.h\""));
  EXPECT_FALSE(Allowed("parallel/trainer/x.cc", "\"models/nn/module.h\""));
  EXPECT_TRUE(Allowed("parallel/trainer/x.cc", "\"parallel/schedule/x.h\""));
  EXPECT_FALSE(Allowed("parallel/transport/x.cc", "\"parallel/codec/x.h\""));
  EXPECT_FALSE(Allowed("data/text/x.cc", "\"autograd/variable.h\""));
  EXPECT_TRUE(Allowed("recipes/run/x.cc", "\"models/nn/module.h\""));
  EXPECT_TRUE(Allowed("recipes/run/x.cc", "\"parallel/trainer/trainer.h\""));
  EXPECT_FALSE(Allowed("models/x.cc", "\"recipes/run/task.h\""));
  EXPECT_FALSE(Allowed("parallel/trainer/x.cc", "\"recipes/run/task.h\""));
}

// files < images < datasets < loading < text
TEST(IncludeRules, RoomsOfDataHaveOneOrder) {
  EXPECT_TRUE(Allowed("data/datasets/x.cc", "\"data/files/lines.h\""));
  EXPECT_FALSE(Allowed("data/datasets/x.cc", "\"data/text/utf8.h\""));
  EXPECT_TRUE(Allowed("data/text/x.cc", "\"data/loading/batch.h\""));
  EXPECT_FALSE(Allowed("data/loading/x.cc", "\"data/text/windows.h\""));
  EXPECT_FALSE(Allowed("data/images/x.cc", "\"data/datasets/dataset.h\""));
  EXPECT_FALSE(Allowed("data/files/x.cc", "\"data/images/decode.h\""));
  EXPECT_FALSE(Allowed("data/metrics/x.cc", "\"data/loading/batch.h\""));
  EXPECT_FALSE(CheckSource("data/x.cc", "").empty());
}

// A model sees no other one, and what all of them lean on sees none.
TEST(IncludeRules, ModelsAreStrangersToEachOther) {
  EXPECT_TRUE(Allowed("models/gpt2/x.cc", "\"models/gpt2/config.h\""));
  EXPECT_TRUE(Allowed("models/gpt2/x.cc", "\"models/checkpoint/names.h\""));
  EXPECT_TRUE(Allowed("models/gpt2/x.cc", "\"models/descriptor.h\""));
  EXPECT_TRUE(Allowed("models/gpt2/x.cc", "\"models/folders.h\""));
  EXPECT_TRUE(Allowed("models/build_model.cc", "\"models/gpt2/descriptor.h\""));
  EXPECT_FALSE(Allowed("models/gpt2/x.cc", "\"models/roberta/roberta.h\""));
  EXPECT_FALSE(Allowed("models/gpt2/x.cc", "\"models/registry.h\""));
  EXPECT_FALSE(Allowed("models/checkpoint/x.cc", "\"models/gpt2/config.h\""));
  EXPECT_FALSE(Allowed("models/checkpoint/x.cc", "\"models/descriptor.h\""));
  EXPECT_FALSE(Allowed("models/nn/x.cc", "\"models/checkpoint/names.h\""));
  EXPECT_FALSE(Allowed("models/nn/x.cc", "\"models/vgg/vgg.h\""));
}

// Whether the row `from` admits an include of what stands in the folder of the row `to`.
bool Admits(const Rule& from, const Rule& to) {
  const auto is_in = [](std::string_view inner, std::string_view outer) {
    return inner == outer || inner.starts_with(std::string(outer) + "/");
  };
  return std::ranges::any_of(from.ours, [&](std::string_view folder) {
    return is_in(to.folder, folder) || is_in(folder, to.folder);
  });
}

// Rows behind `from` that can be reached from it, itself too where a circle leads back.
std::set<std::string_view> Reachable(const Rule& from) {
  std::set<std::string_view> found;
  std::vector<const Rule*> open{&from};
  while (!open.empty()) {
    const Rule& rule = *open.back();
    open.pop_back();
    for (const Rule& to : IncludeTable()) {
      if (&to != &rule && Admits(rule, to) && found.insert(to.folder).second) open.push_back(&to);
    }
  }
  return found;
}

TEST(IncludeRules, TheTableHasNoCircle) {
  for (const Rule& rule : IncludeTable())
    EXPECT_FALSE(Reachable(rule).contains(rule.folder)) << rule.folder;
}

TEST(IncludeRules, ScheduleSeesErrorsAlone) {
  EXPECT_TRUE(Allowed("parallel/schedule/x.cc", "\"runtime/error.h\""));
  EXPECT_FALSE(Allowed("parallel/schedule/x.cc", "\"runtime/tensor.h\""));
  EXPECT_FALSE(Allowed("parallel/schedule/x.cc", "<nlohmann/json.hpp>"));
}

TEST(IncludeRules, NothingIncludesToolsOrTests) {
  for (const char* path :
       {"runtime/x.cc", "torus.h", "docs/example.cc", "parallel/trainer/x.h", "recipes/run/x.h"}) {
    EXPECT_FALSE(Allowed(path, "\"tools/train/x.h\"")) << path;
    EXPECT_FALSE(Allowed(path, "\"tests/testing/x.h\"")) << path;
  }
  EXPECT_FALSE(Allowed("tools/x.cc", "\"tests/testing/x.h\""));
  EXPECT_TRUE(Allowed("tests/tools/x.cc", "\"tools/train/x.h\""));
  EXPECT_TRUE(Allowed("tests/ops/x.cc", "\"tests/testing/x.h\""));
}

TEST(IncludeRules, LibrariesAsTheTableSays) {
  EXPECT_TRUE(Allowed("ops/x.cc", "<oneapi/dnnl/dnnl.hpp>"));
  EXPECT_FALSE(Allowed("parallel/optim/x.cc", "<dnnl.hpp>"));
  EXPECT_TRUE(Allowed("data/images/x.cc", "<stb/stb_image.h>"));
  EXPECT_FALSE(Allowed("models/x.cc", "<stb/stb_image.h>"));
  EXPECT_TRUE(Allowed("ops/x_cuda.cu", "<cuda_runtime.h>"));
  EXPECT_FALSE(Allowed("data/images/x.cu", "<cuda_runtime.h>"));
  EXPECT_TRUE(Allowed("parallel/transport/x.cc", "<mpi.h>"));
  EXPECT_FALSE(Allowed("parallel/collectives/x.cc", "<mpi.h>"));
  EXPECT_TRUE(Allowed("parallel/codec/x.cc", "\"hwy/highway.h\""));
  EXPECT_FALSE(Allowed("data/images/x.cc", "\"hwy/highway.h\""));
  EXPECT_FALSE(Allowed("ops/x.cc", "<omp.h>"));
  EXPECT_TRUE(Allowed("recipes/run/x.cc", "<nlohmann/json.hpp>"));
  EXPECT_FALSE(Allowed("recipes/run/x.cc", "<CLI/CLI.hpp>"));
  EXPECT_FALSE(Allowed("tools/x.cc", "<gtest/gtest.h>"));
  EXPECT_TRUE(Allowed("tests/x.cc", "<gtest/gtest.h>"));
  EXPECT_TRUE(Allowed("tests/tools/labs/x.cc", "<gtest/gtest.h>"));
  EXPECT_TRUE(Allowed("tools/labs/build_it_yourself/ring/driver.cc", "\"lab_ring.h\""));
  EXPECT_TRUE(Allowed("tests/tools/labs/faults/ring/leak.cc", "\"lab_ring.h\""));
  EXPECT_FALSE(Allowed("tools/train/x.cc", "\"lab_ring.h\""));
  EXPECT_FALSE(Allowed("tests/tools/x.cc", "\"lab_ring.h\""));
}

TEST(IncludeRules, TheStandardAndTheSystemAreFree) {
  for (const char* header : {"<vector>", "<unistd.h>", "<sys/mman.h>", "<cstdint>"})
    EXPECT_TRUE(Allowed("parallel/schedule/x.cc", header)) << header;
}

TEST(IncludeRules, UnknownHeadersAndFoldersAreRefused) {
  EXPECT_FALSE(Allowed("runtime/x.cc", "<boost/any.hpp>"));
  EXPECT_FALSE(Allowed("tests/x.cc", "<boost/any.hpp>"));
  EXPECT_FALSE(Allowed("runtime/x.cc", "\"tensor.h\""));      // not from the root
  EXPECT_FALSE(Allowed("runtime/x.cc", "\"../ops/ops.h\""));  // nor round about
  EXPECT_EQ(CheckSource("parallel/novel/x.cc", ""),
            (Lines{"parallel/novel/x.cc: its folder is not in the include table"}));
  EXPECT_EQ(CheckSource("utils/x.cc", ""),
            (Lines{"utils/x.cc: its folder is not in the include table"}));
}

TEST(IncludeRules, OnlyIncludesCount) {
  EXPECT_TRUE(CheckSource("runtime/x.cc", "// #include \"ops/y.h\"\nint include;\n").empty());
  EXPECT_TRUE(CheckSource("runtime/x.cc", "#include HWY_TARGET_INCLUDE\n").empty());
}

// A folder's name that begins with another's is not inside of it.
TEST(IncludeRules, NamesAreComparedByPart) {
  EXPECT_FALSE(Allowed("ops/x.cc", "\"runtime_extra/x.h\""));
  EXPECT_FALSE(Allowed("parallel/data_parallel/x.cc", "\"parallel/pipeline/x.h\""));
  EXPECT_FALSE(Allowed("parallel/schedule/x.cc", "\"runtime/error.hpp\""));
}

}  // namespace
}  // namespace torus::layering
