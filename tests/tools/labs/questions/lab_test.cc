// The labs as programs: their pages and their blank reports.
#include "tools/labs/questions/lab.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "runtime/error.h"
#include "tests/testing/error_of.h"
#include "tests/tools/labs/questions/small_lab.h"
#include "tools/labs/questions/drift.h"
#include "tools/labs/questions/remedies.h"

namespace torus::labs {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int RunLab(const std::string& name, std::vector<std::string> flags) {
  const auto given = [&](std::string_view flag) {
    const std::string_view name = flag.substr(0, flag.find('=') + 1);
    return std::ranges::any_of(flags, [&](const std::string& f) { return f.starts_with(name); });
  };
  std::vector<std::string> usual;
  const std::set<std::string> epochs{"q4_1", "q4_2", "q5"};
  const auto use = [&](const char* flag, bool applies = true) {
    if (applies && !given(flag)) usual.push_back(flag);
  };
  const bool lists = name < "q4";  // the others run with one batch size on one number of ranks
  for (const char* flag : {"--model=cifar_resnet20", "--data=fashion-mnist", "--images=32"})
    use(flag);
  use(lists ? "--batches=2,8" : name.starts_with("q4") ? "--batches=8" : "--batches=2");
  use(lists ? "--ranks=1,4" : "--ranks=4", name != "q1");
  use("--small-batch=4", name.starts_with("q4"));
  use("--epochs=2", epochs.contains(name));
  use("--steps=2", name == "q7");
  use("--test-images=10", epochs.contains(name) || name == "q6");
  flags.insert(flags.begin(), usual.begin(), usual.end());
  flags.insert(flags.begin(), {name, "--data-dir=" + testing::SmallLabFolder()});
  std::vector<const char*> argv;
  for (const std::string& flag : flags) argv.push_back(flag.c_str());
  return LabMain(name, static_cast<int>(argv.size()), argv.data());
}

// The rows of a CSV file, behind its header, with a figure in more than half of their cells.
int64_t FilledRows(const std::string& csv) {
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  int64_t filled = 0;
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    int64_t figures = 0, all = 0;
    for (std::string cell; std::getline(cells, cell, ','); ++all)
      figures += cell.find_first_of("0123456789") != cell.npos ? 1 : 0;
    filled += 2 * figures > all ? 1 : 0;
  }
  return filled;
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Lab& lab : Labs()) names.push_back(lab.name);
  return names;
}

// What does not depend on times, of a page that the flags of RunLab ask for: the first cells of the
// rows of its tables, and a part of its formula with numbers.
struct Shown {
  std::vector<std::string> rows;
  std::string formula;
};

Shown ShownBy(const std::string& name) {
  const std::vector<std::string> each{"2 | 1", "2 | 4", "8 | 1", "8 | 4"};
  if (name == "q1") return {{"2", "8", "32"}, "Time of an epoch = time in all - waiting"};
  if (name == "q2") {
    std::vector<std::string> rows = each;
    rows.push_back("8 | 4 | 2");  // strong scaling: a global batch of 8 on 4 ranks
    return {rows, "4 x 2 = 8: the 4 ranks take the very steps that the one took."};
  }
  if (name == "q3_1") return {each, "Communication = T(n) - T(1) / n = "};
  if (name == "q3_2") return {{"2 | 4", "8 | 4"}, "Bandwidth = 2 (n - 1) / n S / t = 2 x 3 / 4 x "};
  if (name == "q4_1")
    return {{"batch 4, 1 rank | 4 | 16", "batch 32, 4 ranks | 32 | 2"},
            "32 / 4 = 8 and 32 / 32 = 1. In 2 epochs the weights change 16 times"};
  if (name == "q4_2") {
    std::vector<std::string> rows{"batch 4, 1 rank", "batch 32, no remedy"};
    for (const NamedRemedies& row : OneByOne())
      if (!row.name.empty()) rows.push_back(row.name);
    return {rows, "k = 32 / 4 = 8."};
  }
  if (name == "q5")
    return {{"0 | 0", "0 | 3", "1 | 0", "1 | 3", "with SetEpoch", "without SetEpoch"},
            "= 14 images after 2 epochs; without, N / n = 32 / 4 = 8 however"};
  if (name == "q6")
    return {{"gradients", "initial weights", "buffers (running statistics)"},
            "tensors) = 4 x 2 x 3 x 4 x ("};
  std::vector<std::string> rows;
  for (const DriftCase& of : DriftCases()) rows.push_back(of.name);
  return {rows, "Only weight decay shrinks it, after 2 steps by the factor "};
}

class EveryLab : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryLab, WritesItsPageAndItsReport) {
  const std::string name = GetParam(), out = ::testing::TempDir() + "/" + name + "/" + name;
  ASSERT_EQ(RunLab(name, {"--out=" + ::testing::TempDir() + "/" + name}), 0);
  const std::string page = ReadAll(out + ".md"), report = ReadAll(out + "_report.md");
  EXPECT_NE(page.find("# Question " + LabByName(name).question), std::string::npos);
  EXPECT_NE(report.find("# Report on question " + LabByName(name).question), std::string::npos);
  const Shown shown = ShownBy(name);
  EXPECT_NE(page.find(shown.formula), std::string::npos) << shown.formula << "\n" << page;
  size_t at = 0;
  for (const std::string& row : shown.rows) {
    at = page.find("\n| " + row + " | ", at + 1);
    ASSERT_NE(at, std::string::npos) << row << "\n" << page;
    EXPECT_EQ(page.substr(at, page.find('\n', at + 1) - at).find("|  |"), std::string::npos)
        << "an empty cell in the row of " << row << "\n"
        << page;
  }
  for (const std::string& html : {ReadAll(out + ".html"), ReadAll(out + "_report.html")})
    EXPECT_NE(html.find("<table"), std::string::npos);
  // Each table of the page has figures.
  ASSERT_TRUE(std::filesystem::exists(out + ".csv"));
  for (int table = 1;; ++table) {
    const std::string file = out + (table == 1 ? "" : fmt::format("-{}", table)) + ".csv";
    if (!std::filesystem::exists(file)) break;
    EXPECT_GE(FilledRows(ReadAll(file)), 1) << file << ":\n" << ReadAll(file);
  }
}

// Past the flags, which refuse a link to a rank that there is not: so must a run over it.
TEST_P(EveryLab, RunsOverItsLinks) {
  const Lab& lab = LabByName(GetParam());
  if (lab.one_rank) return;  // --link is refused
  LabOptions o = testing::SmallLab();
  o.out = ::testing::TempDir() + "/" + lab.name + "_links";
  o.links = {"0-7:1ms,1Gbps"};
  try {
    lab.answer(o, [](const std::string&) {});
    FAIL() << "ran without its link";
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("rank 7"), std::string::npos) << error.what();
  }
}

TEST(Labs, EndTheTableOfBatchesWhereMemoryEnds) {
  ASSERT_EQ(RunLab("q1", {"--memory-limit=24MB", "--out=" + ::testing::TempDir() + "/bound"}), 0);
  const std::string page = ReadAll(::testing::TempDir() + "/bound/q1.md");
  EXPECT_NE(page.find("memory cannot hold it |"), std::string::npos) << page;
  EXPECT_NE(page.find("done |"), std::string::npos) << page;
}

// 15 images: no even number of the larger batches, which grow for as long as the epoch has one.
TEST(Labs, GrowBatchesThatDoNotGoEvenlyIntoTheEpoch) {
  const std::string out = ::testing::TempDir() + "/uneven";
  ASSERT_EQ(RunLab("q1", {"--batches=1,3", "--images=15", "--out=" + out}), 0);
  const std::string page = ReadAll(out + "/q1.md");
  for (const char* row : {"| 1 |", "| 3 |", "| 12 |"})
    EXPECT_NE(page.find(row), std::string::npos) << page;
  EXPECT_NE(page.find("no batch of 48 images"), std::string::npos) << page;
}

INSTANTIATE_TEST_SUITE_P(Questions, EveryLab, ::testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

TEST(Labs, WriteTheBlankReportWithoutData) {
  const std::string out = ::testing::TempDir() + "/blank";
  const char* argv[] = {"q2", "--blank", "--out", out.c_str()};
  EXPECT_EQ(LabMain("q2", 4, argv), 0);
  EXPECT_NE(ReadAll(out + "/q2_report.md").find("speed-up"), std::string::npos);
  EXPECT_EQ(ReadAll(out + "/q2.md"), "");
}

TEST(Labs, KeepAReportThatIsFilledIn) {
  const std::string out = ::testing::TempDir() + "/filled";
  const char* argv[] = {"q2", "--blank", "--out", out.c_str()};
  ASSERT_EQ(LabMain("q2", 4, argv), 0);
  std::ofstream(out + "/q2_report.md") << "Name: Ada";
  EXPECT_EQ(LabMain("q2", 4, argv), 0);
  EXPECT_EQ(ReadAll(out + "/q2_report.md"), "Name: Ada");
}

// Before they write a report to fill in.
TEST_P(EveryLab, SaysWhichDataItNeeds) {
  unsetenv("TORUS_DATA");
  const std::string name = GetParam(), out = ::testing::TempDir() + "/no_data_" + name;
  std::filesystem::remove_all(out);
  const char* argv[] = {name.c_str(), "--out", out.c_str()};
  try {
    LabMain(name, 3, argv);
    FAIL() << "found data";
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("--data-dir"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(!std::filesystem::exists(out) || std::filesystem::is_empty(out));
}

// What the one flag is refused with.
std::string Refusal(const std::string& flag) {
  LabOptions options;
  const char* argv[] = {"q2", flag.c_str()};
  try {
    ParseLabFlags("q2", "", 2, argv, options);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

TEST(Labs, RefuseFlagsThatMakeNoSense) {
  for (const char* ranks : {"4,1", "1,1,4", "0", "1,1025"})
    EXPECT_EQ(Refusal(fmt::format("--ranks={}", ranks)),
              fmt::format("[q2] --ranks must be ascending numbers from 1 to 1024, got {}", ranks));
  EXPECT_EQ(Refusal("--batches=0"),
            "[q2] --batches must be ascending numbers from 1 to 16777216, got 0");
  EXPECT_EQ(Refusal("--rank-threads=0"), "[q2] --rank-threads must be from 1 to 1048576, got 0");
  EXPECT_EQ(Refusal("--images=-1"), "[q2] --images must be at least 0, got -1");
  EXPECT_EQ(Refusal("--rank-threads=3"), "");
  EXPECT_EQ(Refusal("--epochs=3"),
            "[q2] --epochs is for q4_1, q4_2 and q5, which train whole epochs, and this is q2");
  EXPECT_THROW(LabByName("q8"), BadInput);
}

// Before the runs on fewer ranks, which would take their time and be fine.
TEST(Labs, RefuseWhatALaterRunWould) {
  EXPECT_NE(Refusal("--lr=0").find("--lr must be above 0"), std::string::npos);
  EXPECT_EQ(
      Refusal("--link=10ms"),
      "[--link] a bandwidth must be a number and one of Kbps, Mbps, Gbps, bps, from 8 to 8e18 "
      "bps, got \"\" in \"10ms\"");
  EXPECT_EQ(Refusal("--link=0-2:1ms,1Gbps"), "[q2] --link names rank 2, but a run has 2 ranks");
  EXPECT_EQ(Refusal("--link=0-1:1ms,1Gbps"), "");
}

// A list would be taken for the one number that is used, and the rest of it passed over.
TEST(Labs, RefuseListsWhereOneNumberIsUsed) {
  for (const char* name : {"q4_1", "q4_2", "q5", "q6", "q7"})
    for (const char* flag : {"--batches", "--ranks"})
      EXPECT_EQ(torus::testing::ErrorOf([&] { RunLab(name, {std::string(flag) + "=2,4"}); }),
                fmt::format("[{}] {} takes one number, for this question runs with one, got 2,4",
                            name, flag));
}

TEST(Labs, RefuseInTheirOwnName) { EXPECT_EQ(Refusal("--data=nope").substr(0, 5), "[q2] "); }

// Before any run: nothing has been told of one.
TEST(Labs, RefuseALargestBatchThatTheImagesCannotFill) {
  for (const char* name : {"q4_1", "q4_2"}) {
    LabOptions o = testing::SmallLab();
    o.images = 7;  // 2 ranks with 4 each
    std::string told;
    try {
      LabByName(name).answer(o, [&](const std::string& line) { told += line; });
      FAIL() << name << " trained";
    } catch (const BadInput& error) {
      EXPECT_STREQ(error.what(),
                   "[labs] 7 images do not make one batch of 8: give smaller --batches or more "
                   "--images");
    }
    EXPECT_EQ(told, "") << name;
  }
}

// The page of question 4.2 and what was told meanwhile.
std::pair<std::string, std::string> Remedies(const LabOptions& o) {
  std::string told;
  const auto tell = [&](const std::string& line) { told += line + "\n"; };
  const std::vector<study::Part> parts = LabByName("q4_2").answer(o, tell);
  return {study::ToText({"", "", parts}), told};
}

TEST(Labs, GoOnBehindTheLastCurveThatIsKept) {
  LabOptions o = testing::SmallLab();
  o.epochs = 1;
  o.out = ::testing::TempDir() + "/kept";
  std::filesystem::remove_all(o.out);
  const auto [page, told] = Remedies(o);
  EXPECT_NE(told.find("+ linear scaling, epoch 1: training loss"), std::string::npos) << told;
  EXPECT_EQ(told.find("kept from an earlier start"), std::string::npos) << told;

  // As if it was ended in the middle of the last one.
  for (const auto& file : std::filesystem::directory_iterator(o.out + "/curves"))
    if (file.path().filename().string().starts_with("--per-rank-batch-norm"))
      std::filesystem::remove(file);
  const auto [again, told_again] = Remedies(o);
  EXPECT_NE(told_again.find("+ linear scaling: kept from an earlier start"), std::string::npos);
  EXPECT_EQ(told_again.find("+ linear scaling, epoch"), std::string::npos) << told_again;
  EXPECT_NE(told_again.find("+ per-rank batch norm, epoch 1"), std::string::npos) << told_again;
  EXPECT_EQ(again, page);

  o.settings.lr /= 2;
  EXPECT_EQ(Remedies(o).second.find("kept from an earlier start"), std::string::npos);
}

TEST(Labs, RefuseOneRankWhereReplicasAreCompared) {
  const std::string out = ::testing::TempDir() + "/one_rank";
  const char* argv[] = {"q7", "--ranks", "1", "--out", out.c_str()};
  try {
    LabMain("q7", 5, argv);
    FAIL() << "one rank was compared with itself";
  } catch (const BadInput& error) {
    EXPECT_STREQ(error.what(),
                 "[q7] this question compares ranks: --ranks must be 2 or more, got 1");
  }
}

TEST(Labs, QuickTakesAPartOfTheData) {
  LabOptions quick, whole;
  const char* argv[] = {"q2", "--quick"};
  EXPECT_FALSE(ParseLabFlags("q2", "", 2, argv, quick));
  EXPECT_FALSE(ParseLabFlags("q2", "", 1, argv, whole));
  EXPECT_EQ(whole.images, 0);
  EXPECT_EQ(quick.images % (quick.batches.back() * quick.ranks.back()), 0);
  EXPECT_GT(quick.images, 0);
}

}  // namespace
}  // namespace torus::labs
