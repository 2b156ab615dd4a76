//! Channels: the common part of `mpsc` and of the bounded channel for several receivers.

use crate::runtime::object::Handle;
use crate::runtime::{switch, visible_in_drop, visible_on};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use stubborn_schedule::objects::{Channel, DISCONNECTED, EMPTY, FULL, Object};
use stubborn_schedule::{Action, ObjectId, Op};

use std::sync::mpsc::{RecvError, SendError, TryRecvError, TrySendError};

/// The engine's channel and the messages, which are in the same order.
pub(crate) struct Shared<T> {
    handle: Handle,
    capacity: Option<usize>,
    messages: Mutex<VecDeque<T>>,
    /// Ends that are dropped outside of an exploration, or created, are not visible.
    ends: Mutex<(u64, u64)>,
}

impl<T> Shared<T> {
    #[track_caller]
    pub(crate) fn new(capacity: Option<usize>) -> Arc<Shared<T>> {
        Arc::new(Shared {
            handle: Handle::new("channel"),
            capacity,
            messages: Mutex::default(),
            ends: Mutex::new((1, 1)),
        })
    }

    pub(crate) fn id(&self) -> ObjectId {
        let capacity = self.capacity.map_or(u64::MAX, |capacity| capacity as u64);
        self.handle.id(|| {
            let (senders, receivers) = *self.ends.lock().unwrap_or_else(PoisonError::into_inner);
            Channel::with_ends(capacity, senders, receivers).into()
        })
    }

    fn put(&self, message: T) {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).push_back(message);
    }

    fn get(&self) -> Option<T> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    #[track_caller]
    pub(crate) fn send(&self, message: T) -> Result<(), SendError<T>> {
        match visible_on(self.id(), Action::Send(0)) {
            DISCONNECTED => Err(SendError(message)),
            rank => {
                self.put(message);
                if self.capacity == Some(0) {
                    // A rendezvous: the sender waits until the message is taken.
                    let taken = visible_on(self.id(), Action::Taken(rank)) == 1;
                    if !taken {
                        return self.get().map_or(Ok(()), |message| Err(SendError(message)));
                    }
                }
                Ok(())
            }
        }
    }

    #[track_caller]
    pub(crate) fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        if self.capacity == Some(0) {
            crate::runtime::stop("try_send on a channel without capacity is not supported".to_owned());
        }
        match visible_on(self.id(), Action::TrySend(0)) {
            DISCONNECTED => Err(TrySendError::Disconnected(message)),
            FULL => Err(TrySendError::Full(message)),
            _ => {
                self.put(message);
                Ok(())
            }
        }
    }

    #[track_caller]
    pub(crate) fn receive(&self) -> Result<T, RecvError> {
        match visible_on(self.id(), Action::Receive) {
            DISCONNECTED => Err(RecvError),
            _ => self.get().ok_or(RecvError),
        }
    }

    #[track_caller]
    pub(crate) fn try_receive(&self) -> Result<T, TryRecvError> {
        match visible_on(self.id(), Action::TryReceive) {
            DISCONNECTED => Err(TryRecvError::Disconnected),
            EMPTY => Err(TryRecvError::Empty),
            _ => self.get().ok_or(TryRecvError::Disconnected),
        }
    }

    pub(crate) fn add_sender(&self) {
        if switch::is_task() {
            let id = self.id();
            change(id, Channel::add_sender);
        } else {
            self.ends.lock().unwrap_or_else(PoisonError::into_inner).0 += 1;
        }
    }

    fn add_receiver(&self) {
        if switch::is_task() {
            let id = self.id();
            change(id, Channel::add_receiver);
        } else {
            self.ends.lock().unwrap_or_else(PoisonError::into_inner).1 += 1;
        }
    }

    pub(crate) fn drop_sender(&self) {
        visible_in_drop(self.handle.created(), || Op::on(self.id(), Action::DropSender));
    }

    pub(crate) fn drop_receiver(&self) {
        visible_in_drop(self.handle.created(), || Op::on(self.id(), Action::DropReceiver));
    }
}

/// Changes the engine's channel in a way that nobody can notice.
fn change(id: ObjectId, change: fn(&mut Channel)) {
    switch::with_world(|world| {
        world.change(id, |object| {
            if let Object::Channel(channel) = object {
                change(channel);
            }
        })
    });
}

/// A channel with room for so many messages, at least one, for several senders and receivers.
#[track_caller]
pub fn bounded<T>(capacity: usize) -> (BoundedSender<T>, BoundedReceiver<T>) {
    let shared = Shared::new(Some(capacity.max(1)));
    (BoundedSender { shared: shared.clone() }, BoundedReceiver { shared })
}

/// The sending end of a bounded channel.
pub struct BoundedSender<T> {
    shared: Arc<Shared<T>>,
}

/// The receiving end of a bounded channel.
pub struct BoundedReceiver<T> {
    shared: Arc<Shared<T>>,
}

impl<T> BoundedSender<T> {
    /// Sends; waits while the channel is full.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.shared.send(message)
    }

    /// Sends if there is room.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.shared.try_send(message)
    }

    /// Whether there is no room.
    #[track_caller]
    pub fn is_full(&self) -> bool {
        visible_on(self.shared.id(), Action::Full) == 1
    }
}

impl<T> BoundedReceiver<T> {
    /// Receives; waits while the channel is empty.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.shared.receive()
    }

    /// Receives if there is a message.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.shared.try_receive()
    }

    /// How many messages there are.
    #[track_caller]
    pub fn len(&self) -> usize {
        visible_on(self.shared.id(), Action::Length) as usize
    }

    /// Whether there are none.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        visible_on(self.shared.id(), Action::Empty) == 1
    }
}

impl<T> Clone for BoundedSender<T> {
    fn clone(&self) -> BoundedSender<T> {
        self.shared.add_sender();
        BoundedSender { shared: self.shared.clone() }
    }
}

impl<T> Clone for BoundedReceiver<T> {
    fn clone(&self) -> BoundedReceiver<T> {
        self.shared.add_receiver();
        BoundedReceiver { shared: self.shared.clone() }
    }
}

impl<T> Drop for BoundedSender<T> {
    fn drop(&mut self) {
        self.shared.drop_sender();
    }
}

impl<T> Drop for BoundedReceiver<T> {
    fn drop(&mut self) {
        self.shared.drop_receiver();
    }
}

impl<T> fmt::Debug for BoundedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundedSender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for BoundedReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundedReceiver").finish_non_exhaustive()
    }
}
