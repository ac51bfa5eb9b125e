import Foundation
import Martlet
import MartletGraphQLClient
import MartletJSON
import Testing

/// What the generated types do with real JSON.
@Suite struct GeneratedTypesTests {
  private static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try JSONDecoding(types: .foundation).decode(type, from: try JSONValue(parsing: text))
  }

  private static func variables(_ operation: some GraphQLOperation) throws -> String {
    JSONValue.object(try operation.variables).description
  }

  /// Encodes, decodes, and compares; answers the JSON.
  private static func roundTrip<Value: Codable & Equatable>(_ value: Value) throws -> JSONValue {
    let json = try JSONEncoding(types: .foundation).encode(value)
    #expect(try JSONDecoding(types: .foundation).decode(Value.self, from: json) == value)
    return json
  }

  // MARK: Operations

  @Test func `the subscription of the sample has the names and initialisers it shows`() throws {
    #expect(ReviewAddedSubscription.operationName == "ReviewAdded")
    #expect(ReviewAddedSubscription.operationKind == .subscription)
    #expect(
      ReviewAddedSubscription.operationDocument
        == "subscription ReviewAdded($episode: Episode) { reviewAdded(episode: $episode) { id episode stars commentary } }"
    )
    #expect(try Self.variables(ReviewAddedSubscription()) == "{}")
    #expect(try Self.variables(ReviewAddedSubscription(episode: .jedi)) == #"{"episode":"JEDI"}"#)
    #expect(try Self.variables(ReviewAddedSubscription(episode: .null)) == #"{"episode":null}"#)
    #expect(try Self.variables(ReviewAddedSubscription(episode: nil)) == "{}")
    let data = try Self.decode(
      ReviewAddedSubscription.Data.self,
      #"{"reviewAdded":{"id":"1","episode":"JEDI","stars":5,"commentary":null}}"#)
    let review: ReviewAddedSubscription.Data.ReviewAdded = try #require(data.reviewAdded)
    #expect(review.stars == 5)
    #expect(review.episode == .jedi)
    #expect(review.commentary == nil)
  }

  @Test func `null and absent stay apart in inputs, and recursion is possible`() throws {
    let filter = AnimalFilter(
      name: .null, mood: .veryTired, limit: 3, and: [AnimalFilter(name: "Ollie")],
      not: .some(AnimalFilter(by: .some(.id("7")))), in: .some(["1"]))
    #expect(
      try Self.roundTrip(filter).description
        == #"{"name":null,"mood":"VERY_TIRED","limit":3,"and":[{"name":"Ollie"}],"#
        + #""not":{"by":{"id":"7"}},"in":["1"]}"#)
    #expect(try Self.roundTrip(AnimalFilter()).description == "{}")
    #expect(try Self.variables(FindAnythingQuery(init_: 3)) == #"{"init":3}"#)
  }

  @Test func `an input of exactly one member is an enum`() throws {
    #expect(try Self.roundTrip(PersonKey.name("Ada")).description == #"{"name":"Ada"}"#)
    #expect(try Self.roundTrip(PersonKey.default(.id("1"))).description == #"{"default":{"id":"1"}}"#)
    #expect(throws: DecodingError.self) { try Self.decode(PersonKey.self, #"{"id":"1","name":"A"}"#) }
    #expect(throws: DecodingError.self) { try Self.decode(PersonKey.self, "{}") }
  }

  @Test func `mapped scalars are what they were mapped to`() throws {
    let born = Date(timeIntervalSince1970: 0)
    #expect(
      try Self.variables(RenameMutation(id: "1", born: .some(born))) == #"{"id":"1","born":"1970-01-01T00:00:00.000Z"}"#
    )
    let parts = try Self.decode(
      PersonParts.self, #"{"id":"1","name":"A","born":"1970-01-01T00:00:00Z","extra":{"a":[1]},"boss":null}"#)
    #expect(parts.born == born)
    #expect(parts.extra == ["a": [1]])
  }

  @Test func `a number JSON cannot say is an error of the variables`() {
    let input = CreatePostInput(title: "t", rating: .some(.infinity))
    #expect(throws: EncodingError.self) { try CreatePostMutation(input: input).variables }
  }

  @Test func `names that are words of Swift keep their names on the wire`() throws {
    #expect(
      try Self.variables(WordsQuery(in: 1, `inout`: 2, class: .default)) == #"{"in":1,"inout":2,"class":"default"}"#)
    let json = #"{"Default":{"in":"1","inout":"A","let":{"Self":"2"},"_":"Unknown"}}"#
    let data = try Self.decode(WordsQuery.Data.self, json)
    #expect(data.Default?.wordParts == WordParts(in: "1", `inout`: "A", let: .init(Self_: "2")))
    #expect(data.Default?.__ == .unknown_)
    #expect(try Self.roundTrip(data).description == json)
  }

  // MARK: Enums

  @Test func `a value the schema did not have is kept`() throws {
    #expect(try Self.roundTrip(Mood.cheerful).description == #""CHEERFUL""#)
    #expect(try Self.decode(Mood.self, #""BORED""#) == .unknown("BORED"))
    #expect(try Self.roundTrip(Mood.unknown("BORED")).description == #""BORED""#)
    #expect(Mood.allCases.map(\.rawValue) == ["CHEERFUL", "VERY_TIRED", "default", "Unknown", "grumpy"])
    #expect(Mood(rawValue: "Unknown") == .unknown_)
  }

  // MARK: Fragments

  private static let otter = """
    {"__typename":"Otter","id":"1","name":"Ollie","keeper":{"name":"Ada","id":"9","born":null,"extra":null,
    "boss":{"name":"Bo","id":"8"}},"toys":[["stone"],null],"depth":4,
    "friends":[{"__typename":"Owl","label":"Hedy","wingspan":1.5},{"__typename":"Otter","label":"Oda"}]}
    """

  @Test func `type conditions become optional members, as the type says`() throws {
    let data = try Self.decode(AnimalDetailsQuery.Data.self, "{\"animal\":\(Self.otter)}")
    let animal = try #require(data.animal)
    #expect(animal.name == "Ollie")
    let otter = try #require(animal.asOtter)
    #expect(otter.toys == [["stone"], nil])
    #expect(otter.depth == 4)
    #expect(otter.name == "Ollie")
    #expect(animal.friends.map { $0.asOwl?.wingspan } == [1.5, nil])
    #expect(animal.asSwimmer?.depth == 4)
    #expect(try Self.roundTrip(data) == JSONValue(parsing: "{\"animal\":\(Self.otter)}").withoutNulls)
  }

  @Test func `a struct converts to each fragment it was selected with`() throws {
    let data = try Self.decode(AnimalDetailsQuery.Data.self, "{\"animal\":\(Self.otter)}")
    let animal = try #require(data.animal)
    let parts: AnimalParts = animal.animalParts
    #expect(parts == (try Self.decode(AnimalParts.self, Self.otter)))
    #expect(parts.asOtter?.swimmerParts == SwimmerParts(depth: 4))
    let person: PersonParts? = animal.keeper?.personParts
    #expect(person?.id == "9")
    #expect(person?.boss == PersonParts.Boss(name: "Bo"))
  }

  @Test func `a union has one member for each type condition that holds`() throws {
    let data = try Self.decode(
      FindAnythingQuery.Data.self,
      """
      {"find":[{"__typename":"Pond","volume":2,"inhabitants":[{"__typename":"Otter","id":"1","depth":3},null]},
      {"__typename":"Otter","id":"2","name":"O","toys":null,"keeper":{"id":"9","name":"Ada","born":null,"extra":1,"boss":null}},
      {"__typename":"Owl","id":"3","name":"H"},{"__typename":"Robot"},null],"animals":[]}
      """)
    let found = try #require(data.find)
    #expect(found.map { $0?.asPond?.volume } == [2, nil, nil, nil, nil])
    #expect(found[0]?.asPond?.inhabitants?.first??.asSwimmer?.depth == 3)
    #expect(found.map { $0?.asAnimal?.name } == [nil, "O", "H", nil, nil])
    #expect(found[1]?.asOtter?.otterParts.keeper?.name == "Ada")
    #expect(found[3]?.__typename == "Robot")
    #expect(found[4] == nil)
  }

  @Test func `what skip and include may leave out is optional`() throws {
    let full = try Self.decode(
      PersonQuery.Data.self,
      """
      {"person":{"id":"1","name":"A","born":null,"extra":null,"boss":null,"self":"s","class":"c",
      "string":{"mood":"x"},"mood":"default","age":3}}
      """)
    let person = try #require(full.person)
    #expect(person.personParts?.name == "A")
    #expect(person.self_ == "s")
    #expect(person.`class` == "c")
    #expect(person.string?.mood == "x")
    #expect(person.mood == .default)
    let brief = try Self.decode(
      PersonQuery.Data.self, #"{"person":{"self":"s","class":"c","string":null,"mood":null,"age":null}}"#)
    #expect(brief.person?.personParts == nil)
    #expect(brief.person?.id == nil)
  }

  @Test func `a missing field that must be there is an error with its path`() throws {
    let error = #expect(throws: DecodingError.self) {
      try Self.decode(ReviewAddedSubscription.Data.self, #"{"reviewAdded":{"id":"1","episode":"JEDI"}}"#)
    }
    guard case .keyNotFound(let key, let context)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(key.stringValue == "stars")
    #expect(context.codingPath.map(\.stringValue) == ["reviewAdded"])
  }

  @Test func `an operation written by hand has variables of its properties`() throws {
    #expect(try Self.variables(HeroName()) == "{}")
    #expect(try Self.variables(HeroName(episode: "JEDI")) == #"{"episode":"JEDI"}"#)
    #expect(try Self.variables(HeroName(episode: .null)) == #"{"episode":null}"#)
  }

  @Test func `public types have initialisers that can be called from elsewhere`() throws {
    let works = WorksQuery(kind: .map, filter: .some(WorkFilter(title: "A", isOpen: false)))
    #expect(try Self.variables(works) == #"{"kind":"MAP","filter":{"title":"A","isOpen":false}}"#)
    let map = WorksQuery.Data.Works.AsMap(__typename: "Map", title: "M", scale: 3)
    let data = WorksQuery.Data(works: [.init(__typename: "Map", title: "M", asMap: map)])
    #expect(try Self.roundTrip(data).description == #"{"works":[{"__typename":"Map","title":"M","scale":3}]}"#)
  }
}

extension JSONValue {
  /// Without members that are null: what encoding leaves out.
  fileprivate var withoutNulls: JSONValue {
    switch self {
    case .object(let members):
      .object(
        JSONObject(members.filter { !$0.value.isNull }.map { (key: $0.key, value: $0.value.withoutNulls) }))
    case .array(let elements): .array(elements.map(\.withoutNulls))
    case .null, .bool, .int, .uint, .double, .string: self
    }
  }
}
