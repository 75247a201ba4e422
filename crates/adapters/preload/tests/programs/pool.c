/* A pool of two workers that run the main thread's tasks; every call of workspan.h once or more. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workspan.h"

enum { WORKERS = 2, TASKS = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static workspan_task queue[TASKS];
static int queued, taken, done;
static workspan_pool pool;
static workspan_signal half;
static workspan_thread main_thread;

static workspan_label WORK = WORKSPAN_LABEL("work");
static workspan_label PRODUCE = WORKSPAN_LABEL("produce");
static workspan_label ALL = WORKSPAN_LABEL("all");
static workspan_label UNITS = WORKSPAN_LABEL("units");

static void *worker(void *index) {
    workspan_worker_begin(pool, (uint32_t)(size_t)index);
    for (;;) {
        pthread_mutex_lock(&lock);
        while (taken == queued && queued < TASKS) {
            workspan_sleep();
            pthread_cond_wait(&changed, &lock);
            workspan_wake();
        }
        if (taken == TASKS) {
            pthread_mutex_unlock(&lock);
            break;
        }
        int mine = taken++;
        pthread_mutex_unlock(&lock);

        workspan_steal(main_thread, queue[mine]);
        workspan_begin(queue[mine]);
        workspan_region_begin(&WORK);
        volatile unsigned sum = 0;
        for (unsigned i = 0; i < 20000; i++)
            sum += i;
        workspan_region_end(&WORK);
        if (mine == TASKS / 2) {
            static workspan_site SET = WORKSPAN_HERE;
            workspan_signal_set(&SET, half);
        }
        workspan_count(&UNITS, 7);
        workspan_end();

        pthread_mutex_lock(&lock);
        done++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    workspan_worker_end();
    return NULL;
}

static void until_done(int count) {
    pthread_mutex_lock(&lock);
    while (done < count)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

int main(void) {
    if (getenv("LD_PRELOAD") != NULL || getenv("WORKSPAN_SPOOL_DIR") != NULL)
        return 90;
    errno = 1234;
    workspan_note("runtime", "pool.c 1.0");
    workspan_part_begin(&ALL);
    half = workspan_signal_new();
    main_thread = workspan_this_thread();
    pool = workspan_pool_begin(WORKERS);
    if (errno != 1234)
        return 91;
    pthread_t threads[WORKERS];
    for (size_t i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);

    workspan_tree_region_begin(&PRODUCE);
    workspan_scope scope = workspan_open_group();
    for (int i = 0; i < TASKS; i++) {
        static workspan_site CREATE = WORKSPAN_HERE;
        workspan_task task = workspan_create(&CREATE, scope);
        pthread_mutex_lock(&lock);
        queue[queued++] = task;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    workspan_region_end(&PRODUCE);

    static workspan_site HALF = WORKSPAN_HERE;
    workspan_wait_signals(&HALF, &half, 1);
    until_done(TASKS / 2 + 1 + WORKERS);
    workspan_resume();

    static workspan_site JOIN = WORKSPAN_HERE;
    workspan_wait_scope(&JOIN, scope);
    until_done(TASKS);
    workspan_resume();

    static workspan_site INLINE = WORKSPAN_HERE;
    workspan_task in_place = workspan_create_inline(&INLINE, 0);
    workspan_begin(in_place);
    workspan_end();
    workspan_wait_tasks(&INLINE, &in_place, 1);
    workspan_resume();
    static workspan_site YIELD = WORKSPAN_HERE;
    workspan_yield(&YIELD);
    workspan_resume();
    workspan_part_end(&ALL);

    for (size_t i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    workspan_pool_end(pool);
    printf("%d %d\n", done, workspan_is_recorded());
    return 7;
}
