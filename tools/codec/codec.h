// The program //tools:codec, for a main of one's own that first adds a codec to the list
// (parallel::RegisterCodec).
#pragma once

namespace torus::tools {

// Measures codecs on a file of tensors: codec FILE.safetensors [--codec sortq:8]. Returns the exit
// status; prints errors and throws none.
int CodecMain(int argc, const char* const* argv);

}  // namespace torus::tools
