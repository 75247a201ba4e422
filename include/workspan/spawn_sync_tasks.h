/* spawn_sync_tasks.h: TASK_0 to TASK_5 and VOID_TASK_0 to VOID_TASK_5 of Lace and Wool, recorded (spawn_sync.h). The library's
 * macros for one argument more are used, so tasks of six arguments and more stay as they are, and can't be spawned. */

#undef TASK_0
#define TASK_0(R, NAME)                                                                                        \
    TASK_DECL_0(R, NAME)                                                                                       \
    TASK_DECL_1(R, NAME##_task_, workspan_task)                                                              \
    TASK_IMPL_1(R, NAME##_task_, workspan_task, workspan_task_) {                                           \
        WORKSPAN_BODY_(workspan_task_);                                                                                 \
        return CALL(NAME);                                                                                        \
    }                                                                                                                   \
    TASK_IMPL_0(R, NAME)
#undef VOID_TASK_0
#define VOID_TASK_0(NAME)                                                                                      \
    VOID_TASK_DECL_0(NAME)                                                                                     \
    VOID_TASK_DECL_1(NAME##_task_, workspan_task)                                                            \
    VOID_TASK_IMPL_1(NAME##_task_, workspan_task, workspan_task_) {                                         \
        WORKSPAN_BODY_(workspan_task_);                                                                                 \
        CALL(NAME);                                                                                               \
    }                                                                                                                   \
    VOID_TASK_IMPL_0(NAME)
#undef TASK_1
#define TASK_1(R, NAME, T1, a1)                                                                                        \
    TASK_DECL_1(R, NAME, T1)                                                                                       \
    TASK_DECL_2(R, NAME##_task_, workspan_task, T1)                                                              \
    TASK_IMPL_2(R, NAME##_task_, workspan_task, workspan_task_, T1, a1) {                                           \
        WORKSPAN_BODY_(workspan_task_);                                                                                 \
        return CALL(NAME, a1);                                                                                        \
    }                                                                                                                   \
    TASK_IMPL_1(R, NAME, T1, a1)
#undef VOID_TASK_1
#define VOID_TASK_1(NAME, T1, a1)                                                                                      \
    VOID_TASK_DECL_1(NAME, T1)                                                                                     \
    VOID_TASK_DECL_2(NAME##_task_, workspan_task, T1)                                                            \
    VOID_TASK_IMPL_2(NAME##_task_, workspan_task, workspan_task_, T1, a1) {                                         \
        WORKSPAN_BODY_(workspan_task_);                                                                                 \
        CALL(NAME, a1);                                                                                               \
    }                                                                                                                   \
    VOID_TASK_IMPL_1(NAME, T1, a1)
#undef TASK_2
#define TASK_2(R, NAME, T1, a1, T2, a2)                                                                                        \
    TASK_DECL_2(R, NAME, T1, T2)                                                                                       \
    TASK_DECL_3(R, NAME##_task_, workspan_task, T1, T2)                                                              \
    TASK_IMPL_3(R, NAME##_task_, workspan_task, workspan_task_, T1, a1, T2, a2) {                                           \
        WORKSPAN_BODY_(workspan_task_);                                                                                 \
        return CALL(NAME, a1, a2);                                                                                        \
    }                                                                                                                   \
    TASK_IMPL_2(R, NAME, T1, a1, T2, a2)
#undef VOID_TASK_2
#define VOID_TASK_2(NAME, T1, a1, T2, a2)                                                                                      \
    VOID_TASK_DECL_2(NAME, T1, T2)                                                                                     \
    VOID_TASK_DECL_3(NAME##_task_, workspan_task, T1, T2)                                                            \
    VOID_TASK_IMPL_3(NAME##_task_, workspan_task, workspan_task_, T1, a1, T2, a2) {                                         \
        WORKSPAN_BODY_(workspan_task_);                                                                                 \
        CALL(NAME, a1, a2);                                                                                               \
    }                                                                                                                   \
    VOID_TASK_IMPL_2(NAME, T1, a1, T2, a2)
#undef TASK_3
#define TASK_3(R, NAME, T1, a1, T2, a2, T3, a3)                                                                                        \
    TASK_DECL_3(R, NAME, T1, T2, T3)                                                                                       \
    TASK_DECL_4(R, NAME##_task_, workspan_task, T1, T2, T3)                                                              \
    TASK_IMPL_4(R, NAME##_task_, workspan_task, workspan_task_, T1, a1, T2, a2, T3, a3) {                                           \
        WORKSPAN_BODY_(workspan_task_);                                                                                 \
        return CALL(NAME, a1, a2, a3);                                                                                        \
    }                                                                                                                   \
    TASK_IMPL_3(R, NAME, T1, a1, T2, a2, T3, a3)
#undef VOID_TASK_3
#define VOID_TASK_3(NAME, T1, a1, T2, a2, T3, a3)                                                                                      \
    VOID_TASK_DECL_3(NAME, T1, T2, T3)                                                                                     \
    VOID_TASK_DECL_4(NAME##_task_, workspan_task, T1, T2, T3)                                                            \
    VOID_TASK_IMPL_4(NAME##_task_, workspan_task, workspan_task_, T1, a1, T2, a2, T3, a3) {                                         \
        WORKSPAN_BODY_(workspan_task_);                                                                                 \
        CALL(NAME, a1, a2, a3);                                                                                               \
    }                                                                                                                   \
    VOID_TASK_IMPL_3(NAME, T1, a1, T2, a2, T3, a3)
#undef TASK_4
#define TASK_4(R, NAME, T1, a1, T2, a2, T3, a3, T4, a4)                                                                                        \
    TASK_DECL_4(R, NAME, T1, T2, T3, T4)                                                                                       \
    TASK_DECL_5(R, NAME##_task_, workspan_task, T1, T2, T3, T4)                                                              \
    TASK_IMPL_5(R, NAME##_task_, workspan_task, workspan_task_, T1, a1, T2, a2, T3, a3, T4, a4) {                                           \
        WORKSPAN_BODY_(workspan_task_);                                                                                 \
        return CALL(NAME, a1, a2, a3, a4);                                                                                        \
    }                                                                                                                   \
    TASK_IMPL_4(R, NAME, T1, a1, T2, a2, T3, a3, T4, a4)
#undef VOID_TASK_4
#define VOID_TASK_4(NAME, T1, a1, T2, a2, T3, a3, T4, a4)                                                                                      \
    VOID_TASK_DECL_4(NAME, T1, T2, T3, T4)                                                                                     \
    VOID_TASK_DECL_5(NAME##_task_, workspan_task, T1, T2, T3, T4)                                                            \
    VOID_TASK_IMPL_5(NAME##_task_, workspan_task, workspan_task_, T1, a1, T2, a2, T3, a3, T4, a4) {                                         \
        WORKSPAN_BODY_(workspan_task_);                                                                                 \
        CALL(NAME, a1, a2, a3, a4);                                                                                               \
    }                                                                                                                   \
    VOID_TASK_IMPL_4(NAME, T1, a1, T2, a2, T3, a3, T4, a4)
#undef TASK_5
#define TASK_5(R, NAME, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5)                                                                                        \
    TASK_DECL_5(R, NAME, T1, T2, T3, T4, T5)                                                                                       \
    TASK_DECL_6(R, NAME##_task_, workspan_task, T1, T2, T3, T4, T5)                                                              \
    TASK_IMPL_6(R, NAME##_task_, workspan_task, workspan_task_, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5) {                                           \
        WORKSPAN_BODY_(workspan_task_);                                                                                 \
        return CALL(NAME, a1, a2, a3, a4, a5);                                                                                        \
    }                                                                                                                   \
    TASK_IMPL_5(R, NAME, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5)
#undef VOID_TASK_5
#define VOID_TASK_5(NAME, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5)                                                                                      \
    VOID_TASK_DECL_5(NAME, T1, T2, T3, T4, T5)                                                                                     \
    VOID_TASK_DECL_6(NAME##_task_, workspan_task, T1, T2, T3, T4, T5)                                                            \
    VOID_TASK_IMPL_6(NAME##_task_, workspan_task, workspan_task_, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5) {                                         \
        WORKSPAN_BODY_(workspan_task_);                                                                                 \
        CALL(NAME, a1, a2, a3, a4, a5);                                                                                               \
    }                                                                                                                   \
    VOID_TASK_IMPL_5(NAME, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5)
