// Opens datasets by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/datasets/dataset.h"

namespace torus::data {

// The names that OpenDataset knows, as `--data` takes them.
std::vector<std::string> DatasetNames();

// Whether OpenDataset gives ImageFiles for this name.
bool IsOfImageFiles(const std::string& name);

// Opens the dataset `name` in folder `dir` (empty: its default place, if it has one). Throws
// BadInput listing the names if there is no dataset of that name, and naming the folder if it is
// not one.
std::unique_ptr<Dataset> OpenDataset(const std::string& name, const std::string& dir, Split split);

}  // namespace torus::data
