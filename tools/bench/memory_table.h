// Peak memory and time of training steps with and without recompute.
#pragma once

#include <ostream>

namespace torus::bench {

// Prints a Markdown table: RoBERTa-base with 8 x 128 tokens, GPT-2 with 4 x 256 and with 1 x 1024,
// each with and without recompute. "start" is the time to make model and batch; "peak" the most
// bytes of tensors at once, from the second step on, when the optimizer's state exists; "step" the
// median time of all steps but the first.
void PrintMemoryTable(std::ostream& out);

}  // namespace torus::bench
