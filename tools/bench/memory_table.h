// Peak memory and time of training steps with and without recompute.
#pragma once

#include <ostream>

namespace torus::bench {

// Prints a Markdown table: RoBERTa-base of 8 x 128 tokens, GPT-2 of 4 x 256 and of 1 x 1024, each
// keeping its activations and computing them again. "start" is the time in which model and batch
// are made; "peak" the most bytes of tensors at once, from the second step on, where the
// optimizer's state is there; "step" the median of the steps behind the first.
void PrintMemoryTable(std::ostream& out);

}  // namespace torus::bench
