use super::*;

fn entries(format: Format, text: &str, scope: &str) -> Vec<Entry> {
    let scope = ScopePath::parse(scope).unwrap();
    read(format, text.as_bytes(), &scope)
        .unwrap()
        .collect::<io::Result<_>>()
        .unwrap()
}

fn memories(format: Format, text: &str) -> Vec<NewMemory> {
    entries(format, text, "")
        .into_iter()
        .map(|entry| entry.memory.unwrap())
        .collect()
}

/// As the official server writes it: no line end after the last line.
const SERVER_MEMORY: &str = concat!(
    r#"{"type":"entity","name":"Jörg","entityType":"person","observations":["likes tea","lives in Köln"]}"#,
    "\n",
    r#"{"type":"entity","name":"Acme","entityType":"company","observations":[]}"#,
    "\n",
    r#"{"type":"relation","from":"Jörg","to":"Acme","relationType":"works at"}"#,
);

const LOCOMO: &str = r#"[{"sample_id":"conv-7","qa":[{"question":"?"}],"conversation":{
    "speaker_a":"Ann","speaker_b":"Bo",
    "session_10_date_time":"10:04 am on 19 June, 2023","session_10":[{"speaker":"Bo","dia_id":"D10:1","text":"Later."}],
    "session_2_date_time":"1:56 pm on 8 May, 2023",
    "session_2":[{"speaker":"Ann","dia_id":"D2:1","text":"Hi!"},{"speaker":"Bo","dia_id":"D2:2","text":"Look","blip_caption":"a photo of a dog","img_url":["x"]}]}}]"#;

#[test]
fn formats_are_recognised_from_their_first_line() {
    for (text, format) in [
        (SERVER_MEMORY, Format::ServerMemory),
        (LOCOMO, Format::Locomo),
        ("\u{feff}\n[1]", Format::Locomo),
        (r#"{"content":"a"}"#, Format::Jsonl),
        ("", Format::Jsonl),
        ("garbage", Format::Jsonl),
    ] {
        assert_eq!(recognise(text.as_bytes()), format, "{text}");
    }
}

#[test]
fn a_recognised_file_is_read_from_its_start() {
    let long = format!(
        "{{\"content\":\"{}\"}}\n{{\"content\":\"b\"}}",
        "a".repeat(200_000)
    );
    let read = memories(Format::Auto, &long);
    assert_eq!(read.len(), 2);
    assert_eq!(read[0].content.len(), 200_000);
    assert_eq!(memories(Format::Auto, SERVER_MEMORY).len(), 3);
}

#[test]
fn a_line_of_ours_keeps_every_field() {
    let line = r#"{"ostraca":1,"id":"x","scope":"a/b","key":"k","title":"t","kind":"fact","content":"c","metadata":{"n":1},
        "source":"s","confidence":0.5,"sensitivity":"low","author":"key:1","status":"active","version":7,
        "created_at":"2026-01-02T03:04:05.678Z","updated_at":"2026-01-02T03:04:05.678Z","expires_at":"2027-01-01","embedding":"none"}"#
        .replace('\n', " ");
    let [memory] = <[_; 1]>::try_from(memories(Format::Jsonl, &line)).unwrap();
    assert_eq!(memory.scope.as_str(), "a/b");
    assert_eq!(memory.key.as_deref(), Some("k"));
    assert_eq!(memory.title.as_deref(), Some("t"));
    assert_eq!(memory.kind.as_deref(), Some("fact"));
    assert_eq!(memory.metadata["n"], 1);
    assert_eq!(memory.source.as_deref(), Some("s"));
    assert_eq!(memory.confidence, Some(0.5));
    assert_eq!(memory.sensitivity.as_deref(), Some("low"));
    assert_eq!(memory.created.map(|at| at.0), Some(1_767_323_045_678));
    assert!(memory.expires.is_some());
}

#[test]
fn bad_lines_are_refused_one_by_one_with_their_numbers() {
    let text = concat!(
        "{\"content\":\"good\"}\n",
        "\n",
        "{not json\n",
        "{\"content\":\"x\",\"tags\":[\"a\"]}\n",
        "{\"content\":\"x\",\"scope\":\"../up\"}\n",
        "{\"content\":\"x\",\"created_at\":\"yesterday\"}\n",
        "{\"content\":\"x\",\"ostraca\":2}\n",
        "{\"content\":\"x\",\"status\":\"deleted\"}\n",
        "{\"content\":\"also good\"}\n",
    );
    let read = entries(Format::Jsonl, text, "");
    let refused: Vec<(u64, String)> = read
        .iter()
        .filter_map(|entry| Some((entry.line, entry.memory.as_ref().err()?.to_string())))
        .collect();
    let lines: Vec<u64> = refused.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [3, 4, 5, 6, 7, 8]);
    for ((_, message), named) in refused.iter().zip([
        "key must be a string at column 2",
        "tags",
        "..",
        "created_at",
        "version 2",
        "deleted",
    ]) {
        assert!(message.contains(named), "{message} names {named}");
    }
    assert_eq!(read.last().map(|entry| entry.line), Some(9));
}

#[test]
fn everything_can_be_placed_below_a_scope() {
    for (format, text, scope) in [
        (
            Format::Jsonl,
            r#"{"content":"c","scope":"x/y"}"#,
            "team/x/y",
        ),
        (Format::Jsonl, r#"{"content":"c"}"#, "team"),
        (Format::ServerMemory, SERVER_MEMORY, "team"),
        (Format::Locomo, LOCOMO, "team/locomo/conv-7"),
    ] {
        for entry in entries(format, text, "team") {
            assert_eq!(entry.memory.unwrap().scope.as_str(), scope);
        }
    }
}

#[test]
fn an_entity_holds_its_observations_and_a_relation_is_a_sentence() {
    let read = memories(Format::ServerMemory, SERVER_MEMORY);
    assert_eq!(read[0].key.as_deref(), Some("Jörg"));
    assert_eq!(read[0].kind.as_deref(), Some("entity"));
    assert_eq!(
        read[0].content,
        "Jörg (person)\n- likes tea\n- lives in Köln"
    );
    assert_eq!(read[0].metadata["entity_type"], "person");
    assert_eq!(read[1].content, "Acme (company)");
    assert_eq!(read[2].key.as_deref(), Some("Jörg -> works at -> Acme"));
    assert_eq!(read[2].kind.as_deref(), Some("relation"));
    assert_eq!(read[2].content, "Jörg works at Acme");
    assert_eq!(read[2].metadata["to"], "Acme");
}

#[test]
fn a_server_memory_line_of_another_kind_is_refused() {
    let text = format!("{SERVER_MEMORY}\n{{\"type\":\"alias\",\"name\":\"x\"}}");
    let read = entries(Format::ServerMemory, &text, "");
    assert!(read[3].memory.is_err());
}

#[test]
fn turns_come_in_the_order_of_their_sessions() {
    let read = memories(Format::Locomo, LOCOMO);
    let keys: Vec<_> = read
        .iter()
        .filter_map(|memory| memory.key.as_deref())
        .collect();
    assert_eq!(keys, ["D2:1", "D2:2", "D10:1"]);
    assert_eq!(read[0].content, "8 May 2023 Ann: Hi!");
    assert_eq!(
        read[1].content,
        "8 May 2023 Bo: Look [image: a photo of a dog]"
    );
    assert_eq!(read[1].metadata["session"], 2);
    assert_eq!(read[1].metadata["speaker"], "Bo");
    assert_eq!(read[0].created.map(|at| at.0), Some(1_683_554_160_000));
}
