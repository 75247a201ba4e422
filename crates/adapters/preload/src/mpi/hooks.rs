//! The hooks before and after an MPI function, which the entry points call.

use workspan_recorder::adapter::KeepErrno;
use workspan_recorder::wait_log;
use workspan_trace::entry::{CallRole, RankCall};

use super::library::MpiFamily;
use super::messages::{CountKind, Group, Message, Request, group, known};
use super::{Call, Entry, NO_ROOT};
use crate::entry_point::{Frame, HookResult};
use crate::waits::stack;

/// An argument of type `int`.
///
/// # Safety
/// The function has more than `i` arguments.
unsafe fn int(frame: Frame, i: usize) -> i32 {
    // SAFETY: the caller guarantees the argument.
    unsafe { frame.argument(i) as i32 }
}

/// Keeps the requests that the call waits for until it returns.
///
/// # Safety
/// Called once, before the library's function.
unsafe fn keep(frame: Frame, awaited: Box<AwaitedRequests>) {
    // SAFETY: the caller guarantees that the library's function was not called yet.
    unsafe { *frame.own() = Box::into_raw(awaited) as usize };
}

/// Takes back what was kept.
///
/// # Safety
/// Called once, after the library's function.
unsafe fn take_awaited(frame: Frame) -> Option<Box<AwaitedRequests>> {
    // SAFETY: the word is 0, or a box that `keep` leaked.
    unsafe {
        let kept = *frame.own() as *mut AwaitedRequests;
        (!kept.is_null()).then(|| Box::from_raw(kept))
    }
}

/// The requests that a call waits for.
struct AwaitedRequests {
    /// The requests that are known, by their index among the arguments.
    requests: Vec<Option<(usize, Request)>>,
    /// Memory for statuses, if the program ignores them.
    statuses: Vec<u8>,
}

/// The hook before the library's function.
pub(super) extern "C" fn before(entry: &Entry, frame: Frame) -> HookResult {
    let _errno = KeepErrno::new();
    let next = entry.next();
    let begin = wait_log::now();
    if begin == 0 || stack::tid() == 0 {
        return HookResult { next, begin: 0 };
    }
    let family = MpiFamily::of_process();
    // SAFETY: the entry points belong to functions with these arguments.
    unsafe {
        match entry.call {
            Call::Receive => want_status(frame, family, (3, 4), 6),
            Call::Probe => want_status(frame, family, (0, 1), 3),
            Call::Exchange { source, .. } => {
                want_status(
                    frame,
                    family,
                    (source, source_tag(source)),
                    source_tag(source) + 2,
                );
            }
            Call::Wait => want_requests(frame, family, (1, 0), (1, true)),
            Call::WaitAll => want_requests(frame, family, (count(frame), 1), (2, false)),
            Call::WaitAny => want_requests(frame, family, (count(frame), 1), (3, true)),
            Call::WaitSome => want_requests(frame, family, (count(frame), 1), (4, false)),
            // It cannot be queried afterwards.
            Call::Finalize => drop(group(family.world())),
            Call::FreeCommunicator => {
                let at = frame.argument(0);
                if at != 0 {
                    known().forget_communicator(family.handle_at(at, 0));
                }
                return HookResult { next, begin: 0 };
            }
            Call::Collective { .. } | Call::Send | Call::StartSend | Call::StartReceive => {}
        }
    }
    HookResult { next, begin }
}

/// The index of the tag's argument, which follows the source's.
fn source_tag(source: usize) -> usize {
    source + 1
}

/// The number of requests, which is the first argument.
///
/// # Safety
/// The function has such an argument.
unsafe fn count(frame: Frame) -> usize {
    // SAFETY: the caller guarantees the argument.
    usize::try_from(unsafe { int(frame, 0) }).unwrap_or(0)
}

/// Whether a message with any source or any tag is accepted.
fn is_any(family: MpiFamily, source: i32, tag: i32) -> bool {
    /// `MPI_ANY_TAG` in both families.
    const ANY_TAG: i32 = -1;
    source == family.any_source() || tag == ANY_TAG
}

/// Makes the library store the status of a message with any source, even if the program ignores it.
///
/// # Safety
/// Called before the library's function, which has these arguments.
unsafe fn want_status(frame: Frame, family: MpiFamily, from: (usize, usize), status: usize) {
    // SAFETY: the caller guarantees the arguments; the frame has room for a status.
    unsafe {
        if is_any(family, int(frame, from.0), int(frame, from.1))
            && frame.argument(status) == family.no_status()
        {
            frame.replace(status, frame.room());
        }
    }
}

/// Keeps the requests that are waited for, because the library clears their handles.
///
/// # Safety
/// Called before the library's function. `(count, requests)` are the number of requests and the
/// argument that points to them; `(status, is_one)` is the argument of one status or of all.
unsafe fn want_requests(
    frame: Frame,
    family: MpiFamily,
    (count, requests): (usize, usize),
    (status, is_one): (usize, bool),
) {
    // SAFETY: the caller guarantees the arguments: `count` handles are at `at`, and there is room
    // for `count` statuses.
    unsafe {
        let at = frame.argument(requests);
        if at == 0 {
            // The library reports the error.
            return;
        }
        let handles: Vec<usize> = (0..count).map(|i| family.handle_at(at, i)).collect();
        let open = known();
        let requests: Vec<Option<(usize, Request)>> = handles
            .iter()
            .map(|&handle| Some((handle, open.request(handle)?)))
            .collect();
        drop(open);
        let is_any = |request: &Option<(usize, Request)>| {
            matches!(request, Some((_, Request::ReceiveAny { .. })))
        };
        let mut awaited = Box::new(AwaitedRequests {
            statuses: Vec::new(),
            requests,
        });
        if awaited.requests.iter().any(is_any) && frame.argument(status) == family.no_status() {
            let room = match is_one {
                true => frame.room(),
                false => {
                    awaited.statuses = vec![0; count * family.status_size() + 8];
                    awaited.statuses.as_mut_ptr() as usize
                }
            };
            frame.replace(status, room);
        }
        keep(frame, awaited);
    }
}

/// A call that has returned.
struct ReturnedCall {
    frame: Frame,
    family: MpiFamily,
    tid: u32,
    chain: u32,
    function: u32,
    begin: u64,
    end: u64,
}

/// The hook after the library's function, if `begin` is not 0.
pub(super) extern "C" fn after(entry: &Entry, frame: Frame, begin: u64) {
    let _errno = KeepErrno::new();
    let end = wait_log::now();
    // SAFETY: the library's function has returned.
    let (awaited, has_succeeded) = unsafe { (take_awaited(frame), frame.result() as i32 == 0) };
    if end == 0 || !has_succeeded {
        return;
    }
    let done = ReturnedCall {
        frame,
        family: MpiFamily::of_process(),
        tid: stack::tid(),
        chain: frame.chain(),
        function: entry.function,
        begin,
        end,
    };
    // SAFETY: the entry points belong to functions with these arguments, and the library's function
    // has stored its results.
    unsafe { done.log(entry.call, awaited.as_deref()) };
}

impl ReturnedCall {
    /// # Safety
    /// The function has the arguments of this kind of call.
    unsafe fn log(&self, call: Call, awaited: Option<&AwaitedRequests>) {
        let (frame, family) = (self.frame, self.family);
        // SAFETY: the caller guarantees the arguments.
        unsafe {
            match call {
                Call::Collective {
                    role,
                    communicator,
                    root,
                } => {
                    let communicator = family.handle(frame.argument(communicator));
                    let root = (root != NO_ROOT).then(|| int(frame, root));
                    self.collective(role, communicator, root);
                }
                Call::Finalize => self.collective(CallRole::All, family.world(), None),
                Call::Send => drop(self.sent(3, frame.argument(5))),
                Call::StartSend => {
                    if let Some(message) = self.sent(3, frame.argument(5)) {
                        self.open(6, Request::Send(message));
                    }
                }
                Call::Receive => {
                    self.received((3, 4), frame.argument(5), frame.argument(6));
                }
                Call::StartReceive => self.asked(),
                Call::Exchange {
                    destination,
                    source,
                } => {
                    let tag = source_tag(source);
                    let communicator = frame.argument(tag + 1);
                    self.sent(destination, communicator);
                    self.received((source, tag), communicator, frame.argument(tag + 2));
                }
                Call::Probe => self.probed(),
                Call::Wait => self.waited(awaited, 0, 0, frame.argument(1)),
                Call::WaitAll => {
                    let statuses = frame.argument(2);
                    for at in 0..awaited.map_or(0, |awaited| awaited.requests.len()) {
                        self.waited(awaited, at, at, statuses);
                    }
                }
                Call::WaitAny => {
                    let index = (frame.argument(2) as *const i32).read_unaligned();
                    if let Ok(at) = usize::try_from(index) {
                        self.waited(awaited, at, 0, frame.argument(3));
                    }
                }
                Call::WaitSome => {
                    let count = (frame.argument(2) as *const i32).read_unaligned();
                    let indices = frame.argument(3) as *const i32;
                    for i in 0..usize::try_from(count).unwrap_or(0) {
                        let at = usize::try_from(indices.add(i).read_unaligned());
                        self.waited(awaited, at.unwrap_or(usize::MAX), i, frame.argument(4));
                    }
                }
                Call::FreeCommunicator => {}
            }
        }
    }

    fn write(&self, role: CallRole, message: Message, peer: Option<u32>) {
        let call = RankCall {
            begin: self.begin,
            stack: None,
            ticks: self.end.saturating_sub(self.begin),
            function: self.function,
            role,
            group: message.group,
            peer,
            tag: message.tag,
            turn: message.turn,
        };
        wait_log::rank_call(self.tid, self.chain, &call);
    }

    fn message(&self, role: CallRole, message: Message) {
        self.write(role, message, Some(message.peer));
    }

    fn collective(&self, role: CallRole, communicator: usize, root: Option<i32>) {
        let Some(group) = group(communicator) else {
            return;
        };
        let turn = known().count(CountKind::Collective, group.id, 0, 0);
        let operation = Message {
            group: group.id,
            peer: 0,
            tag: 0,
            turn,
        };
        self.write(role, operation, root.and_then(|root| group.rank(root)));
    }

    fn group(&self, communicator: usize) -> Option<Group> {
        group(self.family.handle(communicator))
    }

    /// The sent message, whose destination and tag are in the argument `to` and the next one.
    ///
    /// # Safety
    /// The function has these arguments.
    unsafe fn sent(&self, to: usize, communicator: usize) -> Option<Message> {
        // SAFETY: the caller guarantees the arguments.
        let (peer, tag) = unsafe { (int(self.frame, to), int(self.frame, to + 1)) };
        let group = self.group(communicator)?;
        let (peer, tag) = (group.rank(peer)?, tag_number(tag));
        let message = Message {
            group: group.id,
            peer,
            tag,
            turn: known().count(CountKind::Sent, group.id, peer, tag),
        };
        self.message(CallRole::Send, message);
        Some(message)
    }

    /// The received message, with this source and tag, on the communicator.
    fn arrived(&self, source: i32, tag: i32, communicator: usize) -> Option<Message> {
        let group = self.group(communicator)?;
        let (peer, tag) = (group.rank(source)?, tag_number(tag));
        let turn = known().count(CountKind::Received, group.id, peer, tag);
        Some(Message {
            group: group.id,
            peer,
            tag,
            turn,
        })
    }

    /// Source and tag of the message that these arguments asked for.
    ///
    /// # Safety
    /// The function has these arguments, and stored the status.
    unsafe fn source(&self, from: (usize, usize), status: usize) -> (i32, i32) {
        // SAFETY: the caller guarantees the arguments. If the message has any source, there is a
        // status.
        unsafe {
            let asked = (int(self.frame, from.0), int(self.frame, from.1));
            match is_any(self.family, asked.0, asked.1) {
                true if status == self.family.no_status() => asked,
                true => self.family.source_and_tag(status),
                false => asked,
            }
        }
    }

    /// # Safety
    /// The function has these arguments, and stored the status.
    unsafe fn received(&self, from: (usize, usize), communicator: usize, status: usize) {
        // SAFETY: the caller guarantees the arguments and the status.
        let (source, tag) = unsafe { self.source(from, status) };
        if let Some(message) = self.arrived(source, tag, communicator) {
            self.message(CallRole::Receive, message);
        }
    }

    /// # Safety
    /// The call is one of `MPI_Probe`.
    unsafe fn probed(&self) {
        // SAFETY: the caller guarantees the kind of call.
        let (source, tag, communicator) = unsafe {
            let status = self.frame.argument(3);
            let (source, tag) = self.source((0, 1), status);
            (source, tag, self.frame.argument(2))
        };
        let Some(group) = self.group(communicator) else {
            return;
        };
        if let Some(peer) = group.rank(source) {
            let tag = tag_number(tag);
            let message = Message {
                group: group.id,
                peer,
                tag,
                turn: known().next_received(group.id, peer, tag),
            };
            self.message(CallRole::AwaitReceive, message);
        }
    }

    /// # Safety
    /// The call is one of `MPI_Irecv`.
    unsafe fn asked(&self) {
        // SAFETY: the caller guarantees the kind of call.
        unsafe {
            let (source, tag) = (int(self.frame, 3), int(self.frame, 4));
            let communicator = self.frame.argument(5);
            if is_any(self.family, source, tag) {
                let communicator = self.family.handle(communicator);
                self.open(6, Request::ReceiveAny { communicator });
            } else if let Some(message) = self.arrived(source, tag, communicator) {
                self.message(CallRole::Ask, message);
                self.open(6, Request::Receive(message));
            }
        }
    }

    /// Keeps the request that the argument points to.
    ///
    /// # Safety
    /// The function stored one there.
    unsafe fn open(&self, argument: usize, request: Request) {
        // SAFETY: the caller guarantees a request there.
        let handle = unsafe { self.family.handle_at(self.frame.argument(argument), 0) };
        known().open(handle, request);
    }

    /// The request with index `at` among the arguments is complete. Its status is the `i`-th one at
    /// `statuses`.
    ///
    /// # Safety
    /// The function stored the status.
    unsafe fn waited(
        &self,
        awaited: Option<&AwaitedRequests>,
        at: usize,
        i: usize,
        statuses: usize,
    ) {
        let request = awaited.and_then(|awaited| awaited.requests.get(at).copied());
        let Some((handle, request)) = request.flatten() else {
            return;
        };
        known().close(handle);
        match request {
            Request::Send(message) => self.message(CallRole::AwaitSend, message),
            Request::Receive(message) => self.message(CallRole::AwaitReceive, message),
            Request::ReceiveAny { communicator } if statuses != self.family.no_status() => {
                let status = statuses + i * self.family.status_size();
                // SAFETY: the caller guarantees the status.
                let (source, tag) = unsafe { self.family.source_and_tag(status) };
                if let Some(message) = self.arrived(source, tag, communicator) {
                    self.message(CallRole::AwaitReceive, message);
                }
            }
            Request::ReceiveAny { .. } => {}
        }
    }
}

fn tag_number(tag: i32) -> u64 {
    u64::from(tag as u32)
}
