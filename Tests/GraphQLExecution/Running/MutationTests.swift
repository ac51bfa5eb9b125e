import MartletGraphQLExecution
import MartletJSON
import Testing

struct MutationTests {
  private static let text = """
    type Query { a: Int }
    type Mutation { set(value: Int!): Box fail: Box! }
    type Box { value: Int slow: Int }
    """

  @Test func `root fields of a mutation run one after the other, each to its end`() async throws {
    let diary = Diary()
    let schema = try ExecutableSchema.open(Self.text) { schema in
      schema.resolve("Mutation", "set") { request in
        let value = request.int("value") ?? 0
        diary.write("begin \(value)")
        await Task.yield()
        diary.write("end \(value)")
        return JSONValue.object(["value": .int(Int64(value))])
      }
      schema.resolve("Box", "slow") { request in
        diary.write("slow \(request.parent("value")?.int ?? 0)")
        return 1
      }
    }
    let response = try await schema.answer(
      "mutation { a: set(value: 1) { slow } b: set(value: 2) { slow value } c: set(value: 3) { value } }")
    #expect(response == ["data": ["a": ["slow": 1], "b": ["slow": 1, "value": 2], "c": ["value": 3]]])
    #expect(diary.entries == ["begin 1", "end 1", "slow 1", "begin 2", "end 2", "slow 2", "begin 3", "end 3"])
  }

  @Test func `a mutation stops at a field whose null takes the whole data`() async throws {
    let calls = Counter()
    let schema = try ExecutableSchema.open(Self.text) { schema in
      schema.resolve("Mutation", "fail") { _ -> JSONValue in throw ResolverError("no") }
      schema.resolve("Mutation", "set") { _ in
        calls.increment()
        return JSONValue.null
      }
    }
    let response = try await schema.answer(
      "mutation { a: set(value: 1) { value } fail { value } b: set(value: 2) { value } }")
    #expect(response["data"]?.isNull == true)
    #expect(calls.value == 1)
  }
}
