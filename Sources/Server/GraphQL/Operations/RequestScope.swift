package import MartletAccess
package import MartletStore

/// What the built-in resolvers know of the request they serve: its caller, where the store delivers to, and its write
/// number.
///
/// Travels as the request context's value.
package final class RequestScope: Sendable {
  /// Runs completions when the store has answered: the loop of the connection.
  package let destination: any StoreDestination
  /// The caller.
  package let identity: Identity
  package let writeID: WriteID?

  package init(destination: any StoreDestination, identity: Identity, writeID: WriteID? = nil) {
    self.destination = destination
    self.identity = identity
    self.writeID = writeID
  }
}
