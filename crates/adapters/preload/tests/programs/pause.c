/* A task that runs its child at once, as Cilk does, and is gone on with by another thread, which took the rest of it. */
#include <pthread.h>

#include <workspan.h>

static workspan_site PARENT = WORKSPAN_HERE, CHILD = WORKSPAN_HERE, PAUSE = WORKSPAN_HERE, SYNC = WORKSPAN_HERE;
static workspan_task parent;
static workspan_stop rest;

static void *first(void *nothing) {
    workspan_task call = workspan_task_begin(&PARENT, parent);
    workspan_task child = workspan_task_spawn(&CHILD);
    rest = workspan_task_pause(&PAUSE);
    workspan_task_end(workspan_task_begin(&CHILD, child));
    return call == 0 ? nothing : &rest;
}

int main(void) {
    pthread_t thread;
    void *wrong;
    parent = workspan_task_spawn(&PARENT);
    workspan_task_sync(&SYNC);
    if (pthread_create(&thread, NULL, first, NULL) != 0)
        return 1;
    pthread_join(thread, &wrong);
    workspan_task_resume(rest);
    workspan_task_sync(&SYNC);
    workspan_task_resume(0);
    workspan_task_end(0);
    workspan_task_resume(0);
    return wrong != NULL;
}
