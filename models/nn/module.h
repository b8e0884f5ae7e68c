// Module: a layer or a tree of layers, with named parameters and buffers.
//
// Names are dotted paths from the module on which a function is called, as in torchvision: a child
// "conv" with a parameter "weight" gives "conv.weight".
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "autograd/variable.h"
#include "models/nn/init.h"
#include "runtime/share_statistics.h"
#include "runtime/step_context.h"
#include "runtime/tensor_split.h"

namespace torus::nn {

// "lm_head.weight" is another name of "transformer.wte.weight".
struct Alias {
  std::string name, owner;  // that of the file, and the parameter's
};

// A program's own module adds its parameters, buffers and children in its constructor and
// overrides Forward; the example own_module has one with its training loop.
//
// A module starts on the meta device: its parameters and buffers have shapes but no memory until
// Initialize, Allocate or a checkpoint (checkpoint/state_dict.h) allocates it. So a model of any
// size can be built, and run on inputs on the meta device, to find shapes and costs.
class Module {
 public:
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Images are (N, H, W, C). Errors are those of the ops: BadInput naming the op and the shapes.
  virtual Variable Forward(const Variable& x, const StepContext& ctx) = 0;
  // Call after the backward of each mini-batch: once, also where its rows went through forward and
  // backward in several parts, its micro-batches. Batch norm updates its running statistics here,
  // not in Forward, or, if the step was not taken, drops those of the mini-batch.
  void EndMiniBatch(bool taken = true);

  // All parameters in model order, the module's own before its children's, each variable once. The
  // results are handles to the module's variables. A tied parameter has its owner's name, whatever
  // `prefix` is.
  std::vector<NamedVariable> Parameters(const std::string& prefix = "") const;
  // Other names of tied parameters, which files of the reference may use.
  std::vector<Alias> Aliases(const std::string& prefix = "") const;
  // State that is not trained, such as running statistics, in the same order. The tensors share the
  // module's memory.
  std::vector<NamedTensor> Buffers(const std::string& prefix = "") const;

  // The same of several tensors: all outputs of the previous layer become all inputs of the next
  // one, which in a pipeline may be on another stage. The activation comes first, then its
  // companions: what else goes with it from layer to layer (an attention mask, a skip connection).
  // By default the activation goes through Forward and companions pass unchanged. Override this in
  // a layer that reads, adds or drops companions.
  virtual std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                           const StepContext& ctx);

  // For replicas of a model, which train together, each on a part of every mini-batch: call before
  // EndMiniBatch. Batch norm replaces its statistics by those of all replicas' micro-batches.
  void Share(const ShareStatistics& share);

  // For tensor parallelism, where several ranks (threads or processes) compute each layer together:
  // keeps only this rank's slice of each parameter that is split over them. Call it once, when all
  // parameters have their whole values; Forward then needs a context with the same place
  // (StepContext::tensor_ranks). If several modules share variables (tied ones), call it on each.
  // Throws BadInput if a parameter cannot be split so. Does nothing for a `place` of one rank.
  void Split(const TensorPlace& place);
  // The parameters that Split would split, in the order of Parameters; a tied one only with its
  // owner.
  std::vector<NamedSplit> Splits(const std::string& prefix = "") const;

  // Sets every parameter and buffer by its initializer from the random stream of (seed, its name):
  // the values depend neither on the order of layers nor on which rank has them. `prefix` is this
  // module's name if it is a part of a model. Allocates missing memory on `device`. Throws BadInput
  // if two parameters or buffers have one name, or two dropout layers one number (dropout.h).
  void Initialize(uint64_t seed, const std::string& prefix = "", Device device = {});
  // Allocates memory, with undefined content, for all parameters and buffers that have none.
  void Allocate(Device device = {});
  // Moves all parameters and buffers that have memory.
  void MoveTo(Device device);
  // The device of the first parameter; the CPU if there are none.
  Device device() const;
  // Throws BadInput tagged `layer` if `x` has values and one of this module's own parameters or
  // buffers has a shape alone. A forward that uses them calls it, since all that it computes would
  // have a shape alone too.
  void RequireValues(const char* layer, const Variable& x) const;

 protected:
  Module() = default;
  // Moves a layer to where it is kept (Sequential); handles to its parameters stay valid.
  Module(Module&&) = default;
  // A leaf that requires a gradient; its values are set by Initialize. Throws BadInput for a name
  // that the module has already, and without an initializer.
  Variable AddParameter(std::string name, const Shape& shape, DType dtype, Initializer initializer);
  // The same for a parameter that Split splits.
  Variable AddParameter(std::string name, const Shape& shape, DType dtype, Initializer initializer,
                        std::optional<TensorSplit> split);
  // Adds a parameter that belongs to another module: both use one variable and add to its gradient.
  // `owner` is its name in the whole model. The owner initialises it.
  void TieParameter(std::string name, std::string owner, const Variable& value);
  // Adds state that is not trained. The handle stays valid when the buffer is allocated.
  Variable AddBuffer(std::string name, const Shape& shape, DType dtype, Initializer initializer);
  // Adds a child and returns it; its parameters' names begin with `name` and a dot. Throws BadInput
  // for a name that a child has already.
  template <class M>
  std::shared_ptr<M> AddChild(std::string name, std::shared_ptr<M> child) {
    return AddChild(name, std::move(child), name);
  }
  // `title` is the child's name in tables and errors, for children that share a `name`; no two
  // children share a title.
  template <class M>
  std::shared_ptr<M> AddChild(std::string name, std::shared_ptr<M> child, std::string title) {
    CheckNewChild(title);
    children_.push_back({std::move(name), child, std::move(title)});
    return child;
  }
  // This module's own part of Split, called before its parameters are split; throws if they cannot
  // be.
  virtual void OnSplit(const TensorPlace& /*place*/) {}
  // The place that Split set; a place of one rank before.
  const TensorPlace& place() const { return place_; }
  // This module's own part of Share.
  virtual void OnShare(const ShareStatistics& /*share*/) {}
  // This module's own part of EndMiniBatch.
  virtual void OnEndMiniBatch(bool /*taken*/) {}
  // The number that keys this module's own random numbers, if it draws any: layers of one number
  // would draw the same.
  virtual std::optional<uint64_t> DropoutNumber() const { return std::nullopt; }

  // A part of this module.
  struct Child {
    std::string name;                // prefix of its parameters
    std::shared_ptr<Module> module;  // shared with whoever made it
    std::string title;               // its name in tables and errors
  };
  // In the order in which they were added.
  const std::vector<Child>& children() const { return children_; }

 private:
  struct Parameter {
    NamedVariable variable;
    Initializer initializer;
    std::string owner;  // if tied: its name in the whole model
    std::optional<TensorSplit> split = {};
  };
  // Names of dropout layers and what they are, by number.
  using Dropouts = std::map<uint64_t, std::pair<const Module*, std::string>>;

  std::vector<Parameter*> OwnState();  // parameters that are not tied, and buffers
  void AppendParameters(const std::string& prefix, std::vector<NamedVariable>& all) const;
  void CheckNewName(const std::string& name) const;
  void CheckNewChild(const std::string& title) const;
  void CheckNames(const std::string& prefix) const;
  void CheckDropouts(const std::string& prefix, Dropouts& found) const;

  std::vector<Parameter> parameters_, buffers_;
  std::vector<Child> children_;
  TensorPlace place_;
};

// "prefix.name", or `name` alone if the prefix is empty.
std::string Join(std::string_view prefix, std::string_view name);

}  // namespace torus::nn
