#include "tools/common/flag_kinds.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/error.h"

namespace torus::tools {

void CheckFlagKinds(const std::string& program, const std::vector<FlagKinds>& flags,
                    const std::function<bool(const std::string& flag)>& given,
                    const std::string& kind, const std::string& because) {
  for (const FlagKinds& f : flags)
    Require(!given(f.flag) || std::ranges::find(f.kinds, kind) != f.kinds.end(), program,
            "{} says nothing of {} ({}), only of {}", f.flag, kind, because,
            fmt::join(f.kinds, " and "));
}

}  // namespace torus::tools
