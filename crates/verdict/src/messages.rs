//! Which message is which: the messages of a run, numbered in the order in which they are sent.

use std::collections::HashMap;
use stubborn_system::{Message, MessageKind};

/// Numbers the messages of a run that begins with empty channels.
pub(crate) fn number_messages<'a>(messages: impl Iterator<Item = &'a mut Message>) {
    let mut n_sent = 0;
    let mut channels: HashMap<String, Vec<usize>> = HashMap::new();
    for message in messages {
        let queue = channels.entry(message.channel.clone()).or_default();
        // A channel dies with its process, and another may get its name.
        queue.truncate(if message.is_rendezvous { 1 } else { message.waiting });
        match message.kind {
            MessageKind::Send => {
                n_sent += 1;
                message.number = Some(n_sent);
                queue.insert(message.slot.min(queue.len()), n_sent);
            }
            MessageKind::Receive if message.slot < queue.len() => {
                message.number = Some(queue.remove(message.slot));
            }
            MessageKind::Receive | MessageKind::Copy => message.number = queue.get(message.slot).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: MessageKind, channel: &str, slot: usize, waiting: usize) -> Message {
        let (channel, values) = (channel.to_owned(), Vec::new());
        Message { kind, is_rendezvous: false, channel, values, slot, waiting, number: None }
    }

    #[test]
    fn a_message_keeps_its_number_wherever_it_stands() {
        use MessageKind::{Copy, Receive, Send};
        let mut run = [
            message(Send, "q", 0, 0),
            message(Send, "r", 0, 0),
            message(Send, "q", 0, 1), // sorted: before the first
            message(Copy, "q", 1, 2),
            message(Receive, "q", 1, 2), // random: not the oldest
            message(Receive, "r", 0, 1),
            message(Receive, "q", 0, 1),
        ];
        number_messages(run.iter_mut());
        assert_eq!(run.map(|m| m.number), [1, 2, 3, 1, 1, 2, 3].map(Some));
    }

    #[test]
    fn a_new_channel_of_an_old_name_is_empty() {
        use MessageKind::{Receive, Send};
        let mut run = [message(Send, "q", 0, 0), message(Send, "q", 0, 0), message(Receive, "q", 0, 1)];
        number_messages(run.iter_mut());
        assert_eq!(run.map(|m| m.number), [1, 2, 2].map(Some));
    }
}
