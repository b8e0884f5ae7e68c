#include "tools/experiments/common/codec_study.h"

#include <fmt/format.h>

#include <map>

#include "recipes/study/statistics.h"
#include "tools/experiments/common/chance.h"

namespace torus::experiments {
namespace {

using study::Cell;

constexpr const char kNone[] = "none";

// Both directions over all cuts, a step.
std::vector<double> BytesOf(const Runs& runs, const std::string& name) {
  std::vector<double> bytes = FiguresOf(runs, name, "activation_bytes");
  const std::vector<double> back = FiguresOf(runs, name, "gradient_bytes");
  for (size_t i = 0; i < bytes.size() && i < back.size(); ++i) bytes[i] += back[i];
  return bytes;
}

std::optional<double> RatioOf(const Runs& runs, const CodecTask& task, const std::string& codec) {
  const std::vector<double> ours = BytesOf(runs, NameOf(task, codec)),
                            raw = BytesOf(runs, NameOf(task, kNone));
  if (ours.empty() || raw.empty() || study::Mean(raw) == 0) return std::nullopt;
  return study::Mean(ours) / study::Mean(raw);
}

// "CIFAR10, MobileNetV2: weights".
std::string PretrainingOf(const CodecTask& task) { return NameOf(task, "weights"); }

std::vector<std::string> WithNone(std::vector<std::string> codecs) {
  codecs.insert(codecs.begin(), kNone);
  return codecs;
}

}  // namespace

std::string NameOf(const CodecTask& task, const std::string& codec) {
  return fmt::format("{}, {}: {}", task.data, task.model, codec);
}

std::vector<Training> PlanOf(const std::vector<CodecTask>& tasks,
                             const std::vector<std::string>& codecs, Scale scale) {
  std::vector<Training> plan;
  for (const CodecTask& task : tasks) {
    const bool pretrained = !task.pretraining.empty();
    if (pretrained)
      plan.push_back({.name = PretrainingOf(task),
                      .settings = SettingsOf(task.pretraining),
                      .weights = task.weights,
                      .starts_others = true});
    for (const std::string& codec : WithNone(codecs)) {
      Training training{.name = NameOf(task, codec),
                        .settings = SettingsOf(task.flags),
                        .max_steps = task.max_steps,
                        .weights = task.weights,
                        .starts_from = pretrained ? PretrainingOf(task) : ""};
      training.settings.codec = codec;
      if (codec != kNone && scale != Scale::kTiny) training.baseline = NameOf(task, kNone);
      plan.push_back(std::move(training));
    }
  }
  return plan;
}

Cell RatioCell(const Runs& runs, const CodecTask& task, const std::string& codec) {
  const std::optional<double> ratio = RatioOf(runs, task, codec);
  return ratio ? Cell(*ratio) : Cell();
}

Cell DifferenceCell(const Runs& runs, const CodecTask& task, const std::string& codec) {
  const std::string none = NameOf(task, kNone);
  return DifferenceCell(runs, NameOf(task, codec), none, none, task.metric,
                        task.metric == "loss" ? 4 : 2);
}

study::Table CodecTable(const std::vector<CodecTask>& tasks, const std::vector<std::string>& codecs,
                        const Runs& runs, const std::string& title) {
  study::Table table(title,
                     {{"data"},
                      {"model"},
                      {"codec"},
                      {"bytes, share of float32", "", 3},
                      {"metric"},
                      {"ours", "", 3},
                      {"to none, 95 % interval"}},
                     "Mean and sample deviation over the seeds; differences are those of equal "
                     "seeds, with Student's t interval. Of a loss less is better.");
  for (const CodecTask& task : tasks)
    for (const std::string& codec : WithNone(codecs))
      table.Add({task.data, task.model, codec, RatioCell(runs, task, codec), task.metric,
                 ScoreCell(runs, NameOf(task, codec), NameOf(task, kNone), task.metric),
                 DifferenceCell(runs, task, codec)});
  return table;
}

study::Table SignalTable(const std::vector<CodecTask>& tasks, const Runs& runs) {
  study::Table table("What chance gives",
                     {{"data"},
                      {"model"},
                      {"majority class", "%"},
                      {"unigrams", "nats"},
                      {"accuracy without a codec", "%"},
                      {"loss without a codec", "nats"}},
                     fmt::format("A row has a signal where codec none is {} points above the "
                                 "majority class, or {} nats below the unigrams.",
                                 kPointsAbove, kNatsBelow));
  for (const CodecTask& task : tasks) {
    const auto cell = [&](const char* key) {
      const std::vector<double> values = FiguresOf(runs, NameOf(task, kNone), key);
      return values.empty() ? Cell() : Cell(study::Summarize(values));
    };
    table.Add({task.data, task.model, cell("majority"), cell("unigrams"), cell("accuracy"),
               cell("loss")});
  }
  return table;
}

study::Plot CodecPlot(const CodecTask& task, const std::vector<std::string>& codecs,
                      const Runs& runs) {
  study::Plot plot{.title = fmt::format("{} by bytes: {}, {}", task.metric, task.data, task.model),
                   .x = {"bytes, share of float32", "", true},
                   .y = {task.metric},
                   .series = {}};
  std::map<std::string, study::Series> families;
  for (const std::string& codec : WithNone(codecs)) {
    const Cell score = ScoreCell(runs, NameOf(task, codec), NameOf(task, kNone), task.metric);
    const auto* measured = std::get_if<study::Measured>(&score);
    const std::optional<double> ratio = RatioOf(runs, task, codec);
    if (measured == nullptr || !ratio) continue;
    study::Series& family = families[codec.substr(0, codec.find(':'))];
    family.points.push_back({*ratio, measured->mean, measured->deviation});
  }
  for (auto& [name, series] : families) {
    series.name = name;
    plot.series.push_back(std::move(series));
  }
  return plot;
}

}  // namespace torus::experiments
