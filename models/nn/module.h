// Module: a layer or a tree of layers, with named parameters and buffers.
//
// Names are dotted paths from the module that is asked, as torchvision writes them: a child "conv"
// with a parameter "weight" gives "conv.weight".
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/variable.h"
#include "models/nn/init.h"
#include "runtime/share_statistics.h"
#include "runtime/step_context.h"
#include "runtime/tensor_split.h"

namespace torus::nn {

// "lm_head.weight" is another name of "transformer.wte.weight".
struct Alias {
  std::string name, owner;
};

// A module is made on the device meta: its parameters and buffers have shapes and no memory until
// Initialize, Allocate or a checkpoint (checkpoint/state_dict.h) gives them some. So a model of any
// size can be made, and run on inputs that are on meta too, for shapes and costs.
class Module {
 public:
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Images are (N, H, W, C). Errors are those of the ops: BadInput naming the op and the shapes.
  virtual Variable Forward(const Variable& x, const StepContext& ctx) = 0;
  // From all tensors that the layer before put out to all that the next one gets, which may stand
  // on another pipeline stage: the activation first, then its companions (an attention mask, a skip
  // connection). By default the activation goes through Forward and companions pass unchanged; a
  // layer that reads, makes or drops companions overrides this.
  virtual std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                           const StepContext& ctx);

  // After all micro-batches of a mini-batch: batch norm commits its running statistics here, or
  // drops the mini-batch's where the step was not taken.
  void EndMiniBatch(bool taken = true);

  // Before that: batch norm takes the statistics of all replicas' micro-batches in place of its
  // own.
  void Share(const ShareStatistics& share);

  // Keeps this rank's slice of each parameter that is split over tensor-parallel ranks, once, when
  // all have their whole values: Forward then takes a context with the same place
  // (StepContext::tensor_ranks). Where a module is made of several parts that share variables (tied
  // ones), each is told. BadInput for what cannot be split so. `place` of one rank: nothing.
  void Split(const TensorPlace& place);
  // What Split would split, in the order of Parameters; a tied parameter with its owner alone.
  std::vector<NamedSplit> Splits(const std::string& prefix = "") const;

  // In model order: a module's own first, then its children's, each variable once. Handles to the
  // module's own variables. A tied parameter has its owner's name, whatever `prefix` is.
  std::vector<NamedVariable> Parameters(const std::string& prefix = "") const;
  // The other names of tied parameters, under which the reference's files may hold them too.
  std::vector<Alias> Aliases(const std::string& prefix = "") const;
  // State that is not trained, such as running statistics, in the same order. The tensors share the
  // module's memory.
  std::vector<NamedTensor> Buffers(const std::string& prefix = "") const;

  // Sets every parameter and buffer by its initializer from the random stream of (seed, its name):
  // the values depend neither on the order of layers nor on who holds which. `prefix` is this
  // module's own name where it is a part of a model. What has no memory gets it on `device`.
  void Initialize(uint64_t seed, const std::string& prefix = "", Device device = {});
  // Gives memory, whose content is undefined, to all parameters and buffers that have none.
  void Allocate(Device device = {});
  // Moves the memory of all parameters and buffers, where they have any.
  void MoveTo(Device device);
  // Of its parameters, the first one's; the CPU without any.
  Device device() const;

 protected:
  Module() = default;
  // A leaf that requires a gradient; its values are set by Initialize.
  Variable AddParameter(std::string name, const Shape& shape, DType dtype, Initializer initializer);
  // The same for a parameter that Split splits.
  Variable AddParameter(std::string name, const Shape& shape, DType dtype, Initializer initializer,
                        std::optional<TensorSplit> split);
  // A parameter of another module that this one uses too: one variable, to whose gradient every use
  // adds. `owner`: its name in the whole model. Its owner initialises it.
  void TieParameter(std::string name, std::string owner, const Variable& value);
  // State that is not trained. The handle stays valid when the buffer gets its memory.
  Variable AddBuffer(std::string name, const Shape& shape, DType dtype, Initializer initializer);
  template <class M>
  std::shared_ptr<M> AddChild(std::string name, std::shared_ptr<M> child) {
    children_.push_back({name, child, name});
    return child;
  }
  // `title` is what tables and errors call a child whose name is no name of its own.
  template <class M>
  std::shared_ptr<M> AddChild(std::string name, std::shared_ptr<M> child, std::string title) {
    children_.push_back({std::move(name), child, std::move(title)});
    return child;
  }
  // This module's own part of Split, before its parameters are split: to refuse what does not fit.
  virtual void OnSplit(const TensorPlace& /*place*/) {}
  // Where Split has put this module; of one rank before.
  const TensorPlace& place() const { return place_; }
  // This module's own part of Share.
  virtual void OnShare(const ShareStatistics& /*share*/) {}
  // This module's own part of EndMiniBatch.
  virtual void OnEndMiniBatch(bool /*taken*/) {}

  struct Child {
    std::string name;  // prefix of its parameters
    std::shared_ptr<Module> module;
    std::string title;
  };
  const std::vector<Child>& children() const { return children_; }

 private:
  struct Parameter {
    NamedVariable variable;
    Initializer initializer;
    std::string owner;  // of a tied one: its name in the whole model
    std::optional<TensorSplit> split = {};
  };
  std::vector<Parameter*> OwnState();  // parameters that are not tied, and buffers
  void AppendParameters(const std::string& prefix, std::vector<NamedVariable>& all) const;

  std::vector<Parameter> parameters_, buffers_;
  std::vector<Child> children_;
  TensorPlace place_;
};

// "prefix.name"; `name` alone where the prefix is empty.
std::string Join(std::string_view prefix, std::string_view name);

}  // namespace torus::nn
