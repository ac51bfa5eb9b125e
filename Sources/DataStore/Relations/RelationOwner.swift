internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletRuntime

/// A record whose relation a value stands for: the model, the relation's field, and the values that select the others.
struct RelationOwner: Sendable, Hashable {
  var model: String
  var field: String
  var values: [JSONValue]

  init(model: String, field: String, values: [JSONValue]) {
    self.model = model
    self.field = field
    self.values = values
  }

  /// Reads the form in which rows hold it; nil for other JSON.
  init?(_ json: JSONValue) {
    guard let model = json["associatedModel"]?.string, let field = json["associatedField"]?.string,
      let values = json["associatedIds"]?.array
    else { return nil }
    self.init(model: model, field: field, values: values)
  }

  var json: JSONValue {
    ["associatedModel": .string(model), "associatedField": .string(field), "associatedIds": .array(values)]
  }
}

/// The way from a value to the store that it was read from. It does not keep the store open.
final class RoomLink: Sendable {
  private struct Place {
    weak var room: StoreRoom?
  }

  private let place = Lock(Place())

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
