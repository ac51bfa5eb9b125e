internal import MartletGraphQLExecution

/// Whether a caller may see how a server is set up and what it does: its schema and the console.
///
/// The one place to change when keys of their own may.
struct ConsoleAccess {
  /// The schema in force.
  let schema: () -> ExecutableSchema
  let isDevelopment: Bool

  /// Whether some caller may, so that the console's page is served.
  var isOpen: Bool { schema().allowsIntrospection }

  func allows(_ caller: Caller) -> Bool { caller.grant != nil && schema().allowsIntrospection }

  /// Whether a caller may read the changes of the log, which no rule of a model filters.
  func allowsChanges(_ caller: Caller) -> Bool { isDevelopment && allows(caller) }
}
