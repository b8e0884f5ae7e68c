#include "tools/replay/op_table.h"

namespace torus::replay {

const OpTable& Operators() {
  static const OpTable table = [] {
    OpTable all;
    AddElementwise(all);
    AddSelections(all);
    AddIndexing(all);
    AddViews(all);
    AddMoves(all);
    AddReductions(all);
    AddProducts(all);
    AddEinsums(all);
    AddConvolutions(all);
    AddNormalizations(all);
    AddLayerNorm(all);
    AddAttention(all);
    AddPooling(all);
    AddResampling(all);
    AddLosses(all);
    return all;
  }();
  return table;
}

}  // namespace torus::replay
