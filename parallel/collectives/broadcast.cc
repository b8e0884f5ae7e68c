#include "parallel/collectives/broadcast.h"

#include <vector>

#include "parallel/collectives/pieces.h"
#include "parallel/collectives/tree.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr Tag kTag{TagClass::kCollective, 3};

}  // namespace

void Broadcast(Transport& transport, std::span<std::byte> data, int root, const std::string& what) {
  const int n = transport.size();
  Require(root >= 0 && root < n, "broadcast", "root must be below {}, got {} ({})", n, root, what);
  const BinaryTree tree(n, transport.rank(), root);
  const std::string step = what + ", broadcast";
  PieceReceiver<std::byte> in(transport, tree.parent(), kTag,
                              tree.parent() < 0 ? std::span<std::byte>() : data, step,
                              PieceReceiver<std::byte>::Mode::kCopy);
  std::vector<Pending> sent;
  while (!data.empty()) {
    const std::span<std::byte> piece = TakePiece(data);
    if (!in.done()) in.Next();
    for (const int child : tree.children()) SendPieces(transport, child, kTag, piece, step, sent);
  }
  WaitForAll(sent);
}

}  // namespace torus::parallel
