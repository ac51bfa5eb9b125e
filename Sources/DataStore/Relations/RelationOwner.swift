internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletModels
internal import MartletRuntime

/// What a row says of a relation.
enum RelationContent: Sendable {
  case none
  /// The other's key.
  case key(RecordKey)
  /// The others are those that have this record's key.
  indirect case owner(RelationOwner)
}

/// The model that has a relation, and its field. One object for all rows of the model: each row that is read has one
/// reference to it for each of its lists.
final class RelationName: Sendable, Hashable {
  let model: String
  let field: String

  init(model: String, field: String) {
    self.model = model
    self.field = field
  }

  static func == (left: RelationName, right: RelationName) -> Bool {
    left === right || left.model == right.model && left.field == right.field
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(model)
    hasher.combine(field)
  }
}

/// A record whose relation a value stands for: the model, the relation's field, and the values that select the others.
@usableFromInline
struct RelationOwner: Sendable, Hashable {
  let name: RelationName
  let key: RecordKey

  var model: String { name.model }
  var field: String { name.field }

  init(_ name: RelationName, key: RecordKey) {
    self.name = name
    self.key = key
  }

  init(model: String, field: String, key: RecordKey) {
    self.init(RelationName(model: model, field: field), key: key)
  }

  /// Reads the form in which rows hold it; nil for other JSON.
  init?(_ json: JSONValue) {
    guard let model = json["associatedModel"]?.string, let field = json["associatedField"]?.string,
      let values = json["associatedIds"]?.array
    else { return nil }
    self.init(model: model, field: field, key: RecordKey(values: values))
  }

  var json: JSONValue {
    ["associatedModel": .string(model), "associatedField": .string(field), "associatedIds": .array(key.values)]
  }
}

/// The way from a value to the store that it was read from. It does not keep the store open.
@usableFromInline
final class RoomLink: Sendable {
  private struct Place {
    weak var room: StoreRoom?
  }

  private let place = Lock(Place())
  /// For the contents of lists that this store has read: a lock for each would cost more than the list.
  let lists = Lock(true)

  /// For lists that no store has read.
  static let none = RoomLink()

  /// The store; that of `Martlet.DataStore` for values that no store has read.
  static func room(of link: RoomLink?) throws(DataStoreError) -> StoreRoom {
    guard let link else { return try Martlet.DataStore.open() }
    guard let room = link.place.withLock({ $0.room }) else {
      throw DataStoreError(.closed, "the store that the record was read from is closed")
    }
    return room
  }

  func connect(_ room: StoreRoom) { place.withLock { $0.room = room } }
}

/// A field type whose value is found in a store.
protocol RelationValue: Sendable {
  /// The value of a record that has none.
  static var none: Self { get }
  /// Makes values that are decoded with `types` read from the link's store.
  static func register(in types: inout JSONTypeTable, _ link: RoomLink)
}
