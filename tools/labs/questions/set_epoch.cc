#include "tools/labs/questions/set_epoch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/labs/questions/formulas.h"
#include "tools/labs/questions/kept_curves.h"
#include "tools/labs/questions/sample_order.h"
#include "tools/labs/questions/scaling_run.h"

namespace torus::labs {
namespace {

using study::Heading;
using study::Paragraph;
using study::Part;
using study::Table;

constexpr int64_t kShownEpochs = 3;
constexpr size_t kShownSamples = 8;

Table EmptyOrders() {
  return Table("The first samples of each rank",
               {{"epoch", "", 0}, {"rank", "", 0}, {"with SetEpoch"}, {"without SetEpoch"}},
               "Numbers of images in the training set.");
}

Table EmptyCounts(const LabOptions& o) {
  return Table(fmt::format("Different images that a rank has met in {} epochs", o.epochs),
               {{"rank", "", 0},
                {"with SetEpoch", "images", 0},
                {"expected", "images", 0},
                {"without SetEpoch", "images", 0},
                {"expected without", "images", 0}});
}

Table EmptyCurves(const LabOptions& o) {
  return Table(fmt::format("Trained for {} epochs", o.epochs), {{"run"},
                                                                {"training loss", "", 4},
                                                                {"training accuracy", "%", 2},
                                                                {"test accuracy", "%", 2}});
}

OrderOptions OrderOf(const LabOptions& o, bool sets_epoch) {
  return {.samples = o.images,
          .batch = o.batches.front(),
          .ranks = o.ranks.back(),
          .seed = o.settings.seed,
          .sets_epoch = sets_epoch};
}

std::string FirstOf(std::vector<int64_t> samples) {
  samples.resize(std::min(samples.size(), kShownSamples));
  return fmt::format("{}, ...", fmt::join(samples, ", "));
}

Table Orders(const OrderOptions& with, const OrderOptions& without) {
  Table table = EmptyOrders();
  for (int64_t epoch = 0; epoch < kShownEpochs; ++epoch)
    for (int64_t rank = 0; rank < with.ranks; ++rank)
      table.Add({Real(epoch), Real(rank), FirstOf(SamplesOf(with, epoch, rank)),
                 FirstOf(SamplesOf(without, epoch, rank))});
  return table;
}

Table Counts(const LabOptions& o, const OrderOptions& with, const OrderOptions& without) {
  Table table = EmptyCounts(o);
  for (int64_t rank = 0; rank < with.ranks; ++rank)
    table.Add({Real(rank), Real(DistinctSamples(with, o.epochs, rank)),
               Real(with.samples) * SharesMet(with.ranks, o.epochs),
               Real(DistinctSamples(without, o.epochs, rank)),
               Real(with.samples) / Real(with.ranks)});
  return table;
}

study::Plot PlotOf(const LabOptions& o, const OrderOptions& with, const OrderOptions& without) {
  study::Series measured{.name = "with SetEpoch"}, stuck{.name = "without"},
      expected{.name = "1 - (1 - 1/n)^e"};
  for (int64_t e = 1; e <= o.epochs; ++e) {
    const double all = Real(with.samples) / 100;
    measured.points.push_back({Real(e), Real(DistinctSamples(with, e, 0)) / all});
    stuck.points.push_back({Real(e), Real(DistinctSamples(without, e, 0)) / all});
    expected.points.push_back({Real(e), 100 * SharesMet(with.ranks, e)});
  }
  return {.title = "Share of the training set that rank 0 has met",
          .x = {"epochs"},
          .y = {"share", "%"},
          .series = {measured, stuck, expected}};
}

std::string FormulaOf(const LabOptions& o, const OrderOptions& with) {
  return fmt::format(
      "With SetEpoch a rank is expected to have met N (1 - (1 - 1/n)^e) = {} x (1 - (1 - 1/{})^{}) "
      "= {:.0f} images after {} epochs; without, N / n = {} / {} = {} however long it trains.",
      with.samples, with.ranks, o.epochs, Real(with.samples) * SharesMet(with.ranks, o.epochs),
      o.epochs, with.samples, with.ranks, with.samples / with.ranks);
}

std::vector<Curve> Train(const LabOptions& o, const Tell& tell) {
  const recipes::Settings settings = ForRanks(o, o.batches.front(), o.ranks.back());
  KeptCurves kept(o, tell);
  return {kept.Train("with SetEpoch", settings, {}),
          kept.Train("without SetEpoch", settings, {.repeats_first_order = true})};
}

Table CurveTable(const LabOptions& o, const std::vector<Curve>& curves) {
  Table table = EmptyCurves(o);
  for (const Curve& curve : curves)
    table.Add({curve.name, curve.epochs.back().loss, 100 * curve.epochs.back().accuracy,
               100 * curve.test.accuracy});
  return table;
}

// The runs train on the same images whose order is shown.
std::vector<Part> Answer(const LabOptions& asked, const Tell& tell) {
  LabOptions o = asked;
  o.images = CommonImages(asked, asked.batches.front() * asked.ranks.back());
  const OrderOptions with = OrderOf(o, true), without = OrderOf(o, false);
  const std::vector<Curve> curves = Train(o, tell);
  return {Heading{"What each rank sees"},
          Orders(with, without),
          Counts(o, with, without),
          Paragraph{FormulaOf(o, with)},
          PlotOf(o, with, without),
          Heading{"What it does to the training"},
          CurveTable(o, curves),
          LossPlot(curves),
          Paragraph{"The order also seeds the random crops and flips, so without SetEpoch each "
                    "image comes with the same ones in every epoch, and the same images make up "
                    "the same batches. All ranks together still meet every image."}};
}

std::vector<Asked> Report(const LabOptions& o) {
  Table orders = EmptyOrders(), counts = EmptyCounts(o), curves = EmptyCurves(o);
  for (int64_t epoch = 0; epoch < kShownEpochs; ++epoch)
    for (int64_t rank = 0; rank < o.ranks.back(); ++rank)
      orders.Add({Real(epoch), Real(rank), {}, {}});
  for (int64_t rank = 0; rank < o.ranks.back(); ++rank) counts.Add({Real(rank), {}, {}, {}, {}});
  for (const char* name : {"with SetEpoch", "without SetEpoch"}) curves.Add({name, {}, {}, {}});
  return {{"Write down the first samples of each rank.", orders},
          {"What repeats without SetEpoch, and what does a rank never see?"},
          {"How many different images does a rank meet? Derive what is expected.", counts},
          {"What does it do to the training?", curves}};
}

}  // namespace

Lab SampleOrderLab() {
  return {.name = "q5",
          .question = "5",
          .title = "a sampler that is never told the epoch",
          .task = {"A distributed sampler shuffles the images by its seed and the epoch, and deals "
                   "them out to the ranks. A program that forgets SetEpoch shuffles every epoch as "
                   "the first. Show what each rank then sees, and what it costs."},
          .report = Report,
          .answer = Answer};
}

}  // namespace torus::labs
