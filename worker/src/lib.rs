//! Ostraca on Cloudflare Workers: the router of `service` behind `fetch`, on an R2 bucket
//! or any S3 endpoint. Everything that only this platform has is in this crate, and
//! nothing else is.

#![allow(dead_code)]
mod fetch;
mod ports;
mod r2;
mod s3;
mod settings;
