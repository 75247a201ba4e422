/* Ends of a process inside of a region, by its argument; and a fork there. */
#define _GNU_SOURCE
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(const char *how) {
    if (!strcmp(how, "exit")) exit(3);
    if (!strcmp(how, "_exit")) _exit(4);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(how, "fork")) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            volatile int x = 0;
            for (int i = 0; i < 1000; i++) x += i;
            _exit(x == 0);
        }
        int status = 1;
        waitpid(child, &status, 0);
        printf("%d\n", status);
    }
}

int main(int count, char **arguments) {
    (void)count;
    int done = 0;
    signal(SIGABRT, SIG_DFL);
#pragma omp parallel /* @region */
    {
#pragma omp single
        {
            for (int i = 0; i < 100; i++) {
#pragma omp task shared(done) /* @task */
                {
#pragma omp atomic
                    done += 1;
                }
            }
#pragma omp taskwait
            end(arguments[1]);
        }
    }
    printf("%d\n", done);
    return 0;
}
