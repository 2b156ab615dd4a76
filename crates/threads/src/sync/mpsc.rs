//! Channels, as `std::sync::mpsc` has them.

use super::channel::Shared;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// See [`std::sync::mpsc::channel`].
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let shared = Shared::new(None);
    (Sender { shared: shared.clone() }, Receiver { shared })
}

/// See [`std::sync::mpsc::sync_channel`].
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let shared = Shared::new(Some(bound));
    (SyncSender { shared: shared.clone() }, Receiver { shared })
}

/// See [`std::sync::mpsc::Sender`].
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
}

/// See [`std::sync::mpsc::SyncSender`].
pub struct SyncSender<T> {
    shared: Arc<Shared<T>>,
}

/// See [`std::sync::mpsc::Receiver`].
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    /// See [`std::sync::mpsc::Sender::send`].
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.shared.send(message)
    }
}

impl<T> SyncSender<T> {
    /// See [`std::sync::mpsc::SyncSender::send`].
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.shared.send(message)
    }

    /// See [`std::sync::mpsc::SyncSender::try_send`]. Not supported on channels of capacity 0.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.shared.try_send(message)
    }
}

impl<T> Receiver<T> {
    /// See [`std::sync::mpsc::Receiver::recv`].
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.shared.receive()
    }

    /// See [`std::sync::mpsc::Receiver::try_recv`].
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.shared.try_receive()
    }

    /// See [`std::sync::mpsc::Receiver::recv_timeout`]: time may be up whenever there is no message.
    #[track_caller]
    pub fn recv_timeout(&self, _time: Duration) -> Result<T, RecvTimeoutError> {
        self.shared.try_receive().map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    /// See [`std::sync::mpsc::Receiver::iter`].
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.recv().ok())
    }

    /// See [`std::sync::mpsc::Receiver::try_iter`].
    pub fn try_iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.try_recv().ok())
    }
}

/// See [`std::sync::mpsc::IntoIter`].
#[derive(Debug)]
pub struct IntoIter<T> {
    receiver: Receiver<T>,
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        self.shared.add_sender();
        Sender { shared: self.shared.clone() }
    }
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> SyncSender<T> {
        self.shared.add_sender();
        SyncSender { shared: self.shared.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.shared.drop_sender();
    }
}

impl<T> Drop for SyncSender<T> {
    fn drop(&mut self) {
        self.shared.drop_sender();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.drop_receiver();
    }
}

macro_rules! debug {
    ($($name:ident),*) => {$(
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

debug!(Sender, SyncSender, Receiver);
