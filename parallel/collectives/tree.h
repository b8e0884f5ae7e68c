// The binary tree of reduce.h and broadcast.h, laid out as a heap: with ranks counted from the
// root, the children of rank i are 2 i + 1 and 2 i + 2. It has floor(log2 n) levels below the root.
//
//              0
//          1       2          the root takes and gives through two links alone, however many
//        3   4   5   6        ranks there are
#pragma once

#include <vector>

namespace torus::parallel {

class BinaryTree {
 public:
  // The tree as seen by `rank` of `ranks`.
  BinaryTree(int ranks, int rank, int root);

  int parent() const { return parent_; }  // -1 for the root
  const std::vector<int>& children() const { return children_; }

 private:
  int parent_ = -1;
  std::vector<int> children_;
};

}  // namespace torus::parallel
