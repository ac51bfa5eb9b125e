package import MartletRuntime

/// How queries, mutations and uploads reach the network.
package enum RequestNetwork: Sendable {
  /// Over connections of the client's own pool, which carry HTTP/1.1.
  case connections(any ByteConnector)
  /// By a complete HTTP client, such as the system's. Bodies with files are written to a file first.
  case exchanges(any HTTPExchanging, any BodyStaging)
  /// By the socket of the subscriptions: where there is nothing else, as with scripted servers.
  case socket
  /// Not at all: requests by HTTP fail.
  case none
}

/// Writes bodies with files to one file each, for networks that send files.
package protocol BodyStaging: Sendable {
  /// Waits for the disk: not on a loop.
  func stage(_ body: RequestBody) throws -> any StagedBody
}

/// A body in a file of its own.
package protocol StagedBody: Sendable {
  var path: String { get }
  /// Removes the file. Called once.
  func remove()
}
