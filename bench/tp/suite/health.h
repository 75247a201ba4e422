/* health LEVELS CHILDREN STEPS CUTOFF: simulates a tree of villages with hospitals for STEPS days. A day of a village: a task for
 * each child village, then three passes over its own lists, wait, then two more passes. Villages CUTOFF levels below the root
 * and deeper are serial. A child hands patients to its parent's list under the parent's lock. */
#ifndef SUITE_HEALTH_H
#define SUITE_HEALTH_H

#include <mutex>

#include "suite.h"

namespace health {
using namespace suite;

static const long CHECK_DAYS = 3, CONVALESCENCE_DAYS = 12, PEOPLE_PER_STAFF = 10;
/* Chances in ten thousand. */
static const u64 SICK = 20, TREATED_HERE = 7000, MOVED_ON = 3000;

struct Patient {
    long id;
    u64 draws;
    long days_left, visits;

    u64 draw() { return mixed(static_cast<u64>(id) << 24 | draws++) % 10000; }
};

typedef std::vector<Patient> Patients;

struct Village {
    long level, staff, free_staff;
    Patients population, waiting, assess, inside, arriving;
    std::mutex arriving_lock;
    std::vector<std::unique_ptr<Village>> children;

    Village(long l, long branching, long &next_id) : level(l), staff(1l << l), free_staff(staff) {
        for (long i = 0; i < staff * PEOPLE_PER_STAFF; i++)
            population.push_back(Patient{next_id++, 0, 0, 0});
        for (long i = 0; l > 1 && i < branching; i++)
            children.push_back(std::unique_ptr<Village>(new Village(l - 1, branching, next_id)));
    }

    void leave_hospital() {
        Patients stay;
        for (Patient &p : inside) {
            if (--p.days_left > 0) {
                stay.push_back(p);
            } else {
                free_staff++;
                population.push_back(p);
            }
        }
        inside.swap(stay);
    }

    void assess_patients(Village *parent) {
        Patients stay;
        for (Patient &p : assess) {
            if (--p.days_left > 0) {
                stay.push_back(p);
            } else if (p.draw() < TREATED_HERE || parent == nullptr) {
                if (p.draw() < MOVED_ON) {
                    p.days_left = CONVALESCENCE_DAYS;
                    inside.push_back(p);
                } else {
                    free_staff++;
                    population.push_back(p);
                }
            } else {
                free_staff++;
                std::lock_guard<std::mutex> hold(parent->arriving_lock);
                parent->arriving.push_back(p);
            }
        }
        assess.swap(stay);
    }

    void admit() {
        std::size_t admitted = 0;
        for (; admitted < waiting.size() && free_staff > 0; admitted++, free_staff--) {
            waiting[admitted].days_left = CHECK_DAYS;
            assess.push_back(waiting[admitted]);
        }
        waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(admitted));
    }

    /* In an order that no schedule changes. */
    void receive() {
        std::sort(arriving.begin(), arriving.end(), [](const Patient &a, const Patient &b) { return a.id < b.id; });
        waiting.insert(waiting.end(), arriving.begin(), arriving.end());
        arriving.clear();
    }

    void fall_ill() {
        Patients well;
        for (Patient &p : population) {
            if (p.draw() < SICK) {
                p.visits++;
                waiting.push_back(p);
            } else {
                well.push_back(p);
            }
        }
        population.swap(well);
    }

    void day(Village *parent, long levels_of_tasks) {
        TP_TASKS(villages);
        for (std::unique_ptr<Village> &child : children) {
            Village *village = child.get();
            if (levels_of_tasks > 0)
                TP_CREATE(villages, [=] { village->day(this, levels_of_tasks - 1); });
            else
                village->day(this, 0);
        }
        leave_hospital();
        assess_patients(parent);
        admit();
        if (levels_of_tasks > 0)
            TP_WAIT(villages);
        receive();
        fall_ill();
    }

    /* People, of them those waiting, assessed and inside, and their visits. */
    void count(std::array<long, 5> &sums) const {
        const Patients *lists[4] = {&population, &waiting, &assess, &inside};
        for (std::size_t k = 0; k < 4; k++) {
            sums[0] += static_cast<long>(lists[k]->size());
            if (k > 0)
                sums[k] += static_cast<long>(lists[k]->size());
            for (const Patient &p : *lists[k])
                sums[4] += p.visits;
        }
        for (const std::unique_ptr<Village> &child : children)
            child->count(sums);
    }
};

static std::array<long, 5> simulated(const Arguments &arguments, long cutoff, bool measured) {
    long people = 0;
    Village root(std::max(1l, std::min(arguments.number(0), 8l)), arguments.number(1), people);
    const auto days = [&] {
        for (long step = 0; step < arguments.number(2); step++)
            root.day(nullptr, cutoff);
    };
    if (measured)
        timed(arguments, days);
    else
        days();
    std::array<long, 5> sums = {};
    root.count(sums);
    /* Nobody is lost. */
    if (sums[0] != people)
        sums[0] = -1;
    return sums;
}

static bool run(const Arguments &arguments) {
    const std::array<long, 5> sums = simulated(arguments, arguments.number(3), true);
    const bool correct = sums[0] >= 0 && (!arguments.check() || sums == simulated(arguments, 0, false));
    return say(correct, "health: %ld people, %ld waiting, %ld assessed, %ld inside, %ld visits", sums[0], sums[1], sums[2], sums[3],
               sums[4]);
}

static const Program PROGRAM = {"health", "[LEVELS] [CHILDREN] [STEPS] [CUTOFF]", {{3, 4, 20, 3}}, {{4, 12, 300, 3}},
                                {{4, 36, 365, 3}}, run};
} // namespace health

#endif
