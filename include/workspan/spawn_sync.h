/* spawn_sync.h: what workspan/lace.h and workspan/wool.h have in common. GNU C.
 *
 * Both libraries define a task by TASK_n(R, NAME, ...), spawn it by SPAWN(NAME, ...) and join the one that was spawned last
 * by SYNC(NAME). Each TASK_n here defines NAME as it was, and a second task NAME_task_ with the number of the recorded task as
 * its first argument, which SPAWN and SYNC use in its place. CALL stays a call. */
#ifndef WORKSPAN_SPAWN_SYNC_H
#define WORKSPAN_SPAWN_SYNC_H

#include <stdlib.h>

#include "../workspan.h"

/* The tasks that were spawned and not joined yet on this thread: joins are in the reverse order of spawns there. */
struct workspan_spawned_ {
    workspan_task *tasks;
    size_t count, room;
    size_t untold; /* spawned after those, without memory for them: not recorded */
};

/* One a process: the pool, begun by whoever comes first, and the workers' numbers, in the order in which they come. */
__attribute__((weak)) workspan_pool workspan_spawn_pool_;
__attribute__((weak)) unsigned workspan_spawn_workers_;
__attribute__((weak)) int workspan_spawn_lock_;
__attribute__((weak)) __thread int workspan_is_worker_;
__attribute__((weak)) __thread struct workspan_spawned_ workspan_spawned_;

/* The calling thread is a worker; how many there are is asked once. */
static inline void workspan_worker_(unsigned workers) {
    if (workspan_is_worker_ || !workspan_is_recorded())
        return;
    workspan_is_worker_ = 1;
    while (__atomic_exchange_n(&workspan_spawn_lock_, 1, __ATOMIC_ACQUIRE))
        ;
    if (workspan_spawn_workers_ == 0)
        workspan_spawn_pool_ = workspan_pool_begin(workers);
    workspan_worker_begin(workspan_spawn_pool_, workspan_spawn_workers_++);
    __atomic_store_n(&workspan_spawn_lock_, 0, __ATOMIC_RELEASE);
}

static inline workspan_task workspan_spawn_(workspan_site *site) {
    struct workspan_spawned_ *const spawned = &workspan_spawned_;
    workspan_task task;
    if (spawned->count == spawned->room && spawned->untold == 0) {
        const size_t room = spawned->room * 2 + 64;
        workspan_task *const tasks = (workspan_task *)realloc(spawned->tasks, room * sizeof *tasks);
        if (tasks != NULL) {
            spawned->tasks = tasks;
            spawned->room = room;
        }
    }
    if (spawned->count == spawned->room) {
        spawned->untold++;
        return 0;
    }
    task = workspan_create(site, 0);
    if (task != 0)
        spawned->tasks[spawned->count++] = task;
    return task;
}

/* Begins to wait for the task that was spawned last. */
static inline int workspan_sync_(workspan_site *site) {
    struct workspan_spawned_ *const spawned = &workspan_spawned_;
    if (spawned->untold > 0) {
        spawned->untold--;
        return 0;
    }
    if (spawned->count > 0)
        workspan_wait_tasks(site, &spawned->tasks[--spawned->count], 1);
    else
        workspan_wait_tasks(site, NULL, 0);
    return 1;
}

static inline void workspan_synced_(int *waits) {
    if (*waits)
        workspan_resume();
}

static inline int workspan_body_(workspan_task task, unsigned workers) {
    if (task == 0)
        return 0;
    workspan_worker_(workers);
    workspan_begin(task);
    return 1;
}

static inline void workspan_body_ends_(const int *recorded) {
    if (*recorded)
        workspan_end();
}

#define WORKSPAN_BODY_(task)                                                                                           \
    const int workspan_recorded_ __attribute__((cleanup(workspan_body_ends_), unused)) =                          \
        workspan_body_(task, WORKSPAN_WORKERS_)

#endif
