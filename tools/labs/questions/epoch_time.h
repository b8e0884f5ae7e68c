// Question 1: the time of an epoch on one rank by batch size, up to the largest that fits memory.
#pragma once

#include "tools/labs/questions/lab_form.h"

namespace torus::labs {

Lab EpochTimeLab();

}  // namespace torus::labs
