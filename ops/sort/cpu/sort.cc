#include <algorithm>
#include <utility>
#include <vector>

#include "ops/sort/kernels.h"
#include "ops/sort/sort_key.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

// Key and place; no two are equal, so that any sort is stable.
using Keyed = std::pair<int64_t, int64_t>;

template <class T>
void SortRow(const T* row, bool descending, std::vector<Keyed>& keyed, int64_t count,
             int64_t* order) {
  for (size_t i = 0; i < keyed.size(); ++i)
    keyed[i] = {ops::SortKeyOf(row[i], descending), static_cast<int64_t>(i)};
  const auto end = keyed.begin() + count;
  if (end != keyed.end()) std::nth_element(keyed.begin(), end, keyed.end());
  std::sort(keyed.begin(), end);
  for (int64_t p = 0; p < count; ++p) order[p] = keyed[static_cast<size_t>(p)].second;
}

}  // namespace

void SortRows(std::string_view, const Tensor& x, bool descending, Tensor& order) {
  const int64_t size = x.dim(1), count = order.dim(1);
  int64_t* const out = order.mutable_data<int64_t>();
  VisitDType(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* const in = x.data<T>();
    ParallelFor(x.dim(0), (1 << 12) / (size + 1) + 1, [&](int64_t begin, int64_t end) {
      std::vector<Keyed> keyed(static_cast<size_t>(size));
      for (int64_t r = begin; r < end; ++r)
        SortRow(in + r * size, descending, keyed, count, out + r * count);
    });
  });
}

}  // namespace torus::cpu
