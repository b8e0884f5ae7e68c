#include "parallel/collectives/reduce.h"

#include <deque>
#include <vector>

#include "parallel/collectives/broadcast.h"
#include "parallel/collectives/pieces.h"
#include "parallel/collectives/tree.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr Tag kTag{TagClass::kCollective, 8};

}  // namespace

template <class T>
void Reduce(Transport& transport, std::span<T> data, int root, const std::string& what) {
  const int n = transport.size();
  Require(root >= 0 && root < n, "reduce", "root must be below {}, got {} ({})", n, root, what);
  const BinaryTree tree(n, transport.rank(), root);
  const std::string step = what + ", reduce";
  std::deque<PieceReceiver<T>> children;
  for (const int child : tree.children())
    children.emplace_back(transport, child, kTag, data, step, PieceReceiver<T>::Mode::kAdd);
  std::vector<Pending> sent;
  while (!data.empty()) {
    const std::span<T> piece = TakePiece(data);
    for (PieceReceiver<T>& child : children) child.Next();
    if (tree.parent() >= 0) SendPieces(transport, tree.parent(), kTag, piece, step, sent);
  }
  WaitForAll(sent);
}

template <class T>
void TreeAllReduce(Transport& transport, std::span<T> data, const std::string& what) {
  Reduce(transport, data, 0, what);
  Broadcast(transport, std::as_writable_bytes(data), 0, what);
}

#define TORUS_REDUCE(T)                                                       \
  template void Reduce<T>(Transport&, std::span<T>, int, const std::string&); \
  template void TreeAllReduce<T>(Transport&, std::span<T>, const std::string&);
TORUS_FOR_SUMMED_TYPES(TORUS_REDUCE)
#undef TORUS_REDUCE

int64_t TreeElementsSent(int ranks, int rank, int64_t count) {
  const BinaryTree tree(ranks, rank, 0);
  const auto copies = static_cast<int64_t>(tree.children().size()) + (tree.parent() < 0 ? 0 : 1);
  return copies * count;
}

}  // namespace torus::parallel
