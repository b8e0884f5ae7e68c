// One kernel launch over the elements of many tensors, on a GPU. Include it only in .cu files.
#pragma once

#include <vector>

#include "parallel/optim/norm_block.h"
//
#include "runtime/cuda/hand_over.h"
#include "runtime/cuda/rows.h"

namespace torus::parallel::cuda {

// Runs a block of threads for each piece of kNormBlock elements of an entry:
// body.Run<kThreads>(entry, first, last, piece), where `piece` counts over all entries.
template <class Entry, class Body>
struct OverPieces {
  const Entry* entries;
  const int64_t* ends;  // of the entries' pieces
  int64_t count;        // entries
  Body body;
  template <int kThreads>
  __device__ void Run(int64_t piece) const {
    int64_t low = 0, high = count - 1;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (ends[middle] > piece)
        high = middle;
      else
        low = middle + 1;
    }
    const Entry& entry = entries[low];
    const int64_t first = (piece - (low > 0 ? ends[low - 1] : 0)) * kNormBlock;
    const int64_t last = first + kNormBlock < entry.count ? first + kNormBlock : entry.count;
    body.template Run<kThreads>(entry, first, last, piece);
  }
};

// The end of each entry's pieces, counted over all entries.
template <class Entry>
std::vector<int64_t> PieceEnds(const std::vector<Entry>& entries) {
  std::vector<int64_t> ends;
  int64_t pieces = 0;
  for (const Entry& entry : entries) ends.push_back(pieces += NormBlocks(entry.count));
  return ends;
}

// Runs the body over all pieces of all entries, which have a `count` of elements each.
template <class Entry, class Body>
void ForEachPiece(std::string_view op, const std::vector<Entry>& entries, Device device,
                  StreamHandle stream, const Body& body) {
  const std::vector<int64_t> ends = PieceEnds(entries);
  if (entries.empty() || ends.back() == 0) return;
  const Tensor there = torus::cuda::HandOver<Entry>(op, entries, device, stream);
  const Tensor ends_there = torus::cuda::HandOver<int64_t>(op, ends, device, stream);
  const OverPieces<Entry, Body> over{torus::cuda::HandedOver<Entry>(there),
                                     torus::cuda::HandedOver<int64_t>(ends_there),
                                     std::ssize(entries), body};
  torus::cuda::ForEachRow(op, ends.back(), kNormBlock, stream, over);
}

}  // namespace torus::parallel::cuda
