#include "parallel/data_parallel/kernels.h"
#include "parallel/optim/cuda/multi_tensor.h"

namespace torus::parallel::cuda {
namespace {

using torus::cuda::Elements;
using torus::cuda::MutableElements;

template <class T>
struct CopyEntry {
  const T* from;  // null: `value`
  T* to;
  int64_t count;
  T value;
};

struct CopyElements {
  template <int kThreads, class Entry>
  __device__ void Run(const Entry& entry, int64_t first, int64_t last, int64_t) const {
    for (int64_t i = first + threadIdx.x; i < last; i += kThreads)
      entry.to[i] = entry.from == nullptr ? entry.value : entry.from[i];
  }
};

template <class T>
void CopyAllOf(std::vector<CopyItem>& items, StreamHandle stream) {
  std::vector<CopyEntry<T>> entries;
  for (CopyItem& item : items)
    if (item.to.dtype() == kDTypeOf<T>)
      entries.push_back({item.from.defined() ? Elements<T>(item.from) : nullptr,
                         MutableElements<T>(item.to), item.to.numel(), static_cast<T>(item.value)});
  if (!entries.empty())
    ForEachPiece("copy_all", entries, items.front().to.device(), stream, CopyElements());
}

}  // namespace

void CopyAll(std::vector<CopyItem>& items) {
  const StreamHandle stream = CurrentStream(items.front().to.device());
  CopyAllOf<float>(items, stream);
  CopyAllOf<double>(items, stream);
}

}  // namespace torus::parallel::cuda
