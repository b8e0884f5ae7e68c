// Cells of an experiment's table from its runs.
//
// Whether a score counts is decided for each seed. It does not count if `signal`, the run of the
// same model, data and seed without a codec, does not beat chance ("no signal"), or if the run's
// own loss became non-finite ("diverged"). The cells say in how many seeds that happened.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recipes/study/table.h"
#include "tools/experiments/common/experiment.h"

namespace torus::experiments {

// result[key] times `factor`, in order of seeds, of the runs with this name that have the key.
std::vector<double> FiguresOf(const Runs& runs, const std::string& name, const std::string& key,
                              double factor = 1);

// Mean and deviation over the seeds for results that need no signal, such as times. "no data" if
// there is no such run.
study::Cell TimeCell(const Runs& runs, const std::string& name, const std::string& key,
                     double factor = 1);

// The same of the results as multiples of those of `first` with the same seed; an empty cell if no
// seed has both.
study::Cell RelativeCell(const Runs& runs, const std::string& name, const std::string& first,
                         const std::string& key);

// Mean and deviation of a score ("accuracy", "loss", "matthews") over the seeds that count. For a
// run without a baseline, `signal` is `name` itself. If some seeds do not count, the cell is a
// text: "87.500 ± 0.707, diverged in 1 of 3"; or "no signal (52.00)", with the score that was
// measured nevertheless.
study::Cell ScoreCell(const Runs& runs, const std::string& name, const std::string& signal,
                      const std::string& key);

// The mean difference name - other, paired by seeds in which both count, with the 95 % interval of
// Student's t: "-0.12 [-0.50, +0.26]", followed by ", 2 of 3 seeds" if some seeds have no such
// pair. Empty if there is no pair.
study::Cell DifferenceCell(const Runs& runs, const std::string& name, const std::string& other,
                           const std::string& signal, const std::string& key, int decimals = 2);

// "worse" or "not worse": compares `name` with `other`, paired by seeds. Worse means that it
// diverged in more seeds, or in as many and the mean of the paired differences is against it. Then
// "worse, within the interval" if the 95 % interval of the differences has 0 in it. Empty if there
// is nothing to compare.
study::Cell WorseCell(const Runs& runs, const std::string& name, const std::string& other,
                      const std::string& signal, const std::string& key, bool less_is_better);

// A published number, or an empty cell.
study::Cell NumberCell(const std::optional<double>& value);

}  // namespace torus::experiments
