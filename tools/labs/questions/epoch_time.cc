#include "tools/labs/questions/epoch_time.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "recipes/settings/device.h"
#include "tools/labs/questions/kept_runs.h"
#include "tools/labs/questions/memory_bound.h"
#include "tools/labs/questions/scaling_run.h"

namespace torus::labs {
namespace {

using Json = nlohmann::json;
using study::Heading;
using study::Paragraph;
using study::Part;
using study::Table;

// The memory limit of a CPU's tensors without --memory-limit: small enough that the table reaches
// it, with all images and with --quick.
constexpr uint64_t kUsualLimit = uint64_t{3} << 30, kQuickLimit = uint64_t{1} << 30;
constexpr int64_t kGrowth = 4;  // of the batch behind the last that was asked for

struct Row {
  int64_t batch = 0;
  bool held = true;
  uint64_t peak = 0;
  ScalingRun run;
};

uint64_t LimitOf(const LabOptions& o) {
  if (o.memory_limit > 0 || o.settings.device != "cpu") return o.memory_limit;
  return o.quick ? kQuickLimit : kUsualLimit;
}

double Gigabytes(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

Table EmptyTable() {
  return Table("The second epoch on one rank", {{"batch", "images", 0},
                                                {"epoch without data I/O", "s", 2},
                                                {"waiting for data", "s", 3},
                                                {"speed", "images/s", 0},
                                                {"peak memory of tensors", "GiB", 2},
                                                {"result", "", 0}});
}

Json ToJson(const Row& row) {
  return {{"batch", row.batch}, {"held", row.held}, {"peak", row.peak}, {"run", ToJson(row.run)}};
}

Row RowOf(const Json& json) {
  return {.batch = json.at("batch"),
          .held = json.at("held"),
          .peak = json.at("peak"),
          .run = ScalingRunFromJson(json.at("run"))};
}

// The rows of the table, each measured or kept from an earlier start.
class Rows {
 public:
  Rows(const LabOptions& o, const Tell& tell)
      : o_(o),
        tell_(tell),
        bound_(recipes::CheckedDevice("q1", o.settings.device), LimitOf(o)),
        kept_(o, kKeptTimes, tell) {}

  // Returns whether the memory sufficed.
  bool Add(int64_t images, int64_t batch) {
    Json key = KeyOf(o_, images, batch, 1, false);
    key["limit"] = LimitOf(o_);
    const Json json = kept_.Get(fmt::format("batch {}", batch), o_.settings.seed, key,
                                [&] { return ToJson(Measured(images, batch)); });
    rows_.push_back(RowOf(json));
    const Row& row = rows_.back();
    tell_(row.held ? LineOf(row.run) : fmt::format("batch {}: memory cannot hold it", batch));
    return row.held;
  }
  std::vector<Row> Take() { return std::move(rows_); }

 private:
  Row Measured(int64_t images, int64_t batch) const {
    Row row{.batch = batch};
    row.held = bound_.Holds(
        [&] { row.run = MeasureSecondEpoch(o_, images, batch, 1, false, [](const auto&) {}); },
        row.peak);
    return row;
  }

  const LabOptions& o_;
  const Tell& tell_;
  const MemoryBound bound_;
  KeptRuns kept_;
  std::vector<Row> rows_;
};

std::vector<Row> Measure(const LabOptions& o, const Tell& tell) {
  const int64_t images = CommonImages(o, o.batches.back());
  Rows rows(o, tell);
  for (const int64_t batch : o.batches)
    if (!rows.Add(images, batch)) return rows.Take();
  for (int64_t batch = o.batches.back() * kGrowth; batch <= images; batch *= kGrowth)
    if (!rows.Add(images - images % batch, batch)) break;
  return rows.Take();
}

Table Filled(const std::vector<Row>& rows) {
  Table table = EmptyTable();
  for (const Row& row : rows) {
    const auto batch = static_cast<double>(row.batch);
    if (!row.held) {
      table.Add({batch, {}, {}, {}, {}, "memory cannot hold it"});
      continue;
    }
    const Epoch& epoch = row.run.epoch;
    const double seconds = epoch.SecondsWithoutData();
    table.Add({batch, seconds, epoch.data_seconds, static_cast<double>(epoch.images) / seconds,
               Gigabytes(row.peak), "done"});
  }
  return table;
}

// Without a limit it is the device's own memory that ends.
std::string MemoryEnd(uint64_t limit) {
  if (limit == 0) return "the GPU's memory does not suffice";
  return fmt::format("tensors may take {:.2f} GiB here (--memory-limit), and that does not suffice",
                     Gigabytes(limit));
}

std::string EndOf(const std::vector<Row>& rows, const LabOptions& o) {
  const int64_t last = rows.back().batch;
  if (!rows.back().held)
    return fmt::format("The table ends at {} images a batch: {}.", last, MemoryEnd(LimitOf(o)));
  return fmt::format(
      "The table ends at {} images a batch with memory left: the epoch has no batch of {} images. "
      "More --images or a smaller --memory-limit shows memory's end.",
      last, last * kGrowth);
}

std::string FormulaOf(const Row& row) {
  const Epoch& epoch = row.run.epoch;
  return fmt::format(
      "Time of an epoch = time in all - waiting for data = {:.3f} s - {:.3f} s = {:.3f} s at batch "
      "{}; speed = images / time = {} / {:.3f} s = {:.0f} images/s.",
      epoch.seconds, epoch.data_seconds, epoch.SecondsWithoutData(), row.batch, epoch.images,
      epoch.SecondsWithoutData(), static_cast<double>(epoch.images) / epoch.SecondsWithoutData());
}

study::Plot PlotOf(const std::vector<Row>& rows) {
  study::Series seconds{.name = "epoch without data I/O"};
  for (const Row& row : rows)
    if (row.held)
      seconds.points.push_back(
          {static_cast<double>(row.batch), row.run.epoch.SecondsWithoutData()});
  return {.title = "Seconds of the second epoch by batch",
          .x = {"batch", "images", true},
          .y = {"epoch", "s"},
          .series = {seconds}};
}

std::vector<Part> Answer(const LabOptions& o, const Tell& tell) {
  const std::vector<Row> rows = Measure(o, tell);
  std::vector<Part> parts{Heading{"What was measured"}, Filled(rows), Paragraph{EndOf(rows, o)}};
  if (!rows.front().held) return parts;
  parts.insert(parts.end(),
               {Heading{"The formula"}, Paragraph{FormulaOf(rows.front())}, PlotOf(rows)});
  return parts;
}

std::vector<Asked> Report(const LabOptions& o) {
  Table table = EmptyTable();
  for (const int64_t batch : o.batches) table.Add({static_cast<double>(batch), {}, {}, {}, {}, {}});
  for (int i = 0; i < 2; ++i) table.Add({{}, {}, {}, {}, {}, {}});
  return {
      {"Fill in the table; go on with four times the batch until memory cannot hold it.", table},
      {"Why does the time of an epoch change with the batch? What stops it from falling on?"},
      {"What takes the memory that grows with the batch?"}};
}

}  // namespace

Lab EpochTimeLab() {
  return {.name = "q1",
          .question = "1",
          .title = "the time of an epoch by batch size",
          .task = {"Train on one rank with batches of 32, 128, 512, ... images, each time four "
                   "times as many, until memory cannot hold one. Take the time of the second epoch "
                   "(the first warms up caches and allocators), without data I/O.",
                   "Data I/O is the time in which the rank waits for its next batch; the loader "
                   "makes batches on threads of its own meanwhile. An epoch is as many whole "
                   "batches as the images give: compare the speeds where rows have fewer images."},
          .report = Report,
          .answer = Answer,
          .one_rank = true};
}

}  // namespace torus::labs
