#include "autograd/leaf_alias.h"

namespace torus {
namespace {

thread_local const LeafAlias* innermost = nullptr;

}  // namespace

LeafAlias::LeafAlias(const LeafAliases& aliases) : aliases_(aliases), outer_(innermost) {
  innermost = this;
}

LeafAlias::~LeafAlias() { innermost = outer_; }

const Variable& LeafAlias::Of(const Variable& leaf) {
  for (const LeafAlias* scope = innermost; scope != nullptr; scope = scope->outer_)
    for (const auto& [original, alias] : scope->aliases_)
      if (original == leaf) return alias;
  return leaf;
}

}  // namespace torus
