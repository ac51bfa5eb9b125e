import Foundation
import MartletDataStore
import MartletGraphQLClient
import Testing

/// Types as applications declare them, whose fields say nothing of how they are stored.
private struct Parcel: Model, Equatable {
  enum Priority: Int, Codable { case low = 1, high = 2 }
  enum Kind: String, Codable { case letter, box }
  enum Form: Codable, Equatable { case round(Double), flat }
  struct Address: Codable, Equatable {
    var kind: Kind
    var lines: [String]
  }

  var id: String
  var priority: Priority?
  var kind: Kind?
  var form: Form?
  var address: Address?
  var price: Decimal = 0
  enum CodingKeys: String, ModelKey { case id, priority, kind, form, address, price }
}

@Suite struct FieldTypeTests {
  @Test func `optional enumerations and embedded types that refuse an empty value are stored`() async throws {
    let store = try DataStore(models: [Parcel.self], storage: .inMemory)
    let parcels = [
      Parcel(id: "1", priority: .high), Parcel(id: "2", kind: .box), Parcel(id: "3", form: .round(2)),
      Parcel(id: "4", address: Parcel.Address(kind: .letter, lines: ["a"])), Parcel(id: "5"),
    ]
    for parcel in parcels { #expect(try await store.save(parcel) == parcel) }
    #expect(try await store.query(Parcel.self) == parcels)
    #expect(try await store.query(Parcel.self, where: Parcel.keys.priority > 1).map(\.id) == ["1"])
    #expect(try await store.query(Parcel.self, where: Parcel.keys.address != nil).map(\.id) == ["4"])
  }

  @Test func `decimals have the order of numbers, in queries, pages, live windows and aggregates`() async throws {
    let store = try DataStore(models: [Parcel.self], storage: .inMemory)
    let prices: [Decimal] = [12.5, 2, 100, -3, 0.25, 7, 1_000, 30]
    for (number, price) in prices.enumerated() { try await store.save(Parcel(id: "\(number)", price: price)) }
    let price = Parcel.keys.price
    let sorted = try await store.query(Parcel.self, sort: .ascending(price)).map(\.price)
    #expect(sorted == prices.sorted())
    let page = try await store.query(Parcel.self, sort: .descending(price), paginate: .page(1, limit: 3)).map(\.price)
    #expect(page == Array(prices.sorted(by: >)[3..<6]))
    #expect(try await store.aggregate([.minimum(price), .maximum(price)], of: Parcel.self) == [-3, 1_000])

    let live = store.observeQuery(for: Parcel.self, sort: .descending(price), paginate: .page(0, limit: 2))
    var snapshots = live.makeAsyncIterator()
    #expect(try await snapshots.next()?.items.map(\.price) == [1_000, 100])
    // The window is filled again from behind its last row.
    for (number, price) in prices.enumerated().sorted(by: { $0.element > $1.element }).prefix(6) {
      try await store.delete(Parcel.self, withId: "\(number)")
      let left = prices.filter { $0 < price }.sorted(by: >).prefix(2)
      #expect(try await snapshots.next()?.items.map(\.price) == Array(left), "without \(price)")
    }
    live.cancel()
  }

  @Test func `a date that no text can say is refused, and the model's other records stay readable`() async throws {
    struct Event: Model, Equatable {
      var id: String
      var at: Temporal.DateTime
      var day: Temporal.Date?
      enum CodingKeys: String, ModelKey { case id, at, day }
    }
    let store = try DataStore(models: [Event.self], storage: .inMemory)
    let now = Temporal.DateTime(millisecondsSince1970: 0)
    for moment in [253_402_300_800_000, .max / 2, -62_167_219_200_001] as [Int64] {
      let event = Event(id: "1", at: Temporal.DateTime(millisecondsSince1970: moment))
      let error = await #expect(throws: DataStoreError.self) { try await store.save(event) }
      #expect(error?.code == .invalidModel, "\(moment)")
    }
    let last = try #require(Temporal.Date(year: 9999, month: 12, day: 31))
    await #expect(throws: DataStoreError.self) { try await store.save(Event(id: "1", at: now, day: last + .days(1))) }
    #expect(Temporal.Date(year: 10_000, month: 1, day: 1) == nil && Temporal.Date(year: .max, month: 1, day: 1) == nil)
    let edges = Event(id: "2", at: Temporal.DateTime(millisecondsSince1970: 253_402_300_799_999), day: last)
    #expect(try await store.save(edges) == edges)
    #expect(try await store.query(Event.self) == [edges])
  }

  @Test func `a value that does not decode again is not stored`() async throws {
    struct Odd: Model, Equatable {
      var id: String
      var size: Size
      enum CodingKeys: String, ModelKey { case id, size }

      struct Size: Codable, Equatable {
        var value: Int
        init(_ value: Int) { self.value = value }
        init(from decoder: any Decoder) throws {
          value = try decoder.singleValueContainer().decode(Int.self)
          if value > 9 { throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "too large")) }
        }
        func encode(to encoder: any Encoder) throws {
          var container = encoder.singleValueContainer()
          try container.encode(value)
        }
      }
    }
    let store = try DataStore(models: [Odd.self], storage: .inMemory)
    try await store.save(Odd(id: "1", size: Odd.Size(3)))
    let error = await #expect(throws: DataStoreError.self) { try await store.save(Odd(id: "2", size: Odd.Size(10))) }
    #expect(error?.code == .decodingError)
    let submitted = await #expect(throws: DataStoreError.self) {
      try await store.submit(Odd(id: "3", size: Odd.Size(10)))
    }
    #expect(submitted?.code == .decodingError)
    // The error is caught, and the transaction commits the rest.
    let caught = try await store.transaction { transaction in
      try transaction.save(Odd(id: "4", size: Odd.Size(4)))
      do {
        try transaction.save(Odd(id: "5", size: Odd.Size(10)))
        return nil as DataStoreError.Code?
      } catch let error as DataStoreError {
        return error.code
      }
    }
    #expect(caught == .decodingError)
    #expect(try await store.query(Odd.self) == [Odd(id: "1", size: Odd.Size(3)), Odd(id: "4", size: Odd.Size(4))])
  }

  @Test func `a value that does not decode again is not stored where its model has relations`() async throws {
    let store = try DataStore(models: [Crate.self, Lid.self], storage: .inMemory)
    try await store.save(Crate(id: "1", count: Few(3)))
    try await store.save(Lid(id: "1", count: Few(3), crate: Crate(id: "1", count: Few(3))))
    let crate = Crate(id: "2", count: Few(10))
    let lid = Lid(id: "2", count: Few(10))
    for operation in 0..<4 {
      let error = await #expect(throws: DataStoreError.self) {
        switch operation {
        case 0: try await store.transaction { try $0.save(crate) }
        case 1: try await store.transaction { try $0.save(lid) }
        case 2: _ = try await store.submit(crate)
        case _: _ = try await store.submit(lid)
        }
      }
      #expect(error?.code == .decodingError, "\(operation)")
    }
    #expect(try await store.query(Crate.self).map(\.id) == ["1"])
    #expect(try await store.query(Lid.self).map(\.crate?.id) == ["1"])
  }

  @Test(.timeLimit(.minutes(1)))
  func `a field with JSON of several kinds has the same order in queries, pages and live windows`() async throws {
    struct Loose: StoredModel, Equatable {
      var id: String
      var data: JSONValue?
      enum CodingKeys: String, ModelKey { case id, data }
      static var fieldTypes: [CodingKeys: ModelFieldType] { [.data: .embedded] }
    }
    let values: [JSONValue?] = [
      nil, 1, "a", "a b", "a!", "", .bool(true), .bool(false), [1], ["a": 1], -5, 2.5, "\u{E9}", "\"", "a\"", [], [:],
      "\u{0}", "\n", "10", .int(.max), .uint(.max), .uint(.max - 1), .double(1e300),
    ]
    let store = try DataStore(models: [Loose.self], storage: .inMemory)
    let data = Loose.keys.data
    func saveAll() async throws {
      try await store.delete(Loose.self, where: .all)
      for (number, value) in values.enumerated() { try await store.save(Loose(id: "\(number)", data: value)) }
    }
    for page in [QueryPage.page(0, limit: 5), .page(2, limit: 4)] {
      try await saveAll()
      let live = store.observeQuery(for: Loose.self, sort: .descending(data), paginate: page)
      var snapshots = live.makeAsyncIterator()
      var shown = Array(try #require(try await snapshots.next()).items)
      for step in 0..<80 {
        let id = "\(step * 7 % values.count)"
        if step % 3 == 0 {
          try await store.delete(Loose.self, withId: id)
        } else {
          try await store.save(Loose(id: id, data: values[step * 11 % values.count]))
        }
        let expected = try await store.query(Loose.self, sort: .descending(data), paginate: page)
        if expected != shown { shown = Array(try #require(try await snapshots.next()).items) }
        #expect(shown == expected, "step \(step)")
      }
      live.cancel()
    }
    try await saveAll()
    #expect(try await store.aggregate([.minimum(data), .maximum(data)], of: Loose.self) == [-5, [:]])
  }

  @Test func `enumerations of numbers are stored as numbers`() async throws {
    struct Step: Model, Equatable {
      enum Size: Double, Codable, CaseIterable { case half = 0.5, whole = 1 }
      enum Kind: UInt8, Codable, CaseIterable { case first = 1, last = 200 }
      var id: String
      var size: Size
      var kind: Kind
      enum CodingKeys: String, ModelKey { case id, size, kind }
    }
    let store = try DataStore(models: [Step.self], storage: .inMemory)
    let steps = [Step(id: "1", size: .whole, kind: .first), Step(id: "2", size: .half, kind: .last)]
    for step in steps { #expect(try await store.save(step) == step) }
    #expect(try await store.query(Step.self, sort: .descending(Step.keys.size)) == steps)
    #expect(try await store.query(Step.self, where: Step.keys.size < 0.75 && Step.keys.kind > 100) == [steps[1]])
  }

  @Test func `a value that its column cannot hold is refused by name, and a transaction continues after it`()
    async throws
  {
    struct Count: Model, Equatable {
      var id: String
      var value: UInt64
      enum CodingKeys: String, ModelKey { case id, value }
    }
    let store = try DataStore(models: [Count.self], storage: .inMemory)
    let refused = try await store.transaction { transaction in
      try transaction.save(Count(id: "1", value: UInt64(Int64.max)))
      do {
        try transaction.save(Count(id: "2", value: UInt64(Int64.max) + 1))
        return nil as DataStoreError?
      } catch let error as DataStoreError {
        try transaction.save(Count(id: "3", value: 3))
        return error
      }
    }
    #expect(refused?.code == .invalidModel && refused?.message.contains("Count.value") == true)
    #expect(try await store.query(Count.self).map(\.id) == ["1", "3"])
  }
}

/// A number that refuses to decode above nine.
private struct Few: Codable, Equatable {
  var value: Int
  init(_ value: Int) { self.value = value }
  init(from decoder: any Decoder) throws {
    value = try decoder.singleValueContainer().decode(Int.self)
    if value > 9 { throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "too large")) }
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

/// Has its lids when they are asked for.
private struct Crate: StoredModel, Equatable {
  var id: String
  var count: Few
  var lids: List<Lid> = []
  enum CodingKeys: String, ModelKey { case id, count, lids }
  static var relations: [CodingKeys: ModelAssociation] { [.lids: .hasMany(Lid.self, fields: "crateID")] }
}

/// Has its crate with it.
private struct Lid: StoredModel, Equatable {
  var id: String
  var count: Few
  var crate: Crate?
  enum CodingKeys: String, ModelKey { case id, count, crate }
  static var relations: [CodingKeys: ModelAssociation] { [.crate: .belongsTo(Crate.self, fields: "crateID")] }
}
