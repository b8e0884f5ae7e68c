#include "parallel/collectives/halving_doubling.h"

#include <bit>
#include <vector>

#include "parallel/collectives/chunk.h"
#include "parallel/collectives/pieces.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr Tag kTag{TagClass::kCollective, 7};

// A rank's place among the 2^k that run the steps.
struct Place {
  Place(int ranks, int rank)
      : powers(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))),
        pairs(ranks - powers),
        paired(rank < 2 * pairs),
        odd(paired && rank % 2 == 1),
        index(paired ? rank / 2 : rank - pairs) {}

  // The rank at another place.
  int RankAt(int other) const { return other < pairs ? 2 * other : other + pairs; }
  // The `width` chunks of `count` elements that start at a multiple of `width` and include chunk
  // `index` XOR `flip`.
  Chunk Block(int64_t count, int width, int flip) const {
    const int first = (index ^ flip) & ~(width - 1);
    const Chunk begin = ChunkOf(count, powers, first);
    const Chunk end = ChunkOf(count, powers, first + width - 1);
    return {begin.begin, end.begin + end.size - begin.begin};
  }

  int powers;   // 2^k
  int pairs;    // pairs of ranks that share a place
  bool paired;  // one of two ranks at its place
  bool odd;     // the one of the two that waits
  int index;    // of the place
};

template <class T>
class HalvingDoubling {
 public:
  using Mode = PieceReceiver<T>::Mode;
  HalvingDoubling(Transport& transport, std::span<T> data, const std::string& what)
      : transport_(transport),
        data_(data),
        count_(static_cast<int64_t>(data.size())),
        what_(what),
        place_(transport.size(), transport.rank()) {}

  void Run() {
    if (place_.paired) Fold();
    if (!place_.odd) HalveAndDouble();
    if (place_.paired) Unfold();
  }

 private:
  // Sends one part to `peer` and receives the other from it.
  void Exchange(int peer, std::span<T> send, std::span<T> receive, Mode mode,
                const std::string& step) {
    const std::string what = fmt::format("{}, {}", what_, step);
    SendPieces(transport_, peer, kTag, send, what, sent_);
    PieceReceiver<T> in(transport_, peer, kTag, receive, what, mode);
    while (!in.done()) in.Next();
    WaitForAll(sent_);
  }

  void Fold() {
    const int peer = transport_.rank() ^ 1;
    const std::span<T> mine = ChunkOf(data_, 2, place_.odd),
                       theirs = ChunkOf(data_, 2, !place_.odd);
    Exchange(peer, theirs, mine, Mode::kAdd, "fold 1 of 2");
    Exchange(peer, place_.odd ? mine : std::span<T>(), place_.odd ? std::span<T>() : theirs,
             Mode::kCopy, "fold 2 of 2");
  }

  void HalveAndDouble() {
    const int steps = std::countr_zero(static_cast<unsigned>(place_.powers));
    for (int i = 1; i <= steps; ++i)
      ExchangeBlocks(place_.powers >> i, true, fmt::format("halving {} of {}", i, steps));
    for (int i = 1; i <= steps; ++i)
      ExchangeBlocks(1 << (i - 1), false, fmt::format("doubling {} of {}", i, steps));
  }

  // Exchanges with the rank `width` places away. A halving sends the other's block and adds to its
  // own; a doubling sends its own block and receives the other's.
  void ExchangeBlocks(int width, bool halving, const std::string& step) {
    const int peer = place_.RankAt(place_.index ^ width);
    const std::span<T> own = Part(data_, place_.Block(count_, width, 0));
    const std::span<T> other = Part(data_, place_.Block(count_, width, width));
    Exchange(peer, halving ? other : own, halving ? own : other, halving ? Mode::kAdd : Mode::kCopy,
             step);
  }

  void Unfold() {
    Exchange(transport_.rank() ^ 1, place_.odd ? std::span<T>() : data_,
             place_.odd ? data_ : std::span<T>(), Mode::kCopy, "unfold");
  }

  Transport& transport_;
  std::span<T> data_;
  const int64_t count_;
  const std::string& what_;
  const Place place_;
  std::vector<Pending> sent_;
};

}  // namespace

template <class T>
void HalvingDoublingAllReduce(Transport& transport, std::span<T> data, const std::string& what) {
  HalvingDoubling<T>(transport, data, what).Run();
}

#define TORUS_HALVING_DOUBLING(T) \
  template void HalvingDoublingAllReduce<T>(Transport&, std::span<T>, const std::string&);
TORUS_FOR_SUMMED_TYPES(TORUS_HALVING_DOUBLING)
#undef TORUS_HALVING_DOUBLING

int64_t HalvingDoublingElementsSent(int ranks, int rank, int64_t count) {
  const Place place(ranks, rank);
  if (place.odd) return count;  // one half, and the sum of the other
  int64_t sent = count - place.Block(count, 1, 0).size;
  for (int width = 1; width < place.powers; width *= 2) sent += place.Block(count, width, 0).size;
  return sent + (place.paired ? ChunkOf(count, 2, 1).size + count : 0);
}

}  // namespace torus::parallel
