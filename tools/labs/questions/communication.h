// Question 3: how much time an epoch spends on computing and on communicating, and how well the
// ring uses the link.
#pragma once

#include "tools/labs/questions/lab_form.h"

namespace torus::labs {

Lab CommunicationLab();  // 3.1
Lab BandwidthLab();      // 3.2

}  // namespace torus::labs
