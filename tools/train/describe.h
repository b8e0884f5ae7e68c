// What --describe prints: the layers, where the cuts lie, and the schedule.
#pragma once

#include <string>

#include "parallel/pipeline/partition.h"
#include "tools/train/task.h"

namespace torus::tools {

std::string DescribeRun(const Task& task, const Settings& settings, const parallel::Cuts& cuts);

}  // namespace torus::tools
