// The arguments of a case that are not tensors, read strictly: an argument that is not read makes
// the case unsupported, so that none is ever ignored.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/shape.h"

namespace torus::replay {

// Each reader marks its argument as read, and returns `absent` if the case does not have it. A null
// counts as absent: it is PyTorch's None, and an argument whose default is not None is never passed
// as None; so a null need not be read. Throws Unsupported for an argument of another type.
class Attrs {
 public:
  // `object` is null or an object; `owner` names it in messages ("conv2d").
  Attrs(std::string owner, const nlohmann::json& object);

  bool Has(const std::string& name);
  double Number(const std::string& name, double absent);
  // The texts "Infinity", "-Infinity" and "NaN" count as numbers too, since JSON has no such
  // numbers.
  std::optional<double> OptionalNumber(const std::string& name);
  int64_t Int(const std::string& name, int64_t absent);
  bool Flag(const std::string& name, bool absent);
  std::string Text(const std::string& name, const std::string& absent);
  // One integer or a list: of any length, or (Ints) at most as long as a shape.
  std::optional<std::vector<int64_t>> List(const std::string& name);
  std::optional<Dims> Ints(const std::string& name);
  // Two integers, given as one integer or as a list of one or two. An empty list counts as absent.
  Dims Pair(const std::string& name, const Dims& absent);
  bool IsText(const std::string& name) const;
  // The value itself; null if absent.
  nlohmann::json Raw(const std::string& name);

  // Throws Unsupported, naming the arguments that were not read, if there are any.
  void Finish() const;

 private:
  const nlohmann::json* Find(const std::string& name);
  [[noreturn]] void WrongType(const std::string& name, const char* wanted) const;
  std::string owner_;
  nlohmann::json object_;
  std::set<std::string> read_;
};

}  // namespace torus::replay
