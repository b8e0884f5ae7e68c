#include "recipes/data/data_order.h"

#include <nlohmann/json.hpp>

#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

PartOrder PartFromJson(const Json& json, const std::string& where) {
  const Json &size = io::Member(json, "size"), &order = io::Member(json, "order");
  Require(size.is_number_unsigned() && order.is_number_unsigned(), where,
          "data must have a size and an order for train and test, got {}", io::Brief(json));
  return {size.get<int64_t>(), order.get<uint64_t>()};
}

void RequireSame(const PartOrder& had, const PartOrder& here, const char* part,
                 const std::string& where) {
  Require(had.size == here.size, where, "the run has {} {} examples, but --data-dir has {}",
          had.size, part, here.size);
  Require(had.order == here.order, where,
          "the run has other {} examples than --data-dir, or in another order", part);
}

}  // namespace

DataOrder OrderOf(const TaskData& data) {
  return {{data.train.size, data.train.order}, {data.test.size, data.test.order}};
}

Json ToJson(const DataOrder& order) {
  const auto part = [](const PartOrder& p) { return Json{{"size", p.size}, {"order", p.order}}; };
  return {{"train", part(order.train)}, {"test", part(order.test)}};
}

DataOrder DataOrderFromJson(const Json& json, const std::string& where) {
  return {PartFromJson(io::Member(json, "train"), where),
          PartFromJson(io::Member(json, "test"), where)};
}

void RequireSameData(const DataOrder& had, const DataOrder& here, const std::string& where) {
  RequireSame(had.train, here.train, "training", where);
  RequireSame(had.test, here.test, "test", where);
}

}  // namespace torus::recipes
