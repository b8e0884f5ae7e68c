// LeafAlias: lets one use of a leaf have a gradient of its own.
//
// A weight that a model uses in two places has one gradient, to which both uses add. Where the two
// uses may lie on two machines, or on one, and the sum shall have the same bits, each is
// accumulated
// apart: the second use is recorded under an alias.
#pragma once

#include <utility>
#include <vector>

#include "autograd/variable.h"

namespace torus {

// {leaf, alias}: both leaves that require a gradient, of one shape and dtype.
using LeafAliases = std::vector<std::pair<Variable, Variable>>;

// While it lives, ops recorded on this thread that read `leaf` have `alias` as their input in the
// graph, so that a Backward accumulates into alias.grad(). Values are still those of `leaf`.
// `aliases` must outlive it. They nest; an inner one goes before.
class LeafAlias {
 public:
  explicit LeafAlias(const LeafAliases& aliases);
  ~LeafAlias();
  LeafAlias(const LeafAlias&) = delete;
  LeafAlias& operator=(const LeafAlias&) = delete;

  // What stands for `leaf` on this thread now: an alias, or the leaf itself.
  static const Variable& Of(const Variable& leaf);

 private:
  const LeafAliases& aliases_;
  const LeafAlias* outer_;
};

}  // namespace torus
