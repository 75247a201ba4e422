/* wool.h: Wool (github.com/kffaxen/wool), recorded. Include this in place of <wool.h>, and leave the program as it is:
 *
 *     #include <workspan/wool.h>
 *     TASK_1(int, fib, int, n) { if (n < 2) return n; SPAWN(fib, n - 1); int a = CALL(fib, n - 2); return a + SYNC(fib); }
 *     TASK_2(int, main, int, count, char **, words) { return CALL(fib, 30); }
 *
 * The header records SPAWN and SYNC of tasks that TASK_n or VOID_TASK_n defines, with up to five arguments. It does not record
 * FOR, whose tasks Wool defines itself. Tasks that are declared and defined apart (TASK_DECL_n, TASK_IMPL_n) cannot be spawned
 * with it. */
#ifndef WORKSPAN_WOOL_H
#define WORKSPAN_WOOL_H

#include <wool.h>

#include "spawn_sync.h"

#define WORKSPAN_WORKERS_ ((unsigned)wool_get_nworkers())
#define WORKSPAN_WORKER_ workspan_worker_(WORKSPAN_WORKERS_)

#undef SPAWN
#define SPAWN(NAME, ...)                                                                                                \
    ({                                                                                                                 \
        static workspan_site workspan_at_ = WORKSPAN_HERE;                                                             \
        WORKSPAN_WORKER_;                                                                                              \
        NAME##_task__SPAWN_DSP((Worker *)__self, _WOOL_(in_task), workspan_spawn_(&workspan_at_), ##__VA_ARGS__);                                     \
    })

#undef SYNC
#define SYNC(NAME)                                                                                                      \
    ({                                                                                                                 \
        static workspan_site workspan_at_ = WORKSPAN_HERE;                                                             \
        int workspan_waits_ __attribute__((cleanup(workspan_synced_), unused)) = workspan_sync_(&workspan_at_);         \
        NAME##_task__SYNC_DSP((Worker *)__self, _WOOL_(in_task));                                                                \
    })

#include "spawn_sync_tasks.h"

#endif
