import Martlet
import MartletModelSDL
import MartletModels
import MartletVocabulary
import Testing

struct Post: Model, Equatable {
  var id: String
  var title: String
  var rating: Double?
  var author: Writer?

  enum CodingKeys: String, ModelKey { case id, title, rating, author }
  static let nested: [CodingKeys: ModelSelection] = [.author: .model(Writer.self)]
}

struct Writer: Model, Equatable {
  var id: String
  var name: String?

  enum CodingKeys: String, ModelKey { case id, name }
}

@Suite struct QueryPredicateTests {
  let post = Post.keys

  @Test func `keys and operators make the server's filter`() throws {
    let good = post.title.beginsWith("post") && post.rating > 10.0
    #expect(
      try good.filter(.query) == ["and": [["title": ["beginsWith": "post"]], ["rating": ["gt": 10.0]]]])
    let any = post.title == "a" || post.title != "b" || post.rating <= 3 || post.rating >= 4 || post.rating < 1.5
    #expect(
      try any.filter(.subscription)["or"]?.array == [
        ["title": ["eq": "a"]], ["title": ["ne": "b"]], ["rating": ["le": 3]], ["rating": ["ge": 4]],
        ["rating": ["lt": 1.5]],
      ])
    #expect(try post.title.contains("x").filter(.query) == ["title": ["contains": "x"]])
    #expect(try post.rating.between(start: 1, end: 2).filter(.query) == ["rating": ["between": [1, 2]]])
    #expect(try (!(post.title == "a")).filter(.query) == ["not": ["title": ["eq": "a"]]])
    #expect(try QueryPredicate.all.filter(.query) == [:])
  }

  @Test func `nil asks for fields without a value, in the words of each input`() throws {
    #expect(try (post.rating == nil).filter(.query) == ["rating": ["attributeExists": false]])
    #expect(try (post.rating != nil).filter(.query) == ["rating": ["attributeExists": true]])
    #expect(try (post.rating == nil).filter(.subscription) == ["rating": ["eq": .null]])
  }

  @Test func `composing from a common base leaves the base as it was`() throws {
    let base = post.rating > 1 && post.rating < 9
    let before = base
    let narrower = base && post.title == "a"
    let wider = base || post.title == "a"
    #expect(base == before && narrower != wider)
    #expect(try base.filter(.query)["and"]?.array?.count == 2)
    #expect(try narrower.filter(.query)["and"]?.array?.count == 3)
  }

  @Test func `a negation no operator can say is refused by name`() throws {
    let predicate = !post.title.beginsWith("a")
    #expect(throws: QueryPredicateError.self) { try predicate.filter(.subscription) }
    #expect(try predicate.filter(.query) == ["not": ["title": ["beginsWith": "a"]]])
  }

  /// `contains: null` is an absent operator to a server, which would answer with every record.
  @Test func `whether a list contains null is refused by name, and not left out of the filter`() throws {
    for predicate in [QueryPredicate.field("tags", .contains(.null)), .field("tags", .notContains(.null))] {
      for kind in [QueryPredicate.FilterKind.query, .subscription] {
        let error = #expect(throws: QueryPredicateError.self) { try predicate.filter(kind) }
        #expect(error?.field == "tags")
        #expect(throws: QueryPredicateError.self) { try (!predicate).filter(kind) }
      }
    }
  }

  @Test func `bounds that JSON does not have, and null, mean in filters what they mean in Swift`() throws {
    let schema = try ModelSchema("type Post @model { id: ID! title: String rating: Float }")
    let model = try #require(schema.models.first)
    let rating = try #require(model.position(of: "rating"))
    let bounds: [Double?] = [nil, .infinity, -.infinity, .nan, 1]
    let values: [Double?] = [nil, -.greatestFiniteMagnitude, 1, 2, .greatestFiniteMagnitude]
    let post = Post.keys
    for (first, second) in bounds.flatMap({ first in bounds.map { (first, $0) } }) {
      func holds(_ value: Double?, _ bound: Double?, _ relation: (Double, Double) -> Bool) -> Bool {
        value.flatMap { value in bound.map { relation(value, $0) } } ?? false
      }
      let pairs: [(QueryPredicate, (Double?) -> Bool)] = [
        (post.rating < first, { holds($0, first, <) }), (post.rating <= first, { holds($0, first, <=) }),
        (post.rating > first, { holds($0, first, >) }), (post.rating >= first, { holds($0, first, >=) }),
        (post.rating == first, { $0 == first }), (post.rating != first, { $0 != first }),
        (post.rating.between(start: first, end: second), { holds($0, first, >=) && holds($0, second, <=) }),
      ]
      for (predicate, meaning) in pairs {
        for kind in [QueryPredicate.FilterKind.query, .subscription] {
          for isNegated in [false, true] {
            let filter = JSONValue.object(try (isNegated ? !predicate : predicate).filter(kind))
            var reader = FilterReader(model)
            let read = try reader.read(JSONValue(parsing: filter.serialized()))
            for value in values {
              var record = Record(values: model.fields.map { _ in .null })
              record.values[rating] = value.map { .double($0) } ?? .null
              #expect(read.matches(record) == (meaning(value) != isNegated), "\(predicate), \(value as Any), \(filter)")
            }
          }
        }
      }
    }
  }

  @Test func `a subscription filter means the same as a query filter, negations included`() throws {
    let schema = try ModelSchema("type Post @model { id: ID! title: String rating: Float }")
    let model = try #require(schema.models.first)
    var random = SeededRandom(seed: 7)
    var hits = 0
    for _ in 0..<2_000 {
      let predicate = Self.predicate(depth: 3, &random)
      var reader = FilterReader(model)
      let query = try reader.read(.object(predicate.filter(.query)))
      reader = FilterReader(model)
      let subscription = try reader.read(.object(predicate.filter(.subscription)))
      for _ in 0..<5 {
        let record = Self.record(model, &random)
        #expect(query.matches(record) == subscription.matches(record), "\(predicate) on \(record)")
        if query.matches(record) { hits += 1 }
      }
    }
    #expect((1_000..<9_000).contains(hits))
  }

  private static func record(_ model: ModelDefinition, _ random: inout SeededRandom) -> Record {
    var record = Record(values: model.fields.map { _ in .null })
    if let title = model.position(of: "title"), random.next() % 4 > 0 {
      record.values[title] = .string(["a", "b", "ab"][Int(random.next() % 3)])
    }
    if let rating = model.position(of: "rating"), random.next() % 4 > 0 {
      record.values[rating] = .double(Double(random.next() % 4))
    }
    return record
  }

  private static func predicate(depth: Int, _ random: inout SeededRandom) -> QueryPredicate {
    let post = Post.keys
    let number = Double(random.next() % 4)
    switch random.next() % (depth > 0 ? 12 : 9) {
    case 0: return post.title == "a"
    case 1: return post.title != "a"
    case 2: return post.title.contains("b")
    case 3: return post.rating < number
    case 4: return post.rating <= number
    case 5: return post.rating > number
    case 6: return post.rating >= number
    case 7: return post.rating.between(start: number, end: number + 1)
    case 8: return post.rating == number
    case 9: return predicate(depth: depth - 1, &random) && predicate(depth: depth - 1, &random)
    case 10: return predicate(depth: depth - 1, &random) || predicate(depth: depth - 1, &random)
    case _: return !predicate(depth: depth - 1, &random)
    }
  }

  @Test func `orders name fields and directions`() {
    #expect(QuerySort.ascending(post.rating).orders == [.ascending(post.rating)])
    let two: QuerySort = [.descending(post.rating), .ascending(post.id)]
    #expect(two.orders.map(\.field) == ["rating", "id"])
    #expect(two.orders.map(\.isDescending) == [true, false])
  }
}
