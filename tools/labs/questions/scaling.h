// Question 2: how much faster several ranks are.
#pragma once

#include "tools/labs/questions/lab_form.h"

namespace torus::labs {

Lab SpeedUpLab();

}  // namespace torus::labs
