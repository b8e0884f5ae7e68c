// Adds context to the message of an exception that is passed on.
#pragma once

#include <string>

namespace torus::parallel {

// Throws the exception being handled again, of the same kind, with `context` put in front:
// "context: message". An exception that is not Torus's own becomes an InternalError (std::bad_alloc
// a BrokenEnvironment). For use in a catch.
[[noreturn]] void RethrowWithContext(const std::string& context);

}  // namespace torus::parallel
