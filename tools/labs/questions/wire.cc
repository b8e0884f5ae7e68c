#include "tools/labs/questions/wire.h"

#include <fmt/format.h>

#include "tools/labs/questions/lab_run.h"
#include "tools/labs/questions/scaling_run.h"

namespace torus::labs {
namespace {

using study::Heading;
using study::Paragraph;
using study::Part;
using study::Table;

constexpr Cargo kAll[] = {Cargo::kGradients, Cargo::kInitialWeights, Cargo::kBuffers,
                          Cargo::kMetrics,   Cargo::kSetUp,          Cargo::kOther};

double Real(uint64_t value) { return static_cast<double>(value); }

void CountElements(const std::vector<parallel::Block>& blocks, WireCounts& counts) {
  counts.parameters = counts.tensors = counts.buffers = 0;
  for (const parallel::Block& block : blocks) {
    for (const NamedVariable& parameter : block.parameters) {
      counts.parameters += parameter.value.numel();
      counts.tensors += 1;
    }
    for (const NamedTensor& buffer : block.buffers)
      counts.buffers += static_cast<int64_t>(buffer.value.bytes());
  }
}

Table EmptyTable() {
  return Table("Bytes that all ranks sent, by what they are for",
               {{"what"},
                {"before step 0", "bytes", 0},
                {"in an epoch", "bytes", 0},
                {"of the epoch", "%", 4},
                {"in an evaluation", "bytes", 0},
                {"messages in all", "", 0},
                {"by the formula", "bytes", 0}},
               "The formula: of the epoch for gradients, before step 0 for weights, each time for "
               "buffers.");
}

Sent Of(const std::map<Cargo, Sent>& sent, Cargo cargo) {
  const auto found = sent.find(cargo);
  return found == sent.end() ? Sent() : found->second;
}

study::Cell FormulaCell(const WireCounts& counts, Cargo cargo) {
  if (cargo == Cargo::kGradients) return Real(ExpectedGradients(counts));
  if (cargo == Cargo::kInitialWeights) return Real(ExpectedWeights(counts));
  if (cargo == Cargo::kBuffers) return Real(ExpectedBuffers(counts));
  return {};
}

uint64_t BytesOf(const std::map<Cargo, Sent>& sent) {
  uint64_t bytes = 0;
  for (const auto& [cargo, of] : sent) bytes += of.bytes;
  return bytes;
}

Table Filled(const WireCounts& counts) {
  Table table = EmptyTable();
  const double all = Real(BytesOf(counts.epoch));
  for (const Cargo cargo : kAll) {
    const Sent before = Of(counts.set_up, cargo), epoch = Of(counts.epoch, cargo),
               evaluation = Of(counts.evaluation, cargo);
    table.Add({NameOf(cargo), Real(before.bytes), Real(epoch.bytes), 100 * Real(epoch.bytes) / all,
               Real(evaluation.bytes), Real(before.messages + epoch.messages + evaluation.messages),
               FormulaCell(counts, cargo)});
  }
  return table;
}

std::string FormulaOf(const WireCounts& c) {
  return fmt::format(
      "Gradients: steps x 2 (n - 1) x 4 bytes x (parameters + tensors) = {} x 2 x {} x 4 x ({} + "
      "{}) = {} bytes; a flag for each parameter tensor says whether there is a gradient. Initial "
      "weights: (n - 1) x 4 x {} = {} bytes. Buffers: (n - 1) x {} = {} bytes before step 0 and "
      "again at the end of the epoch, so that all replicas evaluate with the same ones.",
      c.steps, c.ranks - 1, c.parameters, c.tensors, ExpectedGradients(c), c.parameters,
      ExpectedWeights(c), c.buffers, ExpectedBuffers(c));
}

study::Plot PlotOf(const WireCounts& counts) {
  study::Plot plot{.title = "Bytes of an epoch and of what comes before it",
                   .x = {"what"},
                   .y = {"bytes", "B", true},
                   .kind = study::PlotKind::kBars};
  study::Series before{.name = "before step 0"}, epoch{.name = "in an epoch"};
  for (const Cargo cargo : kAll) {
    const double x = Real(plot.categories.size());
    plot.categories.emplace_back(NameOf(cargo));
    before.points.push_back({x, Real(Of(counts.set_up, cargo).bytes)});
    epoch.points.push_back({x, Real(Of(counts.epoch, cargo).bytes)});
  }
  plot.series = {before, epoch};
  return plot;
}

std::vector<Part> Answer(const LabOptions& o, const Tell& tell) {
  const WireCounts counts = CountWire(o, tell);
  return {Heading{"What was counted"}, Filled(counts), Paragraph{FormulaOf(counts)},
          PlotOf(counts)};
}

std::vector<Asked> Report(const LabOptions&) {
  Table table = EmptyTable();
  for (const Cargo cargo : kAll) table.Add({NameOf(cargo), {}, {}, {}, {}, {}, {}});
  return {{"What must cross the wire besides gradients? Say why each of them must."},
          {"Fill in the table.", table},
          {"What would go wrong without each of them?"}};
}

}  // namespace

WireCounts CountWire(const LabOptions& o, const Tell& tell) {
  WireCounts counts{.ranks = o.ranks.back()};
  ByteCounter counter;
  LabRun run(
      ForRanks(o, o.batches.front(), counts.ranks),
      {.images = o.images,
       .test_images = o.test_images,
       .links = LinksOf(o, counts.ranks),
       .wrap_transport = [&](parallel::Transport& inner) { return counter.Wrap(inner); },
       .on_blocks = [&](std::vector<parallel::Block>& blocks) { CountElements(blocks, counts); }});
  counts.set_up = counter.Take();
  const Epoch epoch = run.TrainEpoch();
  counts.steps = epoch.steps;
  counts.epoch = counter.Take();
  run.Test();
  counts.evaluation = counter.Take();
  tell(fmt::format("{} steps on {} ranks: {} bytes", counts.steps, counts.ranks,
                   BytesOf(counts.epoch)));
  return counts;
}

uint64_t ExpectedGradients(const WireCounts& c) {
  return static_cast<uint64_t>(c.steps * 2 * (c.ranks - 1) * 4 * (c.parameters + c.tensors));
}

uint64_t ExpectedWeights(const WireCounts& c) {
  return static_cast<uint64_t>((c.ranks - 1) * 4 * c.parameters);
}

uint64_t ExpectedBuffers(const WireCounts& c) {
  return static_cast<uint64_t>((c.ranks - 1) * c.buffers);
}

Lab WireContentsLab() {
  return {.name = "q6",
          .question = "6",
          .title = "what crosses the wire besides gradients",
          .task = {"Every message between the ranks is counted by what it is for: before the first "
                   "step, in an epoch on 4 ranks, and in an evaluation."},
          .report = Report,
          .answer = Answer};
}

}  // namespace torus::labs
