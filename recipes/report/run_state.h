// How a run has ended, and what of it is out of the ordinary.
#pragma once

#include <nlohmann/json.hpp>

namespace torus::recipes {

// {"kind": "finished", "stopped" or "failed", "text": "Failed after step 5: ..."}. One that did not
// end (recipes/run/unended_run.h) counts as failed.
nlohmann::json RunState(const nlohmann::json& summary);

// [[name, text], ...]: skipped steps, the loss scale, how far replicas are apart, CUDA graphs; of
// each only if there is something to say.
nlohmann::json RunNotes(const nlohmann::json& summary);

}  // namespace torus::recipes
