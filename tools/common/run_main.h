// What every program's main does around its own.
#pragma once

#include <functional>

namespace torus::tools {

// body()'s status. An exception ends in one line on stderr, "NAME: reason", after all that was
// printed: 2 where the user can mend it (BadInput), else 1. So does output that cannot be written.
int RunMain(const char* name, const std::function<int()>& body);

}  // namespace torus::tools
