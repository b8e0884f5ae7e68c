#include "tools/experiments/common/what_differs.h"

namespace torus::experiments {

void AddWhatDiffers(Scale scale, const Differences& differences, study::Page& page) {
  page.parts.push_back(study::Heading{"What differs"});
  if (scale == Scale::kTiny)
    page.parts.push_back(study::Paragraph{
        "Everything: at the scale tiny a run is a few steps of a small model, which shows that the "
        "program works. Our figures mean nothing."});
  else
    page.parts.push_back(
        study::Paragraph{scale == Scale::kPaper ? differences.paper : differences.laptop});
}

}  // namespace torus::experiments
