import Foundation
import Testing

/// The guides are complete: each is found from the index, and everything a client can speak is in one.
@Suite struct GuideTests {
  private static let pages = Repository.current.files(under: "docs/guides", extensions: ["md"])

  @Test func `the index names every page, and README the index`() throws {
    let index = try Repository.current.text("docs/guides/README.md")
    for page in Self.pages where !page.path.hasSuffix("/README.md") {
      let name = page.path.split(separator: "/").last ?? ""
      #expect(index.contains("](\(name))"), "docs/guides/README.md has no link to \(name)")
    }
    #expect(try Repository.current.text("README.md").contains("](docs/guides/README.md)"))
  }

  @Test func `links between documents lead somewhere`() throws {
    let expression = try NSRegularExpression(pattern: #"\]\(([^)#:]+)(#[^)]*)?\)"#)
    var documents = Repository.current.files(under: "docs", extensions: ["md"])
    documents.append(Repository.File(path: "README.md", text: try Repository.current.text("README.md")))
    for document in documents {
      let folder = document.path.split(separator: "/").dropLast().joined(separator: "/")
      for match in expression.matches(in: document.text, range: NSRange(document.text.startIndex..., in: document.text))
      {
        guard let part = Range(match.range(at: 1), in: document.text) else { continue }
        let target = (folder.isEmpty ? "" : folder + "/") + document.text[part]
        #expect(Repository.current.exists(target), "\(document.path) links to \(document.text[part])")
      }
    }
  }

  @Test(arguments: [("Sources/Vocabulary", "Dialect"), ("Sources/GraphQLClient", "SubscriptionMediaType")])
  func `a guide names every protocol a client can speak`(folder: String, name: String) throws {
    let files = Repository.current.files(under: folder, extensions: ["swift"])
    let text = try #require(files.first { $0.text.contains("public enum \(name)") }).text
    let start = try #require(text.range(of: "public enum \(name)"))
    let end = try #require(text.range(of: "\n}", range: start.upperBound..<text.endIndex))
    let cases = text[start.upperBound..<end.lowerBound].split(separator: "\n").compactMap { line -> String? in
      guard line.hasPrefix("  case ") else { return nil }
      return String(line.dropFirst(7).prefix { $0.isLetter || $0.isNumber })
    }
    #expect(!cases.isEmpty)
    for name in cases {
      #expect(Self.pages.contains { $0.text.contains(".\(name)") }, "no guide says .\(name)")
    }
  }

  /// Where the codes of errors are declared, and how a line of such a file shows one.
  private static let codes: [(declaration: String, pattern: String)] = [
    ("public struct GraphQLClientError", #"= Code\(\.(\w+)\)"#),
    ("extension GapReason {", #"case .*: "([a-z-]+)""#),
    ("enum StoreErrors {", #"\("([A-Z_]+)", "#),
  ]

  @Test(arguments: codes.map(\.declaration))
  func `the guide to errors explains every code`(declaration: String) throws {
    let guide = try Repository.current.text("docs/guides/errors.md")
    let pattern = try #require(Self.codes.first { $0.declaration == declaration }).pattern
    let expression = try NSRegularExpression(pattern: pattern)
    let files = Repository.current.files(under: "Sources", extensions: ["swift"])
      .filter { $0.text.contains(declaration) && $0.text.contains("wireName") == declaration.contains("GapReason") }
    let text = try #require(files.first, "no file declares \(declaration)").text
    let names = expression.matches(in: text, range: NSRange(text.startIndex..., in: text))
      .compactMap { Range($0.range(at: 1), in: text).map { String(text[$0]) } }
    #expect(names.count > 4)
    for name in names { #expect(guide.contains("`\(name)`"), "docs/guides/errors.md does not explain \(name)") }
  }

  @Test func `every figure of PERFORMANCE has a date and a commit, and no hour of a day`() throws {
    let text = try Repository.current.text("docs/PERFORMANCE.md")
    let taken = try NSRegularExpression(pattern: #"Taken on \d{4}-\d\d-\d\d at [0-9a-f]{8}\."#)
    for section in text.components(separatedBy: "\n## ").dropFirst() {
      let title = section.prefix { $0 != "\n" }
      if title == "Summary" {
        for row in section.split(separator: "\n").filter({ $0.hasPrefix("| ") }).dropFirst(2) {
          let commit = row.split(separator: "|").last?.trimmingCharacters(in: .whitespaces) ?? ""
          #expect(commit.count == 8 && commit.allSatisfy(\.isHexDigit), "no commit in: \(row)")
        }
      } else {
        let range = NSRange(section.startIndex..., in: section)
        #expect(taken.firstMatch(in: section, range: range) != nil, "\(title) has neither date nor commit")
      }
    }
    let hour = try NSRegularExpression(pattern: #"\b(fast|slow|quiet|busy|calm) (hour|machine)\b"#)
    #expect(hour.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) == nil)
  }

  @Test func `a guide has one complete Swift file, which a test compiles`() throws {
    let programs = Repository.current.files(under: "Tests/Guides", extensions: ["swift"])
      .map { $0.text.trimmingCharacters(in: .newlines) }
    for page in Self.pages where !page.path.hasSuffix("/README.md") {
      let blocks = page.text.components(separatedBy: "```swift\n").dropFirst()
        .compactMap { $0.components(separatedBy: "\n```").first }
      #expect(blocks.contains { programs.contains($0) }, "\(page.path) has no complete file of Tests/Guides")
    }
  }

  /// What applications call, by the page that has its counterpart or says that there is none.
  private static let calls = [
    "from-apollo.md": """
    ApolloClient fetch watch refetch perform publishResultToStore upload subscribe clearCache contextIdentifier
    returnCacheDataElseFetch fetchIgnoringCacheData fetchIgnoringCacheCompletely returnCacheDataDontFetch
    returnCacheDataAndFetch cacheFirst networkFirst networkOnly cacheOnly cacheAndNetwork refetchOnFailedUpdates
    GraphQLQueryPager RequestChainNetworkTransport SplitNetworkTransport WebSocketTransport additionalHeaders
    autoPersistQueries useGETForQueries requestBodyCreator clientName URLSessionClient RequestConfiguration
    SQLiteNormalizedCache cacheKeyInfo withinReadTransaction withinReadWriteTransaction LocalCacheMutation
    readObject updateObject removeObject removeObjects ApolloInterceptor InterceptorProvider proceedAsync retry
    ApolloErrorInterceptor MaxRetryInterceptor ResponseCodeError WebSocketError GraphQLError GraphQLNullable
    GraphQLEnum fragments Mock reconnectionInterval connectingPayload pauseWebSocketConnection closeConnection
    WebSocketTransportDelegate updateHeaderValues
    """,
    "from-amplify.md": """
    AWSAPIPlugin configure apiName query mutate subscribe get list create update delete mutation sync includes
    byIdentifier hasNextPage getNextPage decodePath AmplifyAsyncThrowingSequence Publisher connection data
    reachabilityPublisher Hub authMode apiKey amazonCognitoUserPools openIDConnect function awsIAM
    APIAuthProviderFactory URLRequestInterceptor GraphQLResponseError partial transformationError APIError
    httpStatusError networkError operationError invalidConfiguration LazyReference Temporal Embeddable
    EnumPersistable attributeExists REST
    """,
  ]

  @Test(arguments: calls.keys.sorted())
  func `a guide for moving has each call of the library that is left`(page: String) throws {
    let text = try Repository.current.text("docs/guides/\(page)")
    let words = Set(text.split { !$0.isLetter && !$0.isNumber }.map(String.init))
    for call in try #require(Self.calls[page]).split(whereSeparator: \.isWhitespace) {
      #expect(words.contains(String(call)), "\(page) has no word about \(call)")
    }
  }

  @Test func `a guide names every transport`() throws {
    let expression = try NSRegularExpression(pattern: #"public (?:final class|struct) (\w+Transport)\b"#)
    for folder in ["Sources/Martlet/Transports", "Sources/GraphQLClient/NetworkTransport"] {
      for file in Repository.current.files(under: folder, extensions: ["swift"]) {
        for match in expression.matches(in: file.text, range: NSRange(file.text.startIndex..., in: file.text)) {
          guard let part = Range(match.range(at: 1), in: file.text) else { continue }
          let name = file.text[part]
          #expect(Self.pages.contains { $0.text.contains(name) }, "no guide says \(name)")
        }
      }
    }
  }
}
