#include "recipes/report/report_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "recipes/report/curves.h"
#include "recipes/report/run_state.h"
#include "recipes/report/timeline.h"
#include "recipes/report/units.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

std::string LaneName(const Json& rank, bool replicas) {
  const std::string stage =
      fmt::format("stage {}", fmt::join(rank.at("stages").get<std::vector<int>>(), ", "));
  return replicas ? fmt::format("rank {} · replica {}, {}", rank.at("rank").get<int>(),
                                rank.at("replica").get<int>(), stage)
                  : fmt::format("rank {} · {}", rank.at("rank").get<int>(), stage);
}

std::vector<std::string> LaneNames(const Json& summary) {
  const bool replicas = summary.at("settings").value("replicas", 1) > 1;
  std::vector<std::string> names;
  for (const Json& rank : summary.at("ranks")) names.push_back(LaneName(rank, replicas));
  return names;
}

// 0.25 as "25.0 %".
std::string Percent(const Json& share) {
  return fmt::format("{:.1f} %", 100 * share.get<double>());
}

Json TestCard(const Json& summary) {
  const Json& test = summary.at("test");
  if (test.is_null()) return {"Test", "–", "not evaluated"};
  const bool accuracy = test.contains("accuracy");
  const std::string name = "Test " + ScoreName(test);
  if (!std::isfinite(ScoreOf(test))) return {name, "–", "its loss is not finite"};
  return {name, fmt::format("{:.2f}{}", ScoreOf(test), accuracy ? " %" : ""),
          fmt::format("after {:.3g} epochs", summary.at("epochs_done").get<double>())};
}

// "Images per second".
std::string SpeedName(std::string unit) {
  unit[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0])));
  return unit + " per second";
}

Json BytesCard(const Json& summary) {
  uint64_t sent = 0, raw = 0;
  for (const Json& link : summary.at("links")) {
    if (link.at("what") != "activations" && link.at("what") != "gradients") continue;
    sent += link.at("sent_bytes").get<uint64_t>();
    raw += link.at("float32_bytes").get<uint64_t>();
  }
  const bool one = summary.at("settings").value("stages", 2) == 1;
  if (sent == 0) return {"On the cuts", "–", one ? "one stage" : "nothing was counted"};
  return {"On the cuts", FormatBytes(sent), fmt::format("float32: {}", FormatBytes(raw))};
}

// A run that failed early may have times of no step.
Json Timed(const Json& summary, const std::string& name, const std::string& value,
           const std::string& note) {
  if (summary.at("steps_here") == 0) return {name, "–", "no step was timed"};
  return {name, value, note};
}

// A run that did not end has no figures of these.
Json BubbleCard(const Json& summary) {
  const Json& bubble = summary.at("bubble");
  if (bubble.is_null()) return {"Bubble", "–", "the run did not end"};
  return Timed(summary, "Bubble", Percent(bubble.at("measured")),
               fmt::format("ideal {}", Percent(bubble.at("ideal"))));
}

Json MemoryCard(const Json& summary) {
  const bool gpu = summary.at("settings").value("device", "cpu") != "cpu";
  const std::string name = gpu ? "Peak GPU memory" : "Peak memory";
  const Json& memory = summary.at("memory");
  if (memory.is_null()) return {name, "–", "the run did not end"};
  return {name, FormatBytes(memory.at("peak_bytes").get<uint64_t>()), "all ranks together"};
}

std::string ThreadsNote(const Json& settings) {
  if (!settings.contains("threads")) return "";
  return fmt::format("{} threads", settings["threads"].get<int64_t>());
}

Json Cards(const Json& summary) {
  return {TestCard(summary),
          Timed(summary, SpeedName(summary.at("unit")),
                FormatCount(summary.at("samples_per_second").get<double>()),
                ThreadsNote(summary.at("settings"))),
          Timed(summary, "Training time", FormatSeconds(summary.at("seconds").get<double>()),
                fmt::format("{} steps", FormatCount(summary.at("steps_here").get<double>()))),
          BubbleCard(summary),
          BytesCard(summary),
          MemoryCard(summary)};
}

// The emulated links, as --link has them; empty for none.
std::string LinkText(const Json& settings) {
  return fmt::format("{}", fmt::join(settings.value("link", std::vector<std::string>()), " and "));
}

std::string Lead(const Json& settings) {
  if (settings.empty())
    return "The run left no settings: it has neither a summary nor a checkpoint.";
  const auto many = [&](const char* key, const char* one, const char* several) {
    const auto n = settings[key].get<int64_t>();
    return fmt::format("{} {}", n, n == 1 ? one : several);
  };
  const std::string backward = settings.value("codec-backward", ""), link = LinkText(settings);
  return fmt::format("{}, {}, {}, {} schedule, codec {}{}{}", many("stages", "stage", "stages"),
                     many("replicas", "replica", "replicas"),
                     many("micro-batches", "micro-batch", "micro-batches"),
                     settings.at("schedule").get<std::string>(),
                     settings.at("codec").get<std::string>(),
                     backward.empty() ? "" : fmt::format(" (backward {})", backward),
                     link.empty() ? "" : ", links " + link);
}

// Leaves out flags whose value is empty.
Json ShownSettings(const Json& summary) {
  Json shown = Json::object();
  for (const auto& [name, value] : summary.at("settings").items())
    if (value != "" && !value.is_array())
      shown[name] = value.is_string() ? value : Json(value.dump());
  if (const std::string link = LinkText(summary.at("settings")); !link.empty())
    shown["link"] = link;
  if (!summary.at("cuts").empty())
    shown["cut"] = fmt::format("{}", fmt::join(summary.at("cuts").get<std::vector<int>>(), ","));
  return shown;
}

Json Ranks(const Json& summary, const std::vector<std::string>& names) {
  Json ranks = Json::array();
  for (size_t r = 0; r < names.size(); ++r) {
    Json seconds = summary.at("ranks").at(r).at("seconds");
    seconds["data"] = seconds["data_wait"];
    ranks.push_back({{"name", names[r]}, {"seconds", seconds}});
  }
  return ranks;
}

// What ranks do when their backwards are done: replicas sum their gradients; all ranks agree
// whether the step is finite.
const char* ReduceName(const Json& summary) {
  return summary.at("settings").value("replicas", 2) == 1 ? "Agreement" : "All-reduce";
}

// Milliseconds per step of each rank, by activity. The last row is the mean over the ranks.
Json StepTable(const Json& summary, const std::vector<std::string>& names) {
  struct Column {
    const char *title, *key;
  };
  const Column kTimes[] = {{"Step", "wall"},
                           {"Data", "data_wait"},
                           {"Forward", "forward"},
                           {"Backward", "backward"},
                           {"Transfer", "transfer"},
                           {"Waiting", "idle"},
                           {ReduceName(summary), "reduce"},
                           {"Optimizer", "optimizer"},
                           {"Other", "other"}};
  const double steps = summary.at("steps_here").get<double>();
  const auto seconds = [&](size_t rank, const Column& column) {
    return summary.at("ranks").at(rank).at("seconds").at(column.key).get<double>();
  };
  // A single rank has nothing to agree on.
  const auto is_shown = [&](const Column& column) {
    if (std::string_view(column.key) != "reduce") return true;
    for (size_t r = 0; r < names.size(); ++r)
      if (seconds(r, column) > 0) return true;
    return false;
  };
  Json titles{"ms per step"}, mean{"mean"}, rows = Json::array();
  for (size_t r = 0; r < names.size(); ++r) rows.push_back({names[r]});
  for (const Column& column : kTimes) {
    if (!is_shown(column)) continue;
    titles.push_back(column.title);
    double sum = 0;
    for (size_t r = 0; r < names.size(); ++r) {
      const double each = steps > 0 ? 1e3 * seconds(r, column) / steps : 0;
      rows[r].push_back(each);
      sum += each;
    }
    mean.push_back(names.empty() ? 0 : sum / static_cast<double>(names.size()));
  }
  rows.insert(rows.begin(), titles);
  if (names.size() > 1) rows.push_back(mean);
  return rows;
}

// Bytes from each rank (row) to each other rank (column), all kinds together.
Json ByteMatrix(const Json& summary) {
  const size_t ranks = summary.at("ranks").size();
  std::vector<std::vector<uint64_t>> bytes(ranks, std::vector<uint64_t>(ranks, 0));
  for (const Json& link : summary.at("links"))
    bytes.at(link.at("from")).at(link.at("to")) += link.at("sent_bytes").get<uint64_t>();
  return bytes;
}

// What --cut auto predicted, and what was measured: rows of a name and two texts. Empty without
// --cut auto.
Json Predictions(const Json& summary) {
  Json rows = Json::array();
  const Json predicted = summary.value("predicted", Json());
  if (predicted.is_null() || summary.at("bubble").is_null()) return rows;
  rows.push_back({"Time of a step", FormatSeconds(predicted.at("seconds").get<double>()),
                  FormatSeconds(summary.at("step_seconds").get<double>())});
  rows.push_back(
      {"Bubble", Percent(predicted.at("bubble")), Percent(summary.at("bubble").at("measured"))});
  const Json& peaks = predicted.at("peak_bytes");
  for (const Json& rank : summary.at("ranks")) {
    const auto number = rank.at("rank").get<size_t>();
    const size_t of_pipeline = number % std::max<size_t>(1, peaks.size());
    const auto peak = static_cast<uint64_t>(peaks.at(of_pipeline).get<double>());
    rows.push_back({fmt::format("Memory of rank {}", number), FormatBytes(peak),
                    rank.contains("peak_bytes") ? FormatBytes(rank.at("peak_bytes").get<uint64_t>())
                                                : std::string("with the others")});
  }
  return rows;
}

Json Links(const Json& summary) {
  Json links = Json::array();
  for (const Json& link : summary.at("links"))
    links.push_back({{"from", link.at("from")},
                     {"to", link.at("to")},
                     {"what", link.at("what")},
                     {"sent", link.at("sent_bytes")},
                     {"float32", link.at("float32_bytes")}});
  return links;
}

// {"name", "value", "parts": [[kind, bytes, title], ...]}, first for all ranks together, then for
// each.
Json Memory(const Json& summary, const std::vector<std::string>& names) {
  const auto bar = [](const std::string& name, uint64_t bytes, Json parts) {
    return Json{{"name", name}, {"value", FormatBytes(bytes)}, {"parts", std::move(parts)}};
  };
  const auto part = [](const char* kind, uint64_t bytes, const char* what) {
    return Json{kind, bytes, fmt::format("{} {}", what, FormatBytes(bytes))};
  };
  const Json& memory = summary.at("memory");
  if (memory.is_null()) return Json::array();
  const uint64_t peak = memory.at("peak_bytes"), held = memory.at("held_bytes");
  Json bars{bar("All ranks: most tensors alive at once", peak, {part("forward", peak, "tensors")}),
            bar("All ranks: held from the system", held, {part("other", held, "held")})};
  for (size_t r = 0; r < names.size(); ++r) {
    const Json& rank = summary.at("ranks").at(r);
    if (!rank.contains("weights_bytes")) continue;  // older runs
    const uint64_t weights = rank.at("weights_bytes"), optimizer = rank.at("optimizer_bytes");
    const uint64_t all = rank.value("peak_bytes", weights + optimizer);
    Json parts{part("optimizer", weights, "weights and running statistics"),
               part("backward", optimizer, "optimizer state")};
    if (all > weights + optimizer)
      parts.push_back(
          part("forward", all - weights - optimizer, "activations, gradients and others, at most"));
    bars.push_back(
        bar(fmt::format("{}: {}", names[r],
                        rank.contains("peak_bytes") ? "most at once" : "kept between steps"),
            all, std::move(parts)));
  }
  return bars;
}

// Mean time of spans of one kind per stage and micro-batch, both halves of a backward together;
// `otherwise` if the picture has none. `count`: how many such pairs there are, over all ranks.
double MeanTime(const Json& picture, const char* kind, int64_t count, double otherwise) {
  double sum = 0;
  for (const Json& lane : picture.at("lanes"))
    for (const Json& span : lane.at("spans"))
      if (span[2] == kind) sum += span[1].get<double>() - span[0].get<double>();
  return sum > 0 ? sum / static_cast<double>(count) : otherwise;
}

int64_t StageTimes(const Json& settings) {
  int64_t count = settings.value("accumulate", int64_t{1}) * settings.value("tensor", int64_t{1});
  for (const char* key : {"stages", "micro-batches", "replicas"})
    count *= settings.at(key).get<int64_t>();
  return count;
}

Json Measured(const ReportInput& input, const std::vector<std::string>& names) {
  Json measured = MeasuredTimeline(input.events, names);
  measured["label"] = "The ranks of one step, as measured";
  measured["note"] =
      measured["step"].is_null()
          ? std::string("No whole step was traced.")
          : fmt::format(
                "Step {}, {}. Over all steps, from the first forward to the last backward, the "
                "ranks do not compute for {} of their time.",
                measured["step"].get<int64_t>(), FormatSeconds(measured["seconds"].get<double>()),
                Percent(input.summary.at("bubble").at("measured")));
  return measured;
}

// Empty for a run that did not end.
std::string BubblesText(const Json& bubble) {
  if (bubble.is_null()) return "";
  return fmt::format("{} bubble. With these stages: {}", Percent(bubble.at("ideal")),
                     Percent(bubble.at("balanced")));
}

// Forwards and backwards take as long as they do on average in `measured`.
Json Ideal(const ReportInput& input, const std::vector<std::string>& names, const Json& measured) {
  const std::string bubbles = BubblesText(input.summary.at("bubble"));
  if (!input.schedule)
    return {{"seconds", 0},
            {"lanes", Json::array()},
            {"note", fmt::format("The run left no schedule that can be drawn here{}{}.",
                                 bubbles.empty() ? "" : ": in equal stages ", bubbles)}};
  const int64_t count = StageTimes(input.summary.at("settings"));
  Json ideal = IdealTimeline(*input.schedule, MeanTime(measured, "forward", count, 1),
                             MeanTime(measured, "backward", count, 2), names);
  ideal["label"] = "The ranks of one step, ideally";
  ideal["note"] =
      fmt::format("The same forwards and backwards in equal stages, nothing to transfer{}{}.",
                  bubbles.empty() ? "" : ": ", bubbles);
  return ideal;
}

std::string LinksNote(const Json& summary) {
  if (!summary.at("links").empty())
    return "Payload sent during training, beside what float32 would have been.";
  const size_t ranks = summary.at("ranks").size();
  if (ranks == 0) return "The run ended before bytes were counted.";
  return ranks == 1 ? "One rank: nothing was sent." : "Nothing was sent.";
}

void AddTimelines(const ReportInput& input, const std::vector<std::string>& names, Json& data) {
  data["measured"] = Measured(input, names);
  data["ideal"] = Ideal(input, names, data["measured"]);
  const double axis =
      std::max(data["measured"]["seconds"].get<double>(), data["ideal"]["seconds"].get<double>());
  data["measured"]["axis"] = data["ideal"]["axis"] = axis;
}

}  // namespace

Json ReportData(const ReportInput& input) {
  const Json& summary = input.summary;
  const std::vector<std::string> names = LaneNames(summary);
  const Json curves = CurvesOf(summary, input.metrics);
  const std::string part = curves.at("evaluated");
  const Json evaluation = summary.value(part, Json());
  Json data = {
      {"title", summary.at("title")},
      {"state", RunState(summary)},
      {"notes", RunNotes(summary)},
      {"lead", Lead(summary.at("settings"))},
      {"cards", Cards(summary)},
      {"settings", ShownSettings(summary)},
      {"steps", curves.at("steps")},
      {"evaluations", curves.at("evaluations")},
      {"evaluated", part},
      {"lossNote",
       fmt::format("Cross entropy: of each step, their running mean, and of the {} set.", part)},
      {"scoreName", ScoreName(evaluation)},
      {"scoreNote",
       evaluation.is_null()
           ? std::string("The run was not evaluated.")
           : fmt::format("On the {} {} {}.", FormatCount(evaluation.at("samples").get<double>()),
                         part, summary.at("unit").get<std::string>())},
      {"ranks", Ranks(summary, names)},
      {"links", Links(summary)},
      {"linksNote", LinksNote(summary)},
      {"reduceName", ReduceName(summary)},
      {"steps_table", StepTable(summary, names)},
      {"matrix", ByteMatrix(summary)},
      {"predictions", Predictions(summary)},
      {"memory", Memory(summary, names)}};
  AddTimelines(input, names, data);
  return data;
}

}  // namespace torus::recipes
