/// Why a server cannot start, or refused a call.
public struct ServerError: Error, Sendable, CustomStringConvertible {
  /// What kind of thing is wrong.
  public enum Code: String, Sendable {
    /// The schema means nothing, or names code that is not there.
    case schema
    /// Access is not configured, or in a way that cannot hold.
    case access
    /// The data folder is locked, newer, damaged, or needs a migration that was not allowed.
    case data
    /// The address cannot be bound.
    case network
    /// Another process serves at the address and port.
    case addressInUse
    /// The certificate or its key cannot be read.
    case certificate
    /// The server has been started already, or has been stopped.
    case notStartable
    /// An endpoint of the program's own has a path or a method that cannot be served.
    case endpoint
    /// The rules of the tree cannot be read, or there is no tree to reload them for.
    case treeRules
    /// A webhook, a push service or a subscription of one cannot be used.
    case channels
    /// A write was refused; nothing was changed.
    case write
  }

  /// What kind of thing is wrong.
  public let code: Code
  /// What is wrong, where, and what to do.
  public let description: String
  /// Whether it is about the port of the administration, not that of clients.
  package let isOfAdministration: Bool

  init(_ code: Code, _ description: String, isOfAdministration: Bool = false) {
    self.code = code
    self.description = description
    self.isOfAdministration = isOfAdministration
  }
}
