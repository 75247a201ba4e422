/* The header in C99 and C++11: with <dlfcn.h>, which says more of dlsym than the header does, before or after it. */
#ifdef BEFORE
#include <dlfcn.h>
#endif
#include <workspan.h>
#ifndef BEFORE
#include <dlfcn.h>
#endif
#include <stdio.h>

static workspan_site HERE = WORKSPAN_HERE;
static workspan_label LABEL = WORKSPAN_LABEL("label");

int main(void) {
    workspan_task task, tasks[2];
    workspan_signal signal = workspan_signal_new();
    workspan_scope scope = workspan_open_group(), tree = workspan_open_tree();
    workspan_stop stop;
    workspan_pool pool = workspan_pool_begin(1);
    workspan_note("runtime", "clean.c");
    workspan_worker_begin(pool, 0);
    workspan_begin(workspan_create_detached(&HERE));
    tasks[0] = workspan_create(&HERE, scope);
    tasks[1] = workspan_create_inline(&HERE, tree);
    workspan_depend(tasks[1], tasks[0]);
    workspan_steal(workspan_this_thread(), tasks[0]);
    workspan_leap(0, tasks[1]);
    workspan_steal_failed(0);
    for (int i = 0; i < 2; i++) {
        workspan_begin(tasks[i]);
        workspan_end();
    }
    workspan_wait_scope(&HERE, scope);
    workspan_resume();
    workspan_wait_scope(NULL, tree);
    workspan_resume();
    workspan_wait_tasks(&HERE, tasks, 2);
    workspan_resume();
    workspan_signal_set(&HERE, signal);
    workspan_wait_signals(&HERE, &signal, 1);
    workspan_resume();
    workspan_region_begin(&LABEL);
    workspan_tree_region_begin(&LABEL);
    workspan_region_end(&LABEL);
    workspan_region_end(&LABEL);
    workspan_part_begin(&LABEL);
    workspan_part_end(&LABEL);
    workspan_count(&LABEL, 1);
    workspan_yield(&HERE);
    workspan_resume();
    stop = workspan_leave(&HERE);
    workspan_resume_stopped(stop);
    workspan_sleep();
    workspan_wake();
    task = workspan_task_begin(&HERE, 0);
    workspan_begin(workspan_task_spawn(&HERE));
    workspan_end();
    workspan_task_sync(&HERE);
    workspan_task_resume(0);
    workspan_task_resume(workspan_task_pause(&HERE));
    workspan_task_end(task);
    workspan_wait_children(&HERE);
    workspan_resume();
    workspan_end();
    workspan_worker_end();
    workspan_pool_end(pool);
    printf("%d\n", dlsym(NULL, "printf") != NULL);
    return 0;
}
