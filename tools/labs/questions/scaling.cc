#include "tools/labs/questions/scaling.h"

#include "tools/labs/questions/formulas.h"
#include "tools/labs/questions/scaling_run.h"

namespace torus::labs {
namespace {

using study::Heading;
using study::Paragraph;
using study::Part;
using study::Table;

Table EmptyTable() {
  return Table(
      "The second epoch, everything included",
      {{"batch a rank", "images", 0},
       {"ranks", "", 0},
       {"epoch", "s", 2},
       {"speed", "images/s", 0},
       {"speed-up", "", 2},
       {"efficiency", "%", 0}},
      "Speed-up: of one rank with the same batch a rank. Efficiency: speed-up over ranks.");
}

Table EmptyStrong() {
  return Table("Strong scaling: the same global batch on one rank and on n",
               {{"global batch", "images", 0},
                {"ranks", "", 0},
                {"batch a rank", "images", 0},
                {"one rank", "s", 2},
                {"n ranks", "s", 2},
                {"speed-up", "", 2}},
               "No further run: both times stand in the tables of weak scaling and of q1.");
}

double SpeedUpOf(const std::vector<ScalingRun>& runs, const ScalingRun& run) {
  return SpeedUp(RunOf(runs, run.batch, 1).epoch.seconds, run.epoch.seconds);
}

Table Weak(const std::vector<ScalingRun>& runs) {
  Table table = EmptyTable();
  for (const ScalingRun& run : runs) {
    const double speed_up = SpeedUpOf(runs, run);
    table.Add({Real(run.batch), Real(run.ranks), run.epoch.seconds, run.epoch.ImagesPerSecond(),
               speed_up, 100 * speed_up / Real(run.ranks)});
  }
  return table;
}

Table Strong(const std::vector<ScalingRun>& runs, const LabOptions& o) {
  Table table = EmptyStrong();
  for (const StrongPoint& point : StrongPoints(o.batches, o.ranks)) {
    const double one = RunOf(runs, point.global_batch, 1).epoch.seconds,
                 many = RunOf(runs, point.batch, point.ranks).epoch.seconds;
    table.Add({Real(point.global_batch), Real(point.ranks), Real(point.batch), one, many,
               SpeedUp(one, many)});
  }
  return table;
}

std::string WeakFormula(const ScalingRun& one, const ScalingRun& many) {
  return fmt::format(
      "Speed-up = T(1) / T(n) = {:.3f} s / {:.3f} s = {:.2f} for n = {} at batch {} a rank.",
      one.epoch.seconds, many.epoch.seconds, SpeedUp(one.epoch.seconds, many.epoch.seconds),
      many.ranks, many.batch);
}

std::string StrongFormula(const std::vector<ScalingRun>& runs, const LabOptions& o) {
  const std::vector<StrongPoint> points = StrongPoints(o.batches, o.ranks);
  if (points.empty())
    return "None of the batches is another one divided by a number of ranks, so these runs hold no "
           "point of strong scaling: 32,128,512 on 4 ranks hold two.";
  const StrongPoint& p = points.back();
  const double one = RunOf(runs, p.global_batch, 1).epoch.seconds,
               many = RunOf(runs, p.batch, p.ranks).epoch.seconds;
  return fmt::format(
      "Speed-up at a global batch of {} = T(1, {}) / T({}, {} a rank) = {:.3f} s / {:.3f} s = "
      "{:.2f}. {} x {} = {}: the {} ranks take the very steps that the one took.",
      p.global_batch, p.global_batch, p.ranks, p.batch, one, many, SpeedUp(one, many), p.ranks,
      p.batch, p.global_batch, p.ranks);
}

study::Plot PlotOf(const std::vector<ScalingRun>& runs, const LabOptions& o) {
  study::Plot plot{.title = "Speed-up by ranks",
                   .x = {"ranks"},
                   .y = {"speed-up"},
                   .note = "One line a batch size; the ideal is the number of ranks."};
  for (const int64_t batch : o.batches) {
    study::Series line{.name = fmt::format("batch {} a rank", batch)};
    for (const int64_t ranks : RanksWithOne(o))
      line.points.push_back({Real(ranks), SpeedUpOf(runs, RunOf(runs, batch, ranks))});
    plot.series.push_back(line);
  }
  study::Series ideal{.name = "ideal"};
  for (const int64_t ranks : RanksWithOne(o)) ideal.points.push_back({Real(ranks), Real(ranks)});
  plot.series.push_back(ideal);
  return plot;
}

std::vector<Part> Answer(const LabOptions& o, const Tell& tell) {
  const std::vector<ScalingRun> runs = MeasureAll(o, false, tell);
  const ScalingRun& many = Example(runs, o);
  return {Heading{"What was measured"},
          Weak(runs),
          PlotOf(runs, o),
          Paragraph{WeakFormula(RunOf(runs, many.batch, 1), many)},
          Heading{"Weak or strong scaling?"},
          Paragraph{"Weak: each rank's share of a step stays the same and the global batch grows "
                    "with the ranks, so an epoch has fewer steps, each with the same work a rank. "
                    "Strong scaling keeps the global batch, and each rank's work shrinks while "
                    "the gradients that cross the wire stay as large: its speed-up is worse."},
          Strong(runs, o),
          Paragraph{StrongFormula(runs, o)}};
}

std::vector<Asked> Report(const LabOptions& o) {
  Table weak = EmptyTable(), strong = EmptyStrong();
  for (const int64_t batch : o.batches)
    for (const int64_t ranks : RanksWithOne(o))
      weak.Add({Real(batch), Real(ranks), {}, {}, {}, {}});
  for (size_t i = 0; i < StrongPoints(o.batches, o.ranks).size(); ++i)
    strong.Add({{}, {}, {}, {}, {}, {}});
  return {{"Measure the second epoch, everything included, and fill in the table.", weak},
          {"Is this weak or strong scaling? How do you see it in the runs?"},
          {"Which points of the other kind follow from q1 and this table without another run? Fill "
           "them in.",
           strong},
          {"Would the other kind give better or worse speed-ups? Why?"}};
}

}  // namespace

Lab SpeedUpLab() {
  return {.name = "q2",
          .question = "2",
          .title = "the speed-up of 1, 2 and 4 ranks",
          .task = {"Train with 1, 2 and 4 ranks, each with the batches of q1, by synchronous SGD "
                   "whose gradients are all-reduced along a ring. Take the second epoch with "
                   "everything included: data, computation, communication. All runs train on the "
                   "same images."},
          .report = Report,
          .answer = Answer};
}

}  // namespace torus::labs
