//! I-TENANT and permissions: nothing crosses a tenant, nothing exceeds a key.

use std::collections::BTreeSet;
use std::time::Duration;

use ostraca_memory::*;

use crate::remembering::history;
use crate::support::*;

#[tokio::test(start_paused = true)]
async fn i_tenant_a15_a21_tenants_share_nothing() {
    let world = World::new();
    let db = world.database();
    let alice = db.session(Caller::unrestricted(tenant("alice")));
    let bob = db.session(Caller::unrestricted(tenant("bob")));
    let hers = remember(&alice, note("I am vegetarian")).await;
    let his = remember(&bob, note("I am vegetarian")).await;
    assert_ne!(hers.id, his.id);
    assert_eq!(his.outcome, Outcome::Created);
    remember(&alice, keyed("secret", "alpha secret")).await;
    assert_eq!(list_all(&bob).await, ["I am vegetarian"]);
    for selector in [ScopeSelector::default(), ScopeSelector::all()] {
        let found = bob
            .recall(RecallRequest {
                scope: selector,
                ..query("alpha secret")
            })
            .await
            .unwrap();
        assert_eq!(
            (
                found.hits.len(),
                found.matched,
                found.receipt.coverage.unwrap().records
            ),
            (0, 0, 1)
        );
        assert!(found.hint.is_none());
    }
    assert!(get(&bob, by_id(&hers.id)).await.is_none());
    assert!(get(&bob, by_key("secret")).await.is_none());
    assert_eq!(
        bob.history(history(by_id(&hers.id)))
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::NotFound
    );
    let purge = ForgetRequest {
        mode: ForgetMode::Purge,
        ..ForgetRequest::soft(vec![by_id(&hers.id)])
    };
    assert_eq!(
        bob.forget(purge).await.unwrap().items[0].outcome,
        ForgetOutcome::Missing
    );
    let update = UpdateRequest {
        content: Some("mine".into()),
        ..UpdateRequest::new(by_id(&hers.id))
    };
    assert_eq!(
        bob.update(update).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(list_all(&alice).await.len(), 2);
    for text in ["..", "../alice", "*", "a//b", "/a"] {
        assert!(parse_scope("scope", text).is_err(), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_opens_its_tenant_with_its_permissions_until_it_ends() {
    let world = World::new();
    let db = world.database();
    let acme = tenant("acme");
    let new = |permissions: &[Permission]| NewKey {
        tenant: acme.clone(),
        name: "ci".into(),
        permissions: permissions.iter().copied().collect::<BTreeSet<_>>(),
        expires: None,
    };
    assert_eq!(
        db.create_key(new(&[Permission::Read]))
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::NotFound
    );
    db.create_tenant(&acme).await.unwrap();
    assert_eq!(
        db.create_tenant(&acme).await.unwrap_err().kind(),
        ErrorKind::Conflict
    );
    assert!(db.create_key(new(&[])).await.is_err());
    let reader = db.create_key(new(&[Permission::Read])).await.unwrap();
    let ends = NewKey {
        expires: Some(world.clock.now().plus_millis(1_000)),
        ..new(&Permission::ALL)
    };
    let short = db.create_key(ends).await.unwrap();

    let elsewhere = world.database();
    let caller = elsewhere.authenticate(&reader.secret).await.unwrap();
    assert_eq!(caller.tenant, acme);
    let session = elsewhere.session(caller);
    assert_eq!(
        try_remember(&session, note("no")).await.unwrap_err().kind(),
        ErrorKind::Forbidden
    );
    assert_eq!(
        session
            .forget(ForgetRequest::soft(vec![by_id("x")]))
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::Forbidden
    );
    assert!(
        session
            .export(ExportRequest {
                scope: ScopeSelector::all(),
                limit: None,
                cursor: None
            })
            .await
            .is_err()
    );
    assert!(session.list(ListRequest::default()).await.is_ok());

    assert!(elsewhere.authenticate(&short.secret).await.is_ok());
    tokio::time::advance(Duration::from_secs(2)).await;
    let ended = elsewhere.authenticate(&short.secret).await.unwrap_err();
    db.revoke_key(&acme, &reader.info.id).await.unwrap();
    tokio::time::advance(Duration::from_secs(6)).await;
    let revoked = elsewhere.authenticate(&reader.secret).await.unwrap_err();
    let mut forged = reader.secret.clone();
    forged.replace_range(
        forged.len() - 1..,
        if forged.ends_with('0') { "1" } else { "0" },
    );
    let forged = elsewhere.authenticate(&forged).await.unwrap_err();
    let other = elsewhere
        .authenticate(&reader.secret.replace("osk_acme", "osk_globex"))
        .await
        .unwrap_err();
    let garbage = elsewhere.authenticate("Bearer nonsense").await.unwrap_err();
    for error in [ended, revoked, forged, other, garbage] {
        assert_eq!(error.kind(), ErrorKind::Unauthorized);
        assert_eq!(
            error.message(),
            "this API key is unknown, has ended or was revoked; use another"
        );
    }
    let keys = db.list_keys(&acme).await.unwrap();
    assert_eq!(keys.len(), 2);
    assert!(keys[0].revoked.is_some() && keys[1].revoked.is_none());
    assert_eq!(
        db.revoke_key(&acme, "nope").await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
}
