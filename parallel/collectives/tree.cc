#include "parallel/collectives/tree.h"

namespace torus::parallel {

BinaryTree::BinaryTree(int ranks, int rank, int root) {
  const int me = (rank - root + ranks) % ranks;
  if (me > 0) parent_ = ((me - 1) / 2 + root) % ranks;
  for (int child = 2 * me + 1; child <= 2 * me + 2 && child < ranks; ++child)
    children_.push_back((child + root) % ranks);
}

}  // namespace torus::parallel
