/* A tool of valgrind's that counts the instructions of each thread and tells them to the recorder in the program. It is
 * compiled on the user's machine against the headers and libraries of the valgrind that is there.
 *
 * Instructions of the recorder's own library are not counted. Valgrind lets one thread run at a time; one number counts,
 * and what it rose by is put down to the thread that ran. */
#include "pub_tool_basics.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"

/* The request of crates/recorder/src/instructions.rs. */
#define INSTRUCTIONS_SO_FAR 0x57530001ul

static ULong counted, before;
static ULong threads[4096];

static Bool is_recorder(DiEpoch now, Addr at) {
    const HChar *object;
    return VG_(get_objname)(now, at, &object) && VG_(strstr)(object, "libworkspan_preload") != NULL;
}

/* counted += instructions */
static void add(IRSB *out, ULong instructions) {
    IRExpr *const place = mkIRExpr_HWord((HWord)&counted);
    const IRTemp old = newIRTemp(out->tyenv, Ity_I64), now = newIRTemp(out->tyenv, Ity_I64);
    if (instructions == 0)
        return;
    addStmtToIRSB(out, IRStmt_WrTmp(old, IRExpr_Load(Iend_LE, Ity_I64, place)));
    addStmtToIRSB(out, IRStmt_WrTmp(now, IRExpr_Binop(Iop_Add64, IRExpr_RdTmp(old), IRExpr_Const(IRConst_U64(instructions)))));
    addStmtToIRSB(out, IRStmt_Store(Iend_LE, place, IRExpr_RdTmp(now)));
}

static IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
                        const VexArchInfo *arch, IRType guest_word, IRType host_word) {
    IRSB *const out = deepCopyIRSBExceptStmts(in);
    const DiEpoch now = VG_(current_DiEpoch)();
    ULong instructions = 0;
    Int i;
    for (i = 0; i < in->stmts_used; i++) {
        IRStmt *const statement = in->stmts[i];
        if (statement->tag == Ist_IMark && !is_recorder(now, statement->Ist.IMark.addr))
            instructions++;
        /* The block may be left here. */
        if (statement->tag == Ist_Exit) {
            add(out, instructions);
            instructions = 0;
        }
        addStmtToIRSB(out, statement);
    }
    add(out, instructions);
    return out;
}

static void start(ThreadId thread, ULong blocks) { before = counted; }

static void stop(ThreadId thread, ULong blocks) {
    if (thread < sizeof threads / sizeof *threads)
        threads[thread] += counted - before;
    before = counted;
}

static Bool request(ThreadId thread, UWord *arguments, UWord *answer) {
    if (arguments[0] != INSTRUCTIONS_SO_FAR || thread >= sizeof threads / sizeof *threads)
        return False;
    /* From 1, so that it differs from what the request gives outside of valgrind. */
    *answer = 1 + threads[thread] + (counted - before);
    return True;
}

static void after_options(void) {}
static void finish(Int code) {}

static void before_options(void) {
    VG_(details_name)("instructions");
    VG_(details_description)("counts instructions for workspan");
    VG_(details_copyright_author)("workspan");
    VG_(details_bug_reports_to)("workspan");
    VG_(basic_tool_funcs)(after_options, instrument, finish);
    VG_(needs_client_requests)(request);
    VG_(track_start_client_code)(start);
    VG_(track_stop_client_code)(stop);
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
