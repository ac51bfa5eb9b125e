import MartletJSON
import MartletModelSDL
import MartletModels
import Testing

@Suite struct FilterReaderTests {
  static func model(_ fields: String = "title: String stars: Int tags: [String]") throws -> ModelDefinition {
    try #require(try ModelSchema("type Post @model(timestamps: null) { id: ID! \(fields) }").models.first)
  }

  @Test func `fields and several operators on one field must all hold`() throws {
    var reader = FilterReader(try Self.model())
    let predicate = try reader.read(["title": ["beginsWith": "a"], "stars": ["ge": 2, "lt": 5]])
    #expect(
      predicate
        == .and([
          .compare(field: 1, .beginsWith("a")), .compare(field: 2, .ge(2)), .compare(field: 2, .lt(5)),
        ]))
    #expect(!predicate.matches(Record(values: ["1", "ab", 5])))
    #expect(predicate.matches(Record(values: ["1", "ab", 4])))
  }

  @Test func `groups nest, an empty or is false, an empty and is true, absent entries say nothing`() throws {
    var reader = FilterReader(try Self.model())
    #expect(try reader.read(nil) == .all && reader.read(.null) == .all && reader.read([:]) == .all)
    #expect(try reader.read(["or": []]) == .or([]) && reader.read(["and": []]) == .and([]))
    #expect(try reader.read(["title": .null, "or": .null]) == .all)
    #expect(
      try reader.read(["not": ["or": [["stars": ["eq": 1]], ["stars": ["eq": .null]]]]])
        == .not(.or([.compare(field: 2, .eq(1)), .compare(field: 2, .eq(.null))])))
  }

  @Test func `every operator is read`() throws {
    var reader = FilterReader(try Self.model())
    let operators: [(JSONValue, Comparison)] = [
      (["eq": "a"], .eq("a")), (["ne": .null], .ne(.null)), (["le": "a"], .le("a")), (["gt": "a"], .gt("a")),
      (["contains": "a"], .contains("a")), (["notContains": "a"], .notContains("a")),
      (["between": ["a", "b"]], .between("a", "b")), (["in": ["a"]], .in(["a"])), (["notIn": []], .notIn([])),
      (["attributeExists": false], .attributeExists(false)), (["attributeType": "_null"], .attributeType(.null)),
      (["size": ["between": [1, 2]]], .size(.between(1, 2))), (["size": ["ne": 0]], .size(.ne(0))),
    ]
    for (input, comparison) in operators {
      #expect(try reader.read(["title": input]) == .compare(field: 1, comparison))
    }
  }

  @Test func `a filter that means nothing is refused with its place`() throws {
    let model = try Self.model()
    let wrong: [(JSONValue, String)] = [
      (7, "filter"), (["nothing": ["eq": 1]], "filter.nothing"), (["title": "a"], "filter.title"),
      (["title": ["like": "a"]], "filter.title.like"), (["title": ["between": ["a"]]], "filter.title.between"),
      (["or": [["title": ["eq": "a"]], 3]], "filter.or[1]"),
      (["title": ["size": ["eq": 1, "ne": 2]]], "filter.title.size"),
      (["title": ["attributeType": "text"]], "filter.title.attributeType"),
      (["title": ["in": .array(Array(repeating: "a", count: 101))]], "filter.title.in"),
    ]
    for (input, path) in wrong {
      var reader = FilterReader(model)
      let error = #expect(throws: FilterError.self) { try reader.read(input) }
      #expect(error?.path == path)
    }
    var reader = FilterReader(model)
    let many = JSONValue.array(Array(repeating: ["stars": ["eq": 1]], count: 201))
    #expect(throws: FilterError.self) { try reader.read(["or": many]) }
  }

  @Test func `nesting deeper than SQL can take is refused with its place`() throws {
    let model = try Self.model()
    func nested(_ depth: Int, _ name: String) -> JSONValue {
      (0..<depth).reduce(["title": ["eq": "a"]]) { inner, _ in [name: inner] }
    }
    for name in ["not", "and", "or"] {
      var reader = FilterReader(model)
      _ = try reader.read(nested(12, name))
      let error = #expect(throws: FilterError.self) { try reader.read(nested(50, name)) }
      #expect(error?.path == "filter" + String(repeating: "." + name, count: 13))
    }
  }
}
