#include "recipes/run/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "recipes/report/units.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

Json RankJson(const parallel::RankTime& time) {
  return {{"rank", time.place.rank},
          {"replica", time.place.replica},
          {"tensor_rank", time.place.tensor.rank},
          {"stages", time.place.stages},
          {"weights_bytes", time.weights_bytes},
          {"optimizer_bytes", time.optimizer_bytes},
          {"state_peak_bytes", time.peak_bytes},
          {"seconds",
           {{"forward", time.forward},
            {"backward", time.backward},
            {"transfer", time.transfer},
            {"reduce", time.reduce},
            {"optimizer", time.optimizer},
            {"data_wait", time.data_wait},
            {"idle", time.idle},
            {"other", time.other},
            {"wall", time.wall}}}};
}

Json LinkJson(const parallel::LinkBytes& link) {
  return {{"from", link.from},
          {"to", link.to},
          {"what", link.what},
          {"sent_bytes", link.sent},
          {"float32_bytes", link.uncompressed}};
}

Json MemoryJson(const SummaryInput& input) {
  uint64_t weights = 0, optimizer = 0;
  for (const parallel::RankTime& rank : input.trainer.totals().ranks) {
    weights += rank.weights_bytes;
    optimizer += rank.optimizer_bytes;
  }
  return {{"peak_bytes", input.memory.peak_bytes},
          {"held_bytes", input.memory.held_bytes},
          {"weights_bytes", weights},
          {"optimizer_bytes", optimizer}};
}

Json TestJson(const SummaryInput& input) {
  if (!input.test) return nullptr;
  return ScoreJson(*input.test, input.accuracy);
}

// Keys of a rank's seconds and the widths of their columns.
constexpr std::array<std::pair<const char*, int>, 8> kColumns = {{{"forward", 9},
                                                                  {"backward", 10},
                                                                  {"transfer", 10},
                                                                  {"reduce", 8},
                                                                  {"optimizer", 11},
                                                                  {"data_wait", 8},
                                                                  {"idle", 8},
                                                                  {"other", 8}}};

std::string RanksText(const Json& ranks) {
  std::string text =
      fmt::format("{:16}{:>9}{:>10}{:>10}{:>8}{:>11}{:>8}{:>8}{:>8}\n", "time", "forward",
                  "backward", "transfer", "reduce", "optimizer", "data", "idle", "other");
  for (const Json& rank : ranks) {
    text +=
        fmt::format("{:16}", fmt::format("  rank {} stage {}", rank["rank"].get<int>(),
                                         fmt::join(rank["stages"].get<std::vector<int>>(), ",")));
    const Json& seconds = rank["seconds"];
    const double wall = seconds["wall"].get<double>();
    for (const auto& [key, width] : kColumns)
      text += fmt::format("{:>{}.1f} %", wall > 0 ? 100 * seconds[key].get<double>() / wall : 0.0,
                          width - 2);
    text += "\n";
  }
  return text;
}

std::string LinksText(const Json& links) {
  std::string text;
  for (const Json& link : links) {
    const auto sent = link["sent_bytes"].get<uint64_t>(),
               raw = link["float32_bytes"].get<uint64_t>();
    text +=
        fmt::format("{:16}{} {}, float32 {} ({:.2f} x)\n",
                    fmt::format("link {} -> {}", link["from"].get<int>(), link["to"].get<int>()),
                    FormatBytes(sent), link["what"].get<std::string>(), FormatBytes(raw),
                    static_cast<double>(raw) / static_cast<double>(sent));
  }
  return text;
}

// JSON has no infinity and no NaN; they are read back as null.
double NumberOf(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::string TestText(const Json& summary) {
  const Json& test = summary["test"];
  if (test.is_null()) return "test            not evaluated\n";
  const std::string score =
      test.contains("accuracy")
          ? fmt::format("accuracy        {:.2f} %", 100 * test["accuracy"].get<double>())
          : fmt::format("perplexity      {:.4f}", NumberOf(test["perplexity"]));
  return fmt::format("{} of {} test {}, loss {:.4f}\n", score,
                     FormatCount(test["samples"].get<double>()), summary["unit"].get<std::string>(),
                     NumberOf(test["loss"]));
}

std::string SpeedText(const Json& summary) {
  return fmt::format("speed           {} {}/s over {} steps in {}\n",
                     FormatCount(summary["samples_per_second"].get<double>()),
                     summary["unit"].get<std::string>(),
                     FormatCount(summary["steps_here"].get<double>()),
                     FormatSeconds(summary["seconds"].get<double>()));
}

std::string BubbleText(const Json& bubble) {
  return fmt::format(
      "bubble          {:.1f} % measured; ideal {:.1f} % with equal stages, {:.1f} % with these\n",
      100 * bubble["measured"].get<double>(), 100 * bubble["ideal"].get<double>(),
      100 * bubble["balanced"].get<double>());
}

// For replicas that exchange nothing.
std::string DriftText(const Json& summary) {
  const Json& settings = summary["settings"];
  if (settings["strategy"] != "none" || settings["replicas"] == 1) return "";
  return fmt::format(
      "drift           replicas are up to {:.3g} % of the weights' norm from replica 0\n",
      100 * NumberOf(summary["drift"]));
}

// What --cut auto predicted, compared with what was measured.
std::string PredictedText(const Json& summary) {
  if (summary["predicted"].is_null()) return "";
  const Json& predicted = summary["predicted"];
  const std::string text =
      ToText(CutPrediction{predicted["seconds"], predicted["bubble"], predicted["peak_bytes"]});
  std::vector<std::string> peaks;
  for (const Json& rank : summary["ranks"])
    if (rank.contains("peak_bytes"))
      peaks.push_back(FormatBytes(rank["peak_bytes"].get<uint64_t>()));
  return fmt::format(
      "predicted       {}\ncame            {} a step, bubble {:.1f} %{}\n", text,
      FormatSeconds(summary["step_seconds"].get<double>()),
      100 * summary["bubble"]["measured"].get<double>(),
      peaks.empty() ? "" : fmt::format(", memory of the ranks {}", fmt::join(peaks, ", ")));
}

std::string MemoryText(const Json& memory) {
  return fmt::format("memory          peak {}, held {}\n",
                     FormatBytes(memory["peak_bytes"].get<uint64_t>()),
                     FormatBytes(memory["held_bytes"].get<uint64_t>()));
}

}  // namespace

Json ScoreJson(const parallel::EvaluationResult& test, bool accuracy) {
  const Json score = accuracy ? Json{{"correct", test.correct},
                                     {"accuracy", static_cast<double>(test.correct) /
                                                      static_cast<double>(test.samples)}}
                              : Json{{"perplexity", std::exp(test.loss)}};
  Json json = {{"samples", test.samples}, {"loss", test.loss}};
  json.update(score);
  return json;
}

Json MakeSummary(const SummaryInput& input) {
  const parallel::TrainTotals& totals = input.trainer.totals();
  const auto samples = static_cast<double>(totals.samples);
  Json ranks = Json::array(), links = Json::array();
  for (const parallel::RankTime& time : totals.ranks) {
    ranks.push_back(RankJson(time));
    const auto rank = static_cast<size_t>(time.place.rank);
    if (rank < input.rank_peaks.size()) ranks.back()["peak_bytes"] = input.rank_peaks[rank];
  }
  for (const parallel::LinkBytes& link : totals.links) links.push_back(LinkJson(link));
  return {{"title", input.title},
          {"finished", input.finished},
          {"error", input.error.empty() ? Json() : Json(input.error)},
          {"settings", ToJson(input.settings)},
          {"cuts", input.cuts.cuts},
          {"measured_layer_seconds", input.cuts.measured},
          {"predicted", input.cuts.predicted ? ToJson(*input.cuts.predicted) : Json()},
          {"step_seconds", input.step_seconds},
          {"steps", input.trainer.step()},
          {"steps_here", totals.steps},
          {"skipped_steps", totals.skipped_steps},
          {"loss_scale", totals.loss_scale},
          {"graph_steps", totals.graph_steps},
          {"graph_checks", totals.graph_checks},
          {"graph_updates", totals.graph_updates},
          {"why_no_graph", totals.why_no_graph},
          {"resumed_from", input.resumed_from},
          {"epochs_done",
           static_cast<double>(input.trainer.step()) / static_cast<double>(input.steps_per_epoch)},
          {"samples", totals.samples},
          {"seconds", totals.seconds},
          {"samples_per_second", totals.seconds > 0 ? samples / totals.seconds : 0},
          {"unit", input.unit},
          {"test", TestJson(input)},
          {"ranks", ranks},
          {"links", links},
          {"drift", parallel::Drift(totals.ranks)},
          {"bubble",
           {{"measured", totals.bubble.measured},
            {"ideal", totals.bubble.ideal},
            {"balanced", totals.bubble.balanced}}},
          {"memory", MemoryJson(input)}};
}

std::string SkippedText(const Json& summary) {
  const auto steps = summary["skipped_steps"].get<int64_t>();
  return steps == 0 ? "" : fmt::format("skipped         {} step{}\n", steps, steps == 1 ? "" : "s");
}

std::string LossScaleText(const Json& summary) {
  const auto scale = summary["loss_scale"].get<int64_t>();
  return scale == 0 ? "" : fmt::format("loss scale      {} at the end\n", scale);
}

// Empty on a CPU, which has no CUDA graphs.
std::string GraphsText(const Json& summary) {
  const auto steps = summary["graph_steps"].get<int64_t>();
  const auto why_not = summary["why_no_graph"].get<std::string>();
  if (steps == 0 && why_not.empty()) return "";
  return fmt::format("CUDA graphs     {} of {} steps, {} checks, {} updates{}{}\n", steps,
                     summary["steps_here"].get<int64_t>(), summary["graph_checks"].get<int64_t>(),
                     summary["graph_updates"].get<int64_t>(), why_not.empty() ? "" : ": ", why_not);
}

std::string ToText(const Json& summary) {
  std::string text =
      TestText(summary) + SkippedText(summary) + LossScaleText(summary) + GraphsText(summary);
  if (summary["steps_here"] > 0)
    text += SpeedText(summary) + RanksText(summary["ranks"]) + BubbleText(summary["bubble"]) +
            PredictedText(summary) + DriftText(summary) + LinksText(summary["links"]);
  return text + MemoryText(summary["memory"]);
}

}  // namespace torus::recipes
