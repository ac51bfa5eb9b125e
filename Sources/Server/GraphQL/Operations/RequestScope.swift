package import MartletAccess
internal import MartletGraphQLExecution
package import MartletJSON
internal import MartletRuntime
package import MartletStore
package import MartletVocabulary

/// What resolvers know of the request they serve: its caller and what the rules allow it, its server, where the store
/// delivers to, and its write number.
///
/// Travels as the request context's value.
package final class RequestScope: Sendable {
  /// Runs completions when the store has answered: the loop of the connection.
  package let destination: any StoreDestination
  /// The caller.
  package let identity: Identity
  /// The number of a mutation, whose owner is the caller.
  package let writeNumber: WriteNumber?
  /// The client waits for no answer to its writes up to this number.
  package let acknowledged: Int64?
  /// Whether the client has sent the mutation before.
  package let isResend: Bool
  /// For an update of a versioned record: what the fields that it writes held when the client wrote it.
  package let replaced: JSONObject?
  /// Whether the caller may ask for the schema; nil for what the server's configuration says.
  package let allowsIntrospection: Bool?
  /// What the schema's rules allow the caller; nil where nothing restricts it.
  package let rights: Rights?
  /// The cursor of what a numbered mutation has changed, once the store has it; nil for other operations.
  let written: Lock<Cursor?>?
  /// The server's data, for resolvers of the program's own.
  let server: ServerHandle?
  /// Where the operation stands in a trace; nil when it is not recorded.
  let trace: OperationTrace?

  init(
    destination: any StoreDestination, identity: Identity, rights: Rights?, writeNumber: WriteNumber? = nil,
    acknowledged: Int64? = nil, isResend: Bool = false, replaced: JSONObject? = nil,
    allowsIntrospection: Bool? = nil, server: ServerHandle? = nil, trace: OperationTrace? = nil
  ) {
    written = writeNumber.map { _ in Lock(nil) }
    self.server = server
    self.trace = trace
    self.destination = destination
    self.identity = identity
    self.rights = rights
    self.writeNumber = writeNumber
    self.acknowledged = acknowledged
    self.isResend = isResend
    self.replaced = replaced
    self.allowsIntrospection = allowsIntrospection
  }

  /// The context of an operation in this scope.
  func context(deadline: Instant? = nil) -> RequestContext {
    RequestContext(value: self, identity: identity, deadline: deadline, allowsIntrospection: allowsIntrospection)
  }
}
