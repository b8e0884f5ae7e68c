// What a checkpoint keeps of its run's data, so that the run goes on with the same.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "recipes/data/task_data.h"

namespace torus::recipes {

struct PartOrder {
  int64_t size = 0;    // examples
  uint64_t order = 0;  // DataPart::order
  bool operator==(const PartOrder&) const = default;
};

struct DataOrder {
  PartOrder train, test;
};

DataOrder OrderOf(const TaskData& data);

nlohmann::json ToJson(const DataOrder& order);
// BadInput, tagged `where`, for another form.
DataOrder DataOrderFromJson(const nlohmann::json& json, const std::string& where);

// BadInput, tagged `where`, unless the data that are `here` are those that the run `had`.
void RequireSameData(const DataOrder& had, const DataOrder& here, const std::string& where);

}  // namespace torus::recipes
