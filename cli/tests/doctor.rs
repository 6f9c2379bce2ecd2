//! The doctor finds what is wrong, says the way out, and finds nothing where all is
//! well.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod harness;

use harness::{ostraca, run};
use serde_json::Value;

fn finding<'a>(report: &'a Value, check: &str) -> &'a Value {
    let findings = report["findings"].as_array().unwrap();
    findings
        .iter()
        .find(|finding| finding["check"] == check)
        .unwrap_or_else(|| panic!("{check}: {report}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_good_folder_is_healthy_and_its_log_is_told() {
    let folder = tempfile::tempdir().unwrap();
    run(
        ostraca(folder.path()),
        &["import", "-", "--json"],
        "{\"content\":\"x\"}",
    )
    .await
    .json();
    let report = run(ostraca(folder.path()), &["doctor", "--json"], "")
        .await
        .json();
    assert_eq!(report["healthy"], true);
    for check in [
        "configuration",
        "store",
        "create-only",
        "listing",
        "clock",
        "log",
        "vectors",
        "embeddings",
    ] {
        assert_eq!(finding(&report, check)["status"], "ok", "{report}");
    }
    assert_eq!(finding(&report, "log")["subject"], "default:memory");
    let again = run(ostraca(folder.path()), &["export"], "").await;
    assert_eq!(
        again.stdout().lines().count(),
        1,
        "the doctor changes nothing"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_does_not_answer_fails_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = ostraca(folder.path());
    command
        .env("OSTRACA_STORE", "s3://bucket/prefix")
        .env("AWS_ENDPOINT", "http://127.0.0.1:9")
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_ACCESS_KEY_ID", "id")
        .env("AWS_SECRET_ACCESS_KEY", "a-secret-of-mine");
    let report = run(command, &["doctor", "--json"], "").await;
    assert_eq!(report.code(), 1);
    assert!(
        !report.stdout().contains("a-secret-of-mine")
            && !report.stderr().contains("a-secret-of-mine")
    );
    let report: Value = serde_json::from_str(&report.stdout()).unwrap();
    let store = finding(&report, "store");
    assert_eq!(store["status"], "failed");
    assert!(
        store["hint"].as_str().unwrap().contains("AWS_ENDPOINT"),
        "{store}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embedder_that_does_not_answer_and_a_hole_in_a_log_are_found() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..3 {
        let line = format!("{{\"content\":\"{number}\"}}");
        run(ostraca(folder.path()), &["import", "-", "--json"], &line)
            .await
            .json();
    }
    let log = folder.path().join("t/default/c/memory/log");
    std::fs::remove_file(log.join("00000000000000000002.arrow")).unwrap();
    let mut command = ostraca(folder.path());
    command
        .env("OSTRACA_EMBED_URL", "http://127.0.0.1:9/v1")
        .env("OSTRACA_EMBED_MODEL", "none");
    let report = run(command, &["doctor", "--json"], "").await;
    assert_eq!(report.code(), 1);
    let report: Value = serde_json::from_str(&report.stdout()).unwrap();
    assert_eq!(
        finding(&report, "embeddings")["status"],
        "failed",
        "{report}"
    );
    let log = finding(&report, "log");
    assert!(
        log["detail"]
            .as_str()
            .unwrap()
            .contains("entry 2 is missing"),
        "{report}"
    );
}
