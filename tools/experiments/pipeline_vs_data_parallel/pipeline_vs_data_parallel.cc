#include "tools/experiments/pipeline_vs_data_parallel/pipeline_vs_data_parallel.h"

#include <fmt/format.h>

#include <algorithm>

#include "recipes/study/statistics.h"
#include "tools/experiments/common/cells.h"
#include "tools/experiments/common/data_places.h"
#include "tools/experiments/common/published.h"
#include "tools/experiments/common/what_differs.h"

namespace torus::experiments {
namespace {

// A row that we run, published or our own.
struct Row {
  std::string data;  // CIFAR10, RTE, or our text
  bool pipeline = false;
  int ranks = 2, batch = 64, micro_batches = 1;
  std::string cut;  // "ends", "even", or none
  std::string lr;
};

bool IsOurs(const Published& published, size_t row) {
  return published.Text(row, "experiment") != "pipeline, origin code";
}

Row RowOf(const Published& published, size_t i) {
  const bool pipeline = published.Text(i, "experiment") != "data parallel";
  return {.data = published.Text(i, "data"),
          .pipeline = pipeline,
          .ranks = published.Whole(i, "ranks"),
          .batch = published.Whole(i, "batch"),
          .micro_batches = pipeline ? published.Whole(i, "chunks") : 1,
          .cut = published.Text(i, "cut"),
          .lr = published.Text(i, "lr")};
}

std::vector<Row> TextRows() {
  return {{"tiny Shakespeare", false, 2, 12, 1, "", "1e-3"},
          {"tiny Shakespeare", true, 2, 12, 4, "ends", "1e-3"},
          {"tiny Shakespeare", true, 2, 12, 4, "even", "1e-3"}};
}

std::string NameOf(const Row& row) {
  return fmt::format("{}, {}{} ranks {}, batch {}, {} micro-batches", row.data,
                     row.pipeline ? "pipeline " : "data parallel",
                     row.pipeline ? "cut " + row.cut + "," : "", row.ranks, row.batch,
                     row.micro_batches);
}

// As published: the client has the first and the last layer, the servers those in between.
std::string EndsOf(const Row& row, Scale scale) {
  if (row.data == "CIFAR10") return row.ranks == 2 ? "1,18" : "1,7,13,18";
  if (row.data != "RTE") return "1,5";
  if (scale == Scale::kTiny) return row.ranks == 2 ? "1,3" : "1,2,3";
  if (scale == Scale::kPaper) return row.ranks == 2 ? "1,13" : "1,5,9,13";
  return row.ranks == 2 ? "1,7" : "1,3,5,7";
}

std::string Layout(const Row& row, Scale scale) {
  if (!row.pipeline) return fmt::format(" --replicas {} --micro-batches 1", row.ranks);
  const std::string cut = row.cut == "ends" ? " --schedule u-shaped --cut " + EndsOf(row, scale)
                                            : fmt::format(" --stages {}", row.ranks);
  return fmt::format(" --micro-batches {}{}", row.micro_batches, cut);
}

std::string ModelFlags(const Row& row, Scale scale) {
  const bool paper = scale == Scale::kPaper, tiny = scale == Scale::kTiny;
  const char* const device = paper ? " --device cuda" : "";
  if (row.data == "CIFAR10")
    return fmt::format(
        "--model {} --data cifar10 --augment crop-flip --image-size {} --epochs {} --optimizer sgd "
        "--lr-schedule cosine{}",
        tiny ? "mobilenet_v2:0.1" : "mobilenet_v2", paper ? 224 : 32,
        paper  ? 40
        : tiny ? 1
               : 2,
        device);
  if (row.data == "RTE")
    return fmt::format(
        "--model {} --data rte --length {} --epochs {} --optimizer adamw --weight-decay 0.1 "
        "--lr-schedule polynomial:1{}",
        paper  ? "roberta"
        : tiny ? "roberta:2"
               : "roberta:6",
        paper  ? 128
        : tiny ? 16
               : 64,
        paper ? 20 : 1, device);
  return "--model gpt-char --data text --tokenizer chars --length 64 --epochs 1 --epoch-size 12000 "
         "--optimizer adamw --beta2 0.99 --weight-decay 0.1 --clip-norm 1 --lr-schedule cosine:0.1";
}

// RoBERTa's are of twelve blocks, those of the paper scale.
std::string WeightsOf(const Row& row, Scale scale) {
  if (row.data == "CIFAR10" && scale != Scale::kTiny) return kMobileNetWeights;
  return row.data == "RTE" && scale == Scale::kPaper ? kRobertaWeights : "";
}

Training TrainingOf(const Row& row, Scale scale) {
  const bool small = scale != Scale::kPaper, tiny = scale == Scale::kTiny;
  return {.name = NameOf(row),
          .settings = SettingsOf(fmt::format("{} --batch-size {} --lr {}{}", ModelFlags(row, scale),
                                             row.batch, row.lr, Layout(row, scale))),
          .max_steps = tiny                         ? 2
                       : small && row.data == "RTE" ? 6
                                                    : 0,
          .weights = WeightsOf(row, scale)};
}

std::vector<Training> Plan(Scale scale) {
  const Published published("pipeline_vs_data_parallel", kPipelineVsDataParallelPublished);
  std::vector<Training> plan;
  for (size_t i = 0; i < published.rows(); ++i)
    if (IsOurs(published, i)) plan.push_back(TrainingOf(RowOf(published, i), scale));
  if (scale == Scale::kPaper) return plan;
  for (const Row& row : TextRows()) plan.push_back(TrainingOf(row, scale));
  return plan;
}

study::Table PublishedTable(const Runs& runs) {
  const Published published("pipeline_vs_data_parallel", kPipelineVsDataParallelPublished);
  study::Table table(
      "Accuracy and speed, published and ours",
      {{"experiment"},
       {"data"},
       {"ranks", "", 0},
       {"batch", "", 0},
       {"micro-batches", "", 0},
       {"cut"},
       {"published accuracy", "%"},
       {"published deviation", "points", 2},
       {"our accuracy", "%"},
       {"published speed", "samples/s", 1},
       {"our speed", "samples/s", 1},
       {"published speed-up", "", 2},
       {"our speed-up", "", 2}},
      "Speed-ups are relative to the first row of the same data: data parallel on "
      "two ranks. The rows 'origin code' ran torchgpipe itself, so none of ours stands "
      "beside them.");
  std::string first, data;
  for (size_t i = 0; i < published.rows(); ++i) {
    const bool ours = IsOurs(published, i);
    const Row row = RowOf(published, i);
    const std::string name = ours ? NameOf(row) : "";
    if (row.data != data) first = name;
    data = row.data;
    table.Add({published.Text(i, "experiment"), row.data, double(row.ranks), double(row.batch),
               NumberCell(published.Number(i, "chunks")), row.cut,
               NumberCell(published.Number(i, "accuracy")),
               NumberCell(published.Number(i, "deviation")),
               ours ? ScoreCell(runs, name, name, "accuracy") : study::Cell(),
               NumberCell(published.Number(i, "samples_per_second")),
               ours ? TimeCell(runs, name, "samples_per_second") : study::Cell(),
               NumberCell(published.Number(i, "speedup")),
               ours ? RelativeCell(runs, name, first, "samples_per_second") : study::Cell()});
  }
  return table;
}

study::Table TextTable(const Runs& runs) {
  study::Table table("The same cuts on the characters of a text",
                     {{"experiment"},
                      {"cut"},
                      {"loss", "nats", 4},
                      {"difference to data parallel, 95 % interval"},
                      {"speed", "windows/s", 1},
                      {"speed-up"}});
  const std::string first = NameOf(TextRows()[0]);
  for (const Row& row : TextRows()) {
    const std::string name = NameOf(row);
    table.Add({std::string(row.pipeline ? "pipeline" : "data parallel"), row.cut,
               ScoreCell(runs, name, name, "loss"),
               DifferenceCell(runs, name, first, first, "loss", 4),
               TimeCell(runs, name, "samples_per_second"),
               RelativeCell(runs, name, first, "samples_per_second")});
  }
  return table;
}

study::Plot SpeedPlot(const Runs& runs) {
  const Published published("pipeline_vs_data_parallel", kPipelineVsDataParallelPublished);
  study::Plot plot{.title = "Speed-up over data parallel on two ranks",
                   .x = {"row"},
                   .y = {"speed-up"},
                   .series = {{"published", {}}, {"ours", {}}},
                   .kind = study::PlotKind::kBars};
  std::string first, data;
  for (size_t i = 0; i < published.rows(); ++i) {
    if (!IsOurs(published, i)) continue;
    const Row row = RowOf(published, i);
    if (row.data != data) first = NameOf(row);
    data = row.data;
    const auto x = static_cast<double>(plot.categories.size());
    plot.categories.push_back(NameOf(row));
    if (const auto speedup = published.Number(i, "speedup"))
      plot.series[0].points.push_back({x, *speedup});
    const study::Cell ours = RelativeCell(runs, NameOf(row), first, "samples_per_second");
    if (const auto* measured = std::get_if<study::Measured>(&ours))
      plot.series[1].points.push_back({x, measured->mean, measured->deviation});
  }
  return plot;
}

study::Page PageOf(Scale scale, const Runs& runs) {
  study::Page page{.title = "A pipeline against data parallelism",
                   .lead = "MobileNetV2 on CIFAR-10 and RoBERTa on RTE, cut at the ends or evenly.",
                   .parts = {study::Heading{"The table"}, PublishedTable(runs), SpeedPlot(runs)}};
  if (scale != Scale::kPaper) page.parts.push_back(TextTable(runs));
  AddWhatDiffers(
      scale,
      {.laptop =
           "Published: one GPU per rank, images of 224 x 224 pixels, 40 epochs from ImageNet's "
           "weights, and RoBERTa-base from its own weights. Here, at laptop scale, all ranks share "
           "two cores, so more ranks can only use what one of them leaves idle: compare only "
           "pipeline and data parallel with equally many ranks. Images have 32 x 32 pixels, for 2 "
           "epochs. RoBERTa has 6 blocks, random weights and 6 steps, which gives speeds but no "
           "signal.",
       .paper =
           "At paper scale the runs have the study's models, weights, cuts, batches, rates and "
           "epochs; the GPUs and the links between them are those of this cluster."},
      page);
  return page;
}

}  // namespace

Experiment PipelineVsDataParallel() {
  return {"pipeline_vs_data_parallel", "Trains by a pipeline and by data parallelism.", Plan,
          PageOf};
}

}  // namespace torus::experiments
