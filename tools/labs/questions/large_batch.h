// Question 4.1: what a large batch does to loss and accuracy.
#pragma once

#include "tools/labs/questions/lab_form.h"

namespace torus::labs {

Lab LargeBatchLab();

}  // namespace torus::labs
