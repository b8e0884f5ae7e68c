// What all processes of a run must have been told alike, and must have found alike.
#pragma once

#include "parallel/trainer/run_facts.h"
#include "recipes/data/task_data.h"
#include "recipes/run/run.h"

namespace torus::recipes {

// Each option by its flag, but for those that may differ between processes: paths of data,
// vocabulary and samples (DataFacts compares what is in them), of the run that is resumed (its
// checkpoints are compared) and of its folder (rank 0's is used), and what a process may do with
// its own memory. Of --init the contents count, not the path. `options` are as they were given,
// without what follows from others or from the machine. Reads the file or folder of --init.
parallel::RunFacts OptionFacts(const RunOptions& options, bool evaluates = false);

// The number of examples and their order, so that copies of a data set that differ are found.
parallel::RunFacts DataFacts(const TaskData& data);

}  // namespace torus::recipes
