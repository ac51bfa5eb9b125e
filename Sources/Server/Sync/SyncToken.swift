internal import MartletJSON
internal import MartletTokens

/// Where the next page of a sync begins. Clients get it as text and give it back; one that they made up shows nothing
/// that the rules do not show.
struct SyncToken: Sendable, Equatable {
  enum Place: Sendable, Equatable {
    /// All records, after a list's own token.
    case records(token: String)
    /// Deletions of this model's records since a time, after this one.
    case deletions(of: String, since: Int64, after: [UInt8])
    /// The changes of this model's records after an offset of the log.
    case changes(of: String, after: Int64)
  }

  var place: Place
  /// When the first page began.
  var startedAt: Int64
  /// For all records: deletions since this time follow. Nil for none.
  var deletionsSince: Int64?

  var text: String {
    let parts: JSONValue
    switch place {
    case .records(let token):
      parts = ["r", .int(startedAt), deletionsSince.map { .int($0) } ?? .null, .string(token)]
    case .deletions(let model, let since, let key):
      let key = String(decoding: Base64URL.encode(key), as: UTF8.self)
      parts = ["d", .int(startedAt), .int(since), .string(key), .string(model)]
    case .changes(let model, let offset): parts = ["c", .int(startedAt), .int(offset), .string(model)]
    }
    return String(decoding: Base64URL.encode(parts.serialized()), as: UTF8.self)
  }

  init(_ place: Place, startedAt: Int64, deletionsSince: Int64? = nil) {
    self.place = place
    self.startedAt = startedAt
    self.deletionsSince = deletionsSince
  }

  /// Reads a token; nil for text that is none.
  init?(_ text: String) {
    guard let bytes = Base64URL.decode(Array(text.utf8)), let parts = try? JSONValue(parsing: bytes),
      let startedAt = parts[1]?.int
    else { return nil }
    switch parts[0]?.string {
    case "r":
      guard let token = parts[3]?.string else { return nil }
      self.init(.records(token: token), startedAt: startedAt, deletionsSince: parts[2]?.int)
    case "d":
      guard let since = parts[2]?.int, let key = parts[3]?.string, let bytes = Base64URL.decode(Array(key.utf8)),
        let model = parts[4]?.string
      else { return nil }
      self.init(.deletions(of: model, since: since, after: bytes), startedAt: startedAt)
    case "c":
      guard let offset = parts[2]?.int, offset >= 0, let model = parts[3]?.string else { return nil }
      self.init(.changes(of: model, after: offset), startedAt: startedAt)
    case _: return nil
    }
  }
}
