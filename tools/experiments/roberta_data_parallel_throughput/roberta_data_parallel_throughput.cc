#include "tools/experiments/roberta_data_parallel_throughput/roberta_data_parallel_throughput.h"

#include <fmt/format.h>

#include "recipes/study/statistics.h"
#include "tools/experiments/common/cells.h"
#include "tools/experiments/common/published.h"
#include "tools/experiments/common/what_differs.h"

namespace torus::experiments {
namespace {

Published Table() {
  return {"roberta_data_parallel_throughput", kRobertaDataParallelThroughputPublished};
}

bool IsPipeline(const Published& published, size_t row) {
  return published.Text(row, "method") == "pipeline";
}

std::string NameOf(const Published& published, size_t row) {
  const std::string chunks = published.Text(row, "chunks");
  return fmt::format("{}, {} ranks, batch {}{}", published.Text(row, "method"),
                     published.Text(row, "ranks"), published.Text(row, "batch"),
                     chunks.empty() ? "" : ", " + chunks + " micro-batches");
}

std::string Layout(const Published& published, size_t row) {
  return IsPipeline(published, row)
             ? fmt::format("--stages {} --micro-batches {}", published.Whole(row, "ranks"),
                           published.Whole(row, "chunks"))
             : fmt::format("--replicas {} --micro-batches 1", published.Whole(row, "ranks"));
}

std::vector<Training> Plan(Scale scale) {
  const bool paper = scale == Scale::kPaper, tiny = scale == Scale::kTiny;
  const Published published = Table();
  std::vector<Training> plan;
  for (size_t i = 0; i < published.rows(); ++i)
    plan.push_back(
        {.name = NameOf(published, i),
         .settings = SettingsOf(fmt::format(
             "--model {} --data rte --length {} --epochs 1 --batch-size {} --optimizer "
             "adamw --lr 2e-5 --weight-decay 0.1{} {}",
             paper  ? "roberta"
             : tiny ? "roberta:2"
                    : "roberta:4",
             paper  ? 128
             : tiny ? 8
                    : 64,
             published.Whole(i, "batch"), paper ? " --device cuda" : "", Layout(published, i))),
         .max_steps = paper  ? 50
                      : tiny ? 1
                             : 6,
         .score = false});
  return plan;
}

study::Table SpeedTable(const Runs& runs) {
  const Published published = Table();
  study::Table table("Sentence pairs per second", {{"method"},
                                                   {"ranks", "", 0},
                                                   {"micro-batches", "", 0},
                                                   {"batch", "", 0},
                                                   {"published", "1/s", 2},
                                                   {"ours", "1/s", 2},
                                                   {"published, to the first row"},
                                                   {"ours, to the first row"}});
  const std::string first = NameOf(published, 0);
  for (size_t i = 0; i < published.rows(); ++i) {
    const std::string name = NameOf(published, i);
    const double theirs = published.Number(i, "samples_per_second").value();
    table.Add({published.Text(i, "method"), double(published.Whole(i, "ranks")),
               NumberCell(published.Number(i, "chunks")), double(published.Whole(i, "batch")),
               theirs, TimeCell(runs, name, "samples_per_second"),
               theirs / published.Number(0, "samples_per_second").value(),
               RelativeCell(runs, name, first, "samples_per_second")});
  }
  return table;
}

study::Plot SpeedPlot(const Runs& runs) {
  const Published published = Table();
  study::Plot plot{.title = "Speed relative to two replicas and a batch of 32",
                   .x = {"row"},
                   .y = {"speed-up"},
                   .series = {{"published", {}}, {"ours", {}}},
                   .kind = study::PlotKind::kBars};
  const std::string first = NameOf(published, 0);
  for (size_t i = 0; i < published.rows(); ++i) {
    plot.categories.push_back(NameOf(published, i));
    plot.series[0].points.push_back(
        {double(i), published.Number(i, "samples_per_second").value() /
                        published.Number(0, "samples_per_second").value()});
    const study::Cell ours = RelativeCell(runs, NameOf(published, i), first, "samples_per_second");
    if (const auto* measured = std::get_if<study::Measured>(&ours))
      plot.series[1].points.push_back({double(i), measured->mean, measured->deviation});
  }
  return plot;
}

study::Page PageOf(Scale scale, const Runs& runs) {
  study::Page page{.title = "Data-parallel RoBERTa's throughput",
                   .lead = "Training speed by replicas and batch, beside a pipeline of two ranks.",
                   .parts = {study::Heading{"The table"}, SpeedTable(runs), SpeedPlot(runs)}};
  AddWhatDiffers(
      scale,
      {.laptop =
           "Published: one GPU per rank, RoBERTa-base. Here, at laptop scale, all ranks share "
           "two cores, RoBERTa has 4 blocks and rows 64 tokens; speeds are those of the "
           "median step. More replicas than cores only share them. What can be seen is how "
           "much time the all-reduce of all weights takes: the larger the batch, the less "
           "per sentence pair.",
       .paper = "At paper scale model, batches and ranks are the study's; the GPUs and the links "
                "between them are those of this cluster. Speeds are those of the median step."},
      page);
  return page;
}

}  // namespace

Experiment RobertaDataParallelThroughput() {
  return {"roberta_data_parallel_throughput",
          "Measures RoBERTa's training speed by replicas, batch, and in a pipeline.", Plan, PageOf};
}

}  // namespace torus::experiments
