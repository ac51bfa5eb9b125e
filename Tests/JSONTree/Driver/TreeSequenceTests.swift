import MartletJSON
import MartletTesting
import Testing

/// Sequences of listens, values of the server, writes and their answers, with the events that follow from the rules of
/// the tree: removals, additions, moves, changes, then the value; deeper nodes first; nothing without a difference.
@Suite struct TreeSequenceTests {
  struct Sequence: Sendable, CustomTestStringConvertible {
    let name: String
    let steps: [DriverStep]
    var testDescription: String { name }

    init(_ name: String, _ steps: [DriverStep]) { (self.name, self.steps) = (name, steps) }
  }

  // MARK: Whole nodes

  static let whole: [Sequence] = [
    Sequence(
      "a merge shows its children before the node is known, and the node when it is",
      [
        .listen("p"),
        .update("p", ["a": 1, "b": 2], .added("p", "a", 1), .added("p", "b", 2, "a")),
        .server("p", ["c": 3], .added("p", "c", 3, "b"), .value("p", ["a": 1, "b": 2, "c": 3])),
        .serverMerge("p", ["a": 1, "b": 2]), .ack(0),
      ]),
    Sequence(
      "a part of a child that is not known shows nothing until the child is",
      [
        .listen("p"), .set("p/a/x", 1), .server("p/b/y", 2),
        .server("p", ["a": ["y": 3]], .added("p", "a", ["x": 1, "y": 3]), .value("p", ["a": ["x": 1, "y": 3]])),
        .server(
          "p/a/z", 4, .changed("p", "a", ["x": 1, "y": 3, "z": 4]), .value("p", ["a": ["x": 1, "y": 3, "z": 4]])),
        .revert(0, .changed("p", "a", ["y": 3, "z": 4]), .value("p", ["a": ["y": 3, "z": 4]])),
      ]),
    Sequence(
      "a write above two listeners is reported by the deeper one first",
      [
        .listen("p"), .listen("p/a"),
        .set(
          "", ["p": ["a": ["b": 1]]], .added("p/a", "b", 1), .value("p/a", ["b": 1]), .added("p", "a", ["b": 1]),
          .value("p", ["a": ["b": 1]])),
        .server("", ["p": ["a": ["b": 1]], "q": 9]), .ack(0),
      ]),
    Sequence(
      "a listener below one that knows its node begins with what that knows",
      [
        .listen("p"), .server("p", ["a": ["b": 1]], .added("p", "a", ["b": 1]), .value("p", ["a": ["b": 1]])),
        .listen("p/a", nil, .added("p/a", "b", 1), .value("p/a", ["b": 1])),
        .listen("p/a/b", nil, .value("p/a/b", 1)),
        .listen("p/none", nil, .value("p/none", nil)),
        .server(
          "p/a", 5, .value("p/a/b", nil), .removed("p/a", "b", 1), .value("p/a", 5), .changed("p", "a", 5),
          .value("p", ["a": 5])),
      ]),
    Sequence(
      "a listener above one that knows its node begins with that child, and with its value later",
      [
        .listen("p/a"), .server("p/a", 1, .value("p/a", 1)),
        .listen("p", nil, .added("p", "a", 1)),
        .server("p", ["a": 1, "b": 2], .added("p", "b", 2, "a"), .value("p", ["a": 1, "b": 2])),
        .unlisten("p"), .server("p/a", 3, .value("p/a", 3)),
      ]),
    Sequence(
      "the same value again, above, at and below, raises nothing",
      [
        .listen("p"), .server("p", ["a": ["b": 1]], .added("p", "a", ["b": 1]), .value("p", ["a": ["b": 1]])),
        .server("p", ["a": ["b": 1]]), .server("p/a/b", 1), .serverMerge("p", ["a/b": 1]),
        .serverMerge("", ["p/a": ["b": 1]]),
        .server("", ["p": ["a": ["b": 1]]]), .set("p/a/b", 1), .ack(0), .update("p", ["a": ["b": 1]]), .revert(1),
      ]),
    Sequence(
      "a server's merge across children is one update with each kind in its order",
      [
        .listen("p"),
        .server(
          "p", ["a": 1, "b": 2, "c": 3], .added("p", "a", 1), .added("p", "b", 2, "a"), .added("p", "c", 3, "b"),
          .value("p", ["a": 1, "b": 2, "c": 3])),
        .serverMerge(
          "p", ["c": 4, "a": nil, "d": 5], .removed("p", "a", 1), .added("p", "d", 5, "c"), .changed("p", "c", 4, "b"),
          .value("p", ["b": 2, "c": 4, "d": 5])),
      ]),
    Sequence(
      "a node becomes a leaf and has children again",
      [
        .listen("p"), .server("p", 5, .value("p", 5)),
        .set("p/a", 1, .added("p", "a", 1), .value("p", ["a": 1])),
        .revert(0, .removed("p", "a", 1), .value("p", 5)),
        .set("p/a/b", 2, .added("p", "a", ["b": 2]), .value("p", ["a": ["b": 2]])),
        .server("p", ["c": 3], .added("p", "c", 3, "a"), .value("p", ["a": ["b": 2], "c": 3])),
        .set("p", "x", .removed("p", "a", ["b": 2]), .removed("p", "c", 3), .value("p", "x")),
        .server("p", "x"), .ack(1), .ack(2),
      ]),
    Sequence(
      "a node above that becomes a leaf, or goes, takes what is listened to below it",
      [
        .listen("p/a/b"), .server("p/a/b", ["x": 1], .added("p/a/b", "x", 1), .value("p/a/b", ["x": 1])),
        .set("p", 3, .removed("p/a/b", "x", 1), .value("p/a/b", nil)),
        .revert(0, .added("p/a/b", "x", 1), .value("p/a/b", ["x": 1])),
        .update("p", ["a": nil], .removed("p/a/b", "x", 1), .value("p/a/b", nil)),
        .revert(1, .added("p/a/b", "x", 1), .value("p/a/b", ["x": 1])),
        .set("p/a/b/x/y", ["z": nil]),
      ]),
    Sequence(
      "an empty value of a node that was not known is a value",
      [
        .listen("p"), .server("p", nil, .value("p", nil)), .server("p", nil), .set("p", nil), .ack(0),
        .set("p/a", nil), .revert(1),
      ]),
    Sequence(
      "a listener that is told that all has come shows its value",
      [
        .listen("p"), .update("p", ["a": 1], .added("p", "a", 1)),
        .complete("p", .value("p", ["a": 1])), .complete("p"),
      ]),
    Sequence(
      "keys are ordered as numbers of 32 bits first, then by UTF-16",
      [
        .listen("p"),
        .server(
          "p", ["10": 1, "9": 1, "-1": 1, "2147483648": 1, "a": 1, "\u{FF5E}": 1, "\u{1F600}": 1, "09": 1, "B": 1],
          .added("p", "-1", 1), .added("p", "9", 1, "-1"), .added("p", "09", 1, "9"), .added("p", "10", 1, "09"),
          .added("p", "2147483648", 1, "10"), .added("p", "B", 1, "2147483648"), .added("p", "a", 1, "B"),
          .added("p", "\u{1F600}", 1, "a"), .added("p", "\u{FF5E}", 1, "\u{1F600}"),
          .value(
            "p", ["10": 1, "9": 1, "-1": 1, "2147483648": 1, "a": 1, "\u{FF5E}": 1, "\u{1F600}": 1, "09": 1, "B": 1])),
      ]),
  ]

  // MARK: Pending writes

  static let pending: [Sequence] = [
    Sequence(
      "the server's value of a child under a write waits, that of others is shown",
      [
        .listen("p"),
        .server("p", ["a": 1, "b": 1], .added("p", "a", 1), .added("p", "b", 1, "a"), .value("p", ["a": 1, "b": 1])),
        .set("p/a", 2, .changed("p", "a", 2), .value("p", ["a": 2, "b": 1])),
        .server("p/a", 3), .server("p/b", 4, .changed("p", "b", 4, "a"), .value("p", ["a": 2, "b": 4])),
        .server("p", ["a": 5, "b": 6], .changed("p", "b", 6, "a"), .value("p", ["a": 2, "b": 6])),
        .ack(0, .changed("p", "a", 5), .value("p", ["a": 5, "b": 6])),
      ]),
    Sequence(
      "the first of two writes is taken back without a trace, the second shows the server's value",
      [
        .listen("p"), .server("p", 0, .value("p", 0)), .set("p", 1, .value("p", 1)), .set("p", 2, .value("p", 2)),
        .revert(0), .revert(1, .value("p", 0)),
      ]),
    Sequence(
      "the second of two writes is taken back after the first was confirmed, and shows it",
      [
        .listen("p"), .server("p", 0, .value("p", 0)), .set("p", 1, .value("p", 1)), .set("p", 2, .value("p", 2)),
        .server("p", 1), .ack(0), .revert(1, .value("p", 1)),
      ]),
    Sequence(
      "a merge that is taken back leaves what a later write covers",
      [
        .listen("p"),
        .server("p", ["a": 0, "b": 0], .added("p", "a", 0), .added("p", "b", 0, "a"), .value("p", ["a": 0, "b": 0])),
        .update(
          "p", ["a": 1, "b": 1], .changed("p", "a", 1), .changed("p", "b", 1, "a"), .value("p", ["a": 1, "b": 1])),
        .set("p/a", 2, .changed("p", "a", 2), .value("p", ["a": 2, "b": 1])),
        .revert(0, .changed("p", "b", 0, "a"), .value("p", ["a": 2, "b": 0])),
        .revert(1, .changed("p", "a", 0), .value("p", ["a": 0, "b": 0])),
      ]),
    Sequence(
      "writes below a write that is taken back stay, and those it had covered come back",
      [
        .listen("p"), .server("p", ["k": 1], .added("p", "k", 1), .value("p", ["k": 1])),
        .set("p/a", 1, .added("p", "a", 1), .value("p", ["a": 1, "k": 1])),
        .set("p", ["z": 1], .removed("p", "a", 1), .removed("p", "k", 1), .added("p", "z", 1), .value("p", ["z": 1])),
        .set("p/z/y", 2, .changed("p", "z", ["y": 2]), .value("p", ["z": ["y": 2]])),
        .revert(
          1, .added("p", "a", 1), .added("p", "k", 1, "a"), .value("p", ["a": 1, "k": 1, "z": ["y": 2]])),
        .ack(0, .removed("p", "a", 1), .value("p", ["k": 1, "z": ["y": 2]])),
      ]),
    Sequence(
      "a deep merge across two listeners is confirmed and changes nothing",
      [
        .listen("p/a"), .listen("p/b"), .server("p/a", nil, .value("p/a", nil)), .server("p/b", 1, .value("p/b", 1)),
        .update("p", ["a/x": 1, "b": 2], .added("p/a", "x", 1), .value("p/a", ["x": 1]), .value("p/b", 2)),
        .serverMerge("p/a", ["x": 1]), .server("p/b", 2), .ack(0),
      ]),
    Sequence(
      "a write that the server changes is shown as the server has it",
      [
        .listen("p"), .server("p", nil, .value("p", nil)),
        .set("p", ["n": 1, "m": 1], .added("p", "m", 1), .added("p", "n", 1, "m"), .value("p", ["m": 1, "n": 1])),
        .server("p", ["n": 2]),
        .ack(0, .removed("p", "m", 1), .changed("p", "n", 2), .value("p", ["n": 2])),
      ]),
    Sequence(
      "a deletion under way hides the server's changes, and is taken back with them",
      [
        .listen("p"), .server("p", ["a": 1], .added("p", "a", 1), .value("p", ["a": 1])),
        .set("p/a", nil, .removed("p", "a", 1), .value("p", nil)), .server("p/a", 2),
        .revert(0, .added("p", "a", 2), .value("p", ["a": 2])),
      ]),
    Sequence(
      "a write to a node that is not known, and is taken back, leaves nothing",
      [
        .listen("p"), .set("p", ["a": 1], .added("p", "a", 1), .value("p", ["a": 1])),
        .revert(0, .removed("p", "a", 1)),
        .server("p", ["b": 1], .added("p", "b", 1), .value("p", ["b": 1])),
      ]),
  ]

  // MARK: Windows

  private static func items(_ values: (String, Int64)...) -> JSONValue {
    .object(JSONObject(distinct: values.map { ($0.0, ["n": .int($0.1)]) }))
  }

  static let windows: [Sequence] = [
    Sequence(
      "a tag of a listen without bounds, and a bound that is only a value",
      [
        .listen("p", ["tag": 3, "orderByKey": true]),
        .server("p", ["a": 1], tag: 3, .added("p", "a", 1), .value("p", ["a": 1])),
        .listen("q", ["tag": 4, "orderByChild": "n", "startAt": 2, "limitToFirst": 1]),
        .server("q", ["a": ["n": 2]], tag: 4, .added("q", "a", ["n": 2]), .value("q", ["a": ["n": 2]])),
        .set("q/b", ["n": 1]),
      ]),
    Sequence(
      "a write into a full window pushes out the child at its limit, which comes back",
      [
        .listen("p", ["tag": 1, "limitToFirst": 2, "orderByKey": true]),
        .server(
          "p", ["b": 1, "d": 1], tag: 1, .added("p", "b", 1), .added("p", "d", 1, "b"), .value("p", ["b": 1, "d": 1])),
        .set("p/c", 1, .removed("p", "d", 1), .added("p", "c", 1, "b"), .value("p", ["b": 1, "c": 1])),
        .revert(0, .removed("p", "c", 1), .added("p", "d", 1, "b"), .value("p", ["b": 1, "d": 1])),
        .set("p/e", 1),
        .set("p/b", nil, .removed("p", "b", 1), .added("p", "e", 1, "d"), .value("p", ["d": 1, "e": 1])),
        .revert(2, .removed("p", "e", 1), .added("p", "b", 1), .value("p", ["b": 1, "d": 1])),
        .revert(1),
      ]),
    Sequence(
      "equal values are ordered by key, also at the edge of a window",
      [
        .listen("p", ["tag": 1, "limitToLast": 2, "orderBy": "n"]),
        .server(
          "p", items(("b", 1), ("c", 1)), tag: 1, .added("p", "b", ["n": 1]), .added("p", "c", ["n": 1], "b"),
          .value("p", items(("b", 1), ("c", 1)))),
        .set("p/a", ["n": 1]),
        .set(
          "p/d", ["n": 1], .removed("p", "b", ["n": 1]), .added("p", "d", ["n": 1], "c"),
          .value("p", items(("c", 1), ("d", 1)))),
        .set(
          "p/c/n", 2, .moved("p", "c", ["n": 2], "d"), .changed("p", "c", ["n": 2], "d"),
          .value("p", items(("c", 2), ("d", 1)))),
      ]),
    Sequence(
      "a window whose next child is not known has fewer children until the server sends one",
      [
        .listen("p", ["tag": 1, "limitToFirst": 2]),
        .server(
          "p", ["a": 1, "b": 1], tag: 1, .added("p", "a", 1), .added("p", "b", 1, "a"), .value("p", ["a": 1, "b": 1])),
        .set("p/a", nil, .removed("p", "a", 1), .value("p", ["b": 1])),
        .serverMerge("p", ["a": nil, "c": 1], tag: 1, .added("p", "c", 1, "b"), .value("p", ["b": 1, "c": 1])),
        .ack(0),
      ]),
    Sequence(
      "a window at a node that is known whole begins with its part, and refills itself",
      [
        .listen("p"),
        .server(
          "p", ["a": 3, "b": 2, "c": 1], .added("p", "a", 3), .added("p", "b", 2, "a"), .added("p", "c", 1, "b"),
          .value("p", ["a": 3, "b": 2, "c": 1])),
        .listen(
          "p", ["tag": 1, "limitToFirst": 2, "orderByValue": true], .added("p", "c", 1), .added("p", "b", 2, "c"),
          .value("p", ["b": 2, "c": 1])),
        .unlisten("p"),
        .set("p/c", 9, .removed("p", "c", 1), .added("p", "a", 3, "b"), .value("p", ["a": 3, "b": 2])),
      ]),
    Sequence(
      "a range has its bounds, and equal values their keys",
      [
        .listen(
          "p", ["tag": 1, "orderBy": "n", "startAt": ["index": 2, "name": "b"], "endAt": ["index": 3, "name": "m"]]),
        .server(
          "p", items(("b", 2), ("z", 2)), tag: 1, .added("p", "b", ["n": 2]), .added("p", "z", ["n": 2], "b"),
          .value("p", items(("b", 2), ("z", 2)))),
        .set("p/a", ["n": 2]),
        .set("p/m", ["n": 3], .added("p", "m", ["n": 3], "z"), .value("p", items(("b", 2), ("m", 3), ("z", 2)))),
        .set("p/n", ["n": 3]), .set("p/q", ["n": "2"]),
        .set("p/z/n", 1, .removed("p", "z", ["n": 2]), .value("p", items(("b", 2), ("m", 3)))),
        .set("p/b/n", nil, .removed("p", "b", ["n": 2]), .value("p", items(("m", 3)))),
      ]),
    Sequence(
      "values are ordered null, false, true, numbers, texts, objects",
      [
        .listen("p", ["tag": 1, "orderBy": "v"]),
        .server(
          "p",
          [
            "a": ["v": ["x": 1]], "b": ["v": "1"], "c": ["v": -1.5], "d": ["v": true], "e": ["v": false], "f": ["w": 1],
            "g": 7,
          ], tag: 1, .added("p", "f", ["w": 1]), .added("p", "g", 7, "f"), .added("p", "e", ["v": false], "g"),
          .added("p", "d", ["v": true], "e"), .added("p", "c", ["v": -1.5], "d"), .added("p", "b", ["v": "1"], "c"),
          .added("p", "a", ["v": ["x": 1]], "b"),
          .value(
            "p",
            [
              "a": ["v": ["x": 1]], "b": ["v": "1"], "c": ["v": -1.5], "d": ["v": true], "e": ["v": false],
              "f": ["w": 1], "g": 7,
            ])),
      ]),
    Sequence(
      "two windows of one node have their own values, and a write shows in both",
      [
        .listen("p", ["tag": 1, "limitToFirst": 1, "orderByKey": true]),
        .listen("p", ["tag": 2, "limitToLast": 1, "orderByKey": true]),
        .server("p", ["b": 1], tag: 1, .added("p", "b", 1), .value("p", ["b": 1])),
        .server("p", ["y": 1], tag: 2, .added("p", "y", 1), .value("p", ["y": 1])),
        .update(
          "p", ["a": 2, "z": 2], .removed("p", "b", 1), .added("p", "a", 2), .value("p", ["a": 2]),
          .removed("p", "y", 1),
          .added("p", "z", 2), .value("p", ["z": 2])),
      ]),
    Sequence(
      "priorities order a window, and a move within it is reported before the change",
      [
        .listen("p", ["tag": 1, "limitToLast": 2, "orderByPriority": true]),
        .server(
          "p", ["a": [".value": 1, ".priority": 1], "b": [".value": 1, ".priority": "x"]], tag: 1,
          .added("p", "a", [".value": 1, ".priority": 1]), .added("p", "b", [".value": 1, ".priority": "x"], "a"),
          .value("p", ["a": [".value": 1, ".priority": 1], "b": [".value": 1, ".priority": "x"]])),
        .set(
          "p/a/.priority", "y", .moved("p", "a", [".value": 1, ".priority": "y"], "b"),
          .changed("p", "a", [".value": 1, ".priority": "y"], "b"),
          .value("p", ["a": [".value": 1, ".priority": "y"], "b": [".value": 1, ".priority": "x"]])),
        .set("p/c", 1),
      ]),
    Sequence(
      "a window by key takes numbers as numbers",
      [
        .listen("p", ["tag": 1, "orderByKey": true, "startAt": ["index": "9"], "endAt": ["index": "a"]]),
        .server(
          "p", ["9": 1, "10": 1], tag: 1, .added("p", "9", 1), .added("p", "10", 1, "9"),
          .value("p", ["9": 1, "10": 1])),
        .set("p/8", 1), .set("p/b", 1),
        .set(
          "p/99999999999", 1, .added("p", "99999999999", 1, "10"),
          .value("p", ["9": 1, "10": 1, "99999999999": 1])),
      ]),
  ]

  @Test(arguments: whole + pending + windows, ["", "foo/bar/baz"])
  func `a sequence raises the events that the tree's rules give`(sequence: Sequence, basePath: String) {
    #expect(TreeDriver.differences(in: ["steps": .array(sequence.steps.map(\.json))], under: basePath) == [])
  }
}
