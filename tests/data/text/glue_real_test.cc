// The GLUE files of TORUS_DATA, whole.

#include <gtest/gtest.h>

#include "data/loading/stacked_batch.h"
#include "data/text/open_tokenizer.h"
#include "data/text/text_set.h"

namespace torus::data {
namespace {

struct Expected {
  const char* task;
  const char* file;
  size_t examples;
  int64_t ones;  // labels that are 1; -1: the file has no labels
};

class RealGlue : public testing::Test {
 protected:
  void SetUp() override {
    const char* const data = std::getenv("TORUS_DATA");
    if (data == nullptr || *data == '\0') GTEST_SKIP() << "TORUS_DATA is not set";
    folder_ = data;
  }
  std::string folder_;
};

// The counts of labels: awk over the files.
TEST_F(RealGlue, EveryLineIsAnExample) {
  const Expected all[] = {{"rte", "RTE/train.tsv", 2490, 1241},
                          {"rte", "RTE/dev.tsv", 277, 131},
                          {"rte", "RTE/test.tsv", 3000, -1},
                          {"cola", "CoLA/train.tsv", 8551, 6023},
                          {"cola", "CoLA/dev.tsv", 1043, 721},
                          {"cola", "CoLA/dev_in_domain.tsv", 527, 367},
                          {"cola", "CoLA/dev_out_of_domain.tsv", 516, 354},
                          {"cola", "CoLA/test.tsv", 1063, -1},
                          {"sst2", "SST-2/train.tsv", 6920, 3610},
                          {"sst2", "SST-2/dev.tsv", 872, 444},
                          {"sst2", "SST-2/test.tsv", 1821, 909},
                          {"wnli", "WNLI/train.tsv", 635, 312},
                          {"wnli", "WNLI/dev.tsv", 71, 31},
                          {"wnli", "WNLI/test.tsv", 146, -1}};
  for (const Expected& expected : all) {
    SCOPED_TRACE(expected.file);
    const TextTable table = ReadGlue(expected.task, folder_ + "/glue/" + expected.file);
    EXPECT_EQ(table.examples.size(), expected.examples);
    EXPECT_TRUE(table.skipped.empty());
    int64_t ones = 0, unlabelled = 0;
    for (const TextExample& example : table.examples) {
      ones += example.label == 1;
      unlabelled += example.label == kNoLabel;
    }
    if (expected.ones >= 0) {
      EXPECT_EQ(ones, expected.ones);
      EXPECT_EQ(unlabelled, 0);
    } else {
      EXPECT_EQ(unlabelled, static_cast<int64_t>(expected.examples));
    }
  }
}

TEST_F(RealGlue, RteBecomesBatches) {
  const auto tokenizer = OpenRoberta(folder_ + "/bpe_gpt2_roberta");
  const auto set = OpenGlue("rte", folder_ + "/glue/RTE", Split::kTest, *tokenizer, 128);
  ASSERT_EQ(set->size(), 277);
  const Batch batch = StackedBatches(*set)({.epoch = 0, .indices = {0, 276}, .samples = {0, 1}});
  EXPECT_EQ(batch.inputs[0].shape(), (Shape{2, 128}));
  const auto ids = ToVector<int64_t>(batch.inputs[0]), mask = ToVector<int64_t>(batch.inputs[1]);
  int64_t ends = 0;
  for (int i = 0; i < 128; ++i) {
    EXPECT_EQ(mask[i] == 0, ids[i] == 1) << "filled with <pad>";
    ends += ids[i] == 2;
  }
  EXPECT_EQ(ids[0], 0);
  EXPECT_EQ(ends, 3);
}

}  // namespace
}  // namespace torus::data
