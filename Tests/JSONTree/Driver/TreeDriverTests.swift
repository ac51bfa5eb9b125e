import MartletJSON
import MartletTesting
import Testing

@Suite struct TreeDriverTests {
  /// Cases in the shape of published suites: what happens, and the events each step raises.
  static let cases: [String] = [
    """
    {"name": "a local value shows at once, also below a listener that knows nothing", "steps": [
      {"type": "listen", "path": "p", "events": []},
      {"type": "set", "path": "", "data": {"p": "x", "q": 1}, "events": [{"path": "p", "type": "value", "data": "x"}]}
    ]}
    """,
    """
    {"name": "a window, filled and changed by its tag", "steps": [
      {"type": "listen", "path": "p", "params": {"tag": 7, "limitToLast": 2, "orderBy": "n"}, "events": []},
      {"type": "serverUpdate", "path": "p", "tag": 7, "data": {"a": {"n": 2}, "b": {"n": 1}}, "events": [
        {"path": "p", "type": "child_added", "name": "b", "prevName": null, "data": {"n": 1}},
        {"path": "p", "type": "child_added", "name": "a", "prevName": "b", "data": {"n": 2}},
        {"path": "p", "type": "value", "data": {"a": {"n": 2}, "b": {"n": 1}}}
      ]},
      {"type": "serverMerge", "path": "p", "tag": 7, "data": {"b": null, "c": {"n": 3}}, "events": [
        {"path": "p", "type": "child_removed", "name": "b", "data": {"n": 1}},
        {"path": "p", "type": "child_added", "name": "c", "prevName": "a", "data": {"n": 3}},
        {"path": "p", "type": "value", "data": {"a": {"n": 2}, "c": {"n": 3}}}
      ]},
      {"type": "set", "path": "p/a/n", "data": 9, "events": [
        {"path": "p", "type": "child_moved", "name": "a", "prevName": "c", "data": {"n": 9}},
        {"path": "p", "type": "child_changed", "name": "a", "prevName": "c", "data": {"n": 9}},
        {"path": "p", "type": "value", "data": {"a": {"n": 9}, "c": {"n": 3}}}
      ]},
      {"type": "ackUserWrite", "writeId": 0, "revert": true, "events": [
        {"path": "p", "type": "child_moved", "name": "a", "prevName": null, "data": {"n": 2}},
        {"path": "p", "type": "child_changed", "name": "a", "prevName": null, "data": {"n": 2}},
        {"path": "p", "type": "value", "data": {"a": {"n": 2}, "c": {"n": 3}}}
      ]}
    ]}
    """,
    """
    {"name": "a kept-back write is seen with the server's value only", "steps": [
      {"type": "listen", "path": "p", "events": []},
      {"type": "set", "path": "p", "data": 1, "visible": false, "events": []},
      {"type": "serverUpdate", "path": "p", "data": 2, "events": [{"path": "p", "type": "value", "data": 2}]},
      {"type": "ackUserWrite", "writeId": 0, "events": []}
    ]}
    """,
    """
    {"name": "priorities order children by default", "steps": [
      {"type": "listen", "path": "p", "events": []},
      {"type": "serverUpdate", "path": "p", "data": {"a": {".value": 1, ".priority": 2}, "b": 1}, "events": [
        {"path": "p", "type": "child_added", "name": "b", "prevName": null, "data": 1},
        {"path": "p", "type": "child_added", "name": "a", "prevName": "b", "data": {".value": 1, ".priority": 2}},
        {"path": "p", "type": "value", "data": {"a": {".value": 1, ".priority": 2}, "b": 1}}
      ]},
      {"type": "set", "path": "p/b/.priority", "data": 3, "events": [
        {"path": "p", "type": "child_moved", "name": "b", "prevName": "a", "data": {".value": 1, ".priority": 3}},
        {"path": "p", "type": "child_changed", "name": "b", "prevName": "a", "data": {".value": 1, ".priority": 3}},
        {"path": "p", "type": "value", "data":
          {"a": {".value": 1, ".priority": 2}, "b": {".value": 1, ".priority": 3}}}
      ]}
    ]}
    """,
    """
    {"name": "one callback at two nodes, ended at one", "steps": [
      {"type": "listen", "path": "p", "callbackId": 1, "events": []},
      {"type": "listen", "path": "p", "callbackId": 1, "params": {"tag": 1, "startAt": {"index": null, "name": "m"}},
       "events": []},
      {"type": "listen", "path": "q", "callbackId": 1, "events": []},
      {"type": "unlisten", "path": "p", "callbackId": 1, "events": []},
      {"type": "update", "path": "", "data": {"p/x": 1, "q": 2}, "events": [
        {"path": "q", "type": "value", "data": 2}
      ]}
    ]}
    """,
  ]

  @Test(arguments: cases.indices, ["", "foo/bar/baz"])
  func `a case in the shape of published suites holds, also under another node`(index: Int, basePath: String) throws {
    let testCase = try JSONValue(parsing: Self.cases[index])
    #expect(TreeDriver.differences(in: testCase, under: basePath) == [])
  }

  @Test func `a missing, an additional and a different event are differences`() throws {
    let texts = [
      #"[]"#, #"[{"path": "p", "type": "value", "data": 2}]"#, #"[{"path": "q", "type": "value", "data": 1}]"#,
      #"[{"path": "p", "type": "value", "data": 1}, {"path": "p", "type": "value", "data": 1}]"#,
    ]
    for text in texts {
      let testCase: JSONValue = [
        "steps": [
          ["type": "listen", "path": "p", "events": []],
          ["type": "serverUpdate", "path": "p", "data": 1, "events": try JSONValue(parsing: text)],
        ]
      ]
      #expect(TreeDriver.differences(in: testCase).count == 1, "\(text)")
    }
  }

  @Test func `acknowledgements are reported on request`() throws {
    var driver = TreeDriver()
    driver.reportsAcknowledgements = true
    try driver.run(["type": "listen", "path": "p", "callbackId": "c"])
    #expect(driver.serverListens == ["/p"])
    let events = try driver.run(["type": "set", "path": "p", "data": ["x": 1]])
    #expect(events.map(\.isAcknowledged) == [false, false])
    #expect(events.map(\.callbackID) == ["c", "c"])
    try driver.run(["type": "serverUpdate", "path": "p", "data": ["x": 1]])
    let answers = try driver.run(["type": "ackUserWrite", "writeId": 0])
    #expect(answers.map(\.type) == ["child_acknowledged", "value_acknowledged"])
    let last = try driver.run(["type": "serverCancel", "path": "p", "reason": "rules"])
    #expect(last.map(\.type) == ["cancel"])
  }

  @Test func `a step that cannot be read is an error that says why`() {
    let steps: [JSONValue] = [
      [:], ["type": "jump"], ["type": "set", "path": "a.b", "data": 1], ["type": "unlisten", "path": "p"],
      ["type": "serverUpdate", "path": "p", "tag": 4, "data": 1], ["type": "ackUserWrite"],
      ["type": "listen", "path": "p", "params": ["tag": 1, "limitToFirst": 0]],
      ["type": "listen", "path": "p", "params": ["tag": 1, "sideways": 2]],
      ["type": "set", "path": "p", "data": ["a/b": 1]],
    ]
    for step in steps {
      var driver = TreeDriver()
      #expect(throws: TreeDriverError.self, "\(step)") { try driver.run(step) }
    }
  }
}
