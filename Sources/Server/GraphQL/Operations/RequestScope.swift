package import MartletStore

/// What the built-in resolvers know of the request they serve: where answers go, and its write number.
///
/// Travels as the request context's value.
package final class RequestScope: Sendable {
  /// Whose completions run when the store has answered: the loop of the connection.
  package let destination: any StoreDestination
  package let writeID: WriteID?

  package init(destination: any StoreDestination, writeID: WriteID? = nil) {
    self.destination = destination
    self.writeID = writeID
  }
}
