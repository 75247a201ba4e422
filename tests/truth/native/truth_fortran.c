/* The same for Fortran. */
#include "truth.h"
void truth_spin(int us) { spin(us); }
int truth_threads(void) { return threads(); }
void truth_say(const char *what) { TRUTH("%s", what); }
