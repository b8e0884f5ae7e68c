// The one list of datasets by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/datasets/dataset.h"

namespace torus::data {

// Names that OpenDataset knows, as `--data` takes them.
std::vector<std::string> DatasetNames();

// Opens the dataset `name` in folder `dir` (empty: its usual place, where it has one).
// BadInput listing the names when there is none of that name, and naming the folder when it is not
// one.
std::unique_ptr<Dataset> OpenDataset(const std::string& name, const std::string& dir, Split split);

}  // namespace torus::data
