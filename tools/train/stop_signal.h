// Handles Ctrl-C: the first one requests an orderly end, the second one ends the program at once.
#pragma once

namespace torus::tools {

// From now on SIGINT and SIGTERM are handled so.
void CatchStopSignals();
// The signal that requested the end; 0 if none has.
int StopSignal();

}  // namespace torus::tools
