// The sums of one step as a picture: who sends what to whom, and who waits.
#pragma once

#include <string>

#include "tools/labs/train_with/message_times.h"

namespace torus::tools::labs {

// An SVG element in the colours of a study's page: a row a rank from the moment at which the first
// begins to sum, with its waits for messages, and a line for each message from the row of its
// sender to that of its receiver. Of more than 2000 messages the first ones. `times` hold a step.
std::string RingPicture(const SumTimes& times);

}  // namespace torus::tools::labs
