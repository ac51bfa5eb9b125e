import MartletJSON
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire
@testable import MartletHTTPWire
@testable import MartletWire

@Suite struct PersistedOperationTests {
  private static let digits = String(repeating: "0aF9", count: 16)

  private func hash(_ byte: UInt8) -> PersistedOperation {
    PersistedOperation(hash: [UInt8](repeating: byte, count: 32))
  }

  @Test func `a request written as the query of a URL is read as it was`() throws {
    var request = RequestPayload(
      query: "query Q($t: String) { note(text: $t) }", operationName: "Q", variables: ["t": "a+b & ü=%"])
    #expect(try RequestPayload(query: request.urlQuery, limits: JSONLimits()) == request)
    request.query = ""
    request.extensions = ["persistedQuery": PersistedOperation(hash: SHA256.digest([])).extensionMember]
    #expect(try RequestPayload(query: request.urlQuery, limits: JSONLimits()) == request)
    #expect(try RequestPayload(json: request.serialized(), limits: JSONLimits()) == request)
    #expect(try JSONValue(parsing: request.serialized())["query"] == nil)
  }

  @Test func `a server's refusal is known by its message or its code`() {
    #expect(PersistedOperationError(errors: [["message": "PersistedQueryNotFound"]]) == .notFound)
    #expect(
      PersistedOperationError(errors: [
        ["message": "x"], ["message": "y", "extensions": ["code": "PERSISTED_QUERY_NOT_SUPPORTED"]],
      ]) == .notSupported)
    #expect(PersistedOperationError(errors: [["message": "no"], 7]) == nil)
  }

  @Test func `extensions without the member name no document`() throws {
    #expect(try PersistedOperation(extensions: [:]) == nil)
    #expect(try PersistedOperation(extensions: ["persistedQuery": nil]) == nil)
  }

  @Test func `a hash is read from either case and written in lower case`() throws {
    let extensions: JSONObject = ["persistedQuery": ["version": 1, "sha256Hash": .string(Self.digits)]]
    let operation = try #require(try PersistedOperation(extensions: extensions))
    #expect(operation.hash == [UInt8](repeating: 0x0A, count: 1) + operation.hash.dropFirst())
    #expect(operation.hexadecimal == Self.digits.lowercased())
    #expect(try PersistedOperation(extensions: ["persistedQuery": operation.extensionMember]) == operation)
  }

  @Test(
    arguments: [
      (["version": 1, "sha256Hash": "abc"], .malformedHash),
      (["version": 1, "sha256Hash": .string(String(repeating: "g", count: 64))], .malformedHash),
      (["version": 1], .malformedHash), (["version": 1, "sha256Hash": 7], .malformedHash),
      (["version": 2, "sha256Hash": .string(digits)], .version), (["sha256Hash": .string(digits)], .version),
      ("abc", .version), ([], .version),
    ] as [(JSONValue, PersistedOperationError)])
  func `a malformed reference is an error of its own`(member: JSONValue, expected: PersistedOperationError) {
    #expect(throws: expected) { try PersistedOperation(extensions: ["persistedQuery": member]) }
  }

  @Test func `clients find the two messages they look for`() {
    #expect(PersistedOperationError.notFound.description == "PersistedQueryNotFound")
    #expect(PersistedOperationError.notSupported.description == "PersistedQueryNotSupported")
  }

  @Test func `a request may leave its document out only where it names one by hash`() throws {
    let body = #"{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"\#(Self.digits)"}}}"#
    #expect(try RequestPayload(json: Array(body.utf8), limits: JSONLimits()).query.isEmpty)
    #expect(throws: GraphQLRequestError.self) {
      try RequestPayload(json: Array(#"{"extensions":{"persistedQuery":null}}"#.utf8), limits: JSONLimits())
    }
    let query = "extensions=%7B%22persistedQuery%22%3A%7B%22version%22%3A1%7D%7D"
    #expect(try RequestPayload(query: query, limits: JSONLimits()).query.isEmpty)
  }

  @Test func `the store is bounded by count, and what was used last stays`() {
    var limits = PersistedOperationLimits()
    limits.documents = 4
    var store = PersistedOperationStore(limits: limits)
    for byte in 0..<4 as Range<UInt8> { store.keep("{ a\(byte) }", as: hash(byte)) }
    #expect(store.document(hash(0)) == "{ a0 }")
    store.keep("{ b }", as: hash(9))
    #expect(store.count == 3)
    #expect(store.document(hash(0)) == "{ a0 }")
    #expect(store.document(hash(1)) == nil)
    #expect(store.document(hash(9)) == "{ b }")
  }

  @Test func `the store is bounded by bytes`() {
    var limits = PersistedOperationLimits()
    limits.bytes = 10
    var store = PersistedOperationStore(limits: limits)
    store.keep("0123456789a", as: hash(1))
    #expect(store.count == 0)
    store.keep("01234", as: hash(2))
    store.keep("56789", as: hash(3))
    #expect(store.byteCount == 10)
    store.keep("abcdefgh", as: hash(4))
    #expect(store.count == 1 && store.byteCount == 8)
    store.keep("abcdefgh", as: hash(4))
    #expect(store.count == 1 && store.byteCount == 8)
  }
}
