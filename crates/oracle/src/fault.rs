//! Faults that can be planted in the rules of a network, to see that the campaigns would notice.
//!
//! Each is a mistake that somebody could make (most have been made in published tools). Each changes the
//! answers of `require` themselves, so an algorithm errs whether it takes the first, the smallest or all
//! alternatives. Nothing but tests sets one. Where each bites is in `network_rules`.

/// A fault in the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Planted {
    /// An enabled transition brings the conflicts of its first participant only.
    ConflictsOfFirstParticipantOnly,
    /// Only the first of the necessary enablers is brought.
    EnablingSetCutToOne,
    /// A disabled transition brings nothing.
    DisabledMembersNotExpanded,
    /// An enabled transition brings only those of its conflicts that are enabled.
    OnlyEnabledConflicts,
    /// Necessary enablers with more than one participant are left out.
    SynchronisedEnablersForgotten,
    /// The enablers of a participant that is ready are brought instead of those of one that is not.
    WrongGuardChosen,
    /// Necessary enablers with three participants are left out.
    ThreePartyEnablersForgotten,
}

impl Planted {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::ConflictsOfFirstParticipantOnly,
        Self::EnablingSetCutToOne,
        Self::DisabledMembersNotExpanded,
        Self::OnlyEnabledConflicts,
        Self::SynchronisedEnablersForgotten,
        Self::WrongGuardChosen,
        Self::ThreePartyEnablersForgotten,
    ];

    /// The word for it in the text form of networks.
    pub fn word(self) -> &'static str {
        match self {
            Self::ConflictsOfFirstParticipantOnly => "conflicts-of-first-participant-only",
            Self::EnablingSetCutToOne => "enabling-set-cut-to-one",
            Self::DisabledMembersNotExpanded => "disabled-members-not-expanded",
            Self::OnlyEnabledConflicts => "only-enabled-conflicts",
            Self::SynchronisedEnablersForgotten => "synchronised-enablers-forgotten",
            Self::WrongGuardChosen => "wrong-guard-chosen",
            Self::ThreePartyEnablersForgotten => "three-party-enablers-forgotten",
        }
    }

    /// The fault that has this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|planted| planted.word() == word)
    }
}
