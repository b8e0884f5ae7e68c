#include "recipes/run/run_head.h"

#include <fmt/ranges.h>

#include "recipes/report/units.h"

namespace torus::recipes {
namespace {

std::string Many(int64_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string SizesLine(const Task& task) {
  const TaskData& data = task.data();
  const std::string validation =
      data.validation.size == 0
          ? " and"
          : fmt::format(", {} validation and",
                        FormatCount(static_cast<double>(data.validation.size)));
  return fmt::format("{}: {} training{} {} test {}, {} of {} steps", task.title(),
                     FormatCount(static_cast<double>(data.train.size)), validation,
                     FormatCount(static_cast<double>(data.test.size)), data.unit,
                     Many(task.settings().epochs, "epoch"), task.steps_per_epoch());
}

std::string LayoutLine(const Settings& s, const CutChoice& cuts) {
  const int chunks = PipelineOf(s).chunks;
  return fmt::format(
      "{}{}{} x {}{}{}, {} micro-batch{}{} of {} samples in all, codec {}{}, {}{}{}",
      Many(s.stages, "stage"),
      cuts.cuts.empty() ? "" : fmt::format(" (cut {})", fmt::join(cuts.cuts, ",")),
      chunks == 1 ? "" : fmt::format(", {} a rank", chunks), Many(s.replicas, "replica"),
      s.replicas == 1 ? "" : fmt::format(" ({})", s.strategy),
      s.tensor == 1 ? "" : fmt::format(" x {} tensor-parallel ranks", s.tensor), s.micro_batches,
      s.micro_batches == 1 ? "" : "es",
      s.accumulate == 1 ? "" : fmt::format(" x {} rounds", s.accumulate), s.batch_size, s.codec,
      s.codec_backward.empty() ? "" : fmt::format(" (backward {})", s.codec_backward),
      Many(s.threads, "thread"), s.device == "cpu" ? "" : ", on " + s.device,
      s.links.empty() ? "" : fmt::format(", links {}", fmt::join(s.links, " and ")));
}

std::string MeasuredLine(const CutChoice& cuts) {
  std::vector<std::string> times;
  for (double seconds : cuts.measured) times.push_back(fmt::format("{:.2f}", 1000 * seconds));
  return fmt::format("measured, milliseconds a layer: {}", fmt::join(times, " "));
}

}  // namespace

std::vector<std::string> RunHead(const Task& task, const CutChoice& cuts) {
  const Settings& settings = task.settings();
  std::vector<std::string> lines{SizesLine(task), LayoutLine(settings, cuts)};
  if (settings.batch_size > task.data().train.size)
    lines.push_back(fmt::format("--batch-size {} is more than there is: each step takes all {} {}",
                                FormatCount(static_cast<double>(settings.batch_size)),
                                FormatCount(static_cast<double>(task.data().train.size)),
                                task.data().unit));
  if (!cuts.measured.empty()) lines.push_back(MeasuredLine(cuts));
  if (cuts.predicted) lines.push_back("predicted: " + ToText(*cuts.predicted));
  if (const std::string line = task.notes().taken.Line(settings.init); !line.empty())
    lines.push_back(line);
  if (const auto& kept = task.notes().kept; !kept.empty())
    lines.push_back(
        fmt::format("{} lacks, so they begin at random: {}", settings.init, fmt::join(kept, ", ")));
  if (const auto& out = task.notes().left_out; !out.empty())
    lines.push_back(fmt::format("{} has besides, and they are left out: {}", settings.init,
                                fmt::join(out, ", ")));
  return lines;
}

std::string NewRateLine(const Task& task, const Settings& before, int64_t step) {
  const Settings& now = task.settings();
  const double rate = task.LearningRate(now, step);
  if (step == 0 || rate == task.LearningRate(before, step)) return "";
  return fmt::format(
      "the learning rate goes on with {:.3g}, after {:.3g} in the step before: --lr-schedule {} "
      "now "
      "ends with epoch {}, before with epoch {}",
      rate, task.LearningRate(before, step - 1), now.lr_schedule, now.epochs, before.epochs);
}

}  // namespace torus::recipes
