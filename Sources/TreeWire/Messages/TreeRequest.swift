package import MartletJSON
package import MartletJSONTree

/// What a client asks, without its number.
package enum TreeRequest: Hashable, Sendable {
  /// - Parameters:
  ///   - tag: names a window in pushes; nil for a whole node.
  ///   - hash: of the value the client has; the server sends no value when it has the same.
  ///   - ranges: hashes of its leaves; the server sends the ranges that differ.
  case listen(TreePath, Window, tag: Int64?, hash: String?, ranges: CompoundHash? = nil)
  case unlisten(TreePath, Window, tag: Int64?)
  /// Asks for the changes of a whole node without its values. Sent to servers that offer it.
  case watch(TreePath)
  case unwatch(TreePath)
  /// - Parameter expectedHash: the write is refused when the value there has another hash.
  case put(TreePath, JSONValue, expectedHash: String?)
  case merge(TreePath, JSONObject)
  case get(TreePath, Window)
  case deferredPut(TreePath, JSONValue)
  case deferredMerge(TreePath, JSONObject)
  /// Cancels the deferred writes at and below the path.
  case cancelDeferred(TreePath)
  /// - Parameters:
  ///   - isAdministrator: whether the credential is one of the platform's and not of a user.
  ///   - variables: what rules are to see as `auth` of an administrator, to whom they apply then; nil for none of it.
  case authenticate(String, isAdministrator: Bool, variables: JSONValue? = nil)
  case unauthenticate
  case attest(String?)
  case stats(JSONValue)

  /// The action's name in the protocol.
  package var action: String {
    switch self {
    case .listen: "q"
    case .unlisten: "n"
    case .watch: "w"
    case .unwatch: "nw"
    case .put: "p"
    case .merge: "m"
    case .get: "g"
    case .deferredPut: "o"
    case .deferredMerge: "om"
    case .cancelDeferred: "oc"
    case .authenticate(_, let isAdministrator, _): isAdministrator ? "gauth" : "auth"
    case .unauthenticate: "unauth"
    case .attest(let token): token == nil ? "unappcheck" : "appcheck"
    case .stats: "s"
    }
  }

  /// Whether version 5 does not have the request.
  var isAddition: Bool {
    switch self {
    case .watch, .unwatch: true
    case .listen, .unlisten, .put, .merge, .get, .deferredPut, .deferredMerge, .cancelDeferred, .authenticate,
      .unauthenticate, .attest, .stats:
      false
    }
  }

  var body: JSONObject {
    switch self {
    case .listen(let path, let window, let tag, let hash, let ranges):
      var body = Self.query(path, window, tag)
      body["h"] = .string(hash ?? "")
      if let ranges { body["ch"] = ranges.json }
      return body
    case .unlisten(let path, let window, let tag): return Self.query(path, window, tag)
    case .watch(let path), .unwatch(let path): return Self.query(path, .all, nil)
    case .put(let path, let json, let expectedHash):
      var body: JSONObject = ["p": .string(path.description), "d": json]
      if let expectedHash { body["h"] = .string(expectedHash) }
      return body
    case .merge(let path, let object), .deferredMerge(let path, let object):
      return ["p": .string(path.description), "d": .object(object)]
    case .get(let path, let window): return Self.query(path, window, nil)
    case .deferredPut(let path, let json): return ["p": .string(path.description), "d": json]
    case .cancelDeferred(let path): return ["p": .string(path.description), "d": .null]
    case .authenticate(let credential, _, let variables):
      var body: JSONObject = ["cred": .string(credential)]
      if let variables { body[variables.isNull ? "noauth" : "authvar"] = variables.isNull ? true : variables }
      return body
    case .unauthenticate: return [:]
    case .attest(let token): return token.map { ["token": .string($0)] } ?? [:]
    case .stats(let counters): return ["c": counters]
    }
  }

  private static func query(_ path: TreePath, _ window: Window, _ tag: Int64?) -> JSONObject {
    var body: JSONObject = ["p": .string(path.description)]
    if let query = WireWindow.json(of: window) { body["q"] = query }
    if let tag { body["t"] = .int(tag) }
    return body
  }

  /// The message with number `number`.
  package func message(_ number: Int64, _ additions: TreeAdditions = TreeAdditions()) -> [UInt8] {
    var body = body
    if let more = additions.json { body["x"] = more }
    let data: JSONObject = ["r": .int(number), "a": .string(action), "b": .object(body)]
    return JSONValue.object(["t": "d", "d": .object(data)]).serialized()
  }

  /// Reads a request's action and body; nil for an action that is not known.
  init?(action: String, body: JSONObject, limits: TreeLimits) throws(TreeWireError) {
    switch action {
    case "q", "listen":
      let path = try Self.path(body, limits)
      self = .listen(
        path, try WireWindow.read(body["q"], at: path, limits: limits), tag: body["t"]?.int, hash: body["h"]?.string,
        ranges: CompoundHash(body["ch"], limits: limits))
    case "n", "unlisten":
      let path = try Self.path(body, limits)
      self = .unlisten(path, try WireWindow.read(body["q"], at: path, limits: limits), tag: body["t"]?.int)
    case "w": self = .watch(try Self.path(body, limits))
    case "nw": self = .unwatch(try Self.path(body, limits))
    case "p":
      let path = try Self.path(body, limits)
      self = .put(path, try Self.value(body, at: path), expectedHash: try Self.expectedHash(body, at: path))
    case "m":
      let path = try Self.path(body, limits)
      self = .merge(path, try Self.object(body, at: path))
    case "g":
      let path = try Self.path(body, limits)
      self = .get(path, try WireWindow.read(body["q"], at: path, limits: limits))
    case "o":
      let path = try Self.path(body, limits)
      self = .deferredPut(path, try Self.value(body, at: path))
    case "om":
      let path = try Self.path(body, limits)
      self = .deferredMerge(path, try Self.object(body, at: path))
    case "oc": self = .cancelDeferred(try Self.path(body, limits))
    case "auth", "gauth":
      guard let credential = body["cred"]?.string else {
        throw TreeWireError(.malformedMessage, "\(action): cred is not a text")
      }
      let variables: JSONValue? = body["noauth"]?.bool == true ? .null : body["authvar"]
      self = .authenticate(credential, isAdministrator: action == "gauth", variables: variables)
    case "unauth": self = .unauthenticate
    case "appcheck": self = .attest(body["token"]?.string ?? "")
    case "unappcheck": self = .attest(nil)
    case "s": self = .stats(body["c"] ?? .null)
    default: return nil
    }
  }

  private static func path(_ body: JSONObject, _ limits: TreeLimits) throws(TreeWireError) -> TreePath {
    guard let text = body["p"]?.string else { throw TreeWireError(.malformedMessage, "p is not a text") }
    do { return try TreePath(wire: text, limits: limits) } catch {
      throw TreeWireError(.invalidTree, error.description)
    }
  }

  /// What a write is to leave. A deletion says null: a member that was left out deletes nothing.
  private static func value(_ body: JSONObject, at path: TreePath) throws(TreeWireError) -> JSONValue {
    guard let value = body["d"] else { throw TreeWireError(.invalidWrite, "\(path): d is missing") }
    return value
  }

  private static func object(_ body: JSONObject, at path: TreePath) throws(TreeWireError) -> JSONObject {
    guard let object = body["d"]?.object else { throw TreeWireError(.invalidWrite, "\(path): d is not an object") }
    return object
  }

  /// A condition that cannot be read is not left out: the write would be made without it.
  private static func expectedHash(_ body: JSONObject, at path: TreePath) throws(TreeWireError) -> String? {
    guard let hash = body["h"], !hash.isNull else { return nil }
    guard let text = hash.string else { throw TreeWireError(.invalidWrite, "\(path): h is not a text") }
    return text
  }
}
