import MartletChannels
import MartletJSON
import MartletJSONTree
import MartletVocabulary
import Testing

/// Definitions as requests and files have them, the bodies of events, and when records are written.
@Suite struct DefinitionTests {
  static func read(_ text: String) throws -> ChannelDefinition {
    try ChannelDefinition(JSONValue(parsing: text), freshID: "fresh", at: 1_000)
  }

  @Test(arguments: [
    #"{"webhook":"hook","node":"/a/b"}"#,
    #"{"id":"x","webhook":"hook","node":"/a","events":["childAddition","childRemoval"],"withoutData":true,"context":{"a":1}}"#,
    #"{"device":"d1","query":"subscription { onCreateTodo { id } }","variables":{"a":1},"operationName":"q","duration":60}"#,
  ])
  func `a definition is read as it was written`(text: String) throws {
    let definition = try Self.read(text)
    #expect(try ChannelDefinition(definition.json, freshID: "other", at: 0) == definition)
  }

  @Test func `a duration ends a channel, and an id is made where none is given`() throws {
    let definition = try Self.read(#"{"webhook":"hook","node":"/a","duration":60}"#)
    #expect(definition.expires == 61_000)
    #expect(definition.id == "fresh")
  }

  @Test(arguments: [
    "[]", "{}", #"{"webhook":"h"}"#, #"{"node":"/a"}"#, #"{"webhook":"h","device":"d","node":"/a"}"#,
    #"{"webhook":"h","node":"/a","query":"x"}"#, #"{"webhook":"h","node":"/a.b"}"#,
    #"{"webhook":"h","node":"/a","events":[]}"#, #"{"webhook":"h","node":"/a","events":"moved"}"#,
    #"{"webhook":"h","node":"/a","events":["valueChange","childRemoval"]}"#,
    #"{"webhook":"h","node":"/a","duration":0}"#, #"{"webhook":"h","node":"/a","duration":1e99}"#,
    #"{"webhook":"h","node":"/a","id":"a b"}"#, #"{"webhook":"h","node":"/a","id":7}"#,
    #"{"webhook":"h","node":"/a","url":"http://127.0.0.1"}"#, #"{"webhook":"h","node":"/a/.priority"}"#,
    #"{"webhook":"h","query":"x","variables":[]}"#,
  ])
  func `a definition that cannot be used is refused`(text: String) {
    #expect(throws: ChannelError.self) { try Self.read(text) }
  }

  @Test func `an event has an id, a cursor, its context and its value, unless that is too large`() throws {
    let definition = try Self.read(#"{"id":"c","webhook":"hook","node":"/a","context":"mine"}"#)
    let found = NodeFollower.Found(kind: .childAddition, number: 3, path: ["a", "b"], value: ["x": 1])
    let cursor = Cursor(term: 0xAB, offset: 7)
    let event = EventBody(definition, limit: 1_000).event(found, at: cursor, time: 5)
    #expect(event.id == "c-ab-7-3")
    #expect(
      try JSONValue(parsing: event.body) == [
        "id": "c-ab-7-3", "subscription": "c", "cursor": "ab-7", "time": 5, "event": "childAddition", "path": "/a/b",
        "key": "b", "context": "mine", "value": ["x": 1],
      ])
    let cut = try JSONValue(parsing: EventBody(definition, limit: 20).event(found, at: cursor, time: 5).body)
    #expect(cut["truncated"] == true)
    #expect(cut["value"] == nil)
  }

  @Test func `a record is written at most once an interval, rarer when it is large`() {
    var pace = RecordPace()
    #expect(pace.time(at: 0) == nil)
    pace.settled()
    #expect(pace.time(at: 5) == 5)
    pace.began(at: 5, bytes: 10)
    pace.settled()
    #expect(pace.time(at: 6) == nil)
    pace.ended(true)
    #expect(pace.time(at: 6) == 1_005)
    pace.began(at: 1_005, bytes: 3 * 65_536)
    pace.ended(false)
    #expect(pace.time(at: 1_006) == 5_005)
    pace.began(at: 6_000, bytes: 0)
    pace.ended(true)
    pace.moved()
    #expect(pace.time(at: 6_001) == 66_000)
  }
}
