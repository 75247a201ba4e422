/* parlay.h: ParlayLib's own scheduler (github.com/cmuparlay/parlaylib), recorded. Include this before any header of Parlay; the
 * program stays as it is. C++17.
 *
 *     #include <workspan/parlay.h>
 *     #include <parlay/primitives.h>
 *
 * The header records every fork: par_do, parallel_for, and those inside of Parlay's algorithms. A fork calls its first function
 * and makes the second a task. Parlay's scheduler does not know where it was called from, so a run has two spawn sites, par_do and
 * parallel_for; regions (workspan.h) distinguish callers. A parallel_for without a granularity is halved into 128 pieces a
 * worker, where Parlay itself first tries how long an iteration takes. */
#ifndef WORKSPAN_PARLAY_H
#define WORKSPAN_PARLAY_H

#ifdef PARLAY_SCHEDULER_H_
#error "include workspan/parlay.h before the headers of Parlay"
#endif

#include <cstddef>
#include <utility>

/* Parlay's class under another name, and below one with its name and interface, which parlay/parallel.h then uses. */
#define fork_join_scheduler fork_join_scheduler_unrecorded
#include <parlay/scheduler.h>
#undef fork_join_scheduler

#include "../workspan.h"

namespace workspan_parlay {

/* One a program: the pool of the first scheduler that forks. */
inline void worker(unsigned workers, unsigned index) {
    static const workspan_pool pool = workspan_pool_begin(workers);
    static thread_local const bool told = (workspan_worker_begin(pool, index), true);
    (void)told;
}

} // namespace workspan_parlay

namespace parlay {

class fork_join_scheduler {
  public:
    template <class Scheduler, class Left, class Right>
    static void pardo(Scheduler &scheduler, Left &&left, Right &&right, bool conservative = false) {
        static workspan_site site = {"par_do", 0, 0};
        fork(scheduler, site, left, right, conservative);
    }

    template <class Scheduler, class Body>
    static void parfor(Scheduler &scheduler, std::size_t first, std::size_t last, Body &&body, std::size_t granularity = 0,
                       bool conservative = false) {
        const std::size_t pieces = 128 * static_cast<std::size_t>(scheduler.num_workers());
        if (granularity == 0)
            granularity = last > first + pieces ? (last - first) / pieces : 1;
        if (first < last)
            halves(scheduler, first, last, body, granularity, conservative);
    }

  private:
    template <class Scheduler, class Left, class Right>
    static void fork(Scheduler &scheduler, workspan_site &site, Left &left, Right &right, bool conservative) {
        if (!workspan_is_recorded()) {
            fork_join_scheduler_unrecorded::pardo(scheduler, left, right, conservative);
            return;
        }
        const auto here = [&scheduler] {
            workspan_parlay::worker(static_cast<unsigned>(scheduler.num_workers()), static_cast<unsigned>(scheduler.worker_id()));
        };
        here();
        const workspan_task task = workspan_create(&site, 0);
        const auto recorded = [&] {
            here();
            workspan_begin(task);
            right();
            workspan_end();
        };
        const auto then_waits = [&] {
            left();
            workspan_wait_tasks(&site, &task, 1);
        };
        fork_join_scheduler_unrecorded::pardo(scheduler, then_waits, recorded, conservative);
        workspan_resume();
    }

    template <class Scheduler, class Body>
    static void halves(Scheduler &scheduler, std::size_t first, std::size_t last, Body &body, std::size_t granularity,
                       bool conservative) {
        static workspan_site site = {"parallel_for", 0, 0};
        if (last - first <= granularity) {
            for (; first < last; ++first)
                body(first);
            return;
        }
        const std::size_t middle = first + (last - first) / 2;
        const auto left = [&] { halves(scheduler, first, middle, body, granularity, conservative); };
        const auto right = [&] { halves(scheduler, middle, last, body, granularity, conservative); };
        fork(scheduler, site, left, right, conservative);
    }
};

} // namespace parlay

#include <parlay/parallel.h>

#endif
