// Sequential: layers that run one after another. Every model is a Sequential, which a pipeline may
// cut between any two layers.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/nn/module.h"

namespace torus::nn {

class Sequential : public Module {
 public:
  using Layer = Module::Child;  // {name, module, title}

  Sequential() = default;
  // Moves these layers into the module, named "0", "1", ...:
  // Sequential(Linear({.in = 1, .out = 64}), Relu(), Linear({.in = 64, .out = 1})). A Sequential
  // alone is no layer of another: it moves as a whole.
  template <std::derived_from<Module>... Layers>
  explicit Sequential(Layers&&... layers) {
    (Add(std::forward<Layers>(layers)), ...);
  }

  // Names the layer by its index: "0", "1", ... Each Add returns the layer.
  template <class M>
  std::shared_ptr<M> Add(std::shared_ptr<M> layer) {
    return Add(std::to_string(layers().size()), std::move(layer));
  }
  // The same of a layer that moves into the module.
  template <std::derived_from<Module> M>
  std::shared_ptr<M> Add(M&& layer) {
    return Add(std::make_shared<M>(std::forward<M>(layer)));
  }
  // `name` may be a dotted path ("features.0").
  template <class M>
  std::shared_ptr<M> Add(std::string name, std::shared_ptr<M> layer) {
    return AddChild(std::move(name), std::move(layer));
  }
  // The same of a layer that moves into the module.
  template <std::derived_from<Module> M>
  std::shared_ptr<M> Add(std::string name, M&& layer) {
    return Add(std::move(name), std::make_shared<M>(std::forward<M>(layer)));
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
