//! The few documents of S3 that the server reads and writes.

use std::fmt::Write as _;

use crate::bucket::{Page, Query};
use crate::request::iso_time;

pub(crate) fn error(code: &str, key: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>{code}</Code><Message>{code}</Message><Key>{}</Key></Error>",
        escape(key)
    )
}

pub(crate) fn listing(bucket: &str, query: &Query, page: &Page) -> String {
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><ListBucketResult><Name>{}</Name><Prefix>{}</Prefix><MaxKeys>{}</MaxKeys><KeyCount>{}</KeyCount><IsTruncated>{}</IsTruncated>",
        escape(bucket),
        escape(&query.prefix),
        query.most,
        page.objects.len() + page.folders.len(),
        page.next.is_some(),
    );
    if let Some(next) = &page.next {
        let _ = write!(
            text,
            "<NextContinuationToken>{}</NextContinuationToken>",
            escape(next)
        );
    }
    for (name, object) in &page.objects {
        let _ = write!(
            text,
            "<Contents><Key>{}</Key><LastModified>{}</LastModified><ETag>{}</ETag><Size>{}</Size><StorageClass>STANDARD</StorageClass></Contents>",
            escape(name),
            iso_time(object.modified),
            escape(&object.etag),
            object.bytes.len(),
        );
    }
    for folder in &page.folders {
        let _ = write!(
            text,
            "<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>",
            escape(folder)
        );
    }
    text.push_str("</ListBucketResult>");
    text
}

pub(crate) fn upload_begun(path: &str, id: &str) -> String {
    let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><InitiateMultipartUploadResult><Bucket>{}</Bucket><Key>{}</Key><UploadId>{id}</UploadId></InitiateMultipartUploadResult>",
        escape(bucket),
        escape(key),
    )
}

pub(crate) fn upload_completed(path: &str, etag: &str) -> String {
    let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><CompleteMultipartUploadResult><Bucket>{}</Bucket><Key>{}</Key><ETag>{}</ETag></CompleteMultipartUploadResult>",
        escape(bucket),
        escape(key),
        escape(etag),
    )
}

/// The parts, in their order, that a request to complete an upload names.
pub(crate) fn part_numbers(body: &str) -> Vec<u32> {
    body.split("<PartNumber>")
        .skip(1)
        .filter_map(|rest| rest.split_once("</PartNumber>"))
        .filter_map(|(number, _)| number.trim().parse().ok())
        .collect()
}

/// The names in a request for bulk deletion.
pub(crate) fn names_to_delete(body: &str) -> Vec<String> {
    body.split("<Key>")
        .skip(1)
        .filter_map(|rest| rest.split_once("</Key>"))
        .map(|(name, _)| unescape(name))
        .collect()
}

pub(crate) fn deleted(names: &[String]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?><DeleteResult>");
    for name in names {
        let _ = write!(text, "<Deleted><Key>{}</Key></Deleted>", escape(name));
    }
    text.push_str("</DeleteResult>");
    text
}

const ENTITIES: [(&str, &str); 5] = [
    ("&", "&amp;"),
    ("<", "&lt;"),
    (">", "&gt;"),
    ("\"", "&quot;"),
    ("'", "&apos;"),
];

fn escape(text: &str) -> String {
    ENTITIES
        .iter()
        .fold(text.to_owned(), |text, (plain, entity)| {
            text.replace(plain, entity)
        })
}

fn unescape(text: &str) -> String {
    ENTITIES
        .iter()
        .rev()
        .fold(text.to_owned(), |text, (plain, entity)| {
            text.replace(entity, plain)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_the_escapes() {
        let name = "a<b>&amp;\"'";
        let body = format!(
            "<Delete><Object><Key>{}</Key></Object></Delete>",
            escape(name)
        );
        assert_eq!(names_to_delete(&body), [name]);
    }
}
