// Module: a layer or a tree of layers, with named parameters and buffers.
//
// Names are dotted paths from the module that is asked, as torchvision writes them: a child "conv" with a parameter
// "weight" gives "conv.weight".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/variable.h"
#include "models/nn/init.h"
#include "runtime/step_context.h"

namespace torus::nn {

// What one forward makes and costs, known from the input's shape alone.
struct LayerCost {
  Shape output;
  int64_t flops = 0;  // of convolutions and matrix products, a multiply-add being two
  int64_t activation_bytes =
      0;  // of what its primitive layers put out, as the dtype of the model has it

  // This layer and then `next`: both sums, and the output of `next`.
  LayerCost Then(const LayerCost& next) const {
    return {next.output, flops + next.flops, activation_bytes + next.activation_bytes};
  }
};

class Module {
 public:
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Images are (N, H, W, C). Errors are those of the ops: BadInput naming the op and the shapes.
  virtual Variable Forward(const Variable& x, const StepContext& ctx) = 0;

  virtual LayerCost Cost(const Shape& input) const = 0;

  // After all micro-batches of a mini-batch: batch norm commits its running statistics here.
  void EndMiniBatch();

  // In model order: a module's own first, then its children's. Handles to the module's own variables.
  std::vector<NamedVariable> Parameters(const std::string& prefix = "") const;
  // The same for what is kept but not trained. The tensors share the module's memory.
  std::vector<NamedTensor> Buffers(const std::string& prefix = "") const;

  // Sets every parameter by its initializer from the random stream of (seed, its name): the values depend neither on
  // the order of layers nor on who holds which. `prefix` is this module's own name where it is a part of a model.
  void Initialize(uint64_t seed, const std::string& prefix = "");

 protected:
  Module() = default;
  // A leaf that requires a gradient; its values are set by Initialize.
  Variable AddParameter(std::string name, const Shape& shape, DType dtype, Initializer initializer);
  Tensor AddBuffer(std::string name, Tensor value);
  template <class M>
  std::shared_ptr<M> AddChild(std::string name, std::shared_ptr<M> child) {
    children_.push_back({std::move(name), child});
    return child;
  }
  // This module's own part of EndMiniBatch.
  virtual void OnEndMiniBatch() {}

  struct Child {
    std::string name;
    std::shared_ptr<Module> module;
  };
  const std::vector<Child>& children() const { return children_; }

 private:
  struct Parameter {
    NamedVariable variable;
    Initializer initializer;
  };
  std::vector<Parameter> parameters_;
  std::vector<NamedTensor> buffers_;
  std::vector<Child> children_;
};

// "prefix.name"; `name` alone where the prefix is empty.
std::string Join(std::string_view prefix, std::string_view name);

}  // namespace torus::nn
