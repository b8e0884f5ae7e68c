// Cells of an experiment's table from its runs.
//
// A score counts seed by seed. It does not where `signal`, the run of the same model, data and seed
// without a codec, does not beat chance ("no signal"), and is none where the run's own loss left
// the finite ("diverged"); the cells say in how many seeds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recipes/study/table.h"
#include "tools/experiments/common/experiment.h"

namespace torus::experiments {

// result[key] of the runs of that name which have it, times `factor`, in order of seeds.
std::vector<double> FiguresOf(const Runs& runs, const std::string& name, const std::string& key,
                              double factor = 1);

// Mean and deviation over the seeds of figures that need no signal, such as times. "no data" where
// there is no such run.
study::Cell TimeCell(const Runs& runs, const std::string& name, const std::string& key,
                     double factor = 1);

// Mean and deviation of a score ("accuracy", "loss", "matthews") over the seeds that count;
// `signal` is the name itself for one that leans on no other run. A text where some seeds do not
// count: "87.500 ± 0.707, diverged in 1 of 3", "no signal (52.00)" with what was measured all the
// same.
study::Cell ScoreCell(const Runs& runs, const std::string& name, const std::string& signal,
                      const std::string& key);

// name - other of equal seeds where both count, with the 95 % interval of Student's t: "-0.12
// [-0.50, +0.26]", and behind it ", 2 of 3 seeds" where others have no such pair. Nothing where
// there is none.
study::Cell DifferenceCell(const Runs& runs, const std::string& name, const std::string& other,
                           const std::string& signal, const std::string& key, int decimals = 2);

// "worse" or "not worse": `name` beside `other` of equal seeds. Worse: it diverged in more of them,
// or in as many and the mean of the paired differences is against it. Nothing where neither says
// anything.
study::Cell WorseCell(const Runs& runs, const std::string& name, const std::string& other,
                      const std::string& signal, const std::string& key, bool less_is_better);

// A published number, or nothing.
study::Cell NumberCell(const std::optional<double>& value);

}  // namespace torus::experiments
