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

/// The same record as a file has it, and as a type that wants more of it.
private enum Loose {
  struct Box: StoredModel {
    var id: String
    var text: String?
    enum CodingKeys: String, ModelKey { case id, text }
    static let modelName = "Box"
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
}
