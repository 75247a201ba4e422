/* A thread pool written by hand, recorded by workspan.h: what a runtime tells so that its programs can be profiled. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <workspan.h>

enum { WORKERS = 3, ROWS = 64 };

/* ---- The pool: jobs in a list, workers that take them, a count of those that are not done. */

struct job {
    void (*run)(long);
    long argument;
    workspan_task task; /* the job, for the recorder */
    struct job *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct job *first;
static int open_jobs, closing;
static workspan_pool pool;

static void submit(workspan_site *from, workspan_scope scope, void (*run)(long), long argument) {
    struct job *job = malloc(sizeof *job);
    if (job == NULL)
        exit(1);
    job->run = run;
    job->argument = argument;
    /* Before others can see it. */
    job->task = workspan_create(from, scope);
    pthread_mutex_lock(&lock);
    job->next = first;
    first = job;
    open_jobs++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* Waits for all jobs, which are those of the scope. */
static void finish(workspan_site *from, workspan_scope scope) {
    workspan_wait_scope(from, scope);
    pthread_mutex_lock(&lock);
    while (open_jobs > 0)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    workspan_resume();
}

static void *worker(void *index) {
    workspan_worker_begin(pool, (uint32_t)(size_t)index);
    pthread_mutex_lock(&lock);
    for (;;) {
        struct job *job = first;
        if (job == NULL) {
            if (closing)
                break;
            workspan_sleep();
            pthread_cond_wait(&changed, &lock);
            workspan_wake();
            continue;
        }
        first = job->next;
        pthread_mutex_unlock(&lock);
        workspan_begin(job->task);
        job->run(job->argument);
        workspan_end();
        free(job);
        pthread_mutex_lock(&lock);
        open_jobs--;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    workspan_worker_end();
    return NULL;
}

/* ---- The program: numbers that are prime, row by row. */

static long primes[ROWS];

static void row(long index) {
    static workspan_label COUNT = WORKSPAN_LABEL("count primes");
    workspan_region_begin(&COUNT);
    for (long n = index * 2000 + 2; n < index * 2000 + 2002; n++) {
        long divisor = 2;
        while (divisor * divisor <= n && n % divisor != 0)
            divisor++;
        primes[index] += divisor * divisor > n;
    }
    workspan_region_end(&COUNT);
}

int main(void) {
    static workspan_site SUBMIT = WORKSPAN_HERE, FINISH = WORKSPAN_HERE;
    pthread_t threads[WORKERS];
    workspan_scope rows;
    long sum = 0;
    workspan_note("runtime", "pool.c");
    pool = workspan_pool_begin(WORKERS);
    for (size_t i = 0; i < WORKERS; i++)
        if (pthread_create(&threads[i], NULL, worker, (void *)i) != 0)
            return 1;
    rows = workspan_open_group();
    for (long i = 0; i < ROWS; i++)
        submit(&SUBMIT, rows, row, i);
    finish(&FINISH, rows);
    for (long i = 0; i < ROWS; i++)
        sum += primes[i];
    pthread_mutex_lock(&lock);
    closing = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    workspan_pool_end(pool);
    printf("%ld primes\n", sum);
    return 0;
}
