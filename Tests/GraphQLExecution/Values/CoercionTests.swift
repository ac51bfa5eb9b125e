import MartletGraphQLExecution
import MartletGraphQLLanguage
import MartletJSON
import Testing

/// The tables of sections 3.5 to 3.12 and 6.1.2, by way of a field that echoes its argument.
struct CoercionTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var type: String
    var value: JSONValue
    /// The coerced argument; nil when the value is refused.
    var expected: JSONValue?

    var testDescription: String { "\(value) as \(type)" }
  }

  private static let types = """
    enum E { A B }
    input Example { a: String b: Int! }
    input One @oneOf { a: String b: Int }
    input Defaults { n: Int! = 3 inner: Defaults list: [Int] = [1] }
    """

  static let rows = [
    Row(type: "Int", value: 2_147_483_647, expected: 2_147_483_647), Row(type: "Int", value: 2_147_483_648),
    Row(type: "Int", value: -2_147_483_648, expected: -2_147_483_648), Row(type: "Int", value: 1.0, expected: 1),
    Row(type: "Int", value: 1.5), Row(type: "Int", value: "1"), Row(type: "Int", value: true),
    Row(type: "Float", value: 1, expected: 1.0), Row(type: "Float", value: 0.5, expected: 0.5),
    Row(type: "Float", value: "0.5"), Row(type: "Float", value: false),
    Row(type: "String", value: "é", expected: "é"), Row(type: "String", value: 1),
    Row(type: "Boolean", value: false, expected: false), Row(type: "Boolean", value: 0),
    Row(type: "ID", value: "a", expected: "a"), Row(type: "ID", value: 7, expected: "7"), Row(type: "ID", value: 1.5),
    Row(type: "E", value: "A", expected: "A"), Row(type: "E", value: "a"), Row(type: "E", value: 0),
    // Section 3.12 "List", the table of input coercion.
    Row(type: "[Int]", value: [1, 2, 3], expected: [1, 2, 3]), Row(type: "[Int]", value: [1, "b", true]),
    Row(type: "[Int]", value: 1, expected: [1]), Row(type: "[Int]", value: nil, expected: .null),
    Row(type: "[[Int]]", value: [[1], [2, 3]], expected: [[1], [2, 3]]),
    Row(type: "[[Int]]", value: [1, 2, 3], expected: [[1], [2], [3]]),
    Row(type: "[[Int]]", value: [1, nil, 3], expected: [[1], nil, [3]]),
    Row(type: "[[Int]]", value: [[1], ["b"]]), Row(type: "[[Int]]", value: 1, expected: [[1]]),
    Row(type: "[[Int]]", value: nil, expected: .null), Row(type: "[Int!]", value: [1, nil]),
    Row(type: "Int!", value: nil),
    // Section 3.10 "Input Objects", both tables.
    Row(type: "Example", value: ["a": "abc", "b": 123], expected: ["a": "abc", "b": 123]),
    Row(type: "Example", value: ["a": nil, "b": 123], expected: ["a": nil, "b": 123]),
    Row(type: "Example", value: ["b": 123], expected: ["b": 123]), Row(type: "Example", value: ["a": 123, "b": 123]),
    Row(type: "Example", value: ["a": "abc"]), Row(type: "Example", value: ["b": nil]),
    Row(type: "Example", value: ["b": 123, "c": "xyz"]), Row(type: "Example", value: "abc123"),
    Row(type: "One", value: ["a": "abc"], expected: ["a": "abc"]), Row(type: "One", value: ["a": "abc", "b": 123]),
    Row(type: "One", value: ["a": nil, "b": 123]), Row(type: "One", value: ["a": nil]), Row(type: "One", value: [:]),
    Row(type: "One", value: ["b": 123], expected: ["b": 123]), Row(type: "One", value: ["c": 1]),
    Row(type: "Defaults", value: [:], expected: ["n": 3, "list": [1]]),
    Row(
      type: "Defaults", value: ["n": 4, "inner": ["list": nil]],
      expected: ["n": 4, "inner": ["n": 3, "list": nil], "list": [1]]),
  ]

  @Test(arguments: rows)
  func `a variable's value is coerced or refused as the tables say`(_ row: Row) async throws {
    let echoed = Diary()
    let schema = try ExecutableSchema.open("type Query { echo(x: \(row.type)): Int }\n" + Self.types) { schema in
      schema.compute("Query", "echo") { request in
        echoed.write(request.arguments["x"].map { "\($0)" } ?? "absent")
        return 1
      }
    }
    let response = try await schema.answer("query Q($x: \(row.type)) { echo(x: $x) }", variables: ["x": row.value])
    if let expected = row.expected {
      #expect(echoed.entries.count == 1)
      let text = try #require(echoed.entries.first)
      #expect(try JSONComparison.isSame(JSONValue(parsing: text), expected))
    } else {
      #expect(echoed.entries.isEmpty)
      #expect(response["data"] == nil)
      #expect(response.messages.allSatisfy { $0.hasPrefix("Variable '$x' has invalid value") })
    }
  }

  @Test func `a fault names the place inside the value`() async throws {
    let schema = try ExecutableSchema.open("type Query { e(x: [In!]): Int } input In { a: [Int] b: Int }")
    let response = try await schema.answer(
      "query Q($x: [In!]) { e(x: $x) }", variables: ["x": [["a": [1, "z"]], ["b": 1.5], nil]])
    #expect(
      response.messages == [
        "Variable '$x' has invalid value at [0].a[1]: Int cannot represent non-integer value: \"z\"",
        "Variable '$x' has invalid value at [1].b: Int cannot represent non-integer value: 1.5",
        "Variable '$x' has invalid value at [2]: Expected value of non-null type 'In!' not to be null.",
      ])
  }

  @Test func `absent, null and default are three things`() async throws {
    let seen = Diary()
    let schema = try ExecutableSchema.open("type Query { e(x: Int, y: Int = 5): Int }") { schema in
      schema.compute("Query", "e") { request in
        seen.write("\(JSONValue.object(request.arguments))")
        return 1
      }
    }
    for (document, variables) in [
      ("{ e }", [:]), ("{ e(x: null, y: null) }", [:]), ("query Q($v: Int) { e(x: $v, y: $v) }", [:]),
      ("query Q($v: Int) { e(x: $v, y: $v) }", ["v": nil]), ("query Q($v: Int = 9) { e(x: $v, y: $v) }", [:]),
    ] as [(String, JSONObject)] {
      _ = try await schema.answer(document, variables: variables)
    }
    #expect(
      seen.entries == [
        #"{"y":5}"#, #"{"x":null,"y":null}"#, #"{"y":5}"#, #"{"x":null,"y":null}"#, #"{"x":9,"y":9}"#,
      ])
  }

  @Test func `custom scalars are read and written by their code`() async throws {
    let schema = try ExecutableSchema.open("type Query { e(x: Even): Even } scalar Even") { schema in
      schema.scalar(
        "Even",
        parse: { value in
          guard let number = value.int, number % 2 == 0 else { throw ResolverError("\(value) is not even.") }
          return .int(number / 2)
        },
        serialize: { value in .int((value.int ?? 0) * 2) })
      schema.compute("Query", "e") { $0.arguments["x"] ?? .null }
    }
    #expect(try await schema.answer("{ e(x: 4) }") == ["data": ["e": 4]])
    #expect(try await schema.answer("query Q($x: Even) { e(x: $x) }", variables: ["x": 6]) == ["data": ["e": 6]])
    let refused = try await schema.answer("query Q($x: Even) { e(x: $x) }", variables: ["x": 3])
    #expect(refused.messages.count == 1)
    #expect(refused.messages.first?.contains("3 is not even.") == true)
  }

  @Test func `a character equal to an ASCII letter as text is not an enum value`() async throws {
    let schema = try ExecutableSchema.open("type Query { e(x: Unit): Int } enum Unit { K }")
    // The Kelvin sign, which Swift's strings take for a K.
    let response = try await schema.answer("query Q($x: Unit) { e(x: $x) }", variables: ["x": "\u{212A}"])
    #expect(response["data"] == nil)
  }
}
