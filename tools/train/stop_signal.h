// Ctrl-C and the like: the first asks for an orderly end, the second ends at once.
#pragma once

namespace torus::tools {

// From now on SIGINT and SIGTERM do so.
void CatchStopSignals();
// The signal that asked for an end; 0: none has.
int StopSignal();

}  // namespace torus::tools
