#include "models/nn/containers.h"

#include <fmt/ranges.h>

#include "runtime/error.h"

namespace torus::nn {

Module& ModuleList::operator[](int64_t i) const {
  const int64_t at = i < 0 ? i + size() : i;
  Require(at >= 0 && at < size(), "module_list", "has {} modules, got index {}", size(), i);
  return *children()[at].module;
}

Variable ModuleList::Forward(const Variable&, const StepContext&) {
  Throw<BadInput>("module_list", "has no forward of its own: call its {} modules", size());
}

void ModuleMap::CheckNew(const std::string& name) const {
  Require(!name.empty() && name.find('.') == std::string::npos, "module_map",
          "a name must not be empty nor have a dot, got \"{}\"", name);
  Require(!Has(name), "module_map", "{} is there already", name);
}

bool ModuleMap::Has(const std::string& name) const {
  for (const Child& child : children())
    if (child.name == name) return true;
  return false;
}

std::vector<std::string> ModuleMap::Names() const {
  std::vector<std::string> names;
  for (const Child& child : children()) names.push_back(child.name);
  return names;
}

Module& ModuleMap::operator[](const std::string& name) const {
  for (const Child& child : children())
    if (child.name == name) return *child.module;
  Throw<BadInput>("module_map", "has no module {}; there are: {}", name, fmt::join(Names(), ", "));
}

Variable ModuleMap::Forward(const Variable&, const StepContext&) {
  Throw<BadInput>("module_map", "has no forward of its own: call its modules: {}",
                  fmt::join(Names(), ", "));
}

}  // namespace torus::nn
