//! Our own file: one memory per line, written by `export` and read by `import`. A
//! line is the memory as every answer of the service shows it, plus the version of
//! this format; a line written by hand needs `content` alone.

use std::io::{self, BufRead, Write};

use ostraca_memory::{NewMemory, Record, ScopePath};
use ostraca_service::wire::{self, Memory, MemoryInput};
use serde::Serialize;
use serde_json::{Map, Value};

use super::lines::Lines;
use super::{Entry, Refusal, below};

/// The version of the line format that is written.
const VERSION: u64 = 1;

/// What only the store can give. An export holds it, and an import leaves it out.
const OF_THE_STORE: [&str; 5] = ["id", "version", "updated_at", "author", "embedding"];

#[derive(Debug, Serialize)]
struct Line {
    ostraca: u64,
    #[serde(flatten)]
    memory: Memory,
}

/// Writes one memory as a line.
pub(crate) fn write(out: &mut impl Write, record: &Record) -> io::Result<()> {
    let line = Line {
        ostraca: VERSION,
        memory: Memory::whole(record),
    };
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")
}

/// The memories of a file, each below `scope` where its line says.
pub(crate) fn read<'a>(
    input: impl BufRead + 'a,
    scope: &'a ScopePath,
) -> impl Iterator<Item = io::Result<Entry>> + 'a {
    Lines::new(input).map(move |line| {
        let (line, text) = line?;
        Ok(Entry {
            line,
            memory: text.and_then(|text| memory(&text, scope)),
        })
    })
}

/// Any member that is neither kept nor of the store is refused, as dropping it
/// silently would lose data.
fn memory(text: &str, parent: &ScopePath) -> Result<NewMemory, Refusal> {
    let mut members: Map<String, Value> = serde_json::from_str(text)?;
    if let Some(found) = members
        .remove("ostraca")
        .filter(|version| *version != VERSION)
    {
        return Err(Refusal::Version { found });
    }
    if let Some(found) = members.remove("status").filter(|status| status != "active") {
        return Err(Refusal::Status { found });
    }
    for name in OF_THE_STORE {
        members.remove(name);
    }
    let input: MemoryInput = wire::decode(Value::Object(members))?;
    let mut memory = NewMemory::try_from(input)?;
    memory.scope = below(parent, &memory.scope)?;
    Ok(memory)
}
