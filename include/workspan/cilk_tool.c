/* cilk_tool.c: records an OpenCilk program by the hooks that its compiler puts into it (CSI: csi/csi.h of OpenCilk). C99.
 *
 *     clang -fopencilk -g -O2 -fcsi -c program.c
 *     clang -g -O2 -I INCLUDE -c INCLUDE/workspan/cilk_tool.c
 *     clang -fopencilk program.o cilk_tool.o -o program
 *     CILK_NWORKERS=1 workspan record -- ./program
 *
 * NEVER RUN UNDER THE REAL COMPILER: written against the published interface, and tested by a program that calls the hooks
 * as the compiler would.
 *
 * The run has to be on one worker, as Cilkview's are: the whole task graph is there, and from it work, span, bounds, what-if
 * and simulated schedules; there are no steals to see. On more workers the tool says so and records nothing from there on.
 *
 * Versions of the compiler differ in what they pass to a hook behind the numbers; only these are read. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../workspan.h"

typedef int64_t csi_id;

/* csi.h's source_loc_t. */
struct csi_position {
    const char *name;
    int32_t line, column;
    const char *file;
};

/* Where a spawn or a sync stands; the compiler's run time answers, where it is linked in. */
extern const struct csi_position *__csi_get_detach_source_loc(csi_id detach) __attribute__((weak));
extern const struct csi_position *__csi_get_sync_source_loc(csi_id sync) __attribute__((weak));

/* The children of one frame (a function, or the body of a spawn) that are not joined yet lie on top of those of the frames
 * that called it. */
static workspan_task *children;
static size_t child_count, child_room;
static size_t *frames; /* how many children there were when each began */
static size_t frame_count, frame_room;

/* Created by a detach, for the task that begins next. */
static workspan_task next_task;
static const void *only_thread;

/* Nothing more is recorded; the program goes on. */
static int stopped;

static void stop(const char *why) {
    if (!__atomic_exchange_n(&stopped, 1, __ATOMIC_RELAXED))
        fprintf(stderr, "workspan: nothing more is recorded of this program: %s\n", why);
}

/* Whether to record what the calling thread does. Its own variable's address tells threads apart. */
static int is_recording(void) {
    static __thread char own;
    const void *none = NULL;
    if (!workspan_is_recorded() || __atomic_load_n(&stopped, __ATOMIC_RELAXED))
        return 0;
    if (__atomic_compare_exchange_n(&only_thread, &none, &own, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) || none == &own)
        return 1;
    stop("an OpenCilk program is recorded on one worker; set CILK_NWORKERS=1");
    return 0;
}

/* Makes room for one more; 0 if there is no memory. */
static int grow(void **items, size_t count, size_t *room, size_t size) {
    void *grown;
    if (count < *room)
        return 1;
    grown = realloc(*items, (*room * 2 + 64) * size);
    if (grown == NULL) {
        stop("out of memory");
        return 0;
    }
    *items = grown;
    *room = *room * 2 + 64;
    return 1;
}

static void enter_frame(void) {
    if (grow((void **)&frames, frame_count, &frame_room, sizeof *frames))
        frames[frame_count++] = child_count;
}

static void leave_frame(void) {
    if (frame_count > 0)
        child_count = frames[--frame_count];
}

/* One site for each number, looked up once. */
struct sites {
    workspan_site **known;
    csi_id room;
};
static struct sites detaches, syncs;

static workspan_site *site_of(struct sites *all, csi_id id, const struct csi_position *(*position)(csi_id)) {
    if (id < 0)
        return NULL;
    if (id >= all->room) {
        csi_id room = id * 2 + 64, i;
        workspan_site **known = realloc(all->known, (size_t)room * sizeof *known);
        if (known == NULL)
            return NULL;
        all->known = known;
        for (i = all->room; i < room; i++)
            all->known[i] = NULL;
        all->room = room;
    }
    if (all->known[id] == NULL) {
        const struct csi_position *at = position != NULL ? position(id) : NULL;
        workspan_site *site = calloc(1, sizeof *site);
        if (site == NULL)
            return NULL;
        site->file = at != NULL && at->file != NULL ? at->file : "?";
        site->line = at != NULL && at->line > 0 ? (uint32_t)at->line : 0;
        all->known[id] = site;
    }
    return all->known[id];
}

void __csi_init(void) { workspan_note("runtime", "OpenCilk, on one worker"); }

struct csi_counts {
    csi_id numbers[16];
};
void __csi_unit_init(const char *file, struct csi_counts counts) { (void)file, (void)counts; }

void __csi_func_entry(csi_id function) {
    (void)function;
    if (is_recording())
        enter_frame();
}

void __csi_func_exit(csi_id exit, csi_id function) {
    (void)exit, (void)function;
    if (is_recording())
        leave_frame();
}

void __csi_detach(csi_id detach) {
    if (!is_recording() || !grow((void **)&children, child_count, &child_room, sizeof *children))
        return;
    next_task = workspan_create(site_of(&detaches, detach, __csi_get_detach_source_loc), 0);
    children[child_count++] = next_task;
}

void __csi_task(csi_id task, csi_id detach) {
    (void)task, (void)detach;
    if (!is_recording())
        return;
    workspan_begin(next_task);
    enter_frame();
}

void __csi_task_exit(csi_id exit, csi_id task, csi_id detach) {
    (void)exit, (void)task, (void)detach;
    if (!is_recording())
        return;
    leave_frame();
    workspan_end();
}

void __csi_detach_continue(csi_id resumed, csi_id detach) {
    (void)resumed, (void)detach;
    (void)is_recording();
}

void __csi_before_sync(csi_id sync) {
    size_t first = frame_count > 0 ? frames[frame_count - 1] : 0;
    if (!is_recording() || child_count <= first)
        return;
    workspan_wait_tasks(site_of(&syncs, sync, __csi_get_sync_source_loc), children + first, child_count - first);
    workspan_resume();
    child_count = first;
}

void __csi_after_sync(csi_id sync) { (void)sync; }
