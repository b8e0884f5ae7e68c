// Adds context to the message of an exception that is passed on.
#pragma once

#include <string>

namespace torus::parallel {

// Rethrows the exception being handled, of the same kind, with the message "context: message". An
// exception that is not one of Torus becomes an InternalError (std::bad_alloc a BrokenEnvironment).
// Call it in a catch block.
[[noreturn]] void RethrowWithContext(const std::string& context);

}  // namespace torus::parallel
