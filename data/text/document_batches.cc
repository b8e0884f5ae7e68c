#include "data/text/document_batches.h"

#include <utility>

namespace torus::data {
namespace {

// Of one row.
void NumberDocuments(const int64_t* tokens, int64_t count, int64_t end_of_text, int64_t* numbers) {
  int64_t document = 1;
  for (int64_t t = 0; t < count; ++t) {
    if (t > 0 && tokens[t] == end_of_text) ++document;
    numbers[t] = document;
  }
}

}  // namespace

MakeBatch DocumentBatches(MakeBatch windows, int64_t end_of_text, BatchMemory memory) {
  return [windows = std::move(windows), end_of_text, memory](const MicroBatch& part) -> Batch {
    Batch batch = windows(part);
    const Tensor tokens = batch.inputs[0];
    const int64_t rows = tokens.dim(0), width = tokens.dim(1);
    Tensor numbers = EmptyIn(memory, tokens.shape(), DType::kI64);
    for (int64_t row = 0; row < rows; ++row)
      NumberDocuments(tokens.data<int64_t>() + row * width, width, end_of_text,
                      numbers.mutable_data<int64_t>() + row * width);
    batch.inputs.push_back(std::move(numbers));
    return batch;
  };
}

}  // namespace torus::data
