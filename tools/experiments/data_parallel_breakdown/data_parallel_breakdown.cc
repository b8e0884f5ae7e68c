#include "tools/experiments/data_parallel_breakdown/data_parallel_breakdown.h"

#include <fmt/format.h>

#include <cmath>

#include "recipes/study/statistics.h"
#include "tools/experiments/common/cells.h"
#include "tools/experiments/common/published.h"
#include "tools/experiments/common/what_differs.h"

namespace torus::experiments {
namespace {

struct Row {
  std::string model, optimizer;
  int ranks = 2, batch = 16;  // of a rank
};

Published ReadTable() { return {"data_parallel_breakdown", kDataParallelBreakdownPublished}; }

Row RowOf(const Published& published, size_t i) {
  return {published.Text(i, "model"), published.Text(i, "optimizer"), published.Whole(i, "ranks"),
          published.Whole(i, "batch_a_rank")};
}

std::string NameOf(const Row& row) {
  return fmt::format("{} {}, {} ranks of {}", row.model, row.optimizer, row.ranks, row.batch);
}

std::string ModelFlags(const std::string& model, Scale scale) {
  const bool paper = scale == Scale::kPaper, tiny = scale == Scale::kTiny;
  if (model == "RoBERTa-base")
    return fmt::format("--model {} --data rte --length {}",
                       paper  ? "roberta"
                       : tiny ? "roberta:1"
                              : "roberta:4",
                       paper  ? 128
                       : tiny ? 8
                              : 64);
  const char* const name = model == "VGG13" ? (tiny ? "cifar_resnet20" : "vgg13")
                                            : (tiny ? "mobilenet_v2:0.1" : "mobilenet_v2");
  return fmt::format("--model {} --data cifar10 --image-size {}", name, paper ? 224 : 32);
}

// One bucket holds all gradients, so their exchange begins after the backward, and the two are
// timed separately.
std::vector<Training> Plan(Scale scale) {
  const Published published = ReadTable();
  std::vector<Training> plan;
  for (size_t i = 0; i < published.rows(); ++i) {
    const Row row = RowOf(published, i);
    plan.push_back(
        {.name = NameOf(row),
         .settings = SettingsOf(fmt::format(
             "{} --epochs 1 --replicas {} --micro-batches 1 --batch-size {} --optimizer {} --lr "
             "1e-5 --bucket-mb 100000{}",
             ModelFlags(row.model, scale), row.ranks, row.ranks * row.batch,
             row.optimizer == "SGD" ? "sgd" : "adamw",
             scale == Scale::kPaper ? " --device cuda" : "")),
         .max_steps = scale == Scale::kPaper  ? 50
                      : scale == Scale::kTiny ? 1
                                              : 5,
         .score = false,
         .times_gpu_work = scale == Scale::kPaper});
  }
  return plan;
}

study::Cell PublishedRest(const Published& published, size_t i) {
  return published.Number(i, "seconds_a_batch").value() -
         published.Number(i, "data_transfer").value() - published.Number(i, "backward").value();
}

study::Table TimeTable(const Runs& runs) {
  const Published published = ReadTable();
  study::Table table(
      "Seconds a batch",
      {{"model"},
       {"optimizer"},
       {"ranks", "", 0},
       {"batch a rank", "", 0},
       {"published", "s", 3},
       {"its transfer", "s", 3},
       {"its backward", "s", 3},
       {"its rest", "s", 3},
       {"ours", "s", 3},
       {"forward", "s", 3},
       {"backward", "s", 3},
       {"all-reduce", "s", 3},
       {"optimizer", "s", 4},
       {"waiting", "s", 3},
       {"all-reduced a step", "MB", 1}},
      "Ours: the mean over the ranks and over traced steps from the third on; nothing "
      "overlaps.");
  for (size_t i = 0; i < published.rows(); ++i) {
    const Row row = RowOf(published, i);
    const std::string name = NameOf(row);
    table.Add({row.model, row.optimizer, double(row.ranks), double(row.batch),
               NumberCell(published.Number(i, "seconds_a_batch")),
               NumberCell(published.Number(i, "data_transfer")),
               NumberCell(published.Number(i, "backward")), PublishedRest(published, i),
               TimeCell(runs, name, "wall"), TimeCell(runs, name, "forward"),
               TimeCell(runs, name, "backward"), TimeCell(runs, name, "reduce"),
               TimeCell(runs, name, "optimizer"), TimeCell(runs, name, "idle"),
               TimeCell(runs, name, "replica_bytes", 1e-6)});
  }
  return table;
}

double MeanOf(const Runs& runs, const std::string& name, const std::string& key) {
  const std::vector<double> values = FiguresOf(runs, name, key);
  return values.empty() ? NAN : study::Mean(values);
}

// AdamW's value - SGD's value for the same model, ranks and batch; an empty cell if either is
// missing.
study::Cell Change(const Runs& runs, const Row& adamw, const std::string& key) {
  Row sgd = adamw;
  sgd.optimizer = "SGD";
  const double change = MeanOf(runs, NameOf(adamw), key) - MeanOf(runs, NameOf(sgd), key);
  return std::isfinite(change) ? study::Cell(change) : study::Cell();
}

std::optional<size_t> SameWithSgd(const Published& published, size_t row) {
  for (size_t i = 0; i < published.rows(); ++i)
    if (published.Text(i, "optimizer") == "SGD" &&
        published.Text(i, "model") == published.Text(row, "model") &&
        published.Text(i, "ranks") == published.Text(row, "ranks") &&
        published.Text(i, "batch_a_rank") == published.Text(row, "batch_a_rank"))
      return i;
  return std::nullopt;
}

study::Table ClaimTable(const Runs& runs) {
  const Published published = ReadTable();
  study::Table table("What AdamW adds to SGD",
                     {{"model"},
                      {"ranks", "", 0},
                      {"published batch", "s", 3},
                      {"of which backward", "s", 3},
                      {"our batch", "s", 4},
                      {"our backward", "s", 4},
                      {"our optimizer", "s", 4},
                      {"our optimizer with AdamW, share of the batch", "%", 1},
                      {"our all-reduce, share of the batch", "%", 1}},
                     "Rows of AdamW that have one of SGD with equal ranks and batch.");
  for (size_t i = 0; i < published.rows(); ++i) {
    const Row row = RowOf(published, i);
    const std::optional<size_t> sgd = SameWithSgd(published, i);
    if (row.optimizer != "AdamW" || !sgd) continue;
    const auto change = [&](const char* column) {
      return published.Number(i, column).value() - published.Number(*sgd, column).value();
    };
    const std::string name = NameOf(row);
    const double wall = MeanOf(runs, name, "wall");
    table.Add({row.model, double(row.ranks), change("seconds_a_batch"), change("backward"),
               Change(runs, row, "wall"), Change(runs, row, "backward"),
               Change(runs, row, "optimizer"), 100 * MeanOf(runs, name, "optimizer") / wall,
               100 * MeanOf(runs, name, "reduce") / wall});
  }
  return table;
}

// Our answer, from what was measured.
std::string Answer(const Runs& runs) {
  const Row adamw{"RoBERTa-base", "AdamW", 2, 16}, sgd{"RoBERTa-base", "SGD", 2, 16};
  const double slow = MeanOf(runs, NameOf(adamw), "wall"),
               quick = MeanOf(runs, NameOf(sgd), "wall"),
               step = MeanOf(runs, NameOf(adamw), "optimizer"),
               sums = MeanOf(runs, NameOf(adamw), "reduce");
  if (!std::isfinite(slow) || !std::isfinite(quick)) return "Our rows have not been run.";
  return fmt::format(
      "Ours: RoBERTa on two ranks takes {:.3f} s a batch with AdamW and {:.3f} s with SGD; AdamW's "
      "own step is {:.1f} % of its batch, the all-reduce {:.1f} %. {}",
      slow, quick, 100 * step / slow, 100 * sums / slow,
      step > 0.5 * slow ? "Most of the batch is AdamW: the claim holds here."
      : step > sums     ? "AdamW costs more than the exchange, and less than forward and backward: "
                          "the claim holds in part."
                    : "AdamW costs less than the exchange of the gradients: it is not what makes "
                      "data-parallel RoBERTa slow here.");
}

study::Plot TimePlot(const Runs& runs) {
  const Published published = ReadTable();
  study::Plot plot{.title = "Where our batches spend their time",
                   .x = {"row"},
                   .y = {"time of a batch", "s"},
                   .series = {},
                   .kind = study::PlotKind::kBars};
  for (size_t i = 0; i < published.rows(); ++i)
    plot.categories.push_back(NameOf(RowOf(published, i)));
  for (const char* part : {"forward", "backward", "reduce", "optimizer", "idle"}) {
    study::Series series{part, {}};
    for (size_t i = 0; i < published.rows(); ++i)
      if (const double mean = MeanOf(runs, plot.categories[i], part); std::isfinite(mean))
        series.points.push_back({double(i), mean});
    plot.series.push_back(std::move(series));
  }
  return plot;
}

study::Page PageOf(Scale scale, const Runs& runs) {
  study::Page page{
      .title = "Where a data-parallel batch spends its time",
      .lead = "Optimizer, exchange and backward apart: is AdamW why RoBERTa is slow?",
      .parts = {study::Heading{"The table"}, TimeTable(runs), TimePlot(runs),
                study::Heading{"Is it AdamW?"}, ClaimTable(runs), study::Paragraph{Answer(runs)},
                study::Paragraph{
                    "In the published figures themselves AdamW adds 0.149 s to RoBERTa's batch on "
                    "two ranks, of which 0.147 s lie in what was timed as backward, where no "
                    "optimizer works; to VGG13, which has more parameters than RoBERTa-base, it "
                    "adds 0.026 s, and MobileNetV2 is quicker with it. So the optimizer's own "
                    "arithmetic cannot be the reason: it would cost VGG13 as much. On a GPU, calls "
                    "return before the work is done, and a clock that does not wait for it charges "
                    "one part with another's time."}}};
  const std::string bucket =
      " All gradients are in one bucket, so that their exchange does not hide behind the backward.";
  AddWhatDiffers(
      scale,
      {.laptop =
           "Published: a GPU a rank, RoBERTa-base, 224 x 224 pixels. Here at laptop scale the "
           "ranks share two cores and their memory, RoBERTa has 4 blocks and rows of 64 "
           "tokens, images are 32 x 32." +
           bucket,
       .paper =
           "At paper scale models, image size, batches and ranks are the study's; the GPUs and "
           "the links between them are those of this cluster. Our clock waits for the GPU "
           "after each part, so that a part has the time of its own work, and a batch takes "
           "longer than in a run that is not measured so." +
           bucket},
      page);
  return page;
}

}  // namespace

Experiment DataParallelBreakdown() {
  return {"data_parallel_breakdown",
          "Times forward, backward, exchange and optimizer of data-parallel batches.", Plan,
          PageOf};
}

}  // namespace torus::experiments
