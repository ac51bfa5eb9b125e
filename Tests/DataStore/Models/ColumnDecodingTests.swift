import Foundation
import MartletDataStore
import Testing

/// Fields of every kind, some of them without a value.
private struct Crate: StoredModel, Equatable {
  enum Size: String, Codable, Sendable { case small, large }

  struct Label: Codable, Equatable, Sendable {
    var text: String
    var copies: Int?
  }

  var id: String
  var count: Int
  var small: Int8
  var wide: Int64
  var unsigned: UInt16
  var weight: Double
  var rough: Float
  var isOpen: Bool
  var text: String?
  var number: Int?
  var share: Double?
  var flag: Bool?
  var size: Size?
  var label: Label?
  var labels: [Label]
  var made: Temporal.DateTime?
  var link: URL?
  var exact: Int64?

  enum CodingKeys: String, ModelKey {
    case id, count, small, wide, unsigned, weight, rough, isOpen, text, number, share, flag, size, label, labels, made
    case link, exact
  }
}

/// Reads its fields in another order than they have, and one of them twice.
private struct Reversed: Model, Equatable {
  var id: String
  var first: Int
  var second: String
  var third: Double?
  enum CodingKeys: String, ModelKey { case id, first, second, third }

  init(id: String, first: Int, second: String, third: Double?) {
    (self.id, self.first, self.second, self.third) = (id, first, second, third)
  }

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    third = try members.decodeNil(forKey: .third) ? nil : members.decode(Double.self, forKey: .third)
    second = try members.decode(String.self, forKey: .second)
    let again = try decoder.container(keyedBy: CodingKeys.self)
    first = try again.decode(Int.self, forKey: .first)
    id = try members.decode(String.self, forKey: .id)
    guard try again.decode(Int.self, forKey: .first) == first, !(try members.decodeNil(forKey: .id)) else {
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "two readings differ"))
    }
  }
}

/// The fields of a crate, read by the type itself.
private struct OwnCrate: Equatable {
  var crate: Crate
}

extension OwnCrate: RowDecodable {
  static let modelName = "Crate"
  typealias CodingKeys = Crate.CodingKeys
  var id: String { crate.id }
  init(from decoder: any Decoder) throws { crate = try Crate(from: decoder) }
  func encode(to encoder: any Encoder) throws { try crate.encode(to: encoder) }

  init(from row: inout ModelRow) throws {
    let (id, count): (String, Int) = (try row.next(), try row.next())
    let (small, wide, unsigned): (Int8, Int64, UInt16) = (try row.next(), try row.next(), try row.next())
    let (weight, rough, isOpen): (Double, Float, Bool) = (try row.next(), try row.next(), try row.next())
    let text: String? = try row.nextIfPresent()
    let number: Int? = try row.nextIfPresent()
    let share: Double? = try row.nextIfPresent()
    let flag: Bool? = try row.nextIfPresent()
    let size: Crate.Size? = try row.nextIfPresent()
    let label: Crate.Label? = try row.nextIfPresent()
    let labels: [Crate.Label] = try row.next()
    let made: Temporal.DateTime? = try row.nextIfPresent()
    let link: URL? = try row.nextIfPresent()
    let exact: Int64? = try row.nextIfPresent()
    crate = Crate(
      id: id, count: count, small: small, wide: wide, unsigned: unsigned, weight: weight, rough: rough, isOpen: isOpen,
      text: text, number: number, share: share, flag: flag, size: size, label: label, labels: labels, made: made,
      link: link, exact: exact)
  }
}

/// Reads one field more than it has.
private struct Greedy: RowDecodable {
  var id: String
  var count: Int
  enum CodingKeys: String, ModelKey { case id, count }
  init(id: String, count: Int) { (self.id, self.count) = (id, count) }

  init(from row: inout ModelRow) throws {
    id = try row.next()
    count = try row.next()
    _ = try row.next() as String
  }
}

/// The same record as a file has it, and as a type that wants more of it.
private enum Loose {
  struct Box: StoredModel {
    var id: String
    var text: String?
    enum CodingKeys: String, ModelKey { case id, text }
    static let modelName = "Box"
  }
}

private enum Own {
  struct Box: RowDecodable {
    var id: String
    var text: String
    enum CodingKeys: String, ModelKey { case id, text }
    static let modelName = "Box"
    init(from row: inout ModelRow) throws {
      id = try row.next()
      text = try row.next()
    }
  }
}

private enum Strict {
  struct Box: StoredModel {
    var id: String
    var text: String
    enum CodingKeys: String, ModelKey { case id, text }
    static let modelName = "Box"
  }
}

@Suite struct ColumnDecodingTests {
  private static func crate(_ number: Int) -> Crate {
    let isFull = number.isMultiple(of: 2)
    return Crate(
      id: "c\(number)", count: number - 3, small: Int8(number), wide: .max - Int64(number), unsigned: UInt16(number),
      weight: Double(number) / 3, rough: Float(number) / 7, isOpen: isFull, text: isFull ? "" : nil,
      number: isFull ? 0 : nil, share: isFull ? 0 : nil, flag: isFull ? false : nil, size: isFull ? .large : nil,
      label: isFull ? .init(text: "ü", copies: nil) : nil, labels: isFull ? [.init(text: "a", copies: 1)] : [],
      made: isFull ? Temporal.DateTime(millisecondsSince1970: Int64(number)) : nil,
      link: isFull ? URL(string: "https://example.org/\(number)") : nil, exact: isFull ? .min : nil)
  }

  @Test func `a query gives records with fields of every kind as they were saved`() async throws {
    let store = try DataStore(models: [Crate.self], storage: .inMemory)
    let crates = (0..<10).map(Self.crate)
    for crate in crates { try await store.save(crate) }
    #expect(try await store.query(Crate.self, sort: .ascending(Crate.keys.id)) == crates)
    // By a condition that is decided in memory, and so by the other way of reading rows.
    let label: JSONValue = ["text": "a", "copies": 1]
    let half = try await store.query(
      Crate.self, where: Crate.keys.labels.contains(label), sort: .ascending(Crate.keys.id))
    #expect(half == crates.filter { !$0.labels.isEmpty })
  }

  @Test func `a type that reads its row itself gets other values than by Codable`() async throws {
    let store = try DataStore(models: [OwnCrate.self], storage: .inMemory)
    let crates = (0..<10).map { OwnCrate(crate: Self.crate($0)) }
    for crate in crates { try await store.save(crate) }
    #expect(try await store.query(OwnCrate.self, sort: .ascending(OwnCrate.keys.id)) == crates)
    // One record by its key, and a page.
    #expect(try await store.query(OwnCrate.self, byId: "c3") == crates[3])
    let page = try await store.query(
      OwnCrate.self, sort: .ascending(OwnCrate.keys.id), paginate: .page(1, limit: 4))
    #expect(page == Array(crates[4..<8]))
  }

  @Test func `a type that reads more fields than it has does not fail with an error that says so`() async throws {
    let store = try DataStore(models: [Greedy.self], storage: .inMemory)
    try await store.save(Greedy(id: "a", count: 1))
    let error = await #expect(throws: DataStoreError.self) { try await store.query(Greedy.self) }
    #expect(error?.code == .decodingError)
    #expect(error?.description.contains("2 fields") == true)
  }

  @Test func `a type may read its fields in any order, several times and from several containers`() async throws {
    let store = try DataStore(models: [Reversed.self], storage: .inMemory)
    let records = (0..<5).map {
      Reversed(id: "r\($0)", first: $0, second: "text \($0)", third: $0.isMultiple(of: 2) ? nil : 1.5)
    }
    for record in records { try await store.save(record) }
    #expect(try await store.query(Reversed.self, sort: .ascending(Reversed.keys.id)) == records)
  }

  @Test func `a row without a value that the type needs is an error that names the field`() async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("boxes-\(UUID().uuidString).sqlite").path
    defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
    do {
      let store = try DataStore(models: [Loose.Box.self], storage: .file(path))
      try await store.save(Loose.Box(id: "full", text: "text"))
      try await store.save(Loose.Box(id: "empty", text: nil))
    }
    let store = try DataStore(models: [Strict.Box.self], storage: .file(path))
    let error = await #expect(throws: DataStoreError.self) { try await store.query(Strict.Box.self) }
    #expect(error?.code == .decodingError)
    #expect(error?.description.contains("text") == true)
    // The statement is free again.
    #expect(try await store.query(Strict.Box.self, where: Strict.Box.keys.id == "full").map(\.text) == ["text"])
  }

  @Test func `a field that a type reads itself and that has no value is an error that does not name it`() async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("boxes-\(UUID().uuidString).sqlite").path
    defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
    do {
      let store = try DataStore(models: [Loose.Box.self], storage: .file(path))
      try await store.save(Loose.Box(id: "empty", text: nil))
    }
    let store = try DataStore(models: [Own.Box.self], storage: .file(path))
    let error = await #expect(throws: DataStoreError.self) { try await store.query(Own.Box.self) }
    #expect(error?.code == .decodingError)
    #expect(error?.description.contains("text") == true)
  }
}
