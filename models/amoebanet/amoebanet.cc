#include "models/amoebanet/amoebanet.h"

#include "models/amoebanet/cell.h"
#include "models/amoebanet/classifier.h"
#include "models/amoebanet/stem.h"
#include "runtime/error.h"

namespace torus {
namespace {

using amoebanet::Cell;

// Adds cells one after another, each for the output channels of the two before it.
class Builder {
 public:
  Builder(int64_t channels, DType dtype)
      : channels_(channels), last_(channels), before_last_(channels), dtype_(dtype) {
    model_->Add("stem1", std::make_shared<amoebanet::Stem>(channels, dtype));
  }

  void AddCell(const std::string& name, bool reduction) {
    if (reduction) channels_ *= 2;
    auto cell = std::make_shared<Cell>(amoebanet::CellOptions{.before_last = before_last_,
                                                              .last = last_,
                                                              .channels = channels_,
                                                              .reduction = reduction,
                                                              .reduction_before = reduction_before_,
                                                              .dtype = dtype_});
    before_last_ = last_;
    last_ = cell->out();
    reduction_before_ = reduction;
    model_->Add(name, cell);
  }

  std::shared_ptr<nn::Sequential> Finish(int64_t classes) {
    model_->Add("classify", std::make_shared<amoebanet::Classifier>(last_, classes, dtype_));
    return model_;
  }

 private:
  std::shared_ptr<nn::Sequential> model_ = std::make_shared<nn::Sequential>();
  int64_t channels_, last_, before_last_;
  bool reduction_before_ = false;
  DType dtype_;
};

}  // namespace

std::shared_ptr<nn::Sequential> AmoebaNetD(const AmoebaNetOptions& o) {
  Require(o.layers >= 3 && o.layers % 3 == 0, "amoebanet",
          "layers must be a multiple of 3 and at least 3, got {}", o.layers);
  Require(o.filters >= 8 && o.filters % 8 == 0, "amoebanet",
          "filters must be a multiple of 8 and at least 8, got {}", o.filters);
  Require(o.num_classes >= 1, "amoebanet", "num_classes must be at least 1, got {}", o.num_classes);
  Builder builder(o.filters / 4, o.dtype);
  builder.AddCell("stem2", true);
  builder.AddCell("stem3", true);
  for (int group = 1; group <= 5; ++group) {
    if (group % 2 == 0) {
      builder.AddCell(fmt::format("cell{}_reduction", group), true);
      continue;
    }
    for (int64_t i = 1; i <= o.layers / 3; ++i)
      builder.AddCell(fmt::format("cell{}_normal{}", group, i), false);
  }
  return builder.Finish(o.num_classes);
}

}  // namespace torus
