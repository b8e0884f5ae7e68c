// LeafAlias: gives one use of a leaf a gradient of its own.
//
// A weight that a model uses in two places has one gradient, to which both uses add. The two uses
// may run on one rank or on two, and the sum must have the same bits in both cases. So the second
// use is recorded under an alias, and its gradient is accumulated separately.
#pragma once

#include <utility>
#include <vector>

#include "autograd/variable.h"

namespace torus {

// Pairs {leaf, alias}: two leaves that require a gradient, of the same shape and dtype.
using LeafAliases = std::vector<std::pair<Variable, Variable>>;

// While it exists, ops recorded on this thread that read `leaf` have `alias` as their input in the
// graph, so Backward accumulates into alias.grad(). The values are still those of `leaf`. `aliases`
// must outlive it. Scopes nest; the inner one takes precedence.
class LeafAlias {
 public:
  explicit LeafAlias(const LeafAliases& aliases);
  ~LeafAlias();
  LeafAlias(const LeafAlias&) = delete;
  LeafAlias& operator=(const LeafAlias&) = delete;

  // The alias of `leaf` on this thread now, or the leaf itself if it has none.
  static const Variable& Of(const Variable& leaf);

 private:
  const LeafAliases& aliases_;
  const LeafAlias* outer_;
};

}  // namespace torus
