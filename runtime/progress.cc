#include "runtime/progress.h"

namespace torus {

constinit thread_local ProgressCounter* thread_progress = nullptr;

}  // namespace torus
