internal import Foundation
internal import MartletGraphQLClient
internal import MartletJSON

/// A client as a file or the environment describes it.
struct ClientSettings {
  private typealias ConfigurationError = Martlet.ConfigurationError

  private var url: URL
  private var configuration = ConnectionConfiguration()
  /// What to name when the URL is wrong.
  private let origin: String

  /// Reads a JSON file.
  init(file: URL) throws(Martlet.ConfigurationError) {
    let bytes: [UInt8]
    do {
      bytes = Array(try Data(contentsOf: file))
    } catch {
      throw ConfigurationError(reason: .unreadable, message: "\(file.path) cannot be read: \(error)")
    }
    let value: JSONValue
    do {
      value = try JSONValue(parsing: bytes)
    } catch {
      throw ConfigurationError(reason: .invalid, message: "\(file.path): \(error)")
    }
    guard let members = value.object else {
      throw ConfigurationError(reason: .invalid, message: "\(file.path) is not an object")
    }
    try self.init(members, "\(file.path): ")
  }

  /// Reads the process's variables.
  init(environment: [String: String]) throws(Martlet.ConfigurationError) {
    if let path = environment["MARTLET_CONFIGURATION"] {
      try self.init(file: URL(fileURLWithPath: path))
      return
    }
    var members = JSONObject()
    for (variable, member) in [
      ("MARTLET_URL", "url"), ("MARTLET_TOKEN", "token"), ("MARTLET_API_KEY", "apiKey"),
      ("MARTLET_AUTHORITY_FILE", "authorityFile"),
    ] {
      if let text = environment[variable] { members[member] = .string(text) }
    }
    guard members["url"] != nil else {
      throw ConfigurationError(reason: .invalid, message: "neither MARTLET_URL nor MARTLET_CONFIGURATION is set")
    }
    try self.init(members, "environment: ")
  }

  private init(_ members: JSONObject, _ place: String) throws(Martlet.ConfigurationError) {
    func wrong(_ what: String) -> ConfigurationError { ConfigurationError(reason: .invalid, message: place + what) }
    origin = place + "url"
    guard let address = members["url"]?.string, let url = URL(string: address) else {
      throw wrong("url is missing or no URL")
    }
    self.url = url
    for (name, value) in members where name != "url" {
      if name == "headers" {
        guard let fields = value.object else { throw wrong("headers is not an object") }
        for (field, value) in fields {
          guard let text = value.string else { throw wrong("headers.\(field) is not a text") }
          configuration.headers.append((name: field, value: text))
        }
        continue
      }
      guard let text = value.string else { throw wrong("\(name) is not a text, or not a setting") }
      switch name {
      case "token": configuration.credentials = { _ in .bearer(text) }
      case "apiKey": configuration.headers.append((name: "x-api-key", value: text))
      case "authorityFile": configuration.authorityFile = text
      // Not ignored: a setting that was misspelt would be missing where it matters.
      default: throw wrong("\(name) is not a setting")
      }
    }
  }

  func client() throws(Martlet.ConfigurationError) -> GraphQLClient {
    try Self.client(url, configuration, origin)
  }

  static func client(
    _ url: URL, _ configuration: ConnectionConfiguration, _ origin: String
  ) throws(Martlet.ConfigurationError) -> GraphQLClient {
    // Subscriptions of models report lost connections and continue, which takes a socket whatever the URL says.
    var configuration = configuration
    if configuration.subscriptionTransport == .byURL { configuration.subscriptionTransport = .socket }
    do {
      return try GraphQLClient(url: url, configuration: configuration)
    } catch {
      throw ConfigurationError(reason: .invalid, message: "\(origin): \(error.message)")
    }
  }
}
