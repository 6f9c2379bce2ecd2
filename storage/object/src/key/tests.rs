use proptest::prelude::*;

use super::*;

fn any_collection() -> impl Strategy<Value = CollectionKey> {
    (TenantId::GRAMMAR, CollectionId::GRAMMAR).prop_map(|(tenant, collection)| {
        CollectionKey::new(tenant.parse().unwrap(), collection.parse().unwrap())
    })
}

fn any_key() -> impl Strategy<Value = Key> {
    let part = proptest::sample::select(&SegmentPart::ALL[..]);
    prop_oneof![
        (any_collection(), any::<u64>()).prop_map(|(c, seq)| Key::Log(c, Seq(seq))),
        any_collection().prop_map(Key::Head),
        (any_collection(), SegmentId::GRAMMAR, part).prop_map(|(c, segment, part)| Key::Segment(
            c,
            segment.parse().unwrap(),
            part
        )),
        (any_collection(), any::<u64>()).prop_map(|(c, seq)| Key::Due(c, Seq(seq))),
        ProbeId::GRAMMAR.prop_map(|run| Key::Probe(run.parse().unwrap())),
        Just(Key::Proven),
    ]
}

proptest! {
    #[test]
    fn a_path_means_one_key(key in any_key()) {
        let path = key.path();
        prop_assert_eq!(path.as_ref(), key.to_string(), "nothing is escaped");
        prop_assert_eq!(Key::parse(&path), Some(key));
    }

    #[test]
    fn an_object_lies_under_the_prefix_of_its_tenant_and_no_other(
        key in any_key(),
        other in TenantId::GRAMMAR,
    ) {
        if let Key::Log(of, _) | Key::Head(of) | Key::Segment(of, ..) = &key {
            let own = Prefix::Tenant(of.tenant.clone()).path();
            prop_assert!(key.path().prefix_matches(&own));
            if other != of.tenant.as_str() {
                let other = Prefix::Tenant(other.parse().unwrap()).path();
                prop_assert!(!key.path().prefix_matches(&other));
            }
        }
    }

    #[test]
    fn names_that_could_escape_are_refused(text in "\\PC{0,70}") {
        let parsed = [
            text.parse::<TenantId>().map(String::from),
            text.parse::<CollectionId>().map(String::from),
            text.parse::<SegmentId>().map(String::from),
        ];
        for name in parsed.into_iter().flatten() {
            prop_assert_eq!(&name, &text);
            prop_assert!(!name.contains(['/', '.', ':', '\\', '%', ' ']));
        }
    }

    #[test]
    fn log_names_sort_as_their_numbers(a in any::<u64>(), b in any::<u64>()) {
        let name = |seq| {
            let collection = CollectionKey::new("t".parse().unwrap(), CollectionId::memory());
            Key::Log(collection, Seq(seq)).path()
        };
        prop_assert_eq!(a.cmp(&b), name(a).cmp(&name(b)));
    }
}

#[test]
fn the_layout_is_the_documented_one() {
    let collection = CollectionKey::new("acme".parse().unwrap(), CollectionId::system());
    let segment: SegmentId = "01h".parse().unwrap();
    for (key, path) in [
        (
            Key::Log(collection.clone(), Seq(7)),
            "t/acme/c/_system/log/00000000000000000007.arrow",
        ),
        (Key::Head(collection.clone()), "t/acme/c/_system/head.arrow"),
        (
            Key::Segment(collection.clone(), segment, SegmentPart::Codes),
            "t/acme/c/_system/seg/01h/codes.arrow",
        ),
        (
            Key::Due(collection, Seq(64)),
            "due/acme:_system/00000000000000000064.arrow",
        ),
    ] {
        assert_eq!(key.to_string(), path);
    }
}

#[test]
fn a_wrong_name_says_which_and_why() {
    let error = "Acme".parse::<TenantId>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "tenant \"Acme\" is not valid: it must match [a-z0-9][a-z0-9-]{0,47}"
    );
    assert!("a".repeat(49).parse::<TenantId>().is_err());
    assert!("".parse::<CollectionId>().is_err());
    assert!("9lives".parse::<CollectionId>().is_err());
}
