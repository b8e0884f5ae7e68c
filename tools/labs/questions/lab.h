// The labs' programs: all questions, the blank report of each, and what a program does with one.
#pragma once

#include <string>
#include <vector>

#include "tools/labs/questions/lab_form.h"

namespace torus::labs {

// All of them, in the order of the course.
const std::vector<Lab>& Labs();
// BadInput with the list of names for an unknown one.
const Lab& LabByName(const std::string& name);

// The blank report, to print or to fill in.
study::Page BlankReport(const Lab& lab, const LabOptions& options);

// A lab's program: reads the flags, writes OUT/NAME.html, .md and .csv, and the blank report
// OUT/NAME_report.html and .md. The program's status.
int LabMain(const std::string& name, int argc, const char* const* argv);

}  // namespace torus::labs
