#include "tools/labs/questions/large_batch.h"

#include <fmt/format.h>

#include "tools/labs/questions/curve.h"
#include "tools/labs/questions/kept_curves.h"
#include "tools/labs/questions/scaling_run.h"

namespace torus::labs {
namespace {

using study::Heading;
using study::Paragraph;
using study::Part;
using study::Table;

Table EmptyTable(const LabOptions& o) {
  return Table(fmt::format("Epoch {}", o.epochs), {{"run", "", 0},
                                                   {"batch", "images", 0},
                                                   {"steps so far", "", 0},
                                                   {"training loss", "", 4},
                                                   {"training accuracy", "%", 2},
                                                   {"test accuracy", "%", 2},
                                                   {"epoch", "s", 2}});
}

std::string LargeName(const LabOptions& o) {
  return fmt::format("batch {}, {} ranks", LargestBatch(o), o.ranks.back());
}

// The first run would take its time, and the second find that there are too few images.
std::vector<Curve> Measure(const LabOptions& o, const Tell& tell) {
  CommonImages(o, LargestBatch(o));
  KeptCurves kept(o, tell);
  return {kept.Train(SmallName(o), ForRanks(o, o.small_batch, 1), {}),
          kept.Train(LargeName(o), ForRanks(o, o.batches.back(), o.ranks.back()), {})};
}

int64_t StepsOf(const Curve& curve) {
  int64_t steps = 0;
  for (const Epoch& epoch : curve.epochs) steps += epoch.steps;
  return steps;
}

Table Filled(const LabOptions& o, const std::vector<Curve>& curves) {
  Table table = EmptyTable(o);
  for (const Curve& curve : curves) {
    const Epoch& last = curve.epochs.back();
    table.Add({curve.name, Real(curve.batch), Real(StepsOf(curve)), last.loss, 100 * last.accuracy,
               100 * curve.test.accuracy, last.seconds});
  }
  return table;
}

std::string FormulaOf(const LabOptions& o, const std::vector<Curve>& curves) {
  const Epoch &small = curves[0].epochs.back(), &large = curves[1].epochs.back();
  return fmt::format(
      "Steps of an epoch = images / batch: {} / {} = {} and {} / {} = {}. In {} epochs the weights "
      "change {} times with the small batch and {} times with the large one, at the same rate of "
      "{}.",
      small.images, o.small_batch, small.steps, large.images, curves[1].batch, large.steps,
      o.epochs, StepsOf(curves[0]), StepsOf(curves[1]), o.settings.lr);
}

std::vector<Part> Answer(const LabOptions& o, const Tell& tell) {
  const std::vector<Curve> curves = Measure(o, tell);
  return {Heading{"What was measured"}, Filled(o, curves), Paragraph{FormulaOf(o, curves)},
          AccuracyPlot(curves), LossPlot(curves)};
}

std::vector<Asked> Report(const LabOptions& o) {
  Table table = EmptyTable(o);
  for (const auto& [name, batch] :
       {std::pair{SmallName(o), o.small_batch}, std::pair{LargeName(o), LargestBatch(o)}})
    table.Add({name, Real(batch), {}, {}, {}, {}, {}});
  return {{"Fill in the table.", table},
          {"How many steps has each run taken? What follows for the loss?"},
          {"Is the large batch worse because it generalizes worse, or because it has learnt less? "
           "Which figures tell the two apart?"}};
}

}  // namespace

Lab LargeBatchLab() {
  return {.name = "q4_1",
          .question = "4.1",
          .title = "accuracy with a large batch",
          .task = {"Train twice for five epochs, at one learning rate: with batches of 128 on one "
                   "rank, and on 4 ranks with the largest batch of the other questions. Compare "
                   "loss and accuracy of the fifth epoch. Training figures are means over the "
                   "epoch's images, each as it was before the step that learnt from it."},
          .report = Report,
          .answer = Answer};
}

}  // namespace torus::labs
