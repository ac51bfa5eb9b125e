import Foundation
import MartletJSON
import MartletServer
import Testing

/// The generated `transaction` mutation over HTTP.
struct TransactionTests {
  @Test func `writes that name one record several times are answered each with its own result`() async throws {
    let write: JSONObject = ["martlet": ["write": ["client": "board", "number": 1]]]
    let transaction = """
      mutation { transaction(writes: [
        {createNote: {id: "n", text: "a"}}, {updateNote: {id: "n", text: "b"}}, {createNote: {id: "m", text: "x"}},
        {updateNote: {id: "n", text: "c"}}, {deleteNote: {id: "n"}}, {createNote: {id: "n", text: "d"}}
      ]) { ... on Note { id text } } }
      """
    try await Served.with("type Note @model { id: ID! text: String }") { server in
      for _ in 0..<2 {
        let answer = try await HTTPRequest.graphql(transaction, port: server.port, extensions: write)
        let results = answer.json["data"]?["transaction"]?.array ?? []
        #expect(results.map { $0["text"]?.string } == ["a", "b", "x", "c", "c", "d"], "\(answer.text)")
      }
    }
  }

  @Test func `a page token below several parents is refused, and below one it works`() async throws {
    let schema = """
      type Post @model { id: ID! comments: [Comment] @hasMany }
      type Comment @model { id: ID! text: String }
      """
    try await Served.with(schema) { server in
      let names = try await HTTPRequest.graphql(
        #"{ __type(name: "CreateCommentInput") { inputFields { name } } }"#, port: server.port)
      let reference = (names.json["data"]?["__type"]?["inputFields"]?.array ?? []).compactMap { $0["name"]?.string }
        .first { $0.lowercased().hasPrefix("post") }
      let field = try #require(reference)
      for post in ["p", "q"] {
        _ = try await HTTPRequest.graphql(
          #"mutation { createPost(input: {id: "\#(post)"}) { id } }"#, port: server.port)
        for number in 0..<3 {
          _ = try await HTTPRequest.graphql(
            #"mutation { createComment(input: {id: "\#(post)\#(number)", \#(field): "\#(post)"}) { id } }"#,
            port: server.port)
        }
      }
      let page = "comments(limit: 2, nextToken: $t) { items { id } nextToken }"
      let one = "query($t: String) { getPost(id: \"p\") { \(page) } }"
      let first = try await HTTPRequest.graphql(
        one.replacingOccurrences(of: ", nextToken: $t", with: "").replacingOccurrences(of: "($t: String)", with: ""),
        port: server.port)
      let token = try #require(first.json["data"]?["getPost"]?["comments"]?["nextToken"]?.string, "\(first.text)")
      let inline = one.replacingOccurrences(of: "($t: String)", with: "")
        .replacingOccurrences(of: "$t", with: "\"\(token)\"")
      let next = try await HTTPRequest.graphql(inline, port: server.port)
      #expect(next.json["data"]?["getPost"]?["comments"]?["items"]?.array?.count == 1, "\(next.text)")
      let several = try await HTTPRequest.graphql(
        inline.replacingOccurrences(of: "getPost(id: \"p\") {", with: "listPosts { items {")
          .replacingOccurrences(of: "} }", with: "} } }"), port: server.port)
      #expect(several.json["errors"]?[0]?["extensions"]?["code"] == "BAD_USER_INPUT", "\(several.text)")
    }
  }
}
