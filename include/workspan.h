/* workspan.h: tell workspan what a task-parallel program does. C99; also C++.
 *
 * Nothing is linked: the recorder, which `workspan record` preloads into the process, is found by dlsym at run time. In a
 * program that is not recorded every call is one branch that the CPU predicts. With WORKSPAN_OFF defined, every call is
 * nothing. (A C library older than glibc 2.34 has dlsym in libdl; without it the program is never recorded.)
 *
 * Each call tells one step of the model (docs/, "Execution") on the thread where it happens:
 *
 *     static workspan_site  AT    = WORKSPAN_HERE;          a position; a site is used by one call, as a rule
 *     static workspan_label SOLVE = WORKSPAN_LABEL("solve");
 *
 *     workspan_task child = workspan_create(&AT, 0);        the current task creates a child another thread may take
 *     ... on the thread that runs it:
 *     workspan_begin(child); work(); workspan_end();
 *     ... and the parent, when it needs the result:
 *     workspan_wait_children(&AT_WAIT); block_until_done(); workspan_resume();
 *
 * The program's main thread runs a root task from its start; another thread that is no worker gets one when it needs one.
 * Between a wait (or yield) and workspan_resume a thread may begin and end other tasks. Numbers of tasks, scopes, stops
 * and signals are never 0; 0 is what all calls return in a program that is not recorded, and is ignored as an argument.
 * A null site is an unknown position.
 */
#ifndef WORKSPAN_H
#define WORKSPAN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t workspan_task;
typedef uint64_t workspan_scope;
typedef uint64_t workspan_stop;   /* a yield, for workspan_resume_stopped */
typedef uint64_t workspan_signal;
typedef uint32_t workspan_thread;
typedef uint32_t workspan_pool;

/* A position in the source, looked up at its first use. Static storage. */
typedef struct { const char *file; uint32_t line; uint32_t number; } workspan_site;
#define WORKSPAN_HERE { __FILE__, __LINE__, 0 }

/* The name of a region, a part or a counter, looked up at its first use. Static storage. */
typedef struct { const char *text; uint32_t number; } workspan_label;
#define WORKSPAN_LABEL(text) { text, 0 }

#ifndef WORKSPAN_OFF

/* The recorder's table, version 1; calls are only ever appended. */
struct workspan_table_ {
    uint32_t version, size;
    void (*unused_thread[3])(void);
    uint32_t (*site_location)(const unsigned char *, size_t, uint32_t, uint32_t, uint8_t);
    void (*unused_site_stack)(void);
    uint32_t (*label)(const unsigned char *, size_t);
    void (*note)(const unsigned char *, size_t, const unsigned char *, size_t);
    void (*unused_pool[5])(void);
    uint64_t (*task_create)(uint32_t, uint32_t, uint64_t);
    void (*task_begin)(uint64_t);
    void (*task_end)(void);
    uint64_t (*scope_open)(uint32_t);
    void (*wait_children)(uint32_t);
    void (*wait_scope)(uint32_t, uint64_t);
    void (*wait_tasks)(uint32_t, const uint64_t *, size_t);
    void (*wait_signals)(uint32_t, const uint64_t *, size_t);
    void (*resume)(void);
    uint64_t (*yield_task)(uint32_t);
    uint64_t (*leave_task)(uint32_t);
    void (*resume_yielded)(uint64_t);
    void (*depend)(uint64_t, uint64_t);
    uint64_t (*signal_new)(void);
    void (*signal_set)(uint32_t, uint64_t);
    void (*region_begin)(uint32_t, uint32_t);
    void (*region_end)(uint32_t);
    void (*part_begin)(uint32_t);
    void (*part_end)(uint32_t);
    void (*counter)(uint32_t, uint64_t);
    void (*steal)(uint32_t, uint32_t, uint64_t);
    void (*steal_failed)(uint32_t);
    void (*sleep)(void);
    void (*wake)(void);
    uint32_t (*thread_number)(void);
    uint32_t (*pool_begin)(uint32_t);
    void (*pool_end)(uint32_t);
    void (*worker_begin)(uint32_t, uint32_t);
    void (*worker_end)(void);
    /* Of later recorders. */
    void (*unused_budget[3])(void);
    void (*keep)(void);
};
#define WORKSPAN_FIRST_SIZE_ offsetof(struct workspan_table_, unused_budget)

/* dlsym under a name of our own: what <dlfcn.h> says of it (noexcept, in C++) can't be repeated without that header. */
#if defined(__GNUC__) || defined(__clang__)
extern void *workspan_dlsym_(void *, const char *) __asm__("dlsym") __attribute__((weak));
#define WORKSPAN_LOAD_(p) __atomic_load_n(&(p), __ATOMIC_ACQUIRE)
#define WORKSPAN_STORE_(p, v) __atomic_store_n(&(p), (v), __ATOMIC_RELEASE)
#define WORKSPAN_SELDOM_(condition) __builtin_expect(!!(condition), 0)
#define WORKSPAN_COLD_ __attribute__((cold, noinline, unused))
#define WORKSPAN_CALL_ static inline __attribute__((unused))
#else
extern void *dlsym(void *, const char *);
#define workspan_dlsym_ dlsym
#define WORKSPAN_LOAD_(p) (p)
#define WORKSPAN_STORE_(p, v) ((p) = (v))
#define WORKSPAN_SELDOM_(condition) (condition)
#define WORKSPAN_COLD_
#define WORKSPAN_CALL_ static inline
#endif

/* Null: nobody records. Its own address: nobody asked yet. */
static const void *volatile workspan_found_ = (const void *)&workspan_found_;

WORKSPAN_COLD_ static const struct workspan_table_ *workspan_ask_(void) {
    const struct workspan_table_ *table = NULL;
    union { void *object; const void *(*function)(void); } found;
    found.object = NULL;
#if defined(__GNUC__) || defined(__clang__)
    if (&workspan_dlsym_ != NULL)
#endif
        found.object = workspan_dlsym_(NULL, "workspan_table_v1");
    if (found.object != NULL) {
        table = (const struct workspan_table_ *)found.function();
        if (table != NULL && (table->version != 1 || table->size < WORKSPAN_FIRST_SIZE_))
            table = NULL;
    }
    WORKSPAN_STORE_(workspan_found_, (const void *)table);
    return table;
}

WORKSPAN_CALL_ const struct workspan_table_ *workspan_table_(void) {
    const void *found = WORKSPAN_LOAD_(workspan_found_);
    if (!WORKSPAN_SELDOM_(found != NULL))
        return NULL;
    if (found == (const void *)&workspan_found_)
        return workspan_ask_();
    return (const struct workspan_table_ *)found;
}

WORKSPAN_CALL_ size_t workspan_length_(const char *text) {
    size_t length = 0;
    while (text[length] != 0)
        length++;
    return length;
}

/* The first call at a site. */
WORKSPAN_COLD_ static uint32_t workspan_new_site_(const struct workspan_table_ *table, workspan_site *site) {
    uint32_t number;
    number = table->site_location((const unsigned char *)site->file, workspan_length_(site->file), site->line, 0, 6);
    WORKSPAN_STORE_(site->number, number);
    return number;
}

WORKSPAN_CALL_ uint32_t workspan_site_(const struct workspan_table_ *table, workspan_site *site) {
    uint32_t number;
    if (site == NULL)
        return 0;
    number = WORKSPAN_LOAD_(site->number);
    return number != 0 ? number : workspan_new_site_(table, site);
}

WORKSPAN_CALL_ uint32_t workspan_label_(const struct workspan_table_ *table, workspan_label *label) {
    uint32_t number = WORKSPAN_LOAD_(label->number);
    if (number == 0) {
        number = table->label((const unsigned char *)label->text, workspan_length_(label->text)) + 1;
        WORKSPAN_STORE_(label->number, number);
    }
    return number - 1;
}

#define WORKSPAN_DO_(call) do { const struct workspan_table_ *t_ = workspan_table_(); if (WORKSPAN_SELDOM_(t_ != NULL)) t_->call; } while (0)
#define WORKSPAN_GET_(call) const struct workspan_table_ *t_ = workspan_table_(); return WORKSPAN_SELDOM_(t_ != NULL) ? t_->call : 0
#define WORKSPAN_SITE_ workspan_site_(t_, site)
#define WORKSPAN_LABEL_ workspan_label_(t_, label)

#else /* WORKSPAN_OFF */

#define WORKSPAN_CALL_ static inline
#define WORKSPAN_DO_(call) do { } while (0)
#define WORKSPAN_GET_(call) return 0
#define WORKSPAN_SITE_
#define WORKSPAN_LABEL_

#endif

/* 1 in a process that is recorded. */
WORKSPAN_CALL_ int workspan_is_recorded(void) {
#ifdef WORKSPAN_OFF
    return 0;
#else
    return workspan_table_() != NULL;
#endif
}

/* A fact about the run, as ("runtime", "mine 1.0"); the first one told of a key stays. */
WORKSPAN_CALL_ void workspan_note(const char *key, const char *value) {
    (void)key, (void)value;
    WORKSPAN_DO_(note((const unsigned char *)key, workspan_length_(key), (const unsigned char *)value, workspan_length_(value)));
}

/* Tasks. The current task creates one: deferred (another thread may take it: a spawn), inline (nobody may), detached
 * (nobody waits for it). scope: the scope it is created into, or 0. */
WORKSPAN_CALL_ workspan_task workspan_create(workspan_site *site, workspan_scope scope) {
    (void)site, (void)scope;
    WORKSPAN_GET_(task_create(1, WORKSPAN_SITE_, scope));
}
WORKSPAN_CALL_ workspan_task workspan_create_inline(workspan_site *site, workspan_scope scope) {
    (void)site, (void)scope;
    WORKSPAN_GET_(task_create(2, WORKSPAN_SITE_, scope));
}
WORKSPAN_CALL_ workspan_task workspan_create_detached(workspan_site *site) {
    (void)site;
    WORKSPAN_GET_(task_create(3, WORKSPAN_SITE_, 0));
}
/* It begins on this thread, on top of what the thread does. */
WORKSPAN_CALL_ void workspan_begin(workspan_task task) { (void)task; WORKSPAN_DO_(task_begin(task)); }
/* The task that began last on this thread ends. */
WORKSPAN_CALL_ void workspan_end(void) { WORKSPAN_DO_(task_end()); }
/* The first could not begin before the second had ended. Tell it before the first begins. */
WORKSPAN_CALL_ void workspan_depend(workspan_task task, workspan_task on) {
    (void)task, (void)on;
    WORKSPAN_DO_(depend(task, on));
}

/* Scopes. The current task opens one: a group's members are the tasks created into it, a tree's also their children. */
WORKSPAN_CALL_ workspan_scope workspan_open_group(void) { WORKSPAN_GET_(scope_open(0)); }
WORKSPAN_CALL_ workspan_scope workspan_open_tree(void) { WORKSPAN_GET_(scope_open(1)); }

/* Waits. The current task stops until what it waits for has happened; it goes on with workspan_resume. */
WORKSPAN_CALL_ void workspan_wait_children(workspan_site *site) {
    (void)site;
    WORKSPAN_DO_(wait_children(WORKSPAN_SITE_));
}
/* Waits for the members of a scope this task opened, and closes it. */
WORKSPAN_CALL_ void workspan_wait_scope(workspan_site *site, workspan_scope scope) {
    (void)site, (void)scope;
    WORKSPAN_DO_(wait_scope(WORKSPAN_SITE_, scope));
}
WORKSPAN_CALL_ void workspan_wait_tasks(workspan_site *site, const workspan_task *tasks, size_t count) {
    (void)site, (void)tasks, (void)count;
    WORKSPAN_DO_(wait_tasks(WORKSPAN_SITE_, tasks, count));
}
WORKSPAN_CALL_ void workspan_wait_signals(workspan_site *site, const workspan_signal *signals, size_t count) {
    (void)site, (void)signals, (void)count;
    WORKSPAN_DO_(wait_signals(WORKSPAN_SITE_, signals, count));
}
WORKSPAN_CALL_ void workspan_resume(void) { WORKSPAN_DO_(resume()); }

/* Yields. The current task stops, waiting for nobody. After workspan_yield it goes on with workspan_resume, on this thread;
 * after workspan_leave it is gone from this thread, and goes on where workspan_resume_stopped is called. Right after a
 * wait, workspan_leave takes the waiting task off this thread: it goes on, on whatever thread, with
 * workspan_resume_stopped in place of workspan_resume. */
WORKSPAN_CALL_ workspan_stop workspan_yield(workspan_site *site) { (void)site; WORKSPAN_GET_(yield_task(WORKSPAN_SITE_)); }
WORKSPAN_CALL_ workspan_stop workspan_leave(workspan_site *site) { (void)site; WORKSPAN_GET_(leave_task(WORKSPAN_SITE_)); }
WORKSPAN_CALL_ void workspan_resume_stopped(workspan_stop stop) { (void)stop; WORKSPAN_DO_(resume_yielded(stop)); }

/* Signals: set once by the current task, just before others can see it. */
WORKSPAN_CALL_ workspan_signal workspan_signal_new(void) { WORKSPAN_GET_(signal_new()); }
WORKSPAN_CALL_ void workspan_signal_set(workspan_site *site, workspan_signal signal) {
    (void)site, (void)signal;
    WORKSPAN_DO_(signal_set(WORKSPAN_SITE_, signal));
}

/* Regions: the current task's own time; a tree region's also that of tasks created while it is open. The end closes the
 * innermost open one of that label. Parts: the task's time with everything created inside. */
WORKSPAN_CALL_ void workspan_region_begin(workspan_label *label) { (void)label; WORKSPAN_DO_(region_begin(WORKSPAN_LABEL_, 0)); }
WORKSPAN_CALL_ void workspan_tree_region_begin(workspan_label *label) { (void)label; WORKSPAN_DO_(region_begin(WORKSPAN_LABEL_, 1)); }
WORKSPAN_CALL_ void workspan_region_end(workspan_label *label) { (void)label; WORKSPAN_DO_(region_end(WORKSPAN_LABEL_)); }
WORKSPAN_CALL_ void workspan_part_begin(workspan_label *label) { (void)label; WORKSPAN_DO_(part_begin(WORKSPAN_LABEL_)); }
WORKSPAN_CALL_ void workspan_part_end(workspan_label *label) { (void)label; WORKSPAN_DO_(part_end(WORKSPAN_LABEL_)); }

/* A counter's increase in the strand that runs, told before the call that ends the strand. */
WORKSPAN_CALL_ void workspan_count(workspan_label *label, uint64_t increase) {
    (void)label, (void)increase;
    WORKSPAN_DO_(counter(WORKSPAN_LABEL_, increase));
}

/* The size of the current task: the number of elements it works on. Views show it beside the task's name. It is the counter
 * "size". */
WORKSPAN_CALL_ void workspan_size(uint64_t elements) {
    (void)elements;
#ifndef WORKSPAN_OFF
    static workspan_label label = WORKSPAN_LABEL("size");
    workspan_count(&label, elements);
#endif
}

/* Has the last of the run kept as a trace: `workspan record --ring 5s --on-call`. Otherwise nothing happens. */
WORKSPAN_CALL_ void workspan_keep(void) {
#ifndef WORKSPAN_OFF
    const struct workspan_table_ *table = workspan_table_();
    if (WORKSPAN_SELDOM_(table != NULL && table->size >= sizeof *table))
        table->keep();
#endif
}

/* The scheduler. workspan_this_thread names a thread to others; 0 is an unknown victim. */
WORKSPAN_CALL_ workspan_thread workspan_this_thread(void) { WORKSPAN_GET_(thread_number()); }
WORKSPAN_CALL_ void workspan_steal(workspan_thread victim, workspan_task task) {
    (void)victim, (void)task;
    WORKSPAN_DO_(steal(victim, 0, task));
}
/* Taken while waiting for a stolen child. */
WORKSPAN_CALL_ void workspan_leap(workspan_thread victim, workspan_task task) {
    (void)victim, (void)task;
    WORKSPAN_DO_(steal(victim, 1, task));
}
WORKSPAN_CALL_ void workspan_steal_failed(workspan_thread victim) { (void)victim; WORKSPAN_DO_(steal_failed(victim)); }
WORKSPAN_CALL_ void workspan_sleep(void) { WORKSPAN_DO_(sleep()); }
WORKSPAN_CALL_ void workspan_wake(void) { WORKSPAN_DO_(wake()); }
WORKSPAN_CALL_ workspan_pool workspan_pool_begin(uint32_t workers) { (void)workers; WORKSPAN_GET_(pool_begin(workers)); }
WORKSPAN_CALL_ void workspan_pool_end(workspan_pool pool) { (void)pool; WORKSPAN_DO_(pool_end(pool)); }
WORKSPAN_CALL_ void workspan_worker_begin(workspan_pool pool, uint32_t index) {
    (void)pool, (void)index;
    WORKSPAN_DO_(worker_begin(pool, index));
}
WORKSPAN_CALL_ void workspan_worker_end(void) { WORKSPAN_DO_(worker_end()); }

/* Six calls for a fork-join program, in the terms of the work time stretch profiler, for marking up a recursive program or the
 * macros of a runtime. Each is one step of the above:
 *
 *     spawn     workspan_create: the current task creates a child, which goes to workspan_task_begin
 *     begin     workspan_begin, at the start of the task's body; of a plain recursive call that shall count as a task (no
 *               task is given), workspan_create_inline and workspan_begin
 *     end       workspan_end, given what begin returned; of a plain call also the caller's wait for it
 *     sync      workspan_wait_children
 *     pause     workspan_leave: the current task stops, or goes on waiting, and this thread does something else
 *     resume    goes on after a sync (given 0), or, on this thread or another, after a pause (given what pause returned)
 *
 *     void body(workspan_task task) {
 *         workspan_task call = workspan_task_begin(&AT, task);
 *         workspan_task child = workspan_task_spawn(&SPAWN);
 *         start(child); body(0);
 *         workspan_task_sync(&SYNC); block_until_done(); workspan_task_resume(0);
 *         workspan_task_end(call);
 *     }
 */
WORKSPAN_CALL_ workspan_task workspan_task_spawn(workspan_site *site) { return workspan_create(site, 0); }
WORKSPAN_CALL_ workspan_task workspan_task_begin(workspan_site *site, workspan_task task) {
    workspan_task call = 0;
    if (task == 0)
        task = call = workspan_create_inline(site, 0);
    workspan_begin(task);
    return call;
}
WORKSPAN_CALL_ void workspan_task_end(workspan_task call) {
    workspan_end();
    if (call != 0) {
        workspan_wait_tasks(NULL, &call, 1);
        workspan_resume();
    }
}
WORKSPAN_CALL_ void workspan_task_sync(workspan_site *site) { workspan_wait_children(site); }
WORKSPAN_CALL_ workspan_stop workspan_task_pause(workspan_site *site) { return workspan_leave(site); }
WORKSPAN_CALL_ void workspan_task_resume(workspan_stop stop) {
    if (stop == 0)
        workspan_resume();
    else
        workspan_resume_stopped(stop);
}

#undef WORKSPAN_DO_
#undef WORKSPAN_GET_
#undef WORKSPAN_SITE_
#undef WORKSPAN_LABEL_

#ifdef __cplusplus
}
#endif

#endif
