#include "tools/labs/questions/communication.h"

#include <algorithm>

#include "tools/labs/questions/formulas.h"
#include "tools/labs/questions/link_peak.h"
#include "tools/labs/questions/scaling_run.h"

namespace torus::labs {
namespace {

using study::Heading;
using study::Paragraph;
using study::Part;
using study::Table;

Table EmptyTable() {
  return Table("Seconds of the second epoch",
               {{"batch a rank", "images", 0},
                {"ranks", "", 0},
                {"epoch without data I/O", "s", 3},
                {"computing, trace", "s", 3},
                {"communicating, trace", "s", 3},
                {"moving bytes, trace", "s", 3},
                {"computing, one rank's / n", "s", 3},
                {"communicating, subtraction", "s", 3}},
               "Trace: forward, backward and optimizer; then the all-reduce and the agreement on "
               "the step with what they wait for; then the all-reduce alone on the rank that comes "
               "to it last. Steps times the median step. Subtraction: epoch on n ranks less the "
               "n-th part of one rank's.");
}

struct Split {
  double epoch = 0, compute = 0, communicate = 0, reduce = 0;  // of the trace
  double one_nth = 0, subtraction = 0;
};

Split SplitOf(const std::vector<ScalingRun>& runs, const ScalingRun& run) {
  const double one = RunOf(runs, run.batch, 1).epoch.SecondsWithoutData(),
               epoch = run.epoch.SecondsWithoutData(), steps = Real(run.epoch.steps);
  return {epoch,
          run.times.compute * steps,
          run.times.communicate * steps,
          run.times.reduce * steps,
          one / Real(run.ranks),
          CommunicationBySubtraction(epoch, one, run.ranks)};
}

Table Filled(const std::vector<ScalingRun>& runs) {
  Table table = EmptyTable();
  for (const ScalingRun& run : runs) {
    const Split s = SplitOf(runs, run);
    table.Add({Real(run.batch), Real(run.ranks), s.epoch, s.compute, s.communicate, s.reduce,
               s.one_nth, s.subtraction});
  }
  return table;
}

std::string FormulaOf(const std::vector<ScalingRun>& runs, const ScalingRun& run) {
  const Split s = SplitOf(runs, run);
  const double one = RunOf(runs, run.batch, 1).epoch.SecondsWithoutData();
  return fmt::format(
      "Communication = T(n) - T(1) / n = {:.3f} s - {:.3f} s / {} = {:.3f} s for batch {} a rank "
      "on {} ranks; the trace says {:.3f} s, of which {:.3f} s move bytes.",
      s.epoch, one, run.ranks, s.subtraction, run.batch, run.ranks, s.communicate, s.reduce);
}

study::Plot PlotOf(const std::vector<ScalingRun>& runs) {
  study::Plot plot{.title = "Where the epoch goes",
                   .x = {"batch a rank x ranks"},
                   .y = {"seconds", "s"},
                   .kind = study::PlotKind::kBars};
  study::Series compute{.name = "computing, trace"}, communicate{.name = "communicating, trace"},
      subtraction{.name = "communicating, subtraction"};
  for (const ScalingRun& run : runs) {
    const double x = Real(std::ssize(plot.categories));
    const Split s = SplitOf(runs, run);
    plot.categories.push_back(fmt::format("{} x {}", run.batch, run.ranks));
    compute.points.push_back({x, s.compute});
    communicate.points.push_back({x, s.communicate});
    subtraction.points.push_back({x, s.subtraction});
  }
  plot.series = {compute, communicate, subtraction};
  return plot;
}

std::vector<Part> Answer(const LabOptions& o, const Tell& tell) {
  const std::vector<ScalingRun> runs = MeasureAll(o, true, tell);
  return {Heading{"What was measured"},
          Filled(runs),
          Paragraph{FormulaOf(runs, Example(runs, o))},
          PlotOf(runs),
          Heading{"Why the two differ"},
          Paragraph{"The subtraction takes for communication all that an n-th of one rank's epoch "
                    "does not explain. Ranks that share cores, caches and memory compute slower "
                    "than one alone, and that counts as communication there; the trace has it "
                    "under computing. The trace's own figure holds waiting as well: a rank that "
                    "is early waits in the all-reduce for the last one."}};
}

std::vector<Asked> Report(const LabOptions& o) {
  Table table = EmptyTable();
  for (const int64_t batch : o.batches)
    for (const int64_t ranks : RanksWithOne(o))
      table.Add({Real(batch), Real(ranks), {}, {}, {}, {}, {}, {}});
  return {{"Fill in the table: by subtraction, then from the trace.", table},
          {"How do computing and communicating change with the batch? With the ranks? Why?"},
          {"Where do the two ways differ, and which of them do you trust for what?"}};
}

Table EmptyBandwidth() {
  return Table("Bandwidth of the all-reduce",
               {{"batch a rank", "images", 0},
                {"ranks", "", 0},
                {"gradients S", "MB", 2},
                {"2 (n - 1) / n S", "MB", 2},
                {"sent a rank, counted", "MB", 2},
                {"all-reduce, trace", "ms", 2},
                {"bandwidth, trace", "GB/s", 3},
                {"of the link", "%", 1},
                {"communicating, subtraction", "ms", 2},
                {"bandwidth, subtraction", "GB/s", 3}},
               "Of a step, decimal units. Of the link: of what one long message reaches. Below 0 a "
               "subtraction says nothing, and no bandwidth "
               "follows from it.");
}

study::Cell BandwidthCell(const ScalingRun& run, double seconds) {
  if (seconds <= 0) return {};
  return RingBandwidth(run.ranks, run.gradient_bytes, seconds) * 1e-9;
}

study::Cell ShareCell(const ScalingRun& run, double peak) {
  if (run.times.reduce <= 0) return {};
  return 100 * RingBandwidth(run.ranks, run.gradient_bytes, run.times.reduce) / peak;
}

Table Bandwidths(const std::vector<ScalingRun>& runs, double peak) {
  Table table = EmptyBandwidth();
  for (const ScalingRun& run : runs) {
    if (run.ranks == 1) continue;
    const double subtraction = SplitOf(runs, run).subtraction / Real(run.epoch.steps);
    table.Add({Real(run.batch), Real(run.ranks), run.gradient_bytes * 1e-6,
               RingBytes(run.ranks, run.gradient_bytes) * 1e-6, run.sent_bytes * 1e-6,
               run.times.reduce * 1e3, BandwidthCell(run, run.times.reduce), ShareCell(run, peak),
               subtraction * 1e3, BandwidthCell(run, subtraction)});
  }
  return table;
}

std::string BandwidthFormula(const ScalingRun& run, double peak) {
  const double seconds = run.times.reduce;
  if (run.ranks == 1 || seconds <= 0) return "One rank sends nothing.";
  const double reached = RingBandwidth(run.ranks, run.gradient_bytes, seconds);
  return fmt::format(
      "Bandwidth = 2 (n - 1) / n S / t = 2 x {} / {} x {:.2f} MB / {:.2f} ms = {:.3f} GB/s on {} "
      "ranks, each way of each rank's link (Patarasuk and Yuan 2009). Utilisation = {:.3f} GB/s / "
      "{:.3f} GB/s = {:.1f} % of what one long message between two ranks reaches.",
      run.ranks - 1, run.ranks, run.gradient_bytes * 1e-6, seconds * 1e3, reached * 1e-9, run.ranks,
      reached * 1e-9, peak * 1e-9, 100 * reached / peak);
}

study::Plot BandwidthPlot(const std::vector<ScalingRun>& runs, const LabOptions& o) {
  study::Plot plot{.title = "Bandwidth of the all-reduce by batch",
                   .x = {"batch a rank", "images", true},
                   .y = {"bandwidth", "GB/s"}};
  for (const int64_t ranks : o.ranks) {
    if (ranks == 1) continue;
    study::Series line{.name = fmt::format("{} ranks", ranks)};
    for (const int64_t batch : o.batches) {
      const ScalingRun& run = RunOf(runs, batch, ranks);
      if (run.times.reduce > 0)
        line.points.push_back(
            {Real(batch), RingBandwidth(ranks, run.gradient_bytes, run.times.reduce) * 1e-9});
    }
    plot.series.push_back(line);
  }
  return plot;
}

std::vector<Part> AnswerBandwidth(const LabOptions& o, const Tell& tell) {
  const double peak = LinkPeak(o.links);
  const std::vector<ScalingRun> runs = MeasureAll(o, true, tell);
  return {Heading{"What was measured"}, Bandwidths(runs, peak),
          Paragraph{BandwidthFormula(Example(runs, o), peak)},
          Paragraph{"Ranks are threads here, and their link is the machine's memory; with --link "
                    "10ms,1Gbps the ring runs over a slower one. The gradients stay as large "
                    "whatever the batch, so a bandwidth that changes with it shows waiting, not "
                    "the link."},
          BandwidthPlot(runs, o)};
}

std::vector<Asked> ReportBandwidth(const LabOptions& o) {
  Table table = EmptyBandwidth();
  for (const int64_t batch : o.batches)
    for (const int64_t ranks : o.ranks)
      if (ranks > 1) table.Add({Real(batch), Real(ranks), {}, {}, {}, {}, {}, {}, {}, {}});
  return {
      {"How many bytes does each rank send in a ring all-reduce of S bytes over n ranks? Derive "
       "it from the ring's two halves."},
      {"Fill in the table.", table},
      {"How does the bandwidth compare with what the link can do? What is it lost on?"}};
}

}  // namespace

Lab CommunicationLab() {
  return {
      .name = "q3_1",
      .question = "3.1",
      .title = "computation and communication",
      .task = {"How many seconds of an epoch go into computing, and how many into "
               "communicating, by batch and ranks? Find it twice: from the trace of the run, "
               "and by subtraction, as one must where there is no trace.",
               "The gradients are all-reduced along a ring behind the backward, so that nothing "
               "overlaps: with overlap the subtraction shows only what stays exposed."},
      .report = Report,
      .answer = Answer};
}

Lab BandwidthLab() {
  return {.name = "q3_2",
          .question = "3.2",
          .title = "the bandwidth that the all-reduce reaches",
          .task = {"A ring all-reduce moves 2 (n - 1) / n S bytes over each rank's link, which is "
                   "the least that is possible. From these bytes and the time of question 3.1 "
                   "follows the bandwidth."},
          .report = ReportBandwidth,
          .answer = AnswerBandwidth};
}

}  // namespace torus::labs
