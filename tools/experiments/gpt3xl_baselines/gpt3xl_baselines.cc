#include "tools/experiments/gpt3xl_baselines/gpt3xl_baselines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/error.h"
#include "tools/experiments/common/cells.h"
#include "tools/experiments/common/published.h"
#include "tools/experiments/common/what_differs.h"
#include "tools/experiments/gpt3xl_baselines/full_size.h"

namespace torus::experiments {
namespace {

std::vector<BaselineRow> ReadRows(const Published& published) {
  std::vector<BaselineRow> rows;
  for (size_t i = 0; i < published.rows(); ++i)
    rows.push_back({.gpipe = published.Text(i, "system") == "PyTorch Pipe",
                    .machines = published.Whole(i, "machines"),
                    .element = published.Text(i, "precision") == "fp16" ? 2.0 : 4.0,
                    .recompute = published.Text(i, "recompute") != "no",
                    .batch = published.Whole(i, "batch"),
                    .micro_batch = published.Whole(i, "micro_batch"),
                    .tensor = published.Whole(i, "tensor"),
                    .pipeline = published.Whole(i, "pipeline"),
                    .data = published.Whole(i, "data"),
                    .published = published.Number(i, "seconds").value()});
  return rows;
}

double ErrorOf(const BaselineRow& row, const FittedMachine& machine) {
  return 100 * (SecondsOf(row, machine) / row.published - 1);
}

study::Table FullTable(const Published& published, const std::vector<BaselineRow>& rows,
                       const FittedMachine& machine) {
  study::Table table("Seconds per iteration at full size",
                     {{"system"},
                      {"machines", "", 0},
                      {"precision"},
                      {"recompute"},
                      {"batch", "", 0},
                      {"micro-batch", "", 0},
                      {"T", "", 0},
                      {"P", "", 0},
                      {"D", "", 0},
                      {"published", "s"},
                      {"simulated", "s"},
                      {"error", "%", 1}},
                     "T: tensor-parallel ranks; P: pipeline stages; D: replicas.");
  for (size_t i = 0; i < rows.size(); ++i) {
    const BaselineRow& row = rows[i];
    table.Add({published.Text(i, "system"), double(row.machines), published.Text(i, "precision"),
               std::string(row.recompute ? "yes" : "no"), double(row.batch),
               double(row.micro_batch), double(row.tensor), double(row.pipeline), double(row.data),
               row.published, SecondsOf(row, machine), ErrorOf(row, machine)});
  }
  return table;
}

struct Group {
  const char* name;
  bool (*has)(const BaselineRow&);
};

constexpr Group kGroups[] = {
    {"PyTorch Pipe", [](const BaselineRow& row) { return row.gpipe; }},
    {"Megatron, one machine",
     [](const BaselineRow& row) { return !row.gpipe && row.machines == 1; }},
    {"Megatron, six machines, f32",
     [](const BaselineRow& row) { return row.machines > 1 && row.element == 4; }},
    {"Megatron, six machines, f16", [](const BaselineRow& row) { return row.element == 2; }}};

study::Table ErrorTable(const std::vector<BaselineRow>& rows, const FittedMachine& machine) {
  study::Table table("Errors of the simulation",
                     {{"rows"}, {"count", "", 0}, {"mean magnitude", "%", 1}, {"largest", "%", 1}});
  for (const Group& group : kGroups) {
    double sum = 0, largest = 0, count = 0;
    for (const BaselineRow& row : rows) {
      if (!group.has(row)) continue;
      const double error = ErrorOf(row, machine);
      sum += std::fabs(error);
      ++count;
      if (std::fabs(error) > std::fabs(largest)) largest = error;
    }
    table.Add({std::string(group.name), count, sum / count, largest});
  }
  return table;
}

study::Plot FullPlot(const std::vector<BaselineRow>& rows, const FittedMachine& machine) {
  study::Plot plot{.title = "Simulated seconds against published seconds",
                   .x = {"published", "s", true},
                   .y = {"simulated", "s", true},
                   .series = {},
                   .kind = study::PlotKind::kPoints,
                   .note = "A row that is simulated without error lies on the line."};
  for (const Group& group : kGroups) {
    study::Series series{group.name, {}};
    for (const BaselineRow& row : rows)
      if (group.has(row)) series.points.push_back({row.published, SecondsOf(row, machine)});
    plot.series.push_back(std::move(series));
  }
  study::Series diagonal{.name = "no error", .line = true};
  for (const double seconds : {4.0, 8.0, 16.0, 32.0}) diagonal.points.push_back({seconds, seconds});
  plot.series.push_back(std::move(diagonal));
  return plot;
}

// PyTorch Pipe's schedule is GPipe, Megatron's is 1F1B.
struct SmallRow {
  int tensor, stages, replicas, micro_batches;
  const char* schedule = "1f1b";
};

constexpr SmallRow kSmall[] = {{1, 1, 1, 4}, {2, 1, 1, 4}, {1, 2, 1, 4},          {1, 2, 1, 8},
                               {2, 2, 1, 4}, {1, 4, 1, 8}, {1, 4, 1, 8, "gpipe"}, {1, 1, 2, 4},
                               {1, 2, 2, 4}, {2, 1, 2, 4}, {2, 2, 2, 4}};

std::string NameOf(const SmallRow& row) {
  return fmt::format("{}, T {}, P {}, D {}, {} micro-batches", row.schedule, row.tensor, row.stages,
                     row.replicas, row.micro_batches);
}

std::vector<Training> Plan(Scale scale) {
  if (scale == Scale::kPaper) return {};  // full size is simulated alone
  const bool tiny = scale == Scale::kTiny;
  std::vector<Training> plan;
  for (const SmallRow& row : kSmall)
    plan.push_back(
        {.name = NameOf(row),
         .settings = SettingsOf(fmt::format(
             "--model {} --data text --tokenizer bytes --length {} --batch-size 16 --tensor {} "
             "--stages {} --replicas {} --micro-batches {} --schedule {} --optimizer adamw --lr "
             "3e-4 --epochs 1 --epoch-size 4096",
             tiny ? "gpt-char" : "gpt2:4", tiny ? 16 : 128, row.tensor, row.stages, row.replicas,
             row.micro_batches, row.schedule)),
         .max_steps = tiny ? 2 : 8,
         .score = false});
  return plan;
}

study::Table SmallTable(const Runs& runs) {
  study::Table table(
      "Measured: a small model",
      {{"schedule"},
       {"T", "", 0},
       {"P", "", 0},
       {"D", "", 0},
       {"micro-batches", "", 0},
       {"step", "ms", 1},
       {"sequences per second", "", 2}},
      "Four blocks of GPT-2 on 16 rows of 128 bytes. T, P and D as above; PyTorch Pipe's "
      "schedule is gpipe, Megatron's 1f1b.");
  for (const SmallRow& row : kSmall)
    table.Add({std::string(row.schedule), double(row.tensor), double(row.stages),
               double(row.replicas), double(row.micro_batches),
               TimeCell(runs, NameOf(row), "step_seconds", 1e3),
               TimeCell(runs, NameOf(row), "samples_per_second")});
  return table;
}

// T 4, P 2 on one machine, which takes longest with micro-batches of 2.
std::string ContradictionOf(const std::vector<BaselineRow>& rows) {
  const auto seconds = [&](int micro_batch) {
    const auto found = std::ranges::find_if(rows, [&](const BaselineRow& row) {
      return row.machines == 1 && row.tensor == 4 && row.pipeline == 2 &&
             row.micro_batch == micro_batch;
    });
    TORUS_CHECK(found != rows.end(), "no row of T 4, P 2 has micro-batches of {}", micro_batch);
    return found->published;
  };
  const double one = seconds(1), two = seconds(2), four = seconds(4);
  return fmt::format(
      "T 4, P 2 takes {:.2f} s with micro-batches of 2, and {:.2f} and {:.2f} s with 1 and 4: up "
      "to {:.0f} % more",
      two, one, four, 100 * (two / std::min(one, four) - 1));
}

study::Page PageOf(Scale scale, const Runs& runs) {
  const Published published("gpt3xl_baselines", kGpt3xlBaselinesPublished);
  const std::vector<BaselineRow> rows = ReadRows(published);
  const FittedMachine machine = FitMachine(rows);
  study::Page page{
      .title = "GPT-3 XL by PyTorch Pipe and Megatron",
      .lead = "Twenty-four layers of width 2048 over 2048 tokens, on machines of eight V100.",
      .parts = {
          study::Heading{"Simulated at full size"},
          study::Paragraph{fmt::format(
              "Two numbers are fitted to all rows together: f32 products reach {:.2f} TFLOP/s, and "
              "a machine's link to the others carries {:.2f} GB/s each way. Everything else comes "
              "from the V100's data sheet.",
              1e-12 * machine.rate, 1e-9 * machine.network)},
          ErrorTable(rows, machine), FullTable(published, rows, machine), FullPlot(rows, machine),
          study::Paragraph{fmt::format(
              "The fit uses these rows themselves, so the errors say how well it describes them, "
              "not how well it predicts others. The published rows contradict each other: {}. f16 "
              "products are simulated at 8 times the speed of f32, as the data sheet has it, which "
              "no training reaches. Launches of small kernels take no time. PyTorch Pipe is "
              "assumed to recompute every micro-batch; its default is every one but the last.",
              ContradictionOf(rows))}}};
  if (scale != Scale::kPaper)
    page.parts.insert(page.parts.end(),
                      {study::Heading{"Measured on a small model"}, SmallTable(runs)});
  AddWhatDiffers(
      scale,
      {.laptop = "At full size nothing was run: the times are simulated. On the small model all "
                 "ranks share two cores, so more ranks can only use what one rank leaves idle.",
       .paper = "Nothing was run: the times are simulated at full size."},
      page);
  return page;
}

}  // namespace

Experiment Gpt3xlBaselines() {
  return {"gpt3xl_baselines",
          "Simulates GPT-3 XL by PyTorch Pipe and Megatron's T, P, D, and runs small T, P and D.",
          Plan, PageOf};
}

}  // namespace torus::experiments
