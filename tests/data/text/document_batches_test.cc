#include "data/text/document_batches.h"

#include <gtest/gtest.h>

#include "data/loading/stacked_batch.h"
#include "data/text/windows.h"

namespace torus::data {
namespace {

using Ids = std::vector<int64_t>;

// Token 9 ends a text. A window that begins with it has one document less than it has such tokens.
TEST(DocumentBatches, NumberDocumentsFromTheTokenBeforeThem) {
  const TokenVector tokens("text", 10, {1, 2, 9, 3, 9, 4, 5, 6, 9, 9, 1, 2, 3});
  const DisjointWindows windows(tokens, 4);
  const MicroBatch all{.indices = {0, 1, 2}, .samples = {5, 6, 7}};
  const Batch plain = StackedBatches(windows)(all);
  const Batch batch = DocumentBatches(StackedBatches(windows), 9)(all);
  ASSERT_EQ(batch.inputs.size(), 2u);
  EXPECT_EQ(batch.inputs[1].shape(), (Shape{3, 4}));
  EXPECT_EQ(ToVector<int64_t>(batch.inputs[1]), (Ids{1, 1, 2, 2,  //
                                                     1, 1, 1, 1,  //
                                                     1, 2, 2, 2}));
  // All else is that of the windows.
  EXPECT_EQ(ToVector<int64_t>(batch.inputs[0]), ToVector<int64_t>(plain.inputs[0]));
  EXPECT_EQ(ToVector<int64_t>(batch.target), ToVector<int64_t>(plain.target));
  EXPECT_EQ(batch.samples, all.samples);
}

TEST(DocumentBatches, MayBeEmpty) {
  const TokenVector tokens("text", 10, {1, 2, 9, 3, 9});
  const MakeBatch windows = RandomWindows(tokens, {.length = 4, .seed = 1});
  EXPECT_EQ(DocumentBatches(windows, 9)({}).inputs[1].shape(), (Shape{0, 4}));
}

}  // namespace
}  // namespace torus::data
