/* lace.h: Lace (github.com/trolando/lace, versions 1.2 to 1.4), recorded. Include this in place of <lace.h>, and leave the
 * program as it is:
 *
 *     #include <workspan/lace.h>
 *     TASK_1(int, fib, int, n) { if (n < 2) return n; SPAWN(fib, n - 1); int a = CALL(fib, n - 2); return a + SYNC(fib); }
 *     int main(void) { lace_start(2, 0); int found = RUN(fib, 30); lace_stop(); }
 *
 * The header records SPAWN, SYNC and RUN of tasks that TASK_n or VOID_TASK_n defines, with up to five arguments. It does not
 * record DROP, TOGETHER and NEWFRAME, whose joins would be missing. Tasks that are declared and defined apart (TASK_DECL_n,
 * TASK_IMPL_n) cannot be spawned with it. */
#ifndef WORKSPAN_LACE_H
#define WORKSPAN_LACE_H

#include <lace.h>

#include "spawn_sync.h"

#define WORKSPAN_WORKERS_ ((unsigned)lace_workers())
#define WORKSPAN_WORKER_ workspan_worker_(WORKSPAN_WORKERS_)

#undef SPAWN
#define SPAWN(NAME, ...)                                                                                                \
    ({                                                                                                                 \
        static workspan_site workspan_at_ = WORKSPAN_HERE;                                                             \
        WORKSPAN_WORKER_;                                                                                              \
        (WRAP(NAME##_task__SPAWN, workspan_spawn_(&workspan_at_), ##__VA_ARGS__), __lace_dq_head++);                                     \
    })

#undef SYNC
#define SYNC(NAME)                                                                                                      \
    ({                                                                                                                 \
        static workspan_site workspan_at_ = WORKSPAN_HERE;                                                             \
        int workspan_waits_ __attribute__((cleanup(workspan_synced_), unused)) = workspan_sync_(&workspan_at_);         \
        (__lace_dq_head--, WRAP(NAME##_task__SYNC));                                                                \
    })

#undef RUN
#define RUN(NAME, ...)                                                                                                  \
    ({                                                                                                                 \
        static workspan_site workspan_at_ = WORKSPAN_HERE;                                                             \
        const workspan_task workspan_run_ = workspan_create(&workspan_at_, 0);                                         \
        int workspan_waits_ __attribute__((cleanup(workspan_synced_), unused)) =                                        \
            (workspan_wait_tasks(&workspan_at_, &workspan_run_, 1), 1);                                                \
        NAME##_task__RUN(workspan_run_, ##__VA_ARGS__);                                                                \
    })

#include "spawn_sync_tasks.h"

#endif
