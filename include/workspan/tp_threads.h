/* tp_threads.h: tp.h over runtimes of user-level threads, MassiveThreads (TP_MYTH) and Qthreads (TP_QTHREADS). Each task is a
 * user-level thread. workspan does not recognise these runtimes by itself, so tp.h reports every step through workspan.h. */
#ifndef WORKSPAN_TP_THREADS_H
#define WORKSPAN_TP_THREADS_H

#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#if defined(TP_MYTH)
#include <myth/myth.h>
#else
#include <qthread/qthread.h>
#endif

#include "../workspan.h"

namespace tp {

#if defined(TP_MYTH)

inline const char *runtime() { return "MassiveThreads"; }

typedef myth_thread_t thread;

inline void join_(thread one) { myth_join(one, nullptr); }

inline void initialize_(int workers) {
    myth_globalattr_t attributes;
    myth_globalattr_init(&attributes);
    if (workers > 0)
        myth_globalattr_set_n_workers(&attributes, static_cast<std::size_t>(workers));
    myth_init_ex(&attributes);
}

inline unsigned workers_() { return static_cast<unsigned>(myth_get_num_workers()); }

#else

inline const char *runtime() { return "Qthreads"; }

/* The word that the thread fills when it has ended. */
typedef aligned_t *thread;

inline void join_(thread one) {
    qthread_readFF(nullptr, one);
    delete one;
}

inline void initialize_(int workers) {
    /* A worker a shepherd, which every scheduler of theirs supports. */
    if (workers > 0) {
        setenv("QTHREAD_NUM_SHEPHERDS", std::to_string(workers).c_str(), 1);
        setenv("QTHREAD_NUM_WORKERS_PER_SHEPHERD", "1", 1);
    }
    qthread_initialize();
}

inline unsigned workers_() { return static_cast<unsigned>(qthread_num_workers()); }

#endif

/* Says once that the calling thread is a worker. Never inlined: a user-level thread goes on on other threads, whose own
 * variables a compiler does not look for again within one function. */
__attribute__((noinline)) inline void worker_() {
    static std::mutex lock;
    static workspan_pool pool;
    static unsigned known;
    static thread_local bool told;
    if (told || !workspan_is_recorded())
        return;
    told = true;
    const std::lock_guard<std::mutex> held(lock);
    if (known == 0)
        pool = workspan_pool_begin(workers_());
    workspan_worker_begin(pool, known++);
}

/* Tasks waited for together. */
struct tasks {
    std::mutex lock;
    std::vector<thread> threads;
    std::vector<workspan_task> numbers;
    workspan_scope scope = 0;

    void add(thread one, workspan_task number) {
        const std::lock_guard<std::mutex> held(lock);
        threads.push_back(one);
        numbers.push_back(number);
    }

    /* Joins them, and those that they add meanwhile. */
    void join() {
        for (std::vector<thread> taken;;) {
            {
                const std::lock_guard<std::mutex> held(lock);
                taken.swap(threads);
            }
            if (taken.empty())
                return;
            for (thread one : taken)
                join_(one);
            taken.clear();
        }
    }
};

template <class Body> struct child {
    Body body;
    workspan_task task;

    void run() {
        worker_();
        workspan_begin(task);
        body();
        workspan_end();
        delete this;
    }
#if defined(TP_MYTH)
    static void *start(void *one) {
        static_cast<child *>(one)->run();
        return nullptr;
    }
#else
    static aligned_t start(void *one) {
        static_cast<child *>(one)->run();
        return 0;
    }
#endif
};

template <class Body> void create_(tasks &all, workspan_site *site, const Body &body) {
    const workspan_task task = workspan_create(site, all.scope);
    child<Body> *const one = new child<Body>{body, task};
#if defined(TP_MYTH)
    /* The child runs here at once; its parent goes on on whatever thread takes it. */
    const workspan_stop stop = workspan_leave(site);
    const thread started = myth_create(child<Body>::start, one);
    workspan_resume_stopped(stop);
    all.add(started, task);
#else
    const thread started = new aligned_t(0);
    qthread_fork(child<Body>::start, one, started);
    all.add(started, task);
#endif
}

/* A waiting task goes on on whatever thread takes it. */
inline void wait_(tasks &all, workspan_site *site) {
    if (all.scope != 0)
        workspan_wait_scope(site, all.scope);
    else
        workspan_wait_tasks(site, all.numbers.data(), all.numbers.size());
    const workspan_stop stop = workspan_leave(site);
    all.join();
    workspan_resume_stopped(stop);
    all.numbers.clear();
}

template <class Body> void run_(int workers, const Body &body) {
    static const bool initialized = (initialize_(workers), true);
    (void)initialized;
    worker_();
    body();
}

} // namespace tp

#define TP_RUN(workers, ...) tp::run_(workers, __VA_ARGS__)
#define TP_TASKS(t) tp::tasks t
#define TP_CREATE(t, ...)                                                                                              \
    do {                                                                                                               \
        static workspan_site tp_at_ = WORKSPAN_HERE;                                                                   \
        tp::create_(t, &tp_at_, __VA_ARGS__);                                                                          \
    } while (0)
#define TP_WAIT(t)                                                                                                     \
    do {                                                                                                               \
        static workspan_site tp_at_ = WORKSPAN_HERE;                                                                   \
        tp::wait_(t, &tp_at_);                                                                                         \
    } while (0)
#define TP_GROUP(g, ...)                                                                                               \
    do {                                                                                                               \
        tp::tasks g;                                                                                                   \
        g.scope = workspan_open_group();                                                                               \
        auto tp_body_ = __VA_ARGS__;                                                                                   \
        tp_body_();                                                                                                    \
        TP_WAIT(g);                                                                                                    \
    } while (0)
#define TP_FOR(first, last, grain, ...)                                                                                \
    do {                                                                                                               \
        auto tp_body_ = __VA_ARGS__;                                                                                   \
        TP_PFOR(first, last, grain, [&tp_body_](long tp_low_, long tp_high_) {                                         \
            for (long tp_i_ = tp_low_; tp_i_ < tp_high_; ++tp_i_)                                                      \
                tp_body_(tp_i_);                                                                                       \
        });                                                                                                            \
    } while (0)
#define TP_REDUCE(op, result, first, last, grain, ...)                                                                 \
    do {                                                                                                               \
        auto tp_value_ = __VA_ARGS__;                                                                                  \
        typedef TP_OP_(op, result) tp_op_;                                                                             \
        auto tp_piece_ = [&tp_value_](long tp_low_, long tp_high_) {                                                   \
            auto tp_sum_ = tp_op_::neutral();                                                                          \
            for (long tp_i_ = tp_low_; tp_i_ < tp_high_; ++tp_i_)                                                      \
                tp_sum_ = tp_op_::of(tp_sum_, tp_value_(tp_i_));                                                       \
            return tp_sum_;                                                                                            \
        };                                                                                                             \
        auto tp_all_ = tp_op_::neutral();                                                                              \
        TP_PFOR_REDUCE(tp_all_, first, last, grain, tp_piece_, tp_op_::of);                                            \
        result = tp_op_::of(result, tp_all_);                                                                          \
    } while (0)

#endif
