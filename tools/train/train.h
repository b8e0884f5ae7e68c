// The program //tools:train, for a main of one's own that first adds to Torus: a codec of one's own
// (parallel::RegisterCodec) is then known to every flag, and to --resume.
#pragma once

namespace torus::tools {

// The command line of recipes::Run. Returns the exit status; prints errors and throws none.
int TrainMain(int argc, const char* const* argv);

}  // namespace torus::tools
