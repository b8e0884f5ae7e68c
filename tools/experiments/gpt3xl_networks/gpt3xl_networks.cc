#include "tools/experiments/gpt3xl_networks/gpt3xl_networks.h"

#include <fmt/format.h>

#include <cmath>

#include "parallel/schedule/central_server.h"
#include "parallel/schedule/factory.h"
#include "parallel/schedule/fit.h"
#include "recipes/study/statistics.h"
#include "tools/experiments/common/cells.h"
#include "tools/experiments/common/link_text.h"
#include "tools/experiments/common/published.h"
#include "tools/experiments/common/what_differs.h"

namespace torus::experiments {
namespace {

constexpr int kStages = 12, kMicroBatches = 64;
constexpr double kBoundary = 0x1p24;                // bytes: 2048 x 2048 f32
constexpr double kWeights = 400e6, kFirst = 626e6;  // bytes of a rank, and of the first
constexpr double kWindow = 3 * 0x1p20;  // half of what Linux gives a receive buffer (simulator.md)

const char* const kKinds[] = {"forward", "backward"};

parallel::FreeCosts ForwardAndBackward() {
  parallel::FreeCosts free;
  for (const parallel::CostList& list : parallel::kCostLists)
    for (const char* kind : kKinds)
      if (std::string_view(list.name) == kind) free.push_back(&list);
  return free;
}

parallel::CostModel FullSize() {
  return {.forward = std::vector<double>(kStages, 1),
          .backward = std::vector<double>(kStages, 2),
          .boundary_bytes = std::vector<double>(kStages, kBoundary)};
}

parallel::LinkModel LinkOf(const NetworkRow& row, bool window) {
  return parallel::ParseLink(LinkText(row.delay, row.bandwidth, window ? kWindow : 0));
}

double SecondsOf(const parallel::Schedule& schedule, parallel::CostModel costs,
                 const NetworkRow& row, bool window) {
  const parallel::LinkModel link = LinkOf(row, window);
  costs.links = parallel::LinkTable(link);
  const parallel::Simulation run = parallel::Simulate(schedule, costs);
  if (row.replicas == 1) return run.makespan;
  std::vector<double> bytes(kStages, kWeights);
  bytes[0] = kFirst;
  return parallel::SecondsWithServer(schedule, run, row.replicas, bytes, link);
}

std::vector<NetworkRow> ReadRows() {
  const Published published("gpt3xl_networks", kGpt3xlNetworksPublished);
  std::vector<NetworkRow> rows;
  for (size_t i = 0; i < published.rows(); ++i)
    rows.push_back({.delay = 1e-3 * *published.Number(i, "delay_ms"),
                    .bandwidth = 1e9 * *published.Number(i, "bandwidth_gbps"),
                    .replicas = published.Whole(i, "replicas"),
                    .published = published.Number(i, "seconds")});
  return rows;
}

std::string NameOf(const NetworkRow& row) {
  return fmt::format("{:g} ms, {:g} Gbps", 1e3 * row.delay, 1e-9 * row.bandwidth);
}

study::Table FullTable(const std::vector<NetworkRow>& rows) {
  study::Table table(
      "Seconds per iteration at full size",
      {{"delay and bandwidth"},
       {"pipelines", "", 0},
       {"published", "s"},
       {"simulated", "s"},
       {"error", "%", 1},
       {"simulated without a window", "s"},
       {"row"}},
      "Several pipelines share a central parameter server, which has one such link.");
  for (size_t i = 0; i < rows.size(); ++i) {
    const NetworkRow& row = rows[i];
    const bool fitted = i == 0;
    table.Add({NameOf(row), double(row.replicas), NumberCell(row.published), row.predicted,
               row.published && !fitted ? study::Cell(100 * (row.predicted / *row.published - 1))
                                        : study::Cell(),
               row.without_window,
               std::string(fitted          ? "compute is fitted to it"
                           : row.published ? "predicted, then compared"
                                           : "predicted; published figure withheld")});
  }
  return table;
}

// The small size: GPT-2's blocks over bytes, one block per stage.
constexpr int kSmallStages = 3, kSmallMicroBatches = 16;
constexpr double kSmallBoundary = 128 * 768 * 4;
constexpr double kStageSeconds = 0.198;  // of the full size: a micro-batch, both directions
constexpr double kSmallStageSeconds = 0.08;

// Latency and bytes take about the share of a stage's time that they take at full size.
std::string SmallLink(const NetworkRow& row) {
  const double share = kSmallStageSeconds / kStageSeconds;
  return LinkText(row.delay * share, row.bandwidth * kSmallBoundary / kBoundary / share);
}

std::string SmallName(const NetworkRow& row) {
  return fmt::format("{}, {}", NameOf(row), row.replicas > 1 ? "2 replicas" : "1 pipeline");
}

std::vector<Training> Plan(Scale scale) {
  if (scale == Scale::kPaper) return {};  // full size is simulated alone
  std::vector<Training> plan;
  const bool tiny = scale == Scale::kTiny;
  for (const NetworkRow& row : ReadRows()) {
    Training training{
        .name = SmallName(row),
        .settings = SettingsOf(fmt::format(
            "--model {} --data text --tokenizer bytes --length {} --batch-size {} "
            "--micro-batches {} --stages {} --optimizer adamw --lr 3e-4 --epochs 1 "
            "--epoch-size 4096",
            tiny ? "gpt-char" : "gpt2:3", tiny ? 16 : 128,
            kSmallMicroBatches * (row.replicas > 1 ? 2 : 1), kSmallMicroBatches, kSmallStages)),
        .links = {SmallLink(row)},
        .max_steps = tiny ? 2 : 8,
        .score = false};
    if (row.replicas > 1) {
      training.settings.replicas = 2;
      training.settings.strategy = "ps";
    }
    plan.push_back(std::move(training));
  }
  return plan;
}

// The simulator's prediction for the small rows, with the computation fitted to the first.
std::vector<double> PredictSmall(const std::vector<NetworkRow>& rows, double first) {
  const parallel::Schedule schedule =
      parallel::MakeSchedule("gpipe", {.ranks = kSmallStages, .micro_batches = kSmallMicroBatches});
  parallel::CostModel costs{.forward = std::vector<double>(kSmallStages, 1),
                            .backward = std::vector<double>(kSmallStages, 2),
                            .boundary_bytes = std::vector<double>(kSmallStages, kSmallBoundary)};
  const auto links = [](const NetworkRow& row) {
    return parallel::LinkTable(parallel::ParseLink(SmallLink(row)));
  };
  costs = parallel::FitCosts(schedule, costs, {ForwardAndBackward()}, {{links(rows[0]), first}});
  std::vector<double> seconds;
  for (const NetworkRow& row : rows) {
    costs.links = links(row);
    seconds.push_back(parallel::Simulate(schedule, costs).makespan);
  }
  return seconds;
}

study::Table SmallTable(const std::vector<NetworkRow>& rows, const Runs& runs) {
  study::Table table("Measured seconds per step of a small pipeline over emulated links",
                     {{"network that is imitated"},
                      {"link"},
                      {"run"},
                      {"measured", "s", 3},
                      {"simulated, one pipeline", "s", 3},
                      {"error", "%", 1}},
                     "Three stages of one block each of GPT-2, 16 micro-batches of 128 bytes. The "
                     "simulation is fitted to the first row. Two replicas use a parameter server "
                     "for each stage, and are not simulated.");
  const std::vector<double> first = FiguresOf(runs, SmallName(rows[0]), "step_seconds");
  const std::vector<double> simulated =
      first.empty() ? std::vector<double>{} : PredictSmall(rows, study::Mean(first));
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string name = SmallName(rows[i]);
    const std::vector<double> own = FiguresOf(runs, name, "step_seconds");
    const bool compared = rows[i].replicas == 1 && !simulated.empty() && !own.empty();
    table.Add({NameOf(rows[i]), SmallLink(rows[i]),
               std::string(rows[i].replicas > 1 ? "2 replicas, parameter server" : "1 pipeline"),
               TimeCell(runs, name, "step_seconds"),
               compared ? study::Cell(simulated[i]) : study::Cell(),
               compared && i > 0 ? study::Cell(100 * (simulated[i] / study::Mean(own) - 1))
                                 : study::Cell()});
  }
  return table;
}

study::Plot FullPlot(const std::vector<NetworkRow>& rows) {
  study::Plot plot{.title = "Seconds per iteration by network",
                   .x = {"network"},
                   .y = {"time", "s", true},
                   .series = {{"published", {}}, {"simulated", {}}},
                   .kind = study::PlotKind::kBars};
  for (size_t i = 0; i < rows.size(); ++i) {
    const int replicas = rows[i].replicas;
    plot.categories.push_back(NameOf(rows[i]) +
                              (replicas > 1 ? fmt::format(" x {}", replicas) : ""));
    if (rows[i].published) plot.series[0].points.push_back({double(i), *rows[i].published});
    plot.series[1].points.push_back({double(i), rows[i].predicted});
  }
  return plot;
}

study::Page PageOf(Scale scale, const Runs& runs) {
  const std::vector<NetworkRow> rows = PredictNetworks();
  study::Page page{
      .title = "GPT-3 XL on slow networks",
      .lead =
          "Twelve stages of two layers, 64 micro-batches of one sequence, 16 MiB over each cut.",
      .parts = {
          study::Heading{"Simulated at full size"}, FullTable(rows), FullPlot(rows),
          study::Paragraph{
              "Assumed: GPipe, equal stages, a backward that takes as long as two forwards, "
              "delays one way, and full-duplex links that belong to one pair of machines each. A "
              "connection has a window of 3 MB, half of what Linux gives a receive buffer. It "
              "limits only the row of 50 ms; the column without a window shows that row without "
              "the limit. For each pipeline, the server's one link carries 626 MB of the first "
              "stage and 400 MB of each other stage, in and out; the server's sums take no "
              "time."}}};
  if (scale != Scale::kPaper)
    page.parts.insert(page.parts.end(),
                      {study::Heading{"Measured on a small model"}, SmallTable(rows, runs)});
  AddWhatDiffers(
      scale,
      {.laptop = "At full size nothing was run: the times are simulated. On the small model: three "
                 "ranks share two cores, six where two replicas stand for the published four; each "
                 "stage has a server of its own, and the links are emulated.",
       .paper = "Nothing was run: the times are simulated at full size."},
      page);
  return page;
}

}  // namespace

std::vector<NetworkRow> PredictNetworks() {
  std::vector<NetworkRow> rows = ReadRows();
  const parallel::Schedule schedule =
      parallel::MakeSchedule("gpipe", {.ranks = kStages, .micro_batches = kMicroBatches});
  for (const bool window : {true, false}) {
    const parallel::CostModel costs = parallel::FitCosts(
        schedule, FullSize(), {ForwardAndBackward()},
        {{parallel::LinkTable(LinkOf(rows[0], window)), rows[0].published.value()}});
    for (NetworkRow& row : rows)
      (window ? row.predicted : row.without_window) = SecondsOf(schedule, costs, row, window);
  }
  return rows;
}

Experiment Gpt3xlNetworks() {
  return {"gpt3xl_networks",
          "Predicts GPT-3 XL on slow networks, and runs a small pipeline over emulated ones.", Plan,
          PageOf};
}

}  // namespace torus::experiments
