public import Foundation
public import MartletHTTP

extension Martlet {
  /// Gives `Martlet.API` a client of a server.
  ///
  ///     try Martlet.configure(url: url)
  ///
  /// Subscriptions go by WebSocket, also with an `https:` URL, unless the configuration says otherwise.
  /// - Throws: `ConfigurationError` for a URL that is none of a server, and at the second call.
  public static func configure(
    url: URL, configuration: ConnectionConfiguration = ConnectionConfiguration()
  ) throws(ConfigurationError) {
    try holder.fill { () throws(ConfigurationError) in
      try ClientSettings.client(url, configuration, "url")
    }
  }

  /// Gives `Martlet.API` the client that a JSON file describes:
  /// `{"url": "wss://example.test/graphql", "token": "…", "apiKey": "…", "headers": {"name": "value"},
  /// "authorityFile": "ca.pem"}`, all but `url` optional.
  /// - Throws: `ConfigurationError` for a file that cannot be read or has a member it should not have, and at the
  ///   second call.
  public static func configure(file: URL) throws(ConfigurationError) {
    try holder.fill { () throws(ConfigurationError) in try ClientSettings(file: file).client() }
  }

  /// Gives `Martlet.API` the client that the environment describes: `MARTLET_URL`, `MARTLET_TOKEN`, `MARTLET_API_KEY`,
  /// `MARTLET_AUTHORITY_FILE`; or `MARTLET_CONFIGURATION`, the path of a JSON file.
  /// - Throws: `ConfigurationError` when neither a URL nor a file is named, and at the second call.
  public static func configure(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(ConfigurationError) {
    try holder.fill { () throws(ConfigurationError) in try ClientSettings(environment: environment).client() }
  }
}
