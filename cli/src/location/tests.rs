use super::*;

fn on(platform: Platform, text: &str) -> Result<StoreLocation, LocationError> {
    StoreLocation::parse(OsStr::new(text), platform, Some(Path::new("/home/jörg")))
}

fn folder_at(path: &str) -> StoreLocation {
    StoreLocation::Folder(PathBuf::from(path))
}

fn bucket(bucket: &str, prefix: &str) -> StoreLocation {
    StoreLocation::S3 {
        bucket: bucket.to_owned(),
        prefix: prefix.to_owned(),
    }
}

#[test]
fn plain_folders_are_taken_as_they_stand() {
    for text in [
        "memory",
        "./memory",
        "../a b/c",
        "/srv/Jörg/mem",
        "/srv/100%25",
        "a:b:c",
        "/srv/d%3A/x",
        "記憶",
    ] {
        assert_eq!(on(Platform::Unix, text), Ok(folder_at(text)), "{text}");
    }
}

#[test]
fn the_home_folder_is_understood_without_a_shell() {
    assert_eq!(on(Platform::Unix, "~"), Ok(folder_at("/home/jörg")));
    assert_eq!(on(Platform::Unix, "~/mem"), Ok(folder_at("/home/jörg/mem")));
    assert_eq!(on(Platform::Unix, "~mem"), Ok(folder_at("~mem")));
    assert_eq!(
        StoreLocation::parse(OsStr::new("~/mem"), Platform::Unix, None),
        Err(LocationError::NoHome {
            given: "~/mem".to_owned()
        })
    );
}

#[test]
fn file_urls_are_decoded() {
    assert_eq!(
        on(Platform::Unix, "file:///srv/mem"),
        Ok(folder_at("/srv/mem"))
    );
    assert_eq!(
        on(Platform::Unix, "FILE:///srv/J%C3%B6rg%20M"),
        Ok(folder_at("/srv/Jörg M"))
    );
    assert_eq!(
        on(Platform::Unix, "file://localhost/srv"),
        Ok(folder_at("/srv"))
    );
    assert_eq!(on(Platform::Unix, "file:/srv"), Ok(folder_at("/srv")));
    assert_eq!(
        on(Platform::Unix, "file:///d%253A/work"),
        Ok(folder_at("/d%3A/work"))
    );
    assert_eq!(
        on(Platform::Windows, "file:///C:/Users/J%C3%B6rg"),
        Ok(folder_at("C:\\Users\\Jörg"))
    );
    assert_eq!(
        on(Platform::Windows, "file:///d%3A/work"),
        Ok(folder_at("d:\\work"))
    );
    assert!(matches!(
        on(Platform::Unix, "file://nas/srv"),
        Err(LocationError::Host { .. })
    ));
    assert!(matches!(
        on(Platform::Unix, "file:mem"),
        Err(LocationError::Host { .. })
    ));
    assert!(matches!(
        on(Platform::Unix, "file:///%FF"),
        Err(LocationError::Encoding { .. })
    ));
}

#[test]
fn a_drive_is_that_folder_on_windows_and_an_error_elsewhere() {
    for (text, folder) in [
        ("C:\\Users\\Jörg\\mem", "C:\\Users\\Jörg\\mem"),
        ("/d%3A/work", "d:\\work"),
        ("/d%3a/work", "d:\\work"),
        ("/d:/J%C3%B6rg", "d:\\Jörg"),
        ("D:\\100%25", "D:\\100%25"),
        ("D:", "D:"),
    ] {
        assert_eq!(on(Platform::Windows, text), Ok(folder_at(folder)), "{text}");
        for platform in [Platform::Unix, Platform::Mac] {
            let error = on(platform, text).expect_err(text);
            assert_eq!(
                error,
                LocationError::Drive {
                    given: text.to_owned()
                }
            );
            assert!(error.hint().contains("./memory"));
        }
    }
}

#[test]
fn buckets_with_and_without_a_prefix() {
    assert_eq!(on(Platform::Unix, "s3://mem"), Ok(bucket("mem", "")));
    assert_eq!(on(Platform::Unix, "s3://mem/"), Ok(bucket("mem", "")));
    assert_eq!(
        on(Platform::Unix, "S3://mem/team a/x/"),
        Ok(bucket("mem", "team a/x"))
    );
    for text in [
        "s3://",
        "s3:mem",
        "s3:///x",
        "s3://me m",
        "s3://key:secret@mem",
    ] {
        assert!(
            matches!(on(Platform::Unix, text), Err(LocationError::Bucket { .. })),
            "{text}"
        );
    }
    for text in [
        "s3://mem//x",
        "s3://mem/../x",
        "s3://mem/x?y=1",
        "s3://mem/x//",
    ] {
        assert!(
            matches!(on(Platform::Unix, text), Err(LocationError::Prefix { .. })),
            "{text}"
        );
    }
}

#[test]
fn other_schemes_are_refused_with_what_works() {
    for text in [
        "gs://mem",
        "az://mem",
        "http://host/mem",
        "r2://mem",
        "memory://",
    ] {
        let error = on(Platform::Unix, text).expect_err(text);
        assert!(matches!(error, LocationError::Scheme { .. }), "{text}");
        assert!(error.hint().contains("s3://bucket"), "{}", error.hint());
    }
    assert!(
        on(Platform::Unix, "https://x")
            .expect_err("https")
            .hint()
            .contains("AWS_ENDPOINT")
    );
    assert_eq!(on(Platform::Unix, "  "), Err(LocationError::Empty));
}

#[test]
fn what_is_shown_can_be_given_again() {
    for text in ["/srv/Jörg", "s3://mem", "s3://mem/a/b"] {
        let location = on(Platform::Unix, text).unwrap();
        assert_eq!(on(Platform::Unix, &location.to_string()), Ok(location));
    }
}
