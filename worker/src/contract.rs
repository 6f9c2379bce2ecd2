//! The store contract, run inside workerd on the store that the Worker would use:
//! `POST /__contract/CASE` runs one case in a fresh folder, `GET /__contract` names them.
//! It is in no bundle that ships.

use axum::body::Body;
use http::{Method, Response, StatusCode};
use ostraca_contract::CASES;
use ostraca_object::port::Ids;
use worker::send::SendFuture;
use worker::{Env, HttpRequest};

use crate::ports::CryptoIds;

const ROUTE: &str = "/__contract";

/// The answer, if the request is for the contract.
pub(crate) async fn answer(
    request: &HttpRequest,
    env: &Env,
) -> Option<worker::Result<Response<Body>>> {
    let rest = request.uri().path().strip_prefix(ROUTE)?;
    let (status, text) = if request.method() == Method::GET {
        let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        (StatusCode::OK, names.join("\n"))
    } else {
        match SendFuture::new(run(rest.trim_start_matches('/'), env)).await {
            Ok(()) => (StatusCode::OK, String::new()),
            Err(failure) => (StatusCode::INTERNAL_SERVER_ERROR, failure),
        }
    };
    let response = Response::builder().status(status).body(Body::from(text));
    Some(response.map_err(Into::into))
}

async fn run(name: &str, env: &Env) -> Result<(), String> {
    let case = CASES.iter().find(|case| case.name == name);
    let case = case.ok_or_else(|| format!("there is no case {name}"))?;
    let store = crate::objects(env).map_err(|error| error.to_string())?;
    let root = format!("contract/{:032x}", CryptoIds.random());
    case.run(store, &root)
        .await
        .map_err(|failure| failure.to_string())
}
