// Whether a folder is one and the same to all ranks. Trainer's own part.
#pragma once

#include <exception>
#include <string>

#include "parallel/trainer/control.h"

namespace torus::parallel {

// Called by all ranks together, each with the folder that is to hold what they write: each writes a
// small file, all read those of all, and they are gone again. Null where that went well; otherwise,
// on all ranks, the error of the first that failed, which names it, its host and whose file it does
// not see (DoTogether).
[[nodiscard]] std::exception_ptr CheckSharedFolder(Control& control, const std::string& folder);

}  // namespace torus::parallel
