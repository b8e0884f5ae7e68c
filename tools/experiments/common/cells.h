// Cells of an experiment's table from its runs.
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

// The same of a score ("accuracy", "loss", "matthews"): "no signal" where the run of `baseline`
// (the name itself for one) does not beat chance, and with the figure in brackets where it was
// measured all the same; "diverged" where every seed's loss left the finite.
study::Cell ScoreCell(const Runs& runs, const std::string& name, const std::string& baseline,
                      const std::string& key);

// name - baseline of equal seeds, with the 95 % interval of Student's t: "-0.12 [-0.50, 0.26]".
// Nothing where either has no signal or there is no pair.
study::Cell DifferenceCell(const Runs& runs, const std::string& name, const std::string& baseline,
                           const std::string& key, int decimals = 2);

// A published number, or nothing.
study::Cell NumberCell(const std::optional<double>& value);

}  // namespace torus::experiments
