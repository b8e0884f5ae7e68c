#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>

#include "parallel/optim/kernels.h"
#include "parallel/optim/multi_tensor.h"
#include "parallel/optim/narrow_state.h"
#include "parallel/optim/norm_block.h"
#include "runtime/kernels.h"
#include "runtime/non_finite.h"
#include "runtime/rng.h"

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

void WideAdam(AdamItem& item, int64_t begin, int64_t count, const AdamScalars& scalars) {
  VisitCompute("adam", item.gradient.dtype(), [&]<class T>(ComputeType<T>) {
    AdamUpdate(AdamTensors<T>{At<T>(item.parameter, begin), item.gradient.data<T>() + begin,
                              At<T>(item.mean.values, begin), At<T>(item.variance.values, begin),
                              At<T>(item.largest.values, begin)},
               count, scalars);
  });
}

// The moments of a few blocks, in f32 for the length of their update.
class WideMoments {
 public:
  // The most elements. It divides kNormBlock, within which DrawBits stays.
  static constexpr int64_t kMost = 4 * kStateBlock;
  static_assert(kNormBlock % kMost == 0);

  WideMoments(AdamItem& item, int64_t begin, int64_t count)
      : item_(item), begin_(begin), count_(count) {
    ReadState(item.mean, true, begin, count, mean_.data());
    ReadState(item.variance, false, begin, count, variance_.data());
    if (item.largest.defined()) ReadState(item.largest, false, begin, count, largest_.data());
  }

  void Update(const AdamScalars& scalars) {
    AdamUpdate(
        AdamTensors<float>{At<float>(item_.parameter, begin_),
                           item_.gradient.data<float>() + begin_, mean_.data(), variance_.data(),
                           item_.largest.defined() ? largest_.data() : nullptr},
        count_, scalars);
  }

  void Write(const RandomStream& random) {
    std::array<uint32_t, kMost> words;
    DrawBits(random, begin_, count_, 0, words.data());
    WriteState(mean_.data(), words.data(), Half::kLower, true, begin_, count_, item_.mean);
    WriteState(variance_.data(), words.data(), Half::kUpper, false, begin_, count_, item_.variance);
    if (!item_.largest.defined()) return;
    DrawBits(random, begin_, count_, 1, words.data());
    WriteState(largest_.data(), words.data(), Half::kLower, false, begin_, count_, item_.largest);
  }

 private:
  AdamItem& item_;
  const int64_t begin_, count_;
  std::array<float, kMost> mean_, variance_, largest_;
};

void NarrowAdam(AdamItem& item, int64_t begin, int64_t count, const AdamScalars& scalars) {
  const RandomStream random({.step = static_cast<uint64_t>(scalars.step), .layer = scalars.stream});
  for (int64_t at = begin, size = 0; at < begin + count; at += size) {
    size = std::min(WideMoments::kMost - at % WideMoments::kMost, begin + count - at);
    WideMoments moments(item, at, size);
    moments.Update(scalars);
    moments.Write(random);
  }
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

// Pieces are of whole blocks, as narrow state needs them.
void AdamStep(std::vector<AdamItem>& items, const StepScalars<AdamScalars>& scalars) {
  std::vector<int64_t> blocks = SizesOf(items);
  for (int64_t& size : blocks) size = StateBlocks(size);
  const auto update = [&](size_t i, int64_t first, int64_t last) {
    const int64_t begin = first * kStateBlock,
                  count = std::min(last * kStateBlock, items[i].gradient.numel()) - begin;
    if (items[i].narrow())
      NarrowAdam(items[i], begin, count, (*scalars)[i]);
    else
      WideAdam(items[i], begin, count, (*scalars)[i]);
  };
  ForEachPiece(blocks, update, kPieceGrain / kStateBlock);
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
