//! The REST surface under `/v1`: one file per operation, each with its row of the
//! route table and its handler. The router and the `OpenAPI` document are both built
//! from that table, so neither can name what the other does not. Nothing here
//! decides: a handler decodes, calls the session and encodes.

mod answer;
mod body;
mod capabilities;
mod describe_scope;
mod export;
mod forget;
mod get;
mod health;
mod history;
mod idempotency;
mod list;
mod path;
mod precondition;
mod query;
mod recall;
mod remember;
mod restore;
pub(crate) mod route;
mod scopes;
mod update;
mod version;
mod watch;

use std::sync::Arc;

use axum::Router;

use crate::app::App;
use route::Route;

/// Every route, in the order of the document.
pub(crate) fn routes() -> Vec<Route> {
    vec![
        remember::route(),
        list::route(),
        recall::route(),
        recall::get_route(),
        get::route(),
        get::by_key_route(),
        get::many_route(),
        update::route(),
        update::by_key_route(),
        forget::route(),
        forget::by_key_route(),
        forget::many_route(),
        history::route(),
        restore::route(),
        scopes::route(),
        describe_scope::route(),
        watch::route(),
        export::route(),
        health::route(),
        version::route(),
        capabilities::route(),
        crate::openapi::route(),
    ]
}

/// The router of every route. Unknown paths are left to the router it is merged into.
pub(crate) fn router() -> Router<Arc<App>> {
    routes()
        .into_iter()
        .fold(Router::new(), |router, route| {
            router.route(route.path, route.handler)
        })
        .method_not_allowed_fallback(answer::method_not_allowed)
}

#[cfg(test)]
mod tests;
