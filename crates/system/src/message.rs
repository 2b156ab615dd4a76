//! What is sent and received in a transition, for people and for charts.

/// A message that is sent or received. Values are as people write them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// What happens to it.
    pub kind: MessageKind,
    /// Whether sender and receiver move together: then the send is followed by its receive, and the
    /// message never stands in the channel.
    pub is_rendezvous: bool,
    /// The channel, by name.
    pub channel: String,
    /// The values of its fields.
    pub values: Vec<String>,
    /// How many messages of the channel are before it.
    pub slot: usize,
    /// How many messages the channel held before.
    pub waiting: usize,
    /// Which message of a run it is, from one: a send and what receives the same message have the same
    /// number. A single transition cannot know it.
    pub number: Option<usize>,
}

/// What happens to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// It is sent.
    Send,
    /// It is received.
    Receive,
    /// It is received, and stays in the channel.
    Copy,
}

impl MessageKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Receive => "receive",
            Self::Copy => "copy",
        }
    }
}
