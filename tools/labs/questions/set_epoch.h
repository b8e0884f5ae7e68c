// Question 5: what every rank sees if the sampler is never told the epoch.
#pragma once

#include "tools/labs/questions/lab_form.h"

namespace torus::labs {

Lab SampleOrderLab();

}  // namespace torus::labs
