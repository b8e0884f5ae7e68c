// The file with what was chosen among the proposals of cuBLASLt and cuDNN (ops/cuda/plans.h):
//   {"version": 1, "gpu": "NVIDIA H100 80GB HBM3", "cublas_lt": "130100", "cudnn": "91900",
//    "choices": {"product bf16 ...": {"index": 2, "proposal": "algorithm 66 ...", "timed": true}},
//    "sum": {"bytes": 1234, "crc32c": "1a2b3c4d"}}
// `sum` is of the rest.
#pragma once

#include <string>

#include "ops/cuda/plans.h"

namespace torus::recipes {

struct StoredPlans {
  cuda::PlanOrigin origin;
  cuda::PlanChoices choices;
};

// Replaces the file as a whole.
void WritePlans(const std::string& path, const StoredPlans& plans);
// Throws BadInput, naming the file, unless it is such a file as it was written.
StoredPlans ReadPlans(const std::string& path);
// ReadPlans, for who is `here`. Throws BadInput that names both if the choices are of another GPU
// or other libraries: an index would mean something else, and another plan gives other bits.
cuda::PlanChoices ReadPlansFor(const cuda::PlanOrigin& here, const std::string& path);

}  // namespace torus::recipes
