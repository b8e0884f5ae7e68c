#include "data/text/glue.h"

#include <gtest/gtest.h>

#include "data/loading/stacked_batch.h"
#include "data/text/open_tokenizer.h"
#include "data/text/text_set.h"
#include "data/text/trimmed_batch.h"
#include "tests/data/temp_file.h"
#include "tests/data/text/small_bpe.h"

namespace torus::data {
namespace {

TextTable Read(const std::string& task, const std::string& text) {
  return ReadGlue(task, WriteText(TestFolder(), "train.tsv", text));
}

void ExpectExample(const TextExample& example, const std::string& first, const std::string& second,
                   int64_t label) {
  EXPECT_EQ(example.first, first);
  EXPECT_EQ(example.second, second);
  EXPECT_EQ(example.label, label);
}

TEST(ReadGlue, RteNamesItsLabels) {
  const TextTable table = Read("rte",
                               "\xef\xbb\xbfindex\tsentence1\tsentence2\tlabel\r\n"
                               "0\tHe said \"no.\tA \"b\"\tnot_entailment\r\n"
                               "1\tc\td\tentailment\n");
  EXPECT_EQ(table.name, "rte train.tsv");
  EXPECT_TRUE(table.pairs);
  EXPECT_EQ(table.classes, (std::vector<std::string>{"entailment", "not_entailment"}));
  ASSERT_EQ(table.examples.size(), 2u);
  ExpectExample(table.examples[0], "He said \"no.", "A \"b\"", 1);
  ExpectExample(table.examples[1], "c", "d", 0);
  EXPECT_TRUE(table.skipped.empty());
}

TEST(ReadGlue, ColumnsAreFoundByName) {
  const TextTable qqp = Read("qqp",
                             "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
                             "5\t1\t2\tHow?\tWhy?\t1\n");
  ExpectExample(qqp.examples.at(0), "How?", "Why?", 1);
  const TextTable mrpc = Read("mrpc",
                              "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
                              "0\t7\t8\tx\ty\n");
  ExpectExample(mrpc.examples.at(0), "x", "y", 0);
  const TextTable wnli = Read("wnli", "index\tsentence1\tsentence2\tlabel\n0\tx\ty\t1\n");
  ExpectExample(wnli.examples.at(0), "x", "y", 1);
  const TextTable sst2 = Read("sst2", "sentence\tlabel\ngood \t1\n");
  ExpectExample(sst2.examples.at(0), "good ", "", 1);
  EXPECT_FALSE(sst2.pairs);
}

TEST(ReadGlue, FilesWithoutAHeader) {
  const TextTable cola = Read("cola", "gj04\t1\t\tThey sang.\ngj04\t0\t*\tSang they.\n");
  ASSERT_EQ(cola.examples.size(), 2u);
  ExpectExample(cola.examples[0], "They sang.", "", 1);
  ExpectExample(cola.examples[1], "Sang they.", "", 0);
  const TextTable sst2 = Read("sst2", "0 no movement , no yuks\n1 fun\n");
  ASSERT_EQ(sst2.examples.size(), 2u);
  ExpectExample(sst2.examples[0], "no movement , no yuks", "", 0);
}

TEST(ReadGlue, TestFilesHaveNoLabels) {
  const TextTable rte = Read("rte", "index\tsentence1\tsentence2\n0\tx\ty\n");
  ExpectExample(rte.examples.at(0), "x", "y", kNoLabel);
  const TextTable cola = Read("cola", "index\tsentence\n0\tx\n");
  ExpectExample(cola.examples.at(0), "x", "", kNoLabel);
}

// One bad line in a hundred, and one at least.
TEST(ReadGlue, FewBadLinesAreSkippedAndTold) {
  const std::string good = "0\tx\ty\tentailment\n", bad = "0\tx\ty\n";
  const std::string header = "index\tsentence1\tsentence2\tlabel\n";
  std::string text = header + bad;
  for (int i = 0; i < 250; ++i) text += good;
  TextTable table = Read("rte", text);
  EXPECT_EQ(table.examples.size(), 250u);
  ASSERT_EQ(table.skipped.size(), 1u);
  EXPECT_EQ(table.skipped[0].line, 2u);
  EXPECT_EQ(table.skipped[0].reason, "requires 4 columns, got 3");
  table = Read("rte", text + "0\t\ty\tentailment\n");
  ASSERT_EQ(table.skipped.size(), 2u);
  EXPECT_EQ(table.skipped[1].line, 253u);
  EXPECT_EQ(table.skipped[1].reason, "requires a sentence, got an empty one");
  ExpectBadInput(
      [&] { Read("rte", text + "0\tx\ty\tmaybe\n" + bad); }, "train.tsv",
      "more than 2 of 253 lines are bad, the first one line 2: requires 4 columns, got 3");
  EXPECT_EQ(Read("rte", header + good + bad).skipped.size(), 1u);
  ExpectBadInput([&] { Read("rte", header + good + bad + bad); }, "train.tsv",
                 "more than 1 of 3 lines");
}

TEST(ReadGlue, SaysWhyALabelIsNone) {
  const TextTable table = Read("wnli", "sentence1\tsentence2\tlabel\nx\ty\t2\nx\ty\t0\n");
  ASSERT_EQ(table.skipped.size(), 1u);
  EXPECT_EQ(table.skipped[0].reason, "requires a label of the task, got '2'");
}

TEST(ReadGlue, RteMayNumberItsLabelsAndOthersNameThem) {
  const TextTable rte = Read("rte", "sentence1\tsentence2\tlabel\na\tb\t1\nc\td\tentailment\n");
  ASSERT_EQ(rte.examples.size(), 2u);
  EXPECT_EQ(rte.examples[0].label, 1);
  EXPECT_EQ(rte.examples[1].label, 0);
  EXPECT_EQ(Read("cola", "sentence\tlabel\na\tacceptable\n").examples.at(0).label, 1);
}

// Wherever they stand, and however many there are.
TEST(ReadGlue, EmptyLinesAreNoExamples) {
  const TextTable table = Read("cola", "\nsentence\tlabel\n\na\t1\n\n\r\nb\t0\n\n\n");
  EXPECT_EQ(table.examples.size(), 2u);
  EXPECT_TRUE(table.skipped.empty());
}

TEST(ReadGlue, LinesMayEndInCarriageReturnsAlone) {
  const TextTable table = Read("cola", "sentence\tlabel\ra\t1\rb\t0\r");
  ASSERT_EQ(table.examples.size(), 2u);
  ExpectExample(table.examples[1], "b", "", 0);
}

TEST(ReadGlue, RefusesWhatIsNoSuchFile) {
  ExpectBadInput([] { Read("mnli", "x"); }, "[data]",
                 "rte, cola, sst2, wnli, qqp, mrpc, got 'mnli'");
  ExpectBadInput([] { Read("rte", ""); }, "train.tsv", "got an empty file");
  ExpectBadInput([] { Read("rte", "sentence1\tlabel\n"); }, "train.tsv",
                 "line 1: requires a header with sentence1 and sentence2, got 'sentence1 label'");
  ExpectBadInput([] { Read("cola", "index\tsentence\n"); }, "train.tsv", "at least one example");
  ExpectBadInput([] { Read("cola", "a\t1\t\tb\xff\n"); }, "train.tsv", "0xff at offset 6");
  ExpectBadInput([] { Read("sst2", "index\tlabel\nx\t1\n"); }, "train.tsv",
                 "more than 1 of 2 lines are bad");
}

TEST(TextSet, TellsWhatWasLeftOut) {
  const std::string dir = TestFolder();
  WriteSmallBpe(dir, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});
  WriteText(dir, "train.tsv", "sentence\tlabel\nab\t1\nab\n");
  const auto set = OpenGlue("sst2", dir, Split::kTrain, *OpenRoberta(dir), 6);
  EXPECT_EQ(set->size(), 1);
  ASSERT_EQ(set->left_out().size(), 1u);
  EXPECT_EQ(set->left_out()[0].where, dir + "/train.tsv line 3");
  EXPECT_EQ(set->left_out()[0].reason, "requires 2 columns, got 1");
}

// Before anything is trained: each example would be one without a class.
TEST(TextSet, RefusesAFileWithoutLabels) {
  const std::string dir = TestFolder();
  WriteSmallBpe(dir, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});
  WriteText(dir, "dev.tsv", "index\tsentence1\tsentence2\n0\ta\tb\n");
  ExpectBadInput([&] { OpenGlue("rte", dir, Split::kTest, *OpenRoberta(dir), 16); },
                 dir + "/dev.tsv", "line 1: requires a column label with the labels");
  WriteText(dir, "dev.tsv", "index\tsentence1\tsentence2\tLabel\n0\ta\tb\t1\n");
  ExpectBadInput([&] { OpenGlue("rte", dir, Split::kTest, *OpenRoberta(dir), 16); },
                 dir + "/dev.tsv", "have none), got 'index sentence1 sentence2 Label'");
  // Shortened where a character ends.
  WriteText(dir, "dev.tsv", "sentence1\tsentence2\t" + std::string(79, 'x') + "\u00e9\na\tb\tc\n");
  ExpectBadInput([&] { OpenGlue("rte", dir, Split::kTest, *OpenRoberta(dir), 16); },
                 dir + "/dev.tsv", "sentence1 sentence2 " + std::string(79, 'x') + "'");
}

TEST(TextSet, GivesRowsAndMasks) {
  const std::string dir = TestFolder();
  WriteSmallBpe(dir, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});  // 258 ... 262
  const auto tokenizer = OpenRoberta(dir);
  WriteText(dir, "train.tsv", "sentence\tlabel\nab\t1\n12345678\t0\n");
  WriteText(dir, "dev.tsv", "sentence\tlabel\nx\t1\n");
  const auto set = OpenGlue("sst2", dir, Split::kTrain, *tokenizer, 6);
  ASSERT_EQ(set->size(), 2);
  EXPECT_EQ(set->truncated(), 1);
  EXPECT_EQ(set->info().classes.size(), 2u);
  const Sample short_one = set->Get(0), long_one = set->Get(1);
  using Ids = std::vector<int64_t>;
  EXPECT_EQ(ToVector<int64_t>(short_one.inputs[0]), (Ids{258, 256, 260, 259, 259, 259}));
  EXPECT_EQ(ToVector<int64_t>(short_one.inputs[1]), (Ids{1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(short_one.target.Item(), 1);
  EXPECT_EQ(ToVector<int64_t>(long_one.inputs[0]), (Ids{258, '1', '2', '3', '4', 260}));
  EXPECT_EQ(ToVector<int64_t>(long_one.inputs[1]), (Ids{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(OpenGlue("sst2", dir, Split::kTest, *tokenizer, 6)->size(), 1);
  ExpectBadInput([&] { set->Get(2); }, "[sst2 train.tsv]", "0 to 1, got 2");
}

TEST(TextSet, BatchesAreTrimmedToTheirLongestRow) {
  const std::string dir = TestFolder();
  WriteSmallBpe(dir, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});  // 258 ... 262
  const auto tokenizer = OpenRoberta(dir);
  WriteText(dir, "train.tsv", "sentence\tlabel\nab\t1\n12\t0\n12345678\t0\n");
  const auto set = OpenGlue("sst2", dir, Split::kTrain, *tokenizer, 16);
  const MakeBatch batches = TrimmedBatches(StackedBatches(*set));
  using Ids = std::vector<int64_t>;
  const Batch two = batches({.indices = {1, 0}, .samples = {0, 1}});
  EXPECT_EQ(two.inputs[0].shape(), (Shape{2, 4}));
  EXPECT_EQ(ToVector<int64_t>(two.inputs[0]), (Ids{258, '1', '2', 260, 258, 256, 260, 259}));
  EXPECT_EQ(ToVector<int64_t>(two.inputs[1]), (Ids{1, 1, 1, 1, 1, 1, 1, 0}));
  EXPECT_EQ(ToVector<int64_t>(two.target), (Ids{0, 1}));
  EXPECT_EQ(batches({.indices = {0, 2}, .samples = {0, 1}}).inputs[1].shape(), (Shape{2, 10}));
}

}  // namespace
}  // namespace torus::data
