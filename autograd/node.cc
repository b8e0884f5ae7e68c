#include "autograd/node.h"

#include <atomic>

#include "autograd/leaf_alias.h"
#include "autograd/op_observer.h"
#include "autograd/precision.h"
#include "autograd/variable_state.h"
#include "autograd/with_grad.h"
#include "runtime/progress.h"

namespace torus {
namespace {

thread_local bool grad_enabled = true;

Edge EdgeTo(const Variable& input) {
  Edge edge;
  if (!input.defined()) return edge;
  edge.shape = input.shape();
  edge.dtype = input.dtype();
  edge.node = input.node();
  edge.output = input.output_index();
  if (edge.node == nullptr && input.requires_grad()) edge.leaf = LeafAlias::Of(input);
  return edge;
}

void CheckGradient(const std::string& op, size_t i, const Tensor& grad, const Edge& input) {
  TORUS_CHECK(grad.shape() == input.shape && grad.dtype() == input.dtype,
              "the rule of {} gave input {} a gradient of {}, its input has {} {}", op, i,
              grad.Describe(), Name(input.dtype), ToString(input.shape));
}

}  // namespace

Saved::Saved(Tensor tensor) : tensor_(std::move(tensor)) {
  if (tensor_.defined()) version_ = tensor_.version();
}

Saved::Saved(const Variable& variable) : Saved(variable.defined() ? variable.data() : Tensor()) {}

const Tensor& Saved::get() const {
  if (tensor_.defined() && tensor_.version() != version_) {
    Throw<BadInput>("backward",
                    "a tensor saved for the gradient ({}) was changed in place after the forward "
                    "(version {}, now {})",
                    tensor_, version_, tensor_.version());
  }
  return tensor_;
}

Node::Node(std::string_view op, std::vector<Edge> inputs, std::vector<Shape> output_shapes,
           std::vector<DType> output_dtypes, GradRule rule)
    : op_(op),
      inputs_(std::move(inputs)),
      output_shapes_(std::move(output_shapes)),
      output_dtypes_(std::move(output_dtypes)),
      rule_(std::move(rule.call)),
      takes_strided_(rule.takes_strided),
      tf32_(WithPrecision::Tf32()) {
  static std::atomic<uint64_t> next{0};
  sequence_ = next.fetch_add(1, std::memory_order_relaxed);
}

// Orphans are linked through themselves: a list of them would need memory.
Node::~Node() {
  std::shared_ptr<Node> orphans;
  const auto take = [&orphans](std::vector<Edge>& edges) {
    for (Edge& edge : edges) {
      if (edge.node.use_count() != 1) continue;
      edge.node->next_orphan_ = std::move(orphans);
      orphans = std::move(edge.node);
    }
  };
  take(inputs_);
  while (orphans != nullptr) {
    const std::shared_ptr<Node> node = std::move(orphans);
    orphans = std::move(node->next_orphan_);
    // If another thread has taken a handle meanwhile, this thread must not empty the node.
    if (node.use_count() == 1) take(node->inputs_);
  }
}

Gradients Node::Call(std::span<const Tensor> grads, std::span<const char> ones,
                     std::span<const char> wanted, SumsSoFar* sums) const {
  Require(!released(), "backward",
          "the graph of {} was freed by an earlier Backward; pass retain_graph to run it twice",
          op_);
  Gradients result;
  const WithPrecision of_forward({DType::kF32, tf32_ ? MatmulMode::kTf32 : MatmulMode::kEmulated});
  try {
    result = rule_(GradContext(grads, ones, wanted, sums));
  } catch (const BadInput& e) {
    throw BadInput(fmt::format("[gradient of {}] {}", op_, e.what()));
  }
  TORUS_CHECK(result.size() == inputs_.size(), "the rule of {} gave {} gradients for {} inputs",
              op_, result.size(), inputs_.size());
  for (size_t i = 0; i < result.size(); ++i)
    if (result[i].defined() && wanted[i]) CheckGradient(op_, i, result[i], inputs_[i]);
  TickProgress();
  return result;
}

void Node::Release() { rule_ = nullptr; }

bool GradEnabled() { return grad_enabled; }

NoGrad::NoGrad() : before_(grad_enabled) { grad_enabled = false; }
NoGrad::~NoGrad() { grad_enabled = before_; }

WithGrad::WithGrad() : before_(grad_enabled) { grad_enabled = true; }
WithGrad::~WithGrad() { grad_enabled = before_; }

bool NeedsGrad(const std::vector<Variable>& inputs) {
  if (!grad_enabled) return false;
  for (const Variable& input : inputs)
    if (input.requires_grad()) return true;
  return false;
}

std::vector<Variable> RecordMany(std::string_view op, std::vector<Tensor> outs,
                                 const std::vector<Variable>& inputs, GradRule rule) {
  TickProgress();
  std::shared_ptr<Node> node;
  if (NeedsGrad(inputs)) {
    std::vector<Edge> edges;
    for (const Variable& input : inputs) edges.push_back(EdgeTo(input));
    std::vector<Shape> shapes;
    std::vector<DType> dtypes;
    for (const Tensor& out : outs) {
      shapes.push_back(out.shape());
      dtypes.push_back(out.dtype());
    }
    node = std::make_shared<Node>(op, std::move(edges), std::move(shapes), std::move(dtypes),
                                  std::move(rule));
  }
  std::vector<Variable> results;
  for (size_t i = 0; i < outs.size(); ++i) {
    Variable result(std::move(outs[i]));
    if (node != nullptr && IsFloating(result.dtype())) {
      result.state_->node = node;
      result.state_->output_index = static_cast<int>(i);
      result.state_->requires_grad = true;
    }
    results.push_back(std::move(result));
  }
  ObserveOp(op, inputs, results);
  return results;
}

Variable Record(std::string_view op, Tensor out, const std::vector<Variable>& inputs,
                GradRule rule) {
  std::vector<Tensor> outs;
  outs.push_back(std::move(out));
  return RecordMany(op, std::move(outs), inputs, std::move(rule)).front();
}

}  // namespace torus
