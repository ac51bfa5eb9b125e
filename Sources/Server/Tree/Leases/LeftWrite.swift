internal import MartletAccess
internal import MartletJSON
internal import MartletJSONTree
internal import MartletRuntime
internal import MartletStore

/// A write that a client leaves for the end of its session, with the caller whose rights it is made with.
struct LeftWrite: Sendable {
  var path: TreePath
  var content: TreeWriteRequest.Content
  var caller: TreeCaller
  /// For how many milliseconds the server waits for the client to come back before it makes the write.
  var grace: Int64
  /// How the caller proved its identity, where that is a key: keys can be withdrawn while its client is away.
  var key: IdentityProvider?
  /// Whether the credentials it was left with have ended while the client was connected. A guest makes it then.
  var isWithdrawn = false

  var request: TreeWriteRequest { TreeWriteRequest(path: path, content: content) }

  /// Whether this is the other write, left again.
  func isSame(as other: LeftWrite) -> Bool {
    path == other.path && content == other.content && grace == other.grace
  }

  // MARK: Bytes

  /// The form in which the store keeps it: a JSON object.
  var bytes: [UInt8] {
    var object: JSONObject = ["p": .string(path.description), "a": caller.auth]
    switch content {
    case .put(let json): object["d"] = json
    case .merge(let merged): object["m"] = .object(merged)
    }
    if caller.isAdministrator { object["r"] = true }
    if grace > 0 { object["g"] = .int(grace) }
    if let key { object["k"] = .string(key.rawValue) }
    if isWithdrawn { object["w"] = true }
    return JSONValue.object(object).serialized()
  }

  /// Reads a kept write; nil for bytes of another version's.
  init?(_ bytes: [UInt8]) {
    guard let object = try? JSONValue(parsing: bytes).object, let text = object["p"]?.string,
      let path = try? TreePath(wire: text, limits: .stored)
    else { return nil }
    self.path = path
    if let merged = object["m"]?.object {
      content = .merge(merged)
    } else if let json = object["d"] {
      content = .put(json)
    } else {
      return nil
    }
    caller = TreeCaller(auth: object["a"] ?? .null, isAdministrator: object["r"]?.bool ?? false)
    grace = object["g"]?.int ?? 0
    key = object["k"]?.string.flatMap { IdentityProvider(rawValue: $0) }
    isWithdrawn = object["w"]?.bool ?? false
  }

  init(path: TreePath, content: TreeWriteRequest.Content, caller: TreeCaller, grace: Int64) {
    (self.path, self.content, self.caller, self.grace) = (path, content, caller, grace)
    let provider = caller.identity.provider
    key = provider == .apiKey || provider == .iam ? provider : nil
  }

  // MARK: Standing

  /// Whether it was left by the same user, if with other credentials.
  func isOf(_ other: TreeCaller) -> Bool {
    caller.isAdministrator == other.isAdministrator && caller.auth["uid"] == other.auth["uid"]
      && caller.auth["provider"] == other.auth["provider"]
  }

  /// Whether the other write, left again, would be made with other rights. Bytes do not keep all of a caller.
  func makerDiffers(from other: LeftWrite) -> Bool {
    caller.auth != other.caller.auth || caller.isAdministrator != other.caller.isAdministrator || key != other.key
      || isWithdrawn != other.isWithdrawn
  }

  /// Whose rights it is made with now: a guest's when the credentials it was left with are no longer accepted.
  func maker(under access: AccessControl) -> TreeCaller {
    if isWithdrawn || caller.isAdministrator && !access.isDevelopment { return .guest }
    guard let key, let name = caller.auth["uid"]?.string else { return caller }
    return access.hasKey(name, of: key) ? caller : .guest
  }
}

extension TreeLimits {
  /// For what has been accepted before, whatever the limits were then.
  fileprivate static var stored: TreeLimits {
    var limits = TreeLimits()
    (limits.depth, limits.keyBytes) = (1_000, .max)
    return limits
  }
}

/// The writes that a connection has left, by their numbers in the store. Used on the writer and on the loop.
///
/// A client that comes back may leave again what it has left before; such a write is found and not kept twice.
final class LeftNumbers: Sendable {
  private let numbers = Lock<Set<Int64>>([])

  func contains(_ number: Int64) -> Bool { numbers.withLock { $0.contains(number) } }
  func insert(_ number: Int64) { numbers.withLock { _ = $0.insert(number) } }
  func remove(_ removed: some Sequence<Int64>) { numbers.withLock { $0.subtract(removed) } }
}
