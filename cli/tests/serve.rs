//! The HTTP server as an operator meets it: what it refuses to start with, how it
//! says that it is ready, who may call, and how it stops.

mod harness;

use std::path::Path;
use std::time::Duration;

use harness::{Server, bare, ostraca, run};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn it_does_not_listen_for_others_without_keys() {
    let folder = tempfile::tempdir().unwrap();
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let refused = run(ostraca(folder.path()), &["serve", "--listen", listen], "").await;
        assert_eq!(refused.code(), 2);
        assert_eq!(refused.stdout(), "");
        let lines = refused.stderr();
        assert!(
            lines.starts_with("error: ") && lines.contains("\nhint: "),
            "{lines}"
        );
        assert!(lines.contains("--auth keys"), "{lines}");
    }
    let public = ["serve", "--public-url", "https://memory.example.com"];
    assert_eq!(run(ostraca(folder.path()), &public, "").await.code(), 2);

    let open = Server::start(
        ostraca(folder.path()),
        &["--auth", "keys", "--listen", "0.0.0.0:0"],
    )
    .await;
    let (status, _) = open
        .post("/v1/memories", None, json!({ "content": "x" }))
        .await;
    assert_eq!(status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_in_use_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let first = Server::start(ostraca(folder.path()), &[]).await;
    let address = first.url.strip_prefix("http://").unwrap();
    let second = run(ostraca(folder.path()), &["serve", "--listen", address], "").await;
    assert_eq!(second.code(), 1);
    assert!(
        second.stderr().contains(address) && second.stderr().contains("hint: "),
        "{}",
        second.stderr()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_flags_and_variables_are_usage_errors() {
    let folder = tempfile::tempdir().unwrap();
    for (name, value, named) in [
        ("OSTRACA_STORE", "gs://bucket", "s3://bucket"),
        ("OSTRACA_STORE", "C:\\Users\\Jörg\\mem", "Windows"),
        ("OSTRACA_STORE", "/d%3A/work", "Windows"),
        ("OSTRACA_STORE", "s3://bucket", "AWS_ACCESS_KEY_ID"),
        ("OSTRACA_LISTEN", "localhost", "--listen"),
        ("OSTRACA_LOG", "=no=", "--log"),
        ("OSTRACA_EMBED_URL", "http://127.0.0.1:1", "--embed-model"),
        ("OSTRACA_TENANT", "No Tenant", "tenant"),
    ] {
        if cfg!(windows) && named == "Windows" {
            continue;
        }
        let mut command = ostraca(folder.path());
        command.env(name, value);
        let refused = run(command, &["serve"], "").await;
        assert_eq!(refused.code(), 2, "{name}={value}: {}", refused.stderr());
        assert!(
            refused.stderr().contains(named),
            "{name}={value}: {}",
            refused.stderr()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a3_a_folder_with_any_name_is_exactly_that_folder() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["Jörg’s mem", "記憶", "a%20b", "d%3A", "per cent 100%25"] {
        let store = folder.path().join(name);
        let server = Server::start(ostraca(&store), &[]).await;
        let (status, _) = server
            .post("/v1/memories", None, json!({ "content": name }))
            .await;
        assert!((200..300).contains(&status), "{name}");
        let (_, listed) = server.get("/v1/memories", None).await;
        assert_eq!(listed["memories"][0]["content"], name);
        assert!(
            Path::new(&store).join("t").is_dir(),
            "{name} is a folder of that name"
        );
    }
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 5, "no other folder came to be: {names:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relative_store_lies_where_the_process_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = bare();
    command
        .current_dir(folder.path())
        .env("OSTRACA_STORE", "memory/of mine");
    let server = Server::start(command, &[]).await;
    server
        .post("/v1/memories", None, json!({ "content": "x" }))
        .await;
    assert!(folder.path().join("memory/of mine/t").is_dir());
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_request_to_stop_ends_it_well_and_keeps_everything() {
    let folder = tempfile::tempdir().unwrap();
    for signal in ["-TERM", "-INT"] {
        let mut server = Server::start(ostraca(folder.path()), &[]).await;
        let (status, _) = server
            .post("/v1/memories", None, json!({ "content": signal }))
            .await;
        assert!((200..300).contains(&status));
        let id = server.child.id().unwrap().to_string();
        let killed = tokio::process::Command::new("kill")
            .args([signal, &id])
            .status()
            .await
            .unwrap();
        assert!(killed.success());
        assert_eq!(
            server.child.wait().await.unwrap().code(),
            Some(0),
            "{signal}"
        );
    }
    assert_eq!(harness::contents(folder.path()).await, ["-INT", "-TERM"]);
}

async fn key(store: &Path, args: &[&str]) -> Value {
    run(ostraca(store), &[&["key"], args, &["--json"]].concat(), "")
        .await
        .json()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_opens_its_tenant_until_it_is_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path();
    let server = Server::start(ostraca(store), &["--auth", "keys"]).await;

    let early = run(ostraca(store), &["key", "create", "--tenant", "acme"], "").await;
    assert_eq!(early.code(), 1);
    assert!(
        early.stderr().contains("ostraca tenant create acme"),
        "{}",
        early.stderr()
    );

    for tenant in ["acme", "other"] {
        let created = run(ostraca(store), &["tenant", "create", tenant, "--json"], "")
            .await
            .json();
        assert_eq!(created["id"], tenant);
    }
    let full = key(
        store,
        &[
            "create",
            "--tenant",
            "acme",
            "--name",
            "robot",
            "--expires",
            "90d",
        ],
    )
    .await;
    let reader = key(store, &["create", "--tenant", "acme", "--read-only"]).await;
    let foreign = key(store, &["create", "--tenant", "other"]).await;
    let secret = |key: &Value| key["secret"].as_str().unwrap().to_owned();
    assert!(full["expires_at"].is_string());
    assert_eq!(reader["scopes"], json!(["memories:read"]));

    let memory = json!({ "content": "acme knows" });
    let status = |reply: (u16, Value)| reply.0;
    assert_eq!(
        status(server.post("/v1/memories", None, memory.clone()).await),
        401
    );
    assert_eq!(
        status(
            server
                .post("/v1/memories", Some("osk_nonsense"), memory.clone())
                .await
        ),
        401
    );
    assert_eq!(
        status(
            server
                .post("/v1/memories", Some(&secret(&reader)), memory.clone())
                .await
        ),
        403
    );
    let stored = status(
        server
            .post("/v1/memories", Some(&secret(&full)), memory)
            .await,
    );
    assert!((200..300).contains(&stored), "{stored}");

    let (_, seen) = server.get("/v1/memories", Some(&secret(&reader))).await;
    assert_eq!(seen["memories"][0]["content"], "acme knows");
    let (_, unseen) = server.get("/v1/memories", Some(&secret(&foreign))).await;
    assert_eq!(unseen["memories"], json!([]), "another tenant sees nothing");

    let listed = run(
        ostraca(store),
        &["key", "list", "--tenant", "acme", "--json"],
        "",
    )
    .await;
    assert!(
        !listed.stdout().contains(&secret(&full)),
        "a secret is shown once"
    );
    assert_eq!(listed.json().as_array().unwrap().len(), 2);

    let id = full["id"].as_str().unwrap();
    let revoked = key(store, &["revoke", id, "--tenant", "acme"]).await;
    assert!(revoked["revoked_at"].is_string());
    // Another process may go on for a few seconds with what it knows, and then no more.
    let refused = async {
        while status(server.get("/v1/memories", Some(&secret(&full))).await) != 401 {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let acted = tokio::time::timeout(Duration::from_mins(1), refused).await;
    assert!(acted.is_ok(), "a revoked key still opens its tenant");
    let (still, _) = server.get("/v1/memories", Some(&secret(&reader))).await;
    assert_eq!(still, 200, "the other keys stay good");

    let unknown = run(
        ostraca(store),
        &["key", "revoke", "nothing", "--tenant", "acme"],
        "",
    )
    .await;
    assert_eq!(unknown.code(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_tokens_nor_contents_are_ever_logged() {
    const CONTENT: &str = "the-vault-code-is-4711";
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    run(ostraca(&store), &["tenant", "create", "acme"], "").await;
    let key = key(&store, &["create", "--tenant", "acme"]).await;
    let secret = key["secret"].as_str().unwrap();

    let log = folder.path().join("log");
    let mut command = ostraca(&store);
    command.env("RUST_LOG", "trace").env("MY_KEY", secret);
    let mut server = Server::start_logging(command, &["--auth", "keys"], &log).await;
    let mut import = ostraca(&store);
    import.env("RUST_LOG", "trace").env("MY_KEY", secret);
    let memory = json!({ "content": CONTENT }).to_string();
    let args = [
        "import",
        "-",
        "--url",
        &server.url,
        "--token-env",
        "MY_KEY",
        "--json",
    ];
    let imported = run(import, &args, &memory).await;
    assert_eq!(imported.json()["created"], 1);
    let found = server
        .post(
            "/v1/memories/recall",
            Some(secret),
            json!({ "query": CONTENT }),
        )
        .await;
    assert_eq!(found.1["hits"][0]["content"], CONTENT);
    let refused = server
        .post("/v1/memories", Some("osk_not-a-key-of-yours"), json!({}))
        .await;
    assert_eq!(refused.0, 401);
    server.child.kill().await.unwrap();

    let served = std::fs::read_to_string(&log).unwrap();
    for (side, log) in [
        ("server", served.as_str()),
        ("import", imported.stderr().as_str()),
    ] {
        assert!(!log.is_empty(), "the {side} logs something");
        for hidden in [secret, CONTENT, "not-a-key-of-yours"] {
            assert!(!log.contains(hidden), "the {side} logs {hidden}:\n{log}");
        }
    }
}
