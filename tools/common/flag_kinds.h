// Rejects flags that do not apply to the kind of data in use.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace torus::tools {

struct FlagKinds {
  std::string flag;                // "--length"
  std::vector<std::string> kinds;  // "sentences", "a long text"
};

// Throws BadInput, prefixed with `program`, for the first of `flags` that is given but does not
// apply to `kind`. `because` is the flag that determines the kind, for the message.
void CheckFlagKinds(const std::string& program, const std::vector<FlagKinds>& flags,
                    const std::function<bool(const std::string& flag)>& given,
                    const std::string& kind, const std::string& because);

}  // namespace torus::tools
