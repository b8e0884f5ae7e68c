// Arguments of a case that are not tensors, read strictly: what nobody asked for makes the case
// unsupported, so that an argument is never ignored.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/shape.h"

namespace torus::replay {

// Each reader marks its argument as read and gives `absent` where the case does not have it. A null
// counts as absent: it is PyTorch's None, and every default that is not None is never passed as
// None; so nobody need read it. Unsupported for another type.
class Attrs {
 public:
  // `object` is null or an object; `owner` names it in messages ("conv2d").
  Attrs(std::string owner, const nlohmann::json& object);

  bool Has(const std::string& name);
  double Number(const std::string& name, double absent);
  // "Infinity", "-Infinity" and "NaN" are numbers too: JSON has no other way.
  std::optional<double> OptionalNumber(const std::string& name);
  int64_t Int(const std::string& name, int64_t absent);
  bool Flag(const std::string& name, bool absent);
  std::string Text(const std::string& name, const std::string& absent);
  // One integer or a list of them: any number, and as many as a shape has.
  std::optional<std::vector<int64_t>> List(const std::string& name);
  std::optional<Dims> Ints(const std::string& name);
  // Two integers from one, a list of one or two, or none at all (an empty list is absent).
  Dims Pair(const std::string& name, const Dims& absent);
  bool IsText(const std::string& name) const;
  // The value itself, null where absent.
  nlohmann::json Raw(const std::string& name);

  // Unsupported naming the arguments that were not read.
  void Finish() const;

 private:
  const nlohmann::json* Find(const std::string& name);
  [[noreturn]] void WrongType(const std::string& name, const char* wanted) const;
  std::string owner_;
  nlohmann::json object_;
  std::set<std::string> read_;
};

}  // namespace torus::replay
