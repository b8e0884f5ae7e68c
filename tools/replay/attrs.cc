#include "tools/replay/attrs.h"

#include <cmath>

#include "tools/replay/case.h"

namespace torus::replay {

using nlohmann::json;

Attrs::Attrs(std::string owner, const json& object)
    : owner_(std::move(owner)), object_(object.is_null() ? json::object() : object) {
  Require(object_.is_object(), owner_, "arguments must be a JSON object, got {}", object.dump());
}

const json* Attrs::Find(const std::string& name) {
  read_.insert(name);
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void Attrs::WrongType(const std::string& name, const char* wanted) const {
  Throw<Unsupported>(owner_, "argument {} is {}, not {}", name, object_.at(name).dump(), wanted);
}

bool Attrs::Has(const std::string& name) { return Find(name) != nullptr; }

std::optional<double> Attrs::OptionalNumber(const std::string& name) {
  const json* value = Find(name);
  if (value == nullptr) return std::nullopt;
  if (*value == "Infinity") return INFINITY;
  if (*value == "-Infinity") return -INFINITY;
  if (*value == "NaN") return NAN;
  if (!value->is_number()) WrongType(name, "a number");
  return value->get<double>();
}

double Attrs::Number(const std::string& name, double absent) {
  return OptionalNumber(name).value_or(absent);
}

int64_t Attrs::Int(const std::string& name, int64_t absent) {
  const json* value = Find(name);
  if (value == nullptr) return absent;
  if (!value->is_number_integer()) WrongType(name, "an integer");
  return value->get<int64_t>();
}

bool Attrs::Flag(const std::string& name, bool absent) {
  const json* value = Find(name);
  if (value == nullptr) return absent;
  if (!value->is_boolean()) WrongType(name, "true or false");
  return value->get<bool>();
}

std::string Attrs::Text(const std::string& name, const std::string& absent) {
  const json* value = Find(name);
  if (value == nullptr) return absent;
  if (!value->is_string()) WrongType(name, "a string");
  return value->get<std::string>();
}

std::optional<std::vector<int64_t>> Attrs::List(const std::string& name) {
  const json* value = Find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_integer()) return std::vector{value->get<int64_t>()};
  if (!value->is_array()) WrongType(name, "an integer or a list of them");
  std::vector<int64_t> list;
  for (const json& entry : *value) {
    if (!entry.is_number_integer()) WrongType(name, "a list of integers");
    list.push_back(entry.get<int64_t>());
  }
  return list;
}

std::optional<Dims> Attrs::Ints(const std::string& name) {
  const std::optional<std::vector<int64_t>> list = List(name);
  return list ? std::optional(Dims(*list)) : std::nullopt;
}

Dims Attrs::Pair(const std::string& name, const Dims& absent) {
  const std::optional<Dims> list = Ints(name);
  if (!list || list->rank() == 0) return absent;
  if (list->rank() > 2) WrongType(name, "one or two integers");
  return {(*list)[0], (*list)[list->rank() - 1]};
}

bool Attrs::IsText(const std::string& name) const {
  const auto found = object_.find(name);
  return found != object_.end() && found->is_string();
}

json Attrs::Raw(const std::string& name) {
  const json* value = Find(name);
  return value == nullptr ? json() : *value;
}

void Attrs::Finish() const {
  for (const auto& [name, value] : object_.items())
    if (!value.is_null() && !read_.contains(name))
      Throw<Unsupported>(owner_, "argument {} ({}) is not known", name, value.dump());
}

}  // namespace torus::replay
