public import MartletGraphQLClient
internal import MartletJSON
internal import MartletModels

/// A reference to one record of another model, which is read when it is asked for.
///
///     let post = try await comment.post.get()
///
/// A reference holds the other record's key; what `get()` gives is the record as it is stored then. It is read from the
/// store that the record came from, or from `Martlet.DataStore` where no store has read it.
public struct LazyReference<M: Model>: Sendable {
  /// A record behind a reference: models that refer to each other would have no end otherwise.
  final class Given: Sendable {
    let model: M
    init(_ model: M) { self.model = model }
  }

  let content: RelationContent
  let link: RoomLink?
  /// The record itself, for a reference that was made from one.
  let given: Given?

  init(_ content: RelationContent, link: RoomLink?, given: M? = nil) {
    self.content = content
    self.link = link
    self.given = given.map(Given.init)
  }

  /// One that a store has read. Without the other record, whose class would be looked up for each reference.
  init(_ content: RelationContent, _ link: RoomLink) {
    self.content = content
    self.link = link
    given = nil
  }

  /// A reference to `model`; to nothing for nil. The record itself is not saved with what refers to it.
  public init(_ model: M?) {
    guard let model, let members = (try? JSONEncoding(types: .foundation).encode(model))?.object else {
      self.init(.none, link: nil)
      return
    }
    self.init(.key(Self.key(in: members)), link: nil, given: model)
  }

  /// A reference to the record with this identifier.
  public init(id: String) {
    self.init(.key(RecordKey(.string(id))), link: nil)
  }

  /// The values of the other's key among its members.
  private static func key(in members: JSONObject) -> RecordKey {
    RecordKey(values: M.primaryKey.map { members[$0.stringValue] ?? .null })
  }

  /// The values of the other's key by the names of its fields.
  private static func members(_ key: RecordKey) -> JSONObject {
    JSONObject(zip(M.primaryKey, key.values).map { (key: $0.stringValue, value: $1) })
  }

  /// The values of the other's key by their fields; nil for a reference to nothing, and for one whose record has this
  /// one's key.
  public var identifiers: [String: JSONValue]? {
    guard case .key(let key) = content else { return nil }
    return Dictionary(Self.members(key).map { ($0.key, $0.value) }) { first, _ in first }
  }

  /// The record; nil when there is no reference, or its record is not in the store, as a child can come before its
  /// parent. Suspends while the store reads.
  public func get() async throws(DataStoreError) -> M? {
    switch content {
    case .none: return nil
    case .key(let key):
      if let given, link == nil { return given.model }
      let room = try RoomLink.room(of: link)
      var values = key.values
      while values.count < M.primaryKey.count { values.append(.null) }
      return try await room.record(M.self, RecordKey(values: values))
    case .owner(let owner):
      return try await RoomLink.room(of: link).related(to: owner, as: M.self).first
    }
  }

  /// The record.
  /// - Throws: `notFound` where `get()` gives nil.
  public func require() async throws(DataStoreError) -> M {
    guard let model = try await get() else {
      throw DataStoreError(.notFound, "the reference to a \(M.modelName) leads to no record")
    }
    return model
  }
}

extension LazyReference: Hashable {
  private var key: RecordKey? {
    if case .key(let key) = content { key } else { nil }
  }

  /// Whether both hold the same key. References to a record that has this one's key hold none, and are equal.
  public static func == (left: LazyReference, right: LazyReference) -> Bool { left.key == right.key }

  /// The reference's key is what is hashed.
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension LazyReference: Codable {
  /// Reads the other's key, or the whole record as servers give it; null is a reference to nothing.
  public init(from decoder: any Decoder) throws {
    let value = try JSONValue(from: decoder)
    let members = value.object ?? JSONObject()
    let isWhole = M.primaryKey.count < members.count
    self.init(value, link: nil, given: isWhole ? try? M(from: decoder) : nil)
  }

  /// Writes the other's key; null for a reference to nothing.
  public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }

  init(_ value: JSONValue, link: RoomLink?, given: M? = nil) {
    if let owner = RelationOwner(value) {
      self.init(.owner(owner), link: link)
    } else if let members = value.object {
      let key = Self.key(in: members)
      self.init(key.hasNull ? .none : .key(key), link: link, given: given)
    } else {
      self.init(.none, link: link)
    }
  }

  var json: JSONValue {
    switch content {
    case .none: .null
    case .key(let key): .object(Self.members(key))
    case .owner(let owner): owner.json
    }
  }
}

extension LazyReference: RelationValue {
  static var none: LazyReference { LazyReference(.none, link: nil) }

  static func register(in types: inout JSONTypeTable, _ link: RoomLink) {
    types.register(LazyReference<M>.self) {
      LazyReference($0, link: link)
    } encode: {
      $0.json
    }
  }
}
