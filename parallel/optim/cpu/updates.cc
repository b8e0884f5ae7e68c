#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>

#include "parallel/optim/kernels.h"
#include "parallel/optim/multi_tensor.h"
#include "parallel/optim/norm_block.h"
#include "runtime/kernels.h"
#include "runtime/non_finite.h"

namespace torus::parallel::cpu {
namespace {

constexpr int kLanes = 8;

// Eight parallel sums, which the compiler vectorizes.
template <class T>
double SumOfSquares(const T* values, int64_t count) {
  std::array<double, kLanes> sums{};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) {
      const double v = static_cast<double>(values[i + lane]);
      sums[lane] += v * v;
    }
  for (int lane = 0; i < count; ++i, ++lane) {
    const double v = static_cast<double>(values[i]);
    sums[lane] += v * v;
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

void BlockNorms(const Tensor& gradient, double* sums) {
  const int64_t count = gradient.numel();
  VisitCompute("clip", gradient.dtype(), [&]<class T>(ComputeType<T>) {
    const auto* values = gradient.data<T>();
    ParallelFor(NormBlocks(count), 4, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        sums[b] =
            SumOfSquares(values + b * kNormBlock, std::min(kNormBlock, count - b * kNormBlock));
    });
  });
}

template <class Item>
void WriteLow(std::vector<Item>& items) {
  for (Item& item : items)
    if (item.low.defined()) Copy(item.parameter, item.low);
}

}  // namespace

void SgdStep(std::vector<SgdItem>& items, const StepScalars<SgdScalars>& scalars) {
  ForEachPiece(SizesOf(items), [&](size_t i, int64_t begin, int64_t end) {
    SgdItem& item = items[i];
    VisitCompute("sgd", item.gradient.dtype(), [&]<class T>(ComputeType<T>) {
      SgdUpdate(At<T>(item.parameter, begin), item.gradient.data<T>() + begin,
                At<T>(item.buffer, begin), end - begin, (*scalars)[i]);
    });
  });
  WriteLow(items);
}

void AdamStep(std::vector<AdamItem>& items, const StepScalars<AdamScalars>& scalars) {
  ForEachPiece(SizesOf(items), [&](size_t i, int64_t begin, int64_t end) {
    AdamItem& item = items[i];
    VisitCompute("adam", item.gradient.dtype(), [&]<class T>(ComputeType<T>) {
      AdamUpdate(AdamTensors<T>{At<T>(item.parameter, begin), item.gradient.data<T>() + begin,
                                At<T>(item.mean, begin), At<T>(item.variance, begin),
                                At<T>(item.largest, begin)},
                 end - begin, (*scalars)[i]);
    });
  });
  WriteLow(items);
}

void SquaredBlockNorms(const std::vector<Tensor>& gradients, Tensor& sums) {
  auto* to = sums.mutable_data<double>();
  for (const Tensor& gradient : gradients) {
    BlockNorms(gradient, to);
    to += NormBlocks(gradient.numel());
  }
}

// Pieces may end within a block, so two threads may write the same element.
void FindNonFinite(const std::vector<Tensor>& gradients, Tensor& found) {
  std::vector<Tensor> flat;
  std::vector<int64_t> sizes;
  std::vector<int32_t*> places;
  auto* to = found.mutable_data<int32_t>();
  std::fill_n(to, found.numel(), 0);
  for (const Tensor& gradient : gradients) {
    flat.push_back(gradient.Reshape({gradient.numel()}));
    sizes.push_back(gradient.numel());
    places.push_back(to);
    to += NormBlocks(gradient.numel());
  }
  ForEachPiece(sizes, [&](size_t i, int64_t begin, int64_t end) {
    if (CountNonFinite(flat[i].Narrow(0, begin, end - begin)) > 0)
      std::atomic_ref(places[i][begin / kNormBlock]).store(1, std::memory_order_relaxed);
  });
}

void RoundAll(const std::vector<Tensor>& from, std::vector<Tensor>& to) {
  for (size_t i = 0; i < from.size(); ++i) Copy(from[i], to[i]);
}

void MoveTowards(const std::vector<Tensor>& weights, double share, std::vector<Tensor>& averages) {
  std::vector<int64_t> sizes;
  for (const Tensor& weight : weights) sizes.push_back(weight.numel());
  ForEachPiece(sizes, [&](size_t i, int64_t begin, int64_t end) {
    VisitCompute("averages", weights[i].dtype(), [&]<class T>(ComputeType<T>) {
      const T* const weight = weights[i].data<T>();
      T* const average = static_cast<T*>(averages[i].mutable_raw());
      const auto part = static_cast<T>(share);
      for (int64_t e = begin; e < end; ++e) average[e] += part * (weight[e] - average[e]);
    });
  });
}

}  // namespace torus::parallel::cpu
