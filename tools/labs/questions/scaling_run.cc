#include "tools/labs/questions/scaling_run.h"

#include <algorithm>

#include "recipes/data/task_data.h"
#include "recipes/settings/settings_json.h"
#include "runtime/error.h"
#include "tools/labs/questions/kept_runs.h"

namespace torus::labs {
namespace {

using Json = nlohmann::json;

std::string NameOf(int64_t batch, int64_t ranks) {
  return fmt::format("batch {} a rank, {} rank{}", batch, ranks, ranks == 1 ? "" : "s");
}

// Of gradients, by all ranks so far.
double ReducedBytes(LabRun& run) {
  uint64_t bytes = 0;
  for (const parallel::LinkBytes& link : run.trainer().totals().links)
    if (link.what == "all-reduce") bytes += link.sent;
  return static_cast<double>(bytes);
}

// Gradients are summed in f32, with one element more for each parameter, which says whether there
// is a gradient.
double GradientBytes(const std::vector<parallel::Block>& blocks) {
  int64_t elements = 0;
  for (const parallel::Block& block : blocks)
    for (const NamedVariable& parameter : block.parameters) elements += parameter.value.numel() + 1;
  return 4 * static_cast<double>(elements);
}

}  // namespace

int64_t LargestBatch(const LabOptions& o) { return o.batches.back() * o.ranks.back(); }

int64_t CommonImages(const LabOptions& o, int64_t largest) {
  const int64_t all = recipes::OpenTaskData(ForRanks(o, o.batches.front(), 1)).train.size;
  const int64_t asked = o.images == 0 ? all : std::min(o.images, all);
  Require(asked >= largest, "labs",
          "{} images do not make one batch of {}: give smaller --batches or more --images", asked,
          largest);
  return asked - asked % largest;
}

std::vector<int64_t> RanksWithOne(const LabOptions& o) {
  std::vector<int64_t> ranks = o.ranks;
  if (ranks.front() != 1) ranks.insert(ranks.begin(), 1);
  return ranks;
}

ScalingRun MeasureSecondEpoch(const LabOptions& o, int64_t images, int64_t batch, int64_t ranks,
                              bool traces, const Tell& tell) {
  ScalingRun result{.batch = batch, .ranks = ranks};
  LabRun run(ForRanks(o, batch, ranks),
             {.images = images,
              .links = LinksOf(o, ranks),
              .traces = traces,
              .on_blocks = [&result](std::vector<parallel::Block>& blocks) {
                result.gradient_bytes = GradientBytes(blocks);
              }});
  run.TrainEpoch();
  const double before = ReducedBytes(run);
  result.epoch = run.TrainEpoch();
  if (traces) result.times = StepTimesOf(result.epoch.events, ranks);
  result.epoch.events.clear();
  result.sent_bytes =
      (ReducedBytes(run) - before) / static_cast<double>(ranks * result.epoch.steps);
  tell(LineOf(result));
  return result;
}

std::string LineOf(const ScalingRun& run) {
  return fmt::format("{}: {:.2f} s, {:.0f} images/s", NameOf(run.batch, run.ranks),
                     run.epoch.seconds, run.epoch.ImagesPerSecond());
}

Json KeyOf(const LabOptions& o, int64_t images, int64_t batch, int64_t ranks, bool traces) {
  return {{"run", recipes::ToJson(ForRanks(o, batch, ranks))},
          {"images", images},
          {"links", LinksOf(o, ranks)},
          {"traces", traces}};
}

Json ToJson(const ScalingRun& run) {
  const StepTimes& times = run.times;
  return {{"batch", run.batch},
          {"ranks", run.ranks},
          {"epoch", ToJson(run.epoch)},
          {"times", {times.compute, times.communicate, times.reduce, times.steps}},
          {"gradient_bytes", run.gradient_bytes},
          {"sent_bytes", run.sent_bytes}};
}

ScalingRun ScalingRunFromJson(const Json& json) {
  const Json& times = json.at("times");
  return {.batch = json.at("batch"),
          .ranks = json.at("ranks"),
          .epoch = EpochFromJson(json.at("epoch")),
          .times = {times.at(0), times.at(1), times.at(2), times.at(3)},
          .gradient_bytes = json.at("gradient_bytes"),
          .sent_bytes = json.at("sent_bytes")};
}

namespace {

ScalingRun Kept(KeptRuns& kept, const LabOptions& o, int64_t images, int64_t batch, int64_t ranks,
                bool traces, const Tell& tell) {
  bool measured = false;
  const Json json =
      kept.Get(NameOf(batch, ranks), o.settings.seed, KeyOf(o, images, batch, ranks, traces), [&] {
        measured = true;
        return ToJson(MeasureSecondEpoch(o, images, batch, ranks, traces, tell));
      });
  ScalingRun run = ScalingRunFromJson(json);
  if (!measured) tell(LineOf(run));
  return run;
}

}  // namespace

std::vector<ScalingRun> MeasureAll(const LabOptions& o, bool traces, const Tell& tell) {
  const int64_t images = CommonImages(o, LargestBatch(o));
  KeptRuns kept(o, kKeptTimes, tell);
  std::vector<ScalingRun> runs;
  for (const int64_t batch : o.batches)
    for (const int64_t ranks : RanksWithOne(o))
      runs.push_back(Kept(kept, o, images, batch, ranks, traces, tell));
  return runs;
}

const ScalingRun& RunOf(const std::vector<ScalingRun>& runs, int64_t batch, int64_t ranks) {
  const auto found = std::ranges::find_if(
      runs, [&](const ScalingRun& run) { return run.batch == batch && run.ranks == ranks; });
  Require(found != runs.end(), "labs", "batch {} on {} ranks was not measured", batch, ranks);
  return *found;
}

const ScalingRun& Example(const std::vector<ScalingRun>& runs, const LabOptions& o) {
  return RunOf(runs, o.batches.front(), o.ranks.back());
}

}  // namespace torus::labs
