// The curves of a run's losses and scores, over steps, seconds and bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace torus::recipes {

// {"steps": [[step, loss, seconds, bytes], ...],
//  "evaluations": [{"step", "seconds", "bytes", "loss", "score"}, ...],
//  "evaluated": the part of the data that they are of, "validation" if there is one, else "test"}
// `seconds` are those of the training steps so far, without evaluations. `bytes` are what all ranks
// had sent by then if each sample costs as many as on average in the run's last part; null if
// nothing was sent. A loss or score that is not finite is null. Of many steps every n-th is left.
// `summary` and `metrics` are as ReportInput has them (report.h).
nlohmann::json CurvesOf(const nlohmann::json& summary, const std::vector<nlohmann::json>& metrics);

// A percentage, or a language model's perplexity; NaN if it was not finite. `test`: the summary's,
// or a line of metrics.
double ScoreOf(const nlohmann::json& test);
// "accuracy" or "perplexity".
std::string ScoreName(const nlohmann::json& test);

}  // namespace torus::recipes
