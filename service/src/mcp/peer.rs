//! The peer that rmcp wants in every request context. It would carry requests from
//! us to the client, which a stateless server never sends, so one inert peer serves
//! all requests. Separate because making it is the only place that touches a runtime.

use rmcp::model::{ClientJsonRpcMessage, ClientNotification, NotificationNoParam};
use rmcp::service::serve_directly;
use rmcp::transport::OneshotTransport;
use rmcp::{Peer, RoleServer, ServerHandler};

struct Nobody;

impl ServerHandler for Nobody {}

/// A peer that nobody listens to.
///
/// rmcp hands out a peer only from a served transport. A throwaway runtime, which is
/// entered but never driven, is enough for that and works on wasm as well; the task
/// that was spawned on it goes with it.
pub(crate) fn inert() -> std::io::Result<Peer<RoleServer>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let entered = runtime.enter();
    let hello = ClientJsonRpcMessage::notification(ClientNotification::InitializedNotification(
        NotificationNoParam::default(),
    ));
    let (transport, _responses) = OneshotTransport::<RoleServer>::new(hello);
    let peer = serve_directly::<RoleServer, _, _, _, _>(Nobody, transport, None)
        .peer()
        .clone();
    drop(entered);
    // A plain drop would block, which is not allowed inside another runtime.
    runtime.shutdown_background();
    Ok(peer)
}
