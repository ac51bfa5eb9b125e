import MartletCommandLine
import MartletJSON
import Testing

@testable import MartletCommand

@Suite struct ConversionTests {
  static let answer: JSONValue = [
    "create": [
      "inputFields": [
        ["name": "id", "type": ["kind": "NON_NULL", "ofType": ["kind": "SCALAR", "name": "ID"]]],
        ["name": "count", "type": ["kind": "SCALAR", "name": "Int"]],
        ["name": "open", "type": ["kind": "SCALAR", "name": "Boolean"]],
        ["name": "tags", "type": ["kind": "LIST", "ofType": ["kind": "SCALAR", "name": "String"]]],
        ["name": "state", "type": ["kind": "ENUM", "name": "State"]],
      ]
    ],
    "write": ["inputFields": [["name": "createThing", "type": ["name": "CreateThingInput"]]]],
    "query": ["fields": [["name": "getThing", "type": ["name": "Thing"], "args": [["name": "id"]]]]],
  ]

  private func convert(_ csv: String, renamed: [String: String] = [:], ignoring: Bool = false) throws -> [JSONObject] {
    let target = try ImportTarget(model: "Thing", answer: Self.answer)
    var reader = try RowReader(Array(csv.utf8), format: .csv)
    let conversion = try RowConversion(
      target, header: reader.header, renamed: renamed, missing: ["NA"], ignoresUnknown: ignoring)
    var inputs: [JSONObject] = []
    while let row = try reader.next() { inputs.append(try conversion.input(row)) }
    return inputs
  }

  @Test func `cells become values of their fields' types`() throws {
    let inputs = try convert("id,count,open,tags,state\n7,3,yes,\"[\"\"a\"\",\"\"b\"\"]\",ON\n8,NA,,,\n")
    #expect(
      inputs == [
        ["id": "7", "count": 3, "open": true, "tags": ["a", "b"], "state": "ON"], ["id": "8"],
      ])
  }

  @Test(arguments: [
    ("id,count\n1,x\n", "Line 2, column count: 'x' is not a whole number."),
    ("id,open\n1,maybe\n", "Line 2, column open: 'maybe' is neither true nor false."),
    ("id,count\n1\n", "Line 2: 1 cell under 2 columns."),
    (
      "id,cuont\n1,2\n",
      "Column 'cuont' is not a field of Thing. Did you mean --map cuont=count? --ignore-unknown leaves such columns out."
    ),
    ("id,count\n1,2\n,3\n", "Line 3, column id: the field needs a value."),
    ("count\n1\n", "No column for id, which Thing requires. Use --map COLUMN=FIELD."),
    ("id\n\"1\n", "Line 2: a quote is not closed."),
    ("", "The file is empty: a CSV file begins with a line of column names."),
  ])
  func `a mistake is named with its line and column`(csv: String, message: String) {
    #expect { try convert(csv) } throws: { ($0 as? CommandFailure)?.message == message }
  }

  @Test func `columns are renamed and left out on demand`() throws {
    #expect(try convert("key,other\nk,1\n", renamed: ["key": "id"], ignoring: true) == [["id": "k"]])
  }

  @Test func `quotes, line feeds in cells, CRLF and a missing last line feed are read`() throws {
    var reader = try RowReader(Array("a,b\r\n\"x\r\ny\",\"\"\"z\"\"\"\r\n\r\n1,2".utf8), format: .csv)
    #expect(reader.header == ["a", "b"])
    #expect(try reader.next() == .cells(["x\r\ny", "\"z\""], line: 2))
    #expect(try reader.next() == .cells(["1", "2"], line: 5))
    #expect(try reader.next() == nil)
    #expect(reader.fraction == 1)
  }

  @Test func `bytes that are not UTF-8 are reported with their own line`() throws {
    var reader = try RowReader(Array("a,b\n1,x\n2,".utf8) + [0xFF] + Array("\n3,y\n".utf8), format: .csv)
    _ = try reader.next()
    #expect { try reader.next() } throws: { ($0 as? CommandFailure)?.message == "Line 3: not UTF-8 text." }
  }

  @Test func `a carriage return within a cell is kept, and one before the line's end is not`() throws {
    var reader = try RowReader(Array("a,b\r\nx\r\ry,z\r".utf8), format: .csv)
    #expect(reader.header == ["a", "b"])
    #expect(try reader.next() == .cells(["x\r\ry", "z"], line: 2))
    #expect(try reader.next() == nil)
  }

  @Test func `JSON lines keep their types and name the line of a mistake`() throws {
    var reader = try RowReader(Array("{\"id\":\"1\",\"count\":2}\n\n[]\n".utf8), format: .jsonl)
    let row = try #require(try reader.next())
    let target = try ImportTarget(model: "Thing", answer: Self.answer)
    let conversion = try RowConversion(target, header: [], renamed: [:], missing: [], ignoresUnknown: false)
    #expect(try conversion.input(row) == ["id": "1", "count": 2])
    #expect { try reader.next() } throws: { ($0 as? CommandFailure)?.message == "Line 3: not a JSON object." }
  }

  @Test func `the target is read from introspection`() throws {
    let target = try ImportTarget(model: "Thing", answer: Self.answer)
    #expect(target.keys == ["id"])
    #expect(target.createMember == "createThing")
    #expect(target.updateMember == nil)
    #expect(target.fields.map(\.type.isRequired) == [true, false, false, false, false])
  }

  @Test func `a model that is not there is answered with those that are`() {
    let answer: JSONValue = ["create": nil, "types": ["types": [["name": "CreateThingInput"], ["name": "Query"]]]]
    #expect { try ImportTarget(model: "Thong", answer: answer) } throws: {
      ($0 as? CommandFailure)?.message == "The server has no model Thong that can be created. It has: Thing."
    }
  }

  @Test func `the state of an import is read back, and another import's is not taken for it`() throws {
    let state = ImportState(url: "u", model: "M", bytes: 10, rows: 4)
    #expect(ImportState(text: state.text) == state)
    #expect(state.continues(ImportState(url: "u", model: "M", bytes: 10)))
    #expect(!state.continues(ImportState(url: "u", model: "M", bytes: 11)))
    #expect(ImportState(text: "{}") == nil)
  }

  @Test func `the progress bar grows`() {
    #expect(ProgressBar.text(fraction: 0.5, rows: 3, width: 4) == "[##..] 50 %  3 rows")
    #expect(ProgressBar.text(fraction: 2, rows: 3, width: 4) == "[####] 100 %  3 rows")
  }
}
