#include "tools/common/flag_kinds.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/error.h"

namespace torus::tools {
namespace {

std::string Plural(const std::string& kind) { return kind == "a long text" ? "long texts" : kind; }

std::vector<std::string> Plurals(std::vector<std::string> kinds) {
  for (std::string& kind : kinds) kind = Plural(kind);
  return kinds;
}

}  // namespace

void CheckFlagKinds(const std::string& program, const std::vector<FlagKinds>& flags,
                    const std::function<bool(const std::string& flag)>& given,
                    const std::string& kind, const std::string& because) {
  for (const FlagKinds& f : flags)
    Require(!given(f.flag) || std::ranges::find(f.kinds, kind) != f.kinds.end(), program,
            "{} applies to {} only, not to {} ({})", f.flag, fmt::join(Plurals(f.kinds), " and "),
            Plural(kind), because);
}

}  // namespace torus::tools
