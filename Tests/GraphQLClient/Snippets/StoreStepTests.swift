import Martlet
import MartletTesting
import Testing

/// The steps of the guide "Test".
@Suite struct StoreStepTests {
  @Test func `a write that was made before the first sync is uploaded after it, and pending until then`() throws {
    var driver = try StoreDriver(schema: "type Note @model @versioned { id: ID! text: String }")
    try driver.run(["type": "listen", "listener": "all", "sort": ["text"]])
    try driver.run(["type": "save", "record": ["id": "a", "text": "offline"]])
    try driver.run(["type": "start"])
    try driver.run(["type": "subscribed"])
    let events = try driver.run(["type": "page", "changes": []])
    #expect(events.contains { $0["type"] == "upload" && $0["verb"] == "create" })
    #expect(events.last?["items"]?[0]?["isPending"] == true && events.last?["isFromCache"] == false)
  }
}
