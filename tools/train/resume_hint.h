// How a user goes on with a run that was stopped.
#pragma once

#include <string>

namespace torus::tools {

// The command line that resumes the run in `folder`, as this program was started: by bazelw (which
// says how in TORUS_STARTED_AS), by mpirun with as many processes, or as `program`, argv[0]. Words
// are quoted for a shell where they need it.
std::string ResumeCommand(const std::string& program, const std::string& folder);

}  // namespace torus::tools
