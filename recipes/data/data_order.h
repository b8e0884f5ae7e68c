// What a checkpoint records about its run's data, so that a resumed run uses the same data.
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
// Throws BadInput, prefixed with `where`, if `json` has another form.
DataOrder DataOrderFromJson(const nlohmann::json& json, const std::string& where);

// Throws BadInput, prefixed with `where`, unless the present data (`here`) are those that the run
// had (`had`).
void RequireSameData(const DataOrder& had, const DataOrder& here, const std::string& where);

}  // namespace torus::recipes
