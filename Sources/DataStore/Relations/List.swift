public import MartletGraphQLClient
internal import MartletJSON
internal import MartletRuntime

/// The records of another model that belong to a record. They are read by `fetch()`, and are a collection from then on.
///
///     try await post.comments.fetch()
///     for comment in post.comments { print(comment.content) }
///
/// All of them are read at once, in the order of their keys. A list does not follow later changes; a live query over
/// `comment.post` does. What is put into a list that is given to a new record is not saved with it.
///
/// `@unchecked Sendable` holds because the records of a list with an owner are reached only within the link's lock, and
/// nothing else changes.
public final class List<Element: Model>: @unchecked Sendable {
  /// What the records belong to; nil for a list that was made of records, or whose owner is not known.
  @usableFromInline let owner: RelationOwner?
  @usableFromInline let link: RoomLink?
  /// The records; nil until they have been read.
  @usableFromInline var loaded: [Element]?

  @inlinable
  init(_ owner: RelationOwner, _ link: RoomLink) {
    self.owner = owner
    self.link = link
  }

  init(owner: RelationOwner?, link: RoomLink?) {
    self.owner = owner
    self.link = link
  }

  /// The records, if they are there.
  private var elementsIfAny: [Element]? { owner == nil ? loaded : (link ?? .none).lists.withLock { _ in loaded } }

  /// A list of these records.
  public init(elements: [Element] = []) {
    owner = nil
    link = nil
    loaded = elements
  }

  /// Whether the records are there.
  public var isLoaded: Bool { elementsIfAny != nil }

  /// Reads the records, unless they are there. Suspends while the store reads.
  public func fetch() async throws(DataStoreError) { _ = try await get() }

  /// The records, read if they are not there.
  public func get() async throws(DataStoreError) -> [Element] {
    if let elements = elementsIfAny { return elements }
    guard let owner else {
      throw DataStoreError(.invalidOperation, "this list was decoded without what it belongs to")
    }
    let elements = try await RoomLink.room(of: link).related(to: owner, as: Element.self)
    (link ?? .none).lists.withLock { _ in loaded = elements }
    return elements
  }

  /// Whether there are more records than those loaded: never, since `fetch()` reads all.
  public func hasNextPage() -> Bool { false }

  /// - Throws: `invalidOperation`, since there is none.
  public func getNextPage() async throws(DataStoreError) -> List<Element> {
    throw DataStoreError(.invalidOperation, "there is no next page: fetch() reads all records")
  }

  private var elements: [Element] {
    guard let elements = elementsIfAny else { preconditionFailure("a list's records are there after fetch()") }
    return elements
  }
}

extension List: RandomAccessCollection {
  /// Zero.
  public var startIndex: Int { 0 }
  /// The number of records. The list must be loaded.
  public var endIndex: Int { elements.count }
  /// The record at `index`. The list must be loaded.
  public subscript(index: Int) -> Element { elements[index] }
  /// Iterates over the records as they are now. The list must be loaded.
  public func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }
}

extension List: ExpressibleByArrayLiteral {
  /// A list of these records.
  public convenience init(arrayLiteral elements: Element...) { self.init(elements: elements) }
}

extension List: Hashable {
  /// All lists are equal: what they hold is part of other records and not of the one that they stand in, so that a
  /// record equals the one that was saved.
  public static func == (left: List, right: List) -> Bool { true }

  /// Nothing is hashed.
  public func hash(into hasher: inout Hasher) {}
}

extension List: Codable {
  /// Reads what a store's events have, a list of records, or a server's connection with `items`.
  public convenience init(from decoder: any Decoder) throws {
    let value = try JSONValue(from: decoder)
    if let owner = RelationOwner(value) {
      self.init(owner: owner, link: nil)
    } else if let items = value.array ?? value["items"]?.array {
      self.init(elements: try items.map { try JSONDecoding(types: .foundation).decode(Element.self, from: $0) })
    } else {
      self.init(owner: nil, link: nil)
    }
  }

  /// Writes the records that are loaded; null without.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let elements = elementsIfAny {
      try container.encode(elements)
    } else {
      try container.encodeNil()
    }
  }
}

extension List: RelationValue {
  static var none: List { List(owner: nil, link: nil) }

  static func register(in types: inout JSONTypeTable, _ link: RoomLink) {
    types.register(List<Element>.self) { value in
      List(owner: RelationOwner(value), link: link)
    } encode: { _ in
      .null
    }
  }
}
