//! Simplifying filters without changing what they select.
//!
//! It exists so that "does this select everything?" is asked of the meaning and
//! not of the spelling: a destructive call refuses a match-all filter however it
//! is written. It decides by structure alone and never by data.

use super::Filter;

impl Filter {
    /// An equivalent filter in which constants are folded and nested
    /// conjunctions and disjunctions are flat.
    pub fn normalise(self) -> Self {
        match self {
            Self::And(children) => join(children, Joint::And),
            Self::Or(children) => join(children, Joint::Or),
            Self::Not(child) => match child.normalise() {
                Self::Not(inner) => *inner,
                Self::And(children) if children.is_empty() => Self::Or(Vec::new()),
                Self::Or(children) if children.is_empty() => Self::And(Vec::new()),
                child => Self::Not(Box::new(child)),
            },
            leaf @ Self::Leaf { .. } => leaf,
        }
    }

    /// Whether every record satisfies the filter by its structure.
    ///
    /// Beyond folded constants this sees a condition joined by `or` with its own
    /// negation.
    pub fn matches_everything(&self) -> bool {
        match self.clone().normalise() {
            Self::And(children) => children.is_empty(),
            _ => false,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    And,
    Or,
}

impl Joint {
    fn of(self, children: Vec<Filter>) -> Filter {
        match self {
            Self::And => Filter::And(children),
            Self::Or => Filter::Or(children),
        }
    }

    fn other(self) -> Self {
        match self {
            Self::And => Self::Or,
            Self::Or => Self::And,
        }
    }
}

fn join(children: Vec<Filter>, joint: Joint) -> Filter {
    let mut flat: Vec<Filter> = Vec::new();
    for child in children {
        let inner = match (joint, child.normalise()) {
            (Joint::And, Filter::And(inner)) | (Joint::Or, Filter::Or(inner)) => inner,
            (_, other) => vec![other],
        };
        for child in inner {
            if !flat.contains(&child) {
                flat.push(child);
            }
        }
    }
    // The empty form of the other joint absorbs: `false and x`, `true or x`.
    let absorbed = flat.iter().any(|child| match (joint, child) {
        (Joint::And, Filter::Or(inner)) | (Joint::Or, Filter::And(inner)) => inner.is_empty(),
        _ => false,
    });
    let contradiction = flat.iter().any(|child| match child {
        Filter::Not(inner) => flat.contains(inner),
        _ => false,
    });
    if absorbed || contradiction {
        return joint.other().of(Vec::new());
    }
    if flat.len() == 1 {
        return flat.pop().unwrap_or_else(Filter::everything);
    }
    joint.of(flat)
}
