// What --describe prints: the layers, where the cuts lie, and the schedule.
#pragma once

#include <string>

#include "parallel/pipeline/partition.h"
#include "recipes/data/data_form.h"

namespace torus::recipes {

// Takes no memory for weights or activations, whatever the model's size.
std::string DescribeRun(const Settings& settings, const DataForm& form, const parallel::Cuts& cuts);

}  // namespace torus::recipes
