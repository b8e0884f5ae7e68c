#include "recipes/report/run_state.h"

#include <fmt/format.h>

#include "parallel/data_parallel/strategy_factory.h"
#include "recipes/report/units.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

std::string Count(const Json& summary, const char* key) {
  return FormatCount(summary.value(key, 0.0));
}

std::string GraphsNote(const Json& summary) {
  const std::string why = summary.value("why_no_graph", "");
  return fmt::format("{} of {} steps, {} checks, {} updates{}{}", Count(summary, "graph_steps"),
                     Count(summary, "steps_here"), Count(summary, "graph_checks"),
                     Count(summary, "graph_updates"), why.empty() ? "" : ": ", why);
}

std::string DriftNote(const Json& drift) {
  if (!drift.is_number()) return "the replicas' weights are not finite";
  return fmt::format("up to {:.3g} % of the weights' norm from replica 0",
                     100 * drift.get<double>());
}

// A summary whose part was measured is of an earlier end, behind which the run went on.
std::string UnendedText(const Json& summary, const std::string& step) {
  return fmt::format(
      "Did not end: nothing was written after step {}; its process was killed, or still runs{}",
      step,
      summary.at("bubble").is_null()
          ? ""
          : ". Times of the ranks, bytes and memory are those of its part before");
}

}  // namespace

Json RunState(const Json& summary) {
  const std::string step = Count(summary, "steps");
  if (!summary.value("ended", true))
    return {{"kind", "failed"}, {"text", UnendedText(summary, step)}};
  const Json error = summary.value("error", Json());
  if (error.is_string())
    return {{"kind", "failed"},
            {"text", fmt::format("Failed after step {}: {}", step, error.get<std::string>())}};
  if (!summary.value("finished", true))
    return {{"kind", "stopped"},
            {"text", fmt::format("Stopped after step {}, before its end", step)}};
  return {{"kind", "finished"}, {"text", fmt::format("Finished after step {}", step)}};
}

Json RunNotes(const Json& summary) {
  Json notes = Json::array();
  if (summary.value("skipped_steps", int64_t{0}) > 0)
    notes.push_back({"Skipped steps", fmt::format("{}: their loss or gradients were not finite",
                                                  Count(summary, "skipped_steps"))});
  if (summary.value("loss_scale", 0.0) > 0)
    notes.push_back({"Loss scale", Count(summary, "loss_scale") + " at the end"});
  const Json& settings = summary.at("settings");
  const std::string strategy = settings.value("strategy", "ddp");
  if (!parallel::KeepsReplicasEqual(strategy) && settings.value("replicas", 1) != 1)
    notes.push_back({"Replicas apart", DriftNote(summary.value("drift", Json()))});
  if (summary.value("graph_steps", 0.0) > 0 || !summary.value("why_no_graph", "").empty())
    notes.push_back({"CUDA graphs", GraphsNote(summary)});
  return notes;
}

}  // namespace torus::recipes
