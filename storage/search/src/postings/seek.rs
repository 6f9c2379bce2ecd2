//! Looks rows up in a list, in ascending order, decoding only the blocks they lie in.

use super::PostingsError;
use super::list::{Block, DocSet, List, Posting};

/// A place in a list that only moves forward.
#[derive(Debug)]
pub(super) struct Seeker<'a> {
    list: &'a List,
    /// The block that the place lies in.
    block: usize,
    /// The block that `decoded` holds.
    loaded: Option<usize>,
    decoded: Block,
    at: usize,
}

impl<'a> Seeker<'a> {
    pub(super) fn new(list: &'a List) -> Self {
        Self {
            list,
            block: 0,
            loaded: None,
            decoded: Block::default(),
            at: 0,
        }
    }

    /// Moves to the block in which a row would lie. Only the last block is decoded,
    /// to know where the list ends.
    pub(super) fn skip_to(&mut self, doc: u32) -> Result<(), PostingsError> {
        self.block = self.list.block_of(doc, self.block);
        if self.block + 1 == self.list.blocks() {
            self.seek(doc)?;
        }
        Ok(())
    }

    pub(super) fn block(&self) -> usize {
        self.block
    }

    /// Moves to the first posting whose row is not below `doc`.
    pub(super) fn seek(&mut self, doc: u32) -> Result<(), PostingsError> {
        self.block = self.list.block_of(doc, self.block);
        self.load()?;
        let docs = self.decoded.docs();
        let rest = docs.get(self.at..).unwrap_or_default();
        let near = rest.iter().take(8).take_while(|found| **found < doc);
        self.at += match near.count() {
            8 => rest.partition_point(|found| *found < doc),
            few => few,
        };
        Ok(())
    }

    /// How a row has the term, if it does.
    pub(super) fn find(&mut self, doc: u32) -> Result<Option<Posting>, PostingsError> {
        self.seek(doc)?;
        Ok(self
            .decoded
            .get(self.at)
            .filter(|posting| posting.doc == doc))
    }

    /// Gives every posting from the place up to a row, exclusive, and moves there.
    pub(super) fn drain_to(
        &mut self,
        end: u64,
        mut each: impl FnMut(Posting),
    ) -> Result<(), PostingsError> {
        loop {
            self.load()?;
            let mut taken = 0;
            for posting in self.decoded.from(self.at) {
                if u64::from(posting.doc) >= end {
                    self.at += taken;
                    return Ok(());
                }
                taken += 1;
                each(posting);
            }
            self.at += taken;
            match self.list.first_of(self.block + 1) {
                Some(first) if u64::from(first) < end => self.block += 1,
                _ => return Ok(()),
            }
        }
    }

    /// A row at or above which the next posting lies; `None` at the end.
    pub(super) fn next_at_least(&self) -> Option<u32> {
        if self.loaded == Some(self.block) {
            return match self.decoded.get(self.at) {
                Some(posting) => Some(posting.doc),
                None => self.list.first_of(self.block + 1),
            };
        }
        self.list.first_of(self.block)
    }

    fn load(&mut self) -> Result<(), PostingsError> {
        if self.loaded == Some(self.block) {
            return Ok(());
        }
        self.list.decode(self.block, &mut self.decoded)?;
        self.loaded = Some(self.block);
        self.at = 0;
        Ok(())
    }
}

impl List {
    /// Those of the rows that have the term; only the blocks they lie in are decoded.
    pub fn among(&self, docs: &DocSet) -> Result<DocSet, PostingsError> {
        let mut seeker = Seeker::new(self);
        let mut found = Vec::new();
        for doc in docs {
            if seeker.find(doc)?.is_some() {
                found.push(doc);
            }
        }
        Ok(found.into_iter().collect())
    }
}

/// The rows that are in at least one list.
pub fn union<'a>(lists: impl IntoIterator<Item = &'a List>) -> Result<DocSet, PostingsError> {
    let mut docs = DocSet::new();
    for list in lists {
        docs |= list.docs()?;
    }
    Ok(docs)
}

/// The rows that are in every list; none if there are no lists.
pub fn intersection<'a>(
    lists: impl IntoIterator<Item = &'a List>,
) -> Result<DocSet, PostingsError> {
    let mut lists: Vec<&List> = lists.into_iter().collect();
    lists.sort_by_key(|list| list.document_frequency());
    let Some((rarest, others)) = lists.split_first() else {
        return Ok(DocSet::new());
    };
    let mut docs = rarest.docs()?;
    for list in others {
        if docs.is_empty() {
            break;
        }
        docs = list.among(&docs)?;
    }
    Ok(docs)
}
