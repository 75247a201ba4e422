/* The suite: BOTS and TP-PARSEC, written anew from their algorithms. `suite NAME [NUMBERS] [--size test|small|large]` runs a
 * program, `suite all` every one, `suite list` names them. docs/suite.md has the arguments. */
#include "suite.h"

#include "alignment.h"
#include "fft.h"
#include "fib.h"
#include "floorplan.h"
#include "health.h"
#include "nqueens.h"
#include "sort.h"
#include "sparselu.h"
#include "strassen.h"
#include "uts.h"

#include "blackscholes.h"
#include "bodytrack.h"
#include "canneal.h"
#include "dedup.h"
#include "facesim.h"
#include "ferret.h"
#include "fluidanimate.h"
#include "freqmine.h"
#include "raytrace.h"
#include "streamcluster.h"
#include "swaptions.h"

static const suite::Program PROGRAMS[] = {
    alignment::PROGRAM,  fft::PROGRAM,       fib::PROGRAM,     floorplan::PROGRAM,    health::PROGRAM,
    nqueens::PROGRAM,    sort::PROGRAM,      sparselu::PROGRAM, strassen::PROGRAM,    uts::PROGRAM,
    blackscholes::PROGRAM, bodytrack::PROGRAM, canneal::PROGRAM, dedup::PROGRAM,      facesim::PROGRAM,
    ferret::PROGRAM,     fluidanimate::PROGRAM, freqmine::PROGRAM, raytrace::PROGRAM, streamcluster::PROGRAM,
    swaptions::PROGRAM,
};

static bool run(const suite::Program &program, const kernel::Arguments &words, const std::string &size) {
    const suite::Numbers &numbers = size == "test" ? program.test : size == "large" ? program.large : program.small;
    return program.run(suite::Arguments{&words, numbers});
}

int main(int count, char **words) {
    const char *usage = "suite NAME|all|list [NUMBERS] [--size test|small|large] [--check yes|no]";
    const std::string name = count > 1 ? words[1] : "list";
    const kernel::Arguments arguments(count > 1 ? count - 1 : count, count > 1 ? words + 1 : words, usage);
    const std::string size = arguments.option("size", "small");
    bool found = name == "list", correct = true;
    if (size != "test" && size != "small" && size != "large")
        found = correct = false;
    for (const suite::Program &program : PROGRAMS) {
        if (name == "list")
            std::printf("%s %s\n", program.name, program.usage);
        else if (correct && (name == "all" || name == program.name)) {
            found = true;
            correct = run(program, arguments, size);
        }
    }
    if (!found) {
        std::fprintf(stderr, "no program `%s` or no size `%s`\nusage: %s\n", name.c_str(), size.c_str(), usage);
        return 2;
    }
    return kernel::finish(correct);
}
