internal import MartletJSON
internal import MartletLiveQueries
internal import MartletModels
internal import MartletSQLite

/// A model that reads itself from a row of its table, in a third less time than by `Codable`. `martlet generate` writes
/// it; a type without it is read by `Codable`, with the same result.
///
///     extension Note: RowDecodable {
///       init(from row: inout ModelRow) throws {
///         let id: String = try row.next()
///         let title: String = try row.next()
///         let note: String? = try row.nextIfPresent()
///         let author: LazyReference<Author> = try row.nextReference()
///         let comments: List<Comment> = try row.nextList()
///         self.init(id: id, title: title, note: note, author: author, comments: comments)
///       }
///     }
///
/// The fields may as well be set one by one; then the compiler copies the whole value once more.
public protocol RowDecodable: StoredModel {
  /// Reads all fields, in the order of `CodingKeys`.
  ///
  /// - Throws: `DecodingError` for a value that is not of the field's type.
  init(from row: inout ModelRow) throws
  /// Reads a value from each row. There is one for every type: it is part of the protocol so that the program that has
  /// the type compiles it for the type.
  ///
  /// - Throws: what the type's own reading throws, or the store.
  static func values(of rows: inout ModelRows) throws -> [Self]
  /// Reads an item of a live query's snapshot from each row; the same for snapshots as `values(of:)` for queries.
  static func items(of rows: inout ModelRows) throws -> [any AnyObject & Sendable]
}

extension RowDecodable {
  /// Reads a value from each row.
  @inlinable
  public static func values(of rows: inout ModelRows) throws -> [Self] {
    var values: [Self] = []
    values.reserveCapacity(rows.expected)
    while try rows.advance() { values.append(try Self(from: &rows.row)) }
    guard values.capacity > 2 * values.count + 64 else { return values }
    // There were more the last time: the room for them is given back. A slice of all would share it.
    var exact: [Self] = []
    exact.reserveCapacity(values.count)
    exact += values
    return exact
  }

  /// Reads an item from each row.
  @inlinable
  public static func items(of rows: inout ModelRows) throws -> [any AnyObject & Sendable] {
    var items: [any AnyObject & Sendable] = []
    items.reserveCapacity(rows.expected)
    while try rows.advance() {
      items.append(DataStoreItems<Self>.Item(model: try Self(from: &rows.row), isPending: rows.isPending))
    }
    return items
  }
}

/// The rows of a query, one after the other. Valid within `RowDecodable.values(of:)` and `items(of:)`.
public struct ModelRows {
  /// The row that the query stands on.
  public var row: ModelRow
  /// The rows of a live query, in place of a statement's.
  private let rows: ContiguousArray<LiveRow>?
  private var next = 0
  /// Whether a write to the row waits for the server's acknowledgement; false for a statement's.
  @usableFromInline private(set) var isPending = false

  init(_ row: ModelRow) {
    self.row = row
    rows = nil
  }

  init(_ row: ModelRow, _ rows: ContiguousArray<LiveRow>) {
    self.row = row
    self.rows = rows
  }

  /// How many rows there may be; a guess for a statement's.
  @usableFromInline var expected: Int { rows?.count ?? row.expected }

  /// Stands on the next row; false when there is none.
  public mutating func advance() throws -> Bool {
    guard let rows else { return try row.advance() }
    guard next < rows.count else { return false }
    // `rows` holds it.
    let live = rows.uncounted(at: next)
    row.start(live)
    isPending = live.isPending
    next += 1
    return true
  }
}

/// The fields of the row that a query stands on, one after the other in the order of the model's `CodingKeys`. Valid
/// within `RowDecodable.init(from:)`.
public struct ModelRow {
  private let reader: ColumnReader
  private let places: [FieldColumns.Place]
  private let relations: [FieldColumns.Relation]
  @usableFromInline let link: RoomLink
  /// The fields' keys, in their order.
  private let keys: [any CodingKey]
  private var position = 0
  /// The column of the key that relations share, and its text in this row once a field has been read from it.
  private let sharedKey: Int32
  private var sharedText: String?

  /// A row of a model whose fields have these keys.
  init(_ reader: ColumnReader, keys: [any CodingKey]) {
    self.reader = reader
    self.keys = keys
    places = reader.model.columns.places
    relations = reader.model.columns.relations
    link = reader.model.link
    sharedKey = reader.model.columns.sharedKey.map { Int32(truncatingIfNeeded: $0) } ?? -1
  }

  /// Stands before the first field of the next row; false when there is none.
  mutating func advance() throws -> Bool {
    position = 0
    sharedText = nil
    return try reader.step()
  }

  /// Stands before the first field of a live query's row.
  mutating func start(_ row: UncountedRow) {
    position = 0
    sharedText = nil
    reader.read(row)
  }

  /// Rows that the query had when it ran last.
  var expected: Int { reader.expected }

  /// Where the next field is.
  @inline(__always)
  private mutating func place() throws -> ColumnReader.Place {
    let position = position
    guard position < places.count else { throw missing }
    self.position = position + 1
    return places[position]
  }

  private var missing: DecodingError {
    .dataCorrupted(
      .init(codingPath: [], debugDescription: "The model has \(keys.count) fields, and another one is read."))
  }

  /// The text of a field; nil where it is not stored as text, and for null.
  @inline(__always)
  private mutating func text(_ place: ColumnReader.Place) -> String? {
    let text = reader.text(place)
    if place.number == sharedKey, !place.isRelation { sharedText = text }
    return text
  }

  /// The field that was asked for last, from its JSON; errors name it.
  private func read<Value: Decodable>(_ type: Value.Type, _ place: ColumnReader.Place) throws -> Value {
    do {
      return try reader.model.decoding.decode(type, from: reader.json(place))
    } catch let error as DecodingError {
      throw position <= keys.count ? error.inside(keys[position - 1]) : error
    }
  }

  private func readIfAny<Value: Decodable>(_ type: Value.Type, _ place: ColumnReader.Place) throws -> Value? {
    reader.isNull(place) ? nil : try read(type, place)
  }

  // MARK: Values as they are stored

  /// The next field.
  /// - Throws: `DecodingError` when it is null, of another type, or not there.
  public mutating func next() throws -> String {
    let place = try place()
    return try text(place) ?? read(String.self, place)
  }

  /// The next field; nil for null.
  public mutating func nextIfPresent() throws -> String? {
    let place = try place()
    return try text(place) ?? readIfAny(String.self, place)
  }

  /// The next field.
  /// - Throws: `DecodingError` when it is null, of another type, or not there.
  public mutating func next() throws -> Int {
    let place = try place()
    return try reader.integer(place) ?? read(Int.self, place)
  }

  /// The next field; nil for null.
  public mutating func nextIfPresent() throws -> Int? {
    let place = try place()
    return try reader.integer(place) ?? readIfAny(Int.self, place)
  }

  /// The next field.
  /// - Throws: `DecodingError` when it is null, of another type, or not there.
  public mutating func next() throws -> Double {
    let place = try place()
    return try reader.number(place) ?? read(Double.self, place)
  }

  /// The next field; nil for null.
  public mutating func nextIfPresent() throws -> Double? {
    let place = try place()
    return try reader.number(place) ?? readIfAny(Double.self, place)
  }

  /// The next field.
  /// - Throws: `DecodingError` when it is null, of another type, or not there.
  public mutating func next() throws -> Bool {
    let place = try place()
    return try reader.flag(place) ?? read(Bool.self, place)
  }

  /// The next field; nil for null.
  public mutating func nextIfPresent() throws -> Bool? {
    let place = try place()
    return try reader.flag(place) ?? readIfAny(Bool.self, place)
  }

  // MARK: Relations

  /// The relation of a place, not counted: `relations` holds it, and is never changed.
  @inline(__always)
  private func relation(_ place: ColumnReader.Place) -> Unmanaged<FieldColumns.Relation> {
    unsafe .passUnretained(relations[Int(place.number)])
  }

  /// The next field.
  /// - Throws: `DecodingError` when it is not there.
  public mutating func nextReference<M: Model>() throws -> LazyReference<M> {
    let place = try place()
    guard place.isRelation else { return try read(LazyReference<M>.self, place) }
    let text = sharedText
    let content = try unsafe relation(place)._withUnsafeGuaranteedRef { try $0.content(reader, text: text) }
    return LazyReference(content, link)
  }

  /// The next field. Compiled by the program that has the type: finding the class of a list costs more than making one.
  /// - Throws: `DecodingError` when it is not there.
  @inlinable
  public mutating func nextList<Element: Model>() throws -> List<Element> {
    guard let owner = try nextOwner() else { return try next() }
    return List(owner, link)
  }

  /// What the list that is next belongs to; nil for another field, which stays the next one.
  @usableFromInline
  mutating func nextOwner() throws -> RelationOwner? {
    let place = try place()
    let text = sharedText
    if place.isRelation,
      let owner = try unsafe relation(place)._withUnsafeGuaranteedRef({ try $0.owner(reader, text: text) })
    {
      return owner
    }
    position -= 1
    return nil
  }

  // MARK: Values read from JSON

  /// The next field, of any other type.
  /// - Throws: `DecodingError` when it does not decode, or is not there.
  public mutating func next<Value: Decodable>() throws -> Value { try read(Value.self, try place()) }

  /// The next field, of any other type; nil for null.
  public mutating func nextIfPresent<Value: Decodable>() throws -> Value? { try readIfAny(Value.self, try place()) }
}
