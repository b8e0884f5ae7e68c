#include "recipes/run/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "data/datasets/open_dataset.h"
#include "parallel/data_parallel/strategy_factory.h"
#include "recipes/report/units.h"
#include "recipes/settings/settings_json.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

Json RankJson(const parallel::RankTime& time) {
  return {{"rank", time.place.rank},
          {"replica", time.place.replica},
          {"tensor_rank", time.place.tensor.rank},
          {"stages", time.place.stages},
          {"threads", time.threads},
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

Json PlansJson(const std::optional<cuda::PlanCounts>& plans) {
  if (!plans) return nullptr;
  return {{"made", plans->made},
          {"compiled", plans->compiled},
          {"known", plans->known},
          {"timed", plans->timed},
          {"fallbacks", plans->fallbacks}};
}

Json ScoreOrNull(const std::optional<parallel::EvaluationResult>& score, bool accuracy) {
  return score ? ScoreJson(*score, accuracy) : Json();
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

std::string RanksText(const Json& summary) {
  std::string text =
      fmt::format("{:16}{:>9}{:>10}{:>10}{:>8}{:>11}{:>8}{:>8}{:>8}\n", "time", "forward",
                  "backward", "transfer", "reduce", "optimizer", "data", "idle", "other");
  for (const Json& rank : summary.at("ranks")) {
    text += fmt::format("{:16}",
                        fmt::format("  rank {} stage {}", rank.at("rank").get<int>(),
                                    fmt::join(rank.at("stages").get<std::vector<int>>(), ",")));
    const Json& seconds = rank.at("seconds");
    const double wall = seconds.at("wall").get<double>();
    for (const auto& [key, width] : kColumns)
      text += fmt::format("{:>{}.1f} %",
                          wall > 0 ? 100 * seconds.at(key).get<double>() / wall : 0.0, width - 2);
    text += "\n";
  }
  return text;
}

// Of the rank that waited most. Empty unless it is above a few percent.
std::string DataText(const Json& summary) {
  constexpr double kFew = 0.03;
  double share = 0;
  for (const Json& rank : summary.at("ranks")) {
    const Json& seconds = rank.at("seconds");
    const double wall = seconds.at("wall").get<double>();
    if (wall > 0) share = std::max(share, seconds.at("data_wait").get<double>() / wall);
  }
  if (share <= kFew) return "";
  const Json& settings = summary.at("settings");
  const std::string data = settings.at("data").get<std::string>();
  const bool may_cache = data::IsOfImageFiles(data) && settings.value("image-cache", "").empty();
  return fmt::format("data            {:.0f} % of the time was waited for {}: more --threads{}\n",
                     100 * share, summary.at("unit").get<std::string>(),
                     may_cache ? " or --image-cache" : "");
}

std::string LinkText(const std::string& name, const std::string& what, uint64_t sent,
                     uint64_t raw) {
  return fmt::format("{:16}{} {}, float32 {} ({:.2f} x)\n", name, FormatBytes(sent), what,
                     FormatBytes(raw), static_cast<double>(raw) / static_cast<double>(sent));
}

// Of many links the sums of each kind.
std::string LinkSumsText(const Json& links) {
  struct Sum {
    uint64_t sent = 0, raw = 0;
    int links = 0;
  };
  std::map<std::string, Sum> sums;
  for (const Json& link : links) {
    Sum& sum = sums[link.at("what").get<std::string>()];
    sum.sent += link.at("sent_bytes").get<uint64_t>();
    sum.raw += link.at("float32_bytes").get<uint64_t>();
    ++sum.links;
  }
  std::string text;
  for (const auto& [what, sum] : sums)
    text += LinkText(fmt::format("{} links", sum.links), what, sum.sent, sum.raw);
  return text;
}

std::string LinksText(const Json& summary) {
  constexpr size_t kMostListed = 32;
  const Json& links = summary.at("links");
  if (links.size() > kMostListed) return LinkSumsText(links);
  std::string text;
  for (const Json& link : links)
    text +=
        LinkText(fmt::format("link {} -> {}", link.at("from").get<int>(), link.at("to").get<int>()),
                 link.at("what").get<std::string>(), link.at("sent_bytes").get<uint64_t>(),
                 link.at("float32_bytes").get<uint64_t>());
  return text;
}

// JSON has no infinity and no NaN; they are read back as null.
double NumberOf(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::string ScoreText(const Json& summary, const char* part) {
  const Json& result = summary.at(part);
  if (result.is_null()) return fmt::format("{:16}not evaluated\n", part);
  if (!std::isfinite(NumberOf(result.at("loss"))))
    return fmt::format("{:16}no score: its loss is not finite\n", part);
  const std::string score =
      result.contains("accuracy")
          ? fmt::format("accuracy        {:.2f} %", 100 * result.at("accuracy").get<double>())
          : fmt::format("perplexity      {:.4f}", NumberOf(result.at("perplexity")));
  return fmt::format("{} of {} {} {}, loss {:.4f}\n", score,
                     FormatCount(result.at("samples").get<double>()), part,
                     summary.at("unit").get<std::string>(), NumberOf(result.at("loss")));
}

std::string TestText(const Json& summary) { return ScoreText(summary, "test"); }

std::string ValidationText(const Json& summary) {
  return summary.at("validation").is_null() ? "" : ScoreText(summary, "validation");
}

std::string EarlyStopText(const Json& summary) {
  const Json& patience = summary.at("early_stop");
  if (patience.is_null()) return "";
  return fmt::format("early stop      after step {}: {} evaluations were no better than the best\n",
                     summary.at("steps").get<int64_t>(), patience.get<int64_t>());
}

std::string SpeedText(const Json& summary) {
  return fmt::format("speed           {} {}/s over {} steps in {}\n",
                     FormatCount(summary.at("samples_per_second").get<double>()),
                     summary.at("unit").get<std::string>(),
                     FormatCount(summary.at("steps_here").get<double>()),
                     FormatSeconds(summary.at("seconds").get<double>()));
}

std::string BubbleText(const Json& summary) {
  const Json& bubble = summary.at("bubble");
  return fmt::format(
      "bubble          {:.1f} % measured; ideal {:.1f} % with equal stages, {:.1f} % with these\n",
      100 * bubble.at("measured").get<double>(), 100 * bubble.at("ideal").get<double>(),
      100 * bubble.at("balanced").get<double>());
}

// For replicas that step alone.
std::string DriftText(const Json& summary) {
  const Json& settings = summary.at("settings");
  if (settings.at("replicas") == 1 ||
      parallel::KeepsReplicasEqual(settings.at("strategy").get<std::string>()))
    return "";
  return fmt::format(
      "drift           replicas are up to {:.3g} % of the weights' norm from replica 0\n",
      100 * NumberOf(summary.at("drift")));
}

// What --cut auto predicted, compared with what was measured.
std::string PredictedText(const Json& summary) {
  if (summary.at("predicted").is_null()) return "";
  const Json& predicted = summary.at("predicted");
  const std::string text = ToText(
      CutPrediction{predicted.at("seconds"), predicted.at("bubble"), predicted.at("peak_bytes")});
  std::vector<std::string> peaks;
  for (const Json& rank : summary.at("ranks"))
    if (rank.contains("peak_bytes"))
      peaks.push_back(FormatBytes(rank.at("peak_bytes").get<uint64_t>()));
  return fmt::format(
      "predicted       {}\ncame            {} a step, bubble {:.1f} %{}\n", text,
      FormatSeconds(summary.at("step_seconds").get<double>()),
      100 * summary.at("bubble").at("measured").get<double>(),
      peaks.empty() ? "" : fmt::format(", memory of the ranks {}", fmt::join(peaks, ", ")));
}

std::string MemoryText(const Json& summary) {
  const Json& memory = summary.at("memory");
  const bool gpu = summary.at("settings").value("device", "cpu") != "cpu";
  return fmt::format("{:16}peak {}, held {}\n", gpu ? "GPU memory" : "memory",
                     FormatBytes(memory.at("peak_bytes").get<uint64_t>()),
                     FormatBytes(memory.at("held_bytes").get<uint64_t>()));
}

}  // namespace

Json ScoreJson(const parallel::EvaluationResult& test, bool accuracy) {
  Json score = accuracy ? Json{{"correct", test.correct},
                               {"accuracy", static_cast<double>(test.correct) /
                                                static_cast<double>(test.samples)}}
                        : Json{{"perplexity", std::exp(test.loss)}};
  if (!std::isfinite(test.loss))
    for (Json& figure : score) figure = nullptr;
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
          {"early_stop", input.early_stop == 0 ? Json() : Json(input.early_stop)},
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
          {"plans", PlansJson(input.plans)},
          {"resumed_from", input.resumed_from},
          {"epochs_done",
           static_cast<double>(input.trainer.step()) / static_cast<double>(input.steps_per_epoch)},
          {"samples", totals.samples},
          {"seconds", totals.seconds},
          {"samples_per_second", totals.seconds > 0 ? samples / totals.seconds : 0},
          {"unit", input.unit},
          {"test", ScoreOrNull(input.test, input.accuracy)},
          {"validation", ScoreOrNull(input.validation, input.accuracy)},
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
  const auto steps = summary.at("skipped_steps").get<int64_t>();
  return steps == 0 ? "" : fmt::format("skipped         {} step{}\n", steps, steps == 1 ? "" : "s");
}

std::string LossScaleText(const Json& summary) {
  const auto scale = summary.at("loss_scale").get<int64_t>();
  return scale == 0 ? "" : fmt::format("loss scale      {} at the end\n", scale);
}

// Empty on a CPU, which has no CUDA graphs.
std::string GraphsText(const Json& summary) {
  const auto steps = summary.at("graph_steps").get<int64_t>();
  const auto why_not = summary.at("why_no_graph").get<std::string>();
  if (steps == 0 && why_not.empty()) return "";
  return fmt::format(
      "CUDA graphs     {} of {} steps, {} checks, {} updates{}{}\n", steps,
      summary.at("steps_here").get<int64_t>(), summary.at("graph_checks").get<int64_t>(),
      summary.at("graph_updates").get<int64_t>(), why_not.empty() ? "" : ": ", why_not);
}

namespace {

// The calls that took the slow way most often.
std::string FallbacksText(const Json& plans) {
  constexpr size_t kMost = 3;
  std::vector<std::pair<int64_t, std::string>> all;
  for (const auto& [what, calls] : plans.at("fallbacks").items())
    all.emplace_back(calls.get<int64_t>(), what);
  if (all.empty()) return "";
  std::ranges::stable_sort(all, std::greater(), &std::pair<int64_t, std::string>::first);
  const size_t shown = std::min(all.size(), kMost);
  std::vector<std::string> texts;
  for (const auto& [calls, what] : std::span(all).first(shown))
    texts.push_back(fmt::format("{} x {}", calls, what));
  if (all.size() > shown)
    texts.push_back(fmt::format("{} others in summary.json", all.size() - shown));
  return fmt::format("no fast plan    {}\n", fmt::join(texts, "; "));
}

// Empty on a CPU, which has no plans.
std::string PlansText(const Json& summary) {
  const Json& plans = summary.at("plans");
  if (plans.is_null()) return "";
  return fmt::format(
             "plans           {} made, {} compiled at run time, {} chosen before, {} "
             "proposals timed\n",
             plans.at("made").get<int64_t>(), plans.at("compiled").get<int64_t>(),
             plans.at("known").get<int64_t>(), plans.at("timed").get<int64_t>()) +
         FallbacksText(plans);
}

// A line for which a summary of another version, or one that was edited, lacks a figure is left
// out.
std::string Lines(const Json& summary, std::initializer_list<std::string (*)(const Json&)> texts) {
  std::string all;
  for (const auto text : texts) try {
      all += text(summary);
    } catch (const Json::exception&) {
    }
  return all;
}

}  // namespace

std::string ToText(const Json& summary) {
  std::string text = Lines(summary, {TestText, ValidationText, EarlyStopText, SkippedText,
                                     LossScaleText, GraphsText, PlansText});
  const Json steps = summary.value("steps_here", Json());
  if (steps.is_number() && steps > 0)
    text += Lines(
        summary, {SpeedText, RanksText, DataText, BubbleText, PredictedText, DriftText, LinksText});
  return text + Lines(summary, {MemoryText});
}

}  // namespace torus::recipes
