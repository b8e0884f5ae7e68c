// Lists and maps of modules, whose parameters belong to the module that has them, as
// torch.nn.ModuleList and ModuleDict. They run nothing by themselves: the module that has them
// does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/nn/module.h"

namespace torus::nn {

// Modules named "0", "1", ...
class ModuleList : public Module {
 public:
  ModuleList() = default;
  explicit ModuleList(const std::vector<std::shared_ptr<Module>>& modules) {
    for (const auto& module : modules) Append(module);
  }
  // Returns the module.
  template <class M>
  std::shared_ptr<M> Append(std::shared_ptr<M> module) {
    return AddChild(std::to_string(size()), std::move(module));
  }
  int64_t size() const { return std::ssize(children()); }  // how many modules it has
  // Counts from the end if negative. Throws BadInput outside of [-size, size).
  Module& operator[](int64_t i) const;
  // Throws BadInput: a list has no order of calls.
  Variable Forward(const Variable& x, const StepContext& ctx) override;
};

// Modules by name, in the order in which they were added.
class ModuleMap : public Module {
 public:
  // Returns the module. Throws BadInput for a name that is empty, has a dot or is taken.
  template <class M>
  std::shared_ptr<M> Add(const std::string& name, std::shared_ptr<M> module) {
    CheckNew(name);
    return AddChild(name, std::move(module));
  }
  int64_t size() const { return std::ssize(children()); }  // how many modules it has
  bool Has(const std::string& name) const;                 // whether there is one of this name
  std::vector<std::string> Names() const;                  // of all, in order
  // Throws BadInput, with the names there are, for another one.
  Module& operator[](const std::string& name) const;
  // Throws BadInput: a map has no order of calls.
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 private:
  void CheckNew(const std::string& name) const;
};

}  // namespace torus::nn
