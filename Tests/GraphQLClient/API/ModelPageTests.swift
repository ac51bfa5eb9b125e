import Martlet
import MartletJSON
import Testing

@Suite struct ModelPageTests {
  @Test func `a page is the collection of its records and is written as the server sends it`() throws {
    var page = try JSONDecoding(types: .foundation).decode(
      ModelPage<String>.self, from: ["items": ["a", "b", "c"], "nextToken": "t"])
    #expect(Array(page) == ["a", "b", "c"])
    #expect(page.count == 3 && page.last == "c" && page.nextToken == "t")
    page[1] = "z"
    #expect(page.map { $0 } == ["a", "z", "c"])
    #expect(page.dropFirst().first == "z")
    #expect(try JSONEncoding(types: .foundation).encode(page) == ["items": ["a", "z", "c"], "nextToken": "t"])
  }
}
