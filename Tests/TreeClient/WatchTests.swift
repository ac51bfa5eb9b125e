import MartletJSON
import MartletJSONTree
import Testing

@testable import MartletTreeClient

/// Listeners that get changes without their values: how often, and whether acknowledged, is as with values.
@Suite struct WatchTests {
  static let offering =
    #"> {"t":"c","d":{"t":"h","d":{"ts":5000,"v":"5","h":"h","s":"s1","x":{"resume":true,"writes":true,"watch":true}}}}"#

  static let transcripts: [String] = [
    // Another client's write between one of this client's and its answer is news; one before it is not.
    """
    + open
    \(offering)
    = connected s1
    + watch /a 3
    < {"t":"d","d":{"r":1,"a":"w","b":{"p":"/a"}}}
    > {"t":"d","d":{"a":"w","b":{"p":"a","v":"f-1"}}}
    = value - null
    > {"t":"d","d":{"r":1,"b":{"s":"ok","d":{},"v":"f-1"}}}
    = ready 3
    + put /a/x 1
    = value - null pending
    < {"t":"d","d":{"r":2,"a":"p","b":{"p":"/a/x","d":1,"x":{"n":1,"k":0}}}}
    > {"t":"d","d":{"a":"w","b":{"p":"a","v":"f-2","s":["x"]}}}
    > {"t":"d","d":{"a":"w","b":{"p":"a","v":"f-3","s":["x/y"]}}}
    > {"t":"d","d":{"r":2,"b":{"s":"ok","d":{},"v":"f-2"}}}
    = value - null
    = acknowledged 2 f-2 null
    + put /a/x 2
    = value - null pending
    < {"t":"d","d":{"r":3,"a":"p","b":{"p":"/a/x","d":2,"x":{"n":2,"k":1}}}}
    > {"t":"d","d":{"a":"w","b":{"p":"a","v":"f-4","s":["x/z"]}}}
    > {"t":"d","d":{"a":"w","b":{"p":"a","v":"f-5","s":["x"]}}}
    > {"t":"d","d":{"r":3,"b":{"s":"ok","d":{},"v":"f-5"}}}
    = valueAcknowledged - null
    = acknowledged 3 f-5 null
    + put /a/x 3
    = value - null pending
    < {"t":"d","d":{"r":4,"a":"p","b":{"p":"/a/x","d":3,"x":{"n":3,"k":2}}}}
    + put /a/y 3
    = value - null pending
    < {"t":"d","d":{"r":5,"a":"p","b":{"p":"/a/y","d":3,"x":{"n":4,"k":2}}}}
    > {"t":"d","d":{"a":"w","b":{"p":"a","v":"f-6","s":["x"]}}}
    > {"t":"d","d":{"a":"w","b":{"p":"a","v":"f-7","s":["x","y"]}}}
    > {"t":"d","d":{"a":"w","b":{"p":"a","v":"f-8","s":["y"]}}}
    > {"t":"d","d":{"r":4,"b":{"s":"ok","d":{},"v":"f-6"}}}
    = value - null pending
    = acknowledged 4 f-6 null
    > {"t":"d","d":{"r":5,"b":{"s":"ok","d":{},"v":"f-8"}}}
    = valueAcknowledged - null
    = acknowledged 5 f-8 null
    """,
    // A watch is one for all its listeners; it resumes from its revision, and a change of it may be a gap.
    """
    + watch /a 3
    + open
    \(offering)
    = connected s1
    < {"t":"d","d":{"r":1,"a":"w","b":{"p":"/a"}}}
    > {"t":"d","d":{"a":"w","b":{"p":"a"}}}
    = value - null
    > {"t":"d","d":{"r":1,"b":{"s":"ok","d":{},"v":"f-4"}}}
    = ready 3
    + watch /a 4
    = value - null
    = ready 4
    > {"t":"d","d":{"a":"w","b":{"p":"a","s":["x"]}}}
    = value - null
    = value - null
    > {"t":"c","d":{"t":"v","d":"f-9"}}
    + unlisten 4
    + lost
    + open
    \(offering)
    = connected s1
    < {"t":"d","d":{"r":2,"a":"w","b":{"p":"/a","x":{"v":"f-9"}}}}
    > {"t":"d","d":{"a":"w","b":{"p":"a","g":{"s":"retention","from":"f-9","to":"f-12"}}}}
    = gap 3 retention
    > {"t":"d","d":{"a":"w","b":{"p":"a"}}}
    = value - null
    > {"t":"d","d":{"r":2,"b":{"s":"ok","d":{},"v":"f-12"}}}
    + unlisten 3
    < {"t":"d","d":{"r":3,"a":"nw","b":{"p":"/a"}}}
    > {"t":"d","d":{"a":"w","b":{"p":"a"}}}
    > {"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}
    """,
    // This client's own writes: pending, confirmed, refused; what others write meanwhile.
    """
    + open
    \(offering)
    = connected s1
    + watch /a 3
    < {"t":"d","d":{"r":1,"a":"w","b":{"p":"/a"}}}
    + put /a/x 1
    < {"t":"d","d":{"r":2,"a":"p","b":{"p":"/a/x","d":1,"x":{"n":1,"k":0}}}}
    > {"t":"d","d":{"a":"w","b":{"p":"a"}}}
    = value - null pending
    > {"t":"d","d":{"r":1,"b":{"s":"ok","d":{},"v":"f-4"}}}
    = ready 3
    > {"t":"d","d":{"a":"w","b":{"p":"a","v":"f-5","s":["x"]}}}
    > {"t":"d","d":{"a":"w","b":{"p":"a","v":"f-6","s":["y"]}}}
    = value - null pending
    > {"t":"d","d":{"r":2,"b":{"s":"ok","d":{},"v":"f-5"}}}
    = valueAcknowledged - null
    = acknowledged 2 f-5 null
    + merge /a {"x":2,"z":3}
    = value - null pending
    < {"t":"d","d":{"r":3,"a":"m","b":{"p":"/a","d":{"x":2,"z":3},"x":{"n":2,"k":1}}}}
    > {"t":"d","d":{"r":3,"b":{"s":"permission_denied","d":"no"}}}
    = value - null
    = writeRejected - null
    = rejected 3 permission_denied
    + put /b 1
    < {"t":"d","d":{"r":4,"a":"p","b":{"p":"/b","d":1,"x":{"n":3,"k":2}}}}
    > {"t":"d","d":{"r":4,"b":{"s":"ok","d":{},"v":"f-6"}}}
    = acknowledged 4 f-6 null
    """,
    // A write of the node, or of one above, is a value before the server has said anything.
    """
    + watch /a/b 3
    + put /a {"b":1}
    = value - null pending
    + put /a/b/c 1
    = value - null pending
    + open
    \(offering)
    = connected s1
    < {"t":"d","d":{"r":1,"a":"w","b":{"p":"/a/b"}}}
    < {"t":"d","d":{"r":2,"a":"p","b":{"p":"/a","d":{"b":1},"x":{"n":1,"k":0}}}}
    < {"t":"d","d":{"r":3,"a":"p","b":{"p":"/a/b/c","d":1,"x":{"n":2,"k":0}}}}
    > {"t":"d","d":{"a":"w","b":{"p":"a/b"}}}
    > {"t":"d","d":{"r":1,"b":{"s":"ok","d":{},"v":"f-4"}}}
    = ready 3
    > {"t":"d","d":{"a":"w","b":{"p":"a/b","v":"f-5"}}}
    > {"t":"d","d":{"r":2,"b":{"s":"ok","d":{},"v":"f-5"}}}
    = acknowledged 2 f-5 null
    > {"t":"d","d":{"a":"w","b":{"p":"a/b","v":"f-6","s":["c"]}}}
    > {"t":"d","d":{"r":3,"b":{"s":"ok","d":{},"v":"f-6"}}}
    = valueAcknowledged - null
    = acknowledged 3 f-6 null
    """,
    // A listener of values of the same node, or above, comes and goes; both are ended by the server.
    """
    + open
    \(offering)
    = connected s1
    + watch /a 3
    < {"t":"d","d":{"r":1,"a":"w","b":{"p":"/a"}}}
    > {"t":"d","d":{"a":"w","b":{"p":"a"}}}
    = value - null
    > {"t":"d","d":{"r":1,"b":{"s":"ok","d":{},"v":"f-4"}}}
    = ready 3
    + listen /a
    < {"t":"d","d":{"r":2,"a":"q","b":{"p":"/a","h":""}}}
    > {"t":"d","d":{"a":"d","b":{"p":"a","d":7}}}
    = value - 7
    > {"t":"d","d":{"r":2,"b":{"s":"ok","d":{},"v":"f-4"}}}
    = ready 1
    > {"t":"d","d":{"a":"w","b":{"p":"a"}}}
    = value - null
    > {"t":"d","d":{"a":"d","b":{"p":"a","d":8}}}
    = value - 8
    + put /a 9
    = value - 9 pending
    = value - null pending
    < {"t":"d","d":{"r":3,"a":"p","b":{"p":"/a","d":9,"x":{"n":1,"k":0}}}}
    > {"t":"d","d":{"a":"w","b":{"p":"a","v":"f-6"}}}
    > {"t":"d","d":{"a":"d","b":{"p":"a","d":9}}}
    > {"t":"d","d":{"r":3,"b":{"s":"ok","d":{},"v":"f-6"}}}
    = valueAcknowledged - 9
    = valueAcknowledged - null
    = acknowledged 3 f-6 null
    + unlisten 1
    < {"t":"d","d":{"r":4,"a":"n","b":{"p":"/a"}}}
    > {"t":"d","d":{"a":"w","b":{"p":"a"}}}
    = value - null
    + listen /
    < {"t":"d","d":{"r":5,"a":"q","b":{"p":"/","h":""}}}
    > {"t":"d","d":{"a":"w","b":{"p":"a","c":"permission_denied: no"}}}
    = cancelled - null
    > {"t":"d","d":{"r":5,"b":{"s":"permission_denied","d":"no"}}}
    = cancelled - null
    + lost
    + open
    \(offering)
    = connected s1
    """,
    // A watch that the server refuses.
    """
    + open
    \(offering)
    = connected s1
    + watch /a 3
    < {"t":"d","d":{"r":1,"a":"w","b":{"p":"/a"}}}
    > {"t":"d","d":{"r":1,"b":{"s":"permission_denied","d":"no"}}}
    = cancelled - null
    """,
    // A server that offers no watches is asked for values, and nothing is reported twice.
    """
    + watch /a 3
    + put /a 1
    = value - null pending
    + open
    \(TreeClientTests.extended)
    = connected s1
    < {"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":1,"x":{"n":1,"k":0}}}}
    < {"t":"d","d":{"r":2,"a":"q","b":{"p":"/a","h":""}}}
    > {"t":"d","d":{"r":1,"b":{"s":"ok","d":{},"v":"f-5"}}}
    > {"t":"d","d":{"a":"d","b":{"p":"a","d":1}}}
    > {"t":"d","d":{"r":2,"b":{"s":"ok","d":{},"v":"f-5"}}}
    = ready 3
    = valueAcknowledged - 1
    = acknowledged 2 f-5 null
    + watch /b 4
    < {"t":"d","d":{"r":3,"a":"q","b":{"p":"/b","h":""}}}
    """,
    // A value that a cache has is reported at once; the server then says what has changed since its revision.
    """
    + known /a f-2
    = value - null
    + open
    \(offering)
    = connected s1
    < {"t":"d","d":{"r":1,"a":"w","b":{"p":"/a","x":{"v":"f-2"}}}}
    > {"t":"d","d":{"r":1,"b":{"s":"ok","d":{},"v":"f-4"}}}
    = ready 3
    """,
    """
    + known /a f-2
    = value - null
    + open
    \(TreeClientTests.extended)
    = connected s1
    < {"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":"","x":{"v":"f-2"}}}}
    > {"t":"d","d":{"a":"d","b":{"p":"a","d":2}}}
    = value - 2
    > {"t":"d","d":{"r":1,"b":{"s":"ok","d":{},"v":"f-4"}}}
    = ready 3
    """,
  ]

  @Test(arguments: transcripts.indices)
  func `a client that watches nodes says what its transcript says`(index: Int) throws {
    var script = ClientTranscript()
    let text = Self.transcripts[index]
    #expect(try script.play(text) == text)
  }
}
