// Flags that apply to some kinds of data only: given for another kind they are a mistake.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace torus::tools {

struct FlagKinds {
  std::string flag;                // "--length"
  std::vector<std::string> kinds;  // "sentences", "a long text"
};

// BadInput, tagged `program`, for the first of `flags` that is given though `kind` is none of its
// own. `because`: the flag that says the kind, for the message.
void CheckFlagKinds(const std::string& program, const std::vector<FlagKinds>& flags,
                    const std::function<bool(const std::string& flag)>& given,
                    const std::string& kind, const std::string& because);

}  // namespace torus::tools
