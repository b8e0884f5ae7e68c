// Sequential: layers that run one after another. Every model is a Sequential, which a pipeline may
// cut between any two layers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/nn/module.h"

namespace torus::nn {

class Sequential : public Module {
 public:
  using Layer = Module::Child;  // {name, module, title}

  Sequential() = default;
  // Names the layer by its index: "0", "1", ...
  template <class M>
  std::shared_ptr<M> Add(std::shared_ptr<M> layer) {
    return Add(std::to_string(layers().size()), std::move(layer));
  }
  // `name` may be a dotted path ("features.0").
  template <class M>
  std::shared_ptr<M> Add(std::string name, std::shared_ptr<M> layer) {
    return AddChild(std::move(name), std::move(layer));
  }
  // Several layers may share a name, the common prefix of their parameters' names; their titles
  // differ.
  template <class M>
  std::shared_ptr<M> Add(std::string name, std::shared_ptr<M> layer, std::string title) {
    return AddChild(std::move(name), std::move(layer), std::move(title));
  }
  const std::vector<Layer>& layers() const { return children(); }  // in the order in which they run

  Variable Forward(const Variable& x, const StepContext& ctx) override;
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;
};

}  // namespace torus::nn
