#include "tests/ops/cuda/cudnn/evaluate_graph.h"

#include <cmath>
#include <memory>
#include <utility>

#include "runtime/element_cast.h"
#include "runtime/emulated_gpu/queues.h"
#include "runtime/error.h"

namespace torus::testing {
namespace {

using cuda::Graph;
using cuda::GraphNode;
using cuda::GraphOp;
using cuda::GraphPlace;
using cuda::GraphTensor;
using cuda::Sizes;

// A tensor's values, in the order of its dimensions.
using Values = std::vector<double>;

int64_t CountOf(const Sizes& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

Sizes IndexOf(int64_t at, const Sizes& dims) {
  Sizes index(dims.size());
  for (size_t d = dims.size(); d-- > 0; at /= dims[d]) index[d] = at % dims[d];
  return index;
}

int64_t PlaceOf(const Sizes& index, const Sizes& strides) {
  int64_t place = 0;
  for (size_t d = 0; d < index.size(); ++d) place += index[d] * strides[d];
  return place;
}

Values Load(const GraphTensor& tensor, const void* address) {
  Values values(static_cast<size_t>(CountOf(tensor.dims)));
  VisitDType(tensor.dtype, [&]<class T>(T) {
    const T* const from = static_cast<const T*>(address);
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t at = PlaceOf(IndexOf(static_cast<int64_t>(i), tensor.dims), tensor.strides);
      values[i] = ElementCast<double, T>()(from[at]);
    }
  });
  return values;
}

void Store(const GraphTensor& tensor, const Values& values, void* address) {
  VisitDType(tensor.dtype, [&]<class T>(T) {
    T* const to = static_cast<T*>(address);
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t at = PlaceOf(IndexOf(static_cast<int64_t>(i), tensor.dims), tensor.strides);
      to[at] = ElementCast<T, double>()(values[i]);
    }
  });
}

void Round(const GraphTensor& tensor, Values& values) {
  VisitDType(tensor.dtype, [&]<class T>(T) {
    for (double& value : values) value = ElementCast<double, T>()(ElementCast<T, double>()(value));
  });
}

class Evaluation {
 public:
  explicit Evaluation(const Graph& graph) : graph_(graph), values_(graph.tensors.size()) {}

  void Run(cuda::GraphAddresses addresses) {
    std::vector<bool> written(graph_.tensors.size());
    for (const GraphNode& node : graph_.nodes) written[static_cast<size_t>(node.output)] = true;
    for (size_t i = 0; i < written.size(); ++i)
      if (!written[i]) values_[i] = Load(graph_.tensors[i], addresses[i]);
    for (const GraphNode& node : graph_.nodes) {
      Values& out = values_[static_cast<size_t>(node.output)];
      out = Compute(node);
      Round(Tensor(node.output), out);
    }
    for (size_t i = 0; i < written.size(); ++i)
      if (written[i] && graph_.tensors[i].place == GraphPlace::kMemory)
        Store(graph_.tensors[i], values_[i], const_cast<void*>(addresses[i]));
  }

 private:
  const GraphTensor& Tensor(int64_t place) const {
    return graph_.tensors[static_cast<size_t>(place)];
  }

  // An element of an input; where it has fewer of a dimension, neighbours share one.
  double At(int64_t place, Sizes index, const Sizes& dims) const {
    const Sizes& own = Tensor(place).dims;
    for (size_t d = 0; d < own.size(); ++d) index[d] = index[d] * own[d] / dims[d];
    return values_[static_cast<size_t>(place)]
                  [static_cast<size_t>(PlaceOf(index, cuda::ContiguousStrides(own)))];
  }

  Values Compute(const GraphNode& node) const {
    switch (node.op) {
      case GraphOp::kConvForward:
      case GraphOp::kConvBackwardInput:
      case GraphOp::kConvBackwardWeight:
        return Convolve(node);
      case GraphOp::kMatmul:
        return Multiply(node);
      case GraphOp::kReduceMax:
      case GraphOp::kReduceAdd:
        return Reduce(node);
      default:
        return Pointwise(node);
    }
  }

  Values Pointwise(const GraphNode& node) const {
    const Sizes& dims = Tensor(node.output).dims;
    Values out(static_cast<size_t>(CountOf(dims)));
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = PointwiseAt(node, IndexOf(static_cast<int64_t>(i), dims), dims);
    return out;
  }

  double PointwiseAt(const GraphNode& node, const Sizes& index, const Sizes& dims) const {
    const auto in = [&](size_t i) { return At(node.inputs[i], index, dims); };
    switch (node.op) {
      case GraphOp::kAdd:
        return in(0) + in(1);
      case GraphOp::kSubtract:
        return in(0) - in(1);
      case GraphOp::kMultiply:
        return in(0) * in(1);
      case GraphOp::kDivide:
        return in(0) / in(1);
      case GraphOp::kExp:
        return std::exp(in(0));
      case GraphOp::kLog:
        return std::log(in(0));
      case GraphOp::kIndex:
        return static_cast<double>(index[static_cast<size_t>(node.axis)]);
      case GraphOp::kNotLess:
        return in(0) >= in(1);
      case GraphOp::kSelect:
        return in(2) != 0 ? in(0) : in(1);
      case GraphOp::kTranspose: {
        Sizes turned = index, turned_dims = dims;
        std::swap(turned.end()[-1], turned.end()[-2]);
        std::swap(turned_dims.end()[-1], turned_dims.end()[-2]);
        return At(node.inputs[0], turned, turned_dims);
      }
      default:
        TORUS_CHECK(false, "operation {}", static_cast<int>(node.op));
    }
    return 0;
  }

  Values Multiply(const GraphNode& node) const {
    const Sizes& dims = Tensor(node.output).dims;
    const int64_t depth = Tensor(node.inputs[0]).dims.back();
    Values out(static_cast<size_t>(CountOf(dims)));
    for (size_t i = 0; i < out.size(); ++i) {
      Sizes left = IndexOf(static_cast<int64_t>(i), dims), right = left, wide = dims, tall = dims;
      wide.end()[-1] = tall.end()[-2] = depth;
      for (int64_t k = 0; k < depth; ++k) {
        left.end()[-1] = right.end()[-2] = k;
        out[i] += At(node.inputs[0], left, wide) * At(node.inputs[1], right, tall);
      }
    }
    return out;
  }

  Values Reduce(const GraphNode& node) const {
    const Sizes &from = Tensor(node.inputs[0]).dims, &to = Tensor(node.output).dims;
    const bool largest = node.op == GraphOp::kReduceMax;
    Values out(static_cast<size_t>(CountOf(to)), largest ? -INFINITY : 0);
    for (int64_t i = 0; i < CountOf(from); ++i) {
      Sizes index = IndexOf(i, from);
      const double value = At(node.inputs[0], index, from);
      for (size_t d = 0; d < index.size(); ++d) index[d] = index[d] * to[d] / from[d];
      double& sum = out[static_cast<size_t>(PlaceOf(index, cuda::ContiguousStrides(to)))];
      sum = largest ? std::max(sum, value) : sum + value;
    }
    return out;
  }

  // Walks all products of a pixel of x, an element of the weight and a pixel of y.
  Values Convolve(const GraphNode& node) const {
    const bool to_y = node.op == GraphOp::kConvForward;
    const bool to_x = node.op == GraphOp::kConvBackwardInput;
    const int64_t x = to_x ? node.output : node.inputs[0];
    const int64_t w = to_y || to_x ? node.inputs[1] : node.output;
    const int64_t y = to_y ? node.output : (to_x ? node.inputs[0] : node.inputs[1]);
    const Sizes &xd = Tensor(x).dims, &wd = Tensor(w).dims, &yd = Tensor(y).dims;
    Values out(static_cast<size_t>(CountOf(Tensor(node.output).dims)));
    const auto add = [&](const Sizes& index, const Sizes& dims, double value) {
      out[static_cast<size_t>(PlaceOf(index, cuda::ContiguousStrides(dims)))] += value;
    };
    const int64_t group_filters = wd[0] / (xd[1] / wd[1]);
    for (int64_t i = 0; i < CountOf(yd); ++i) {
      const Sizes at_y = IndexOf(i, yd);
      for (int64_t j = 0; j < CountOf(wd) / wd[0]; ++j) {
        Sizes at_w = IndexOf(j, {1, wd[1], wd[2], wd[3]});
        at_w[0] = at_y[1];
        const Sizes at_x{at_y[0], at_y[1] / group_filters * wd[1] + at_w[1],
                         InputAt(node, 0, at_y[2], at_w[2]), InputAt(node, 1, at_y[3], at_w[3])};
        if (at_x[2] < 0 || at_x[2] >= xd[2] || at_x[3] < 0 || at_x[3] >= xd[3]) continue;
        if (to_y) add(at_y, yd, At(x, at_x, xd) * At(w, at_w, wd));
        if (to_x) add(at_x, xd, At(y, at_y, yd) * At(w, at_w, wd));
        if (!to_y && !to_x) add(at_w, wd, At(x, at_x, xd) * At(y, at_y, yd));
      }
    }
    return out;
  }

  static int64_t InputAt(const GraphNode& node, size_t side, int64_t out, int64_t tap) {
    const cuda::ConvWindow& window = node.window;
    return out * window.stride[side] - window.before[side] + tap * window.dilation[side];
  }

  const Graph& graph_;
  std::vector<Values> values_;
};

// Scalars by value are read now; the rest when the stream gets there.
void Enqueue(const Graph& graph, cuda::GraphAddresses addresses, StreamHandle stream) {
  const auto scalars = std::make_shared<std::vector<float>>(graph.tensors.size());
  std::vector<const void*> places(addresses.begin(), addresses.end());
  for (size_t i = 0; i < places.size(); ++i) {
    if (graph.tensors[i].place != GraphPlace::kByValue) continue;
    (*scalars)[i] = *static_cast<const float*>(places[i]);
    places[i] = &(*scalars)[i];
  }
  emulated_gpu::Enqueue(stream, "graph",
                        [graph, places, scalars] { EvaluateGraph(graph, places); });
}

}  // namespace

void EvaluateGraph(const Graph& graph, cuda::GraphAddresses addresses) {
  Evaluation(graph).Run(addresses);
}

CountingStandIn::CountingStandIn(std::function<bool(const Graph&)> takes)
    : stand_in_([this, takes = std::move(takes)](const Graph& graph, const cuda::EngineRules&,
                                                 cuda::GraphAddresses addresses, Device,
                                                 StreamHandle stream) {
        if (!takes(graph)) return false;
        ++graphs_;
        Enqueue(graph, addresses, stream);
        return true;
      }) {}

}  // namespace torus::testing
