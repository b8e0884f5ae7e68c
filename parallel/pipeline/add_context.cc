#include "parallel/pipeline/add_context.h"

#include <exception>
#include <new>

#include "runtime/error.h"

namespace torus::parallel {

void RethrowWithContext(const std::string& context) {
  const auto with = [&](const char* message) { return fmt::format("{}: {}", context, message); };
  try {
    throw;
  } catch (const BadInput& e) {
    throw BadInput(with(e.what()));
  } catch (const BrokenEnvironment& e) {
    throw BrokenEnvironment(with(e.what()));
  } catch (const std::bad_alloc&) {
    throw BrokenEnvironment(with("out of memory"));
  } catch (const std::exception& e) {
    throw InternalError(with(e.what()));
  } catch (...) {
    throw InternalError(with("an exception of unknown type"));
  }
}

}  // namespace torus::parallel
