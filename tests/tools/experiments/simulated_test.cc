// The tables that need no training.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "recipes/study/run_study.h"
#include "tools/experiments/common/published.h"
#include "tools/experiments/gpt3xl_baselines/full_size.h"
#include "tools/experiments/gpt3xl_baselines/gpt3xl_baselines.h"
#include "tools/experiments/gpt3xl_networks/gpt3xl_networks.h"
#include "tools/experiments/parameters/parameters.h"

namespace torus::experiments {
namespace {

std::string ReadText(const std::string& path) {
  return (std::stringstream() << std::ifstream(path).rdbuf()).str();
}

TEST(Parameters, AreOurModels) {
  const std::string text = ToText(Parameters().page(Scale::kLaptop, {}));
  for (const char* count : {"133.048", "44.549", "124.647", "2.237"})
    EXPECT_NE(text.find(count), std::string::npos) << "no " << count << " in " << text;
}

// Fitted on the first network alone.
TEST(Gpt3xlNetworks, PredictsTheTwoOtherPublishedRowsWithinThreePercent) {
  const std::vector<NetworkRow> rows = PredictNetworks();
  ASSERT_EQ(rows.size(), 9u);
  EXPECT_NEAR(rows[0].predicted, *rows[0].published, 1e-3);
  for (const int i : {1, 2}) EXPECT_NEAR(rows[i].predicted / *rows[i].published, 1, 0.03);
  // The server's link is shared by four pipelines, whose own time it can only add to.
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rows[5 + i].replicas, 4);
    EXPECT_GT(rows[5 + i].predicted, rows[i].predicted);
  }
  // 4 x (626 + 11 x 400) MB over 1 Gbps, and in that direction alone: no less.
  EXPECT_GT(rows[8].predicted, 4 * (626e6 + 11 * 400e6) / 125e6);
}

// The predictions of the rows whose figures are held are committed, so that nobody can fit later.
TEST(Gpt3xlNetworks, PredictsWhatTheGuideSays) {
  const std::string guide = ReadText("docs/experiments.md");
  for (const NetworkRow& row : PredictNetworks()) {
    const std::string line =
        fmt::format("| {:g} ms | {:g} Gbps | {} | {} | {:.2f} | {:.2f} |", 1e3 * row.delay,
                    1e-9 * row.bandwidth, row.replicas,
                    row.published ? fmt::format("{:.2f}", *row.published) : "held", row.predicted,
                    row.without_window);
    EXPECT_NE(guide.find(line), std::string::npos) << "docs/experiments.md lacks\n" << line;
  }
}

// Megatron's order: tensor first, then data, then pipeline; eight ranks a machine.
TEST(Gpt3xlBaselines, CountsWhatLeavesAMachine) {
  const BaselineRow one{.machines = 1, .pipeline = 8};
  EXPECT_EQ(StageEdges(one), 0);
  EXPECT_EQ(ReplicaEdges(one), 0);
  // Eight tensor ranks fill a machine: each of them has a ring over all machines.
  const BaselineRow tensor{.machines = 6, .tensor = 8, .data = 6};
  EXPECT_EQ(ReplicaEdges(tensor), 8);
  EXPECT_EQ(StageEdges(tensor), 0);
  // A stage has 6 ranks: of ranks 0 to 7, those from 2 on send to another machine; the ring of
  // ranks 6 to 11 leaves the second machine once, and that of ranks 12 to 17.
  const BaselineRow pipeline{.machines = 6, .pipeline = 8, .data = 6};
  EXPECT_EQ(StageEdges(pipeline), 6);
  EXPECT_EQ(ReplicaEdges(pipeline), 2);
  // A stage has 24 ranks, three machines: all of the first half send on.
  const BaselineRow half{.machines = 6, .tensor = 4, .pipeline = 2, .data = 6};
  EXPECT_EQ(StageEdges(half), 8);
  EXPECT_EQ(ReplicaEdges(half), 4);
}

// Without any computation a stage's all-reduces are left: 6 of 16 MiB a layer with recompute, each
// 2 x 7/8 of it at 150 GB/s, and what memory takes.
TEST(Gpt3xlBaselines, HasTheClosedFormOfTensorParallelism) {
  const BaselineRow row{.batch = 64, .tensor = 8, .published = 1};
  BaselineRow alone = row;
  alone.tensor = 1;
  const FittedMachine instant{.rate = 1e30};
  const double elements = 2048.0 * 2048, all_reduces = 64 * 24 * 6;
  const double sums = all_reduces * 2 * 7.0 / 8 * elements * 4 / 150e9;
  const auto memory = [&](int tensor) {
    return 64 * 24 * 4 * 4 * (8 * 16 * elements / tensor + (24.0 / tensor + 12) * elements) / 900e9;
  };
  EXPECT_NEAR(SecondsOf(row, instant), sums + memory(8), 1e-6);
  EXPECT_NEAR(SecondsOf(alone, instant), memory(1), 1e-6);
}

TEST(Gpt3xlBaselines, FitsItsTwoNumbersToWhatTheyMade) {
  const FittedMachine truth{.rate = 7e12, .network = 3e9};
  std::vector<BaselineRow> rows{{.batch = 64, .pipeline = 8},
                                {.machines = 6, .batch = 252, .tensor = 8, .data = 6}};
  for (BaselineRow& row : rows) row.published = SecondsOf(row, truth);
  const FittedMachine fitted = FitMachine(rows);
  EXPECT_NEAR(fitted.rate / truth.rate, 1, 0.01);
  EXPECT_NEAR(fitted.network / truth.network, 1, 0.01);
}

TEST(Gpt3xlBaselines, PrintsEveryRowWithItsError) {
  const Published published("gpt3xl_baselines", kGpt3xlBaselinesPublished);
  const study::Page page = Gpt3xlBaselines().page(Scale::kPaper, {});
  size_t rows = 0;
  for (const study::Part& part : page.parts)
    if (const auto* table = std::get_if<study::Table>(&part);
        table && table->columns().size() == 12)
      for (const auto& row : table->rows()) rows += std::holds_alternative<double>(row.back());
  EXPECT_EQ(rows, published.rows());
}

TEST(Gpt3xlBaselines, SaysByHowMuchRowsContradictEachOther) {
  const std::string text = ToText(Gpt3xlBaselines().page(Scale::kPaper, {}));
  EXPECT_NE(text.find("20.64 and 20.91 s with 1 and 4: up to 29 % more"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace torus::experiments
