#include "autograd/backward.h"

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "autograd/node.h"
#include "autograd/variable_state.h"
#include "runtime/kernels.h"

namespace torus {
namespace {

// A sum of gradients. It adds in place only if nothing else refers to the tensor, because a rule
// may return a view, an input, or the gradient it received. a + b and b + a have the same bits, so
// either may be overwritten.
class GradSum {
 public:
  // `is_one`: the gradient is known to be 1 everywhere.
  void Add(Tensor grad, bool is_one = false) {
    if (!sum_.defined()) {
      sum_ = std::move(grad);
      is_one_ = is_one;
      return;
    }
    is_one_ = false;
    if (!IsSole(sum_) && IsSole(grad)) std::swap(sum_, grad);
    if (!IsSole(sum_)) sum_ = sum_.Clone();
    AddInPlace(sum_, grad.Contiguous());
  }
  bool defined() const { return sum_.defined(); }
  bool is_one() const { return is_one_; }
  Tensor Take() { return std::move(sum_); }

 private:
  Tensor sum_;
  bool is_one_ = false;
};

void CheckSeed(const Variable& output, const Tensor& seed) {
  Require(seed.shape() == output.shape() && seed.dtype() == output.dtype() &&
              seed.device() == output.data().device(),
          "backward", "the seed gradient must be {} as its output, got {}", output.data(), seed);
}

Tensor SeedFor(const Variable& output, const Tensor& given) {
  if (!given.defined()) {
    Require(output.numel() == 1, "backward",
            "an output of shape {} needs a seed gradient; only a single element has a default",
            output.shape());
    return Full(output.shape(), 1, output.dtype(), output.data().device());
  }
  CheckSeed(output, given);
  return given.Contiguous();
}

}  // namespace

namespace internal {

void Accumulate(Variable& leaf, Tensor total) {
  VariableState& state = *leaf.state_;
  if (!state.grad.defined()) {
    state.grad = IsSole(total) ? std::move(total) : total.Clone();
  } else {
    AddInPlace(state.grad, total.Contiguous());
  }
  for (const Variable::Hook& hook : state.hooks) hook(leaf);
}

}  // namespace internal

// Leaf gradients in the order in which their nodes run, so that hooks are called in that order.
struct DeferredGradients::Work {
  struct Item {
    std::shared_ptr<Node> node;
    std::vector<Tensor> grads;
    std::vector<char> ones, wanted;
  };
  std::vector<std::pair<Variable, Tensor>> seeds;  // for outputs that are leaves
  std::vector<Item> items;
  bool retain_graph = false;
};

struct BackwardEngine {
  explicit BackwardEngine(const BackwardOptions& options) : options(options) {
    for (size_t i = 0; i < options.wanted.size(); ++i) {
      const Variable& v = options.wanted[i];
      Require(v.is_leaf() && v.requires_grad(), "backward",
              "wanted variable {} must be a leaf that requires a gradient", i);
      wanted_index[v.id()] = i;
    }
    wanted_sums.resize(options.wanted.size());
  }

  // Counts the leaves' uses below an output. All outputs are counted before the first is seeded.
  void Count(const Variable& output) {
    Require(output.requires_grad(), "backward",
            "no path from the output of shape {} to a leaf that requires a gradient: was it "
            "computed in a NoGrad?",
            output.shape());
    if (output.is_leaf())
      ++leaves[output.id()].uses;
    else
      CountUses(output.node().get());
  }

  void Seed(const Variable& output, Tensor grad, bool is_one) {
    if (!output.is_leaf())
      AddToOutput(output.node(), output.output_index(), std::move(grad), is_one);
    else if (Leave(output))
      deferred.seeds.emplace_back(output, std::move(grad));
    else
      AddToLeaf(output, std::move(grad));
  }

  // Counts how often each leaf is an input, so that its hooks run as soon as its gradient is
  // complete.
  void CountUses(const Node* root) {
    std::vector<const Node*> open{root};
    while (!open.empty()) {
      const Node* node = open.back();
      open.pop_back();
      if (!counted.insert(node).second) continue;
      for (const Edge& input : node->inputs()) {
        if (input.node != nullptr)
          open.push_back(input.node.get());
        else if (input.leaf.defined())
          ++leaves[input.leaf.id()].uses;
      }
    }
  }

  void AddToOutput(const std::shared_ptr<Node>& node, int output, Tensor grad,
                   bool is_one = false) {
    Pending& pending = queue[node->sequence()];
    if (pending.node == nullptr) {
      pending.node = node;
      pending.sums.resize(node->outputs());
    }
    pending.sums[output].Add(std::move(grad), is_one);
  }

  void AddToLeaf(const Variable& leaf, Tensor grad) {
    const auto wanted = wanted_index.find(leaf.id());
    if (wanted != wanted_index.end()) {
      wanted_sums[wanted->second].Add(std::move(grad));
      return;
    }
    Leaf& entry = leaves[leaf.id()];
    if (!entry.variable.defined()) {
      entry.variable = leaf;
      order.push_back(leaf.id());
    }
    if (grad.defined()) entry.sum.Add(std::move(grad));
    if (--entry.uses == 0) Flush(entry);
  }

  // Runs the nodes from the last created to the first; an input is always created before its user.
  void Run() {
    while (!queue.empty()) {
      auto last = std::prev(queue.end());
      Pending pending = std::move(last->second);
      queue.erase(last);
      RunNode(pending.node, pending.sums);
    }
  }

  bool Leave(const Variable& leaf) const {
    return options.defer_leaves && leaf.defined() && !wanted_index.contains(leaf.id());
  }

  void RunNode(const std::shared_ptr<Node>& node, std::vector<GradSum>& sums) {
    std::vector<Tensor> grads;
    std::vector<char> ones;
    for (GradSum& sum : sums) {
      ones.push_back(sum.is_one());
      Tensor grad = sum.Take();
      const bool ready = !grad.defined() || node->takes_strided();
      grads.push_back(ready ? std::move(grad) : grad.Contiguous());
    }
    std::vector<char> now, later;
    bool any_now = false, any_later = false;
    for (const Edge& input : node->inputs()) {
      later.push_back(Leave(input.leaf));
      now.push_back(input.requires_grad() && !later.back());
      any_now |= now.back() != 0;
      any_later |= later.back() != 0;
    }
    if (any_now) {
      SumsOfInputs so_far(*this, *node);
      Gradients gradients = node->Call(grads, ones, now, &so_far);
      if (!any_later) grads.clear();
      // What the rule kept and returned is then no longer the node's, so that it is added to in
      // place.
      if (!any_later && !options.retain_graph) node->Release();
      Spread(*node, gradients, now);
    } else if (!any_later && !options.retain_graph) {
      node->Release();
    }
    if (any_later)
      deferred.items.push_back({node, std::move(grads), std::move(ones), std::move(later)});
  }

  void Spread(const Node& node, Gradients& gradients, const std::vector<char>& wanted) {
    for (size_t i = 0; i < gradients.size(); ++i) {
      const Edge& input = node.inputs()[i];
      if (!wanted[i]) continue;
      if (input.node == nullptr)
        AddToLeaf(input.leaf, std::move(gradients[i]));
      else if (gradients[i].defined())
        AddToOutput(input.node, input.output, std::move(gradients[i]));
    }
  }

  // Of leaves it has none, since other backwards add to them too, but for those that are wanted: a
  // stage's input is computed within the stage where the model is cut elsewhere, and its gradient
  // must have the same bits.
  struct SumsOfInputs : SumsSoFar {
    SumsOfInputs(BackwardEngine& engine, const Node& node) : engine(engine), node(node) {}
    Tensor Take(int input) override {
      GradSum* const sum = SumOf(node.inputs()[input]);
      const Tensor so_far = sum == nullptr ? Tensor() : sum->Take();
      return so_far.defined() ? so_far.Contiguous() : so_far;
    }
    GradSum* SumOf(const Edge& edge) const {
      if (edge.node == nullptr) {
        const auto wanted = engine.wanted_index.find(edge.leaf.id());
        return wanted == engine.wanted_index.end() ? nullptr : &engine.wanted_sums[wanted->second];
      }
      const auto found = engine.queue.find(edge.node->sequence());
      return found == engine.queue.end() ? nullptr : &found->second.sums[edge.output];
    }
    BackwardEngine& engine;
    const Node& node;
  };

  struct Leaf {
    Variable variable;  // defined from the first contribution on
    GradSum sum;
    int64_t uses = 0;  // how many of its uses have not contributed yet
  };

  void Flush(Leaf& entry) {
    if (entry.sum.defined()) internal::Accumulate(entry.variable, entry.sum.Take());
  }

  BackwardResult Finish() {
    // Leaves with uses left, in branches that no gradient reaches.
    for (const void* id : order) Flush(leaves[id]);
    BackwardResult result;
    for (GradSum& sum : wanted_sums) result.wanted.push_back(sum.Take());
    if (!deferred.items.empty() || !deferred.seeds.empty()) {
      deferred.retain_graph = options.retain_graph;
      result.deferred.work_ = std::make_shared<DeferredGradients::Work>(std::move(deferred));
    }
    return result;
  }

  struct Pending {
    std::shared_ptr<Node> node;
    std::vector<GradSum> sums;
  };

  const BackwardOptions& options;
  std::map<uint64_t, Pending> queue;  // by sequence
  std::unordered_set<const Node*> counted;
  std::unordered_map<const void*, size_t> wanted_index;
  std::vector<GradSum> wanted_sums;
  std::unordered_map<const void*, Leaf> leaves;
  std::vector<const void*> order;  // of the leaves' first contributions
  DeferredGradients::Work deferred;
};

void DeferredGradients::Run() {
  Require(work_ != nullptr, "backward", "deferred gradients were run already, or none were left");
  const std::shared_ptr<Work> work = std::move(work_);
  const BackwardOptions options;
  BackwardEngine engine(options);
  for (const auto& [leaf, grad] : work->seeds) ++engine.leaves[leaf.id()].uses;
  for (const Work::Item& item : work->items)
    for (size_t i = 0; i < item.wanted.size(); ++i)
      if (item.wanted[i]) ++engine.leaves[item.node->inputs()[i].leaf.id()].uses;
  for (auto& [leaf, grad] : work->seeds) engine.AddToLeaf(leaf, std::move(grad));
  for (Work::Item& item : work->items) {
    Gradients gradients = item.node->Call(item.grads, item.ones, item.wanted);
    item.grads.clear();
    if (!work->retain_graph) item.node->Release();
    engine.Spread(*item.node, gradients, item.wanted);
  }
}

BackwardResult Backward(const std::vector<Variable>& outputs, const std::vector<Tensor>& grads,
                        const BackwardOptions& options) {
  Require(grads.empty() || grads.size() == outputs.size(), "backward",
          "{} seed gradients for {} outputs", grads.size(), outputs.size());
  BackwardEngine engine(options);
  for (const Variable& output : outputs) engine.Count(output);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor given = grads.empty() ? Tensor() : grads[i];
    engine.Seed(outputs[i], SeedFor(outputs[i], given), !given.defined());
  }
  engine.Run();
  return engine.Finish();
}

}  // namespace torus
