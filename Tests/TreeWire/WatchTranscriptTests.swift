import MartletJSONTree
import MartletVocabulary
import Testing

@testable import MartletTreeWire

/// What is said about nodes whose changes are watched without their values.
@Suite struct WatchTranscriptTests {
  @Test func `a server sends changes, gaps and the end of a watch beside a listener of the same node`() throws {
    let text = #"""
      + open
      < {"t":"c","d":{"t":"h","d":{"ts":1234,"v":"5","h":"h.example","s":"s1","x":{"resume":true,"writes":true,"watch":true}}}}
      > {"t":"d","d":{"r":1,"a":"w","b":{"p":"/a","x":{"v":"f-3"}}}}
      = 1 w {"p":"/a"}
      + changed a f-4
      < {"t":"d","d":{"a":"w","b":{"p":"a","v":"f-4"}}}
      + answer 1 ok
      < {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
      > {"t":"d","d":{"r":2,"a":"q","b":{"p":"/a","h":""}}}
      = 2 q {"p":"/a","h":""}
      + changed a f-5 x/y .priority
      < {"t":"d","d":{"a":"w","b":{"p":"a","v":"f-5","s":["x/y",".priority"]}}}
      + miss a slow-client
      < {"t":"d","d":{"a":"w","b":{"p":"a","g":{"s":"slow-client","to":"f-9","from":"f-1"}}}}
      + end a permission_denied
      < {"t":"d","d":{"a":"w","b":{"p":"a","c":"permission_denied"}}}
      > {"t":"d","d":{"r":3,"a":"nw","b":{"p":"/a"}}}
      = 3 nw {"p":"/a"}
      > {"t":"d","d":{"r":4,"a":"w","b":{"p":"/a.b"}}}
      < {"t":"d","d":{"r":4,"b":{"s":"invalid_path","d":"/: a key contains a control character or one of . $ # [ ] /: a.b"}}}
      """#
    var script = ServerScript(machine: TreeServerMachine(isExtended: true))
    #expect(try script.play(text) == text)
    #expect(script.machine.listenCount == 1)
  }

  @Test func `a server does not know watches of a client of version 5`() throws {
    let text = #"""
      > {"t":"d","d":{"r":1,"a":"w","b":{"p":"/a"}}}
      < {"t":"d","d":{"r":1,"b":{"s":"invalid_action","d":"the action w is not known"}}}
      > {"t":"d","d":{"r":2,"a":"nw","b":{"p":"/a"}}}
      < {"t":"d","d":{"r":2,"b":{"s":"invalid_action","d":"the action nw is not known"}}}
      """#
    var script = ServerScript()
    #expect(try script.play(text) == text)
  }

  @Test func `watches count against the limit of listens`() {
    var limits = TreeWireLimits()
    limits.listens = 1
    var machine = TreeServerMachine(limits: limits, isExtended: true)
    func frame(_ number: Int, _ request: TreeRequest) -> String {
      String(decoding: request.message(Int64(number)), as: UTF8.self)
    }
    _ = machine.receive(frame(1, .watch(["a"])))
    let second = machine.receive(frame(2, .listen(["a"], .all, tag: nil, hash: nil)))
    #expect(second.first.map(ServerScript.lines)?.first?.contains("/a: the limit listens (1)") == true)
    _ = machine.receive(frame(3, .unwatch(["a"])))
    #expect(machine.listenCount == 0)
  }

  @Test func `keys of a window beyond the limit are not taken by a server, and not sent by a client`() throws {
    var additions = TreeAdditions()
    additions.since = "f-3"
    additions.keys = try ["a", "b", "c"].map { try TreeKey($0, under: .root, limits: TreeLimits()) }
    let listen = TreeRequest.listen(["l"], .all, tag: nil, hash: nil)
    var limits = TreeWireLimits()
    limits.windowKeys = 2
    var server = TreeServerMachine(limits: limits, isExtended: true)
    let actions = server.receive(String(decoding: listen.message(1, additions), as: UTF8.self))
    guard case .request(_, _, let taken)? = actions.first else {
      Issue.record("the listen was not taken: \(actions)")
      return
    }
    #expect(taken.keys.map(\.text) == ["a", "b"] && taken.since == "f-3")

    let greeting = #"{"t":"c","d":{"t":"h","d":{"ts":1,"v":"5","h":"h","s":"s","x":{"resume":true,"writes":true}}}}"#
    for (limit, sends) in [(2, false), (3, true)] {
      limits.windowKeys = limit
      var client = TreeClientMachine(limits: limits)
      client.opened(now: .zero)
      _ = client.receive(greeting, now: .zero)
      let sent = client.request(1, listen, now: .zero) { [additions] _, _, _ in
        var known = TreeClientMachine.Known()
        (known.since, known.keys) = (additions.since, additions.keys)
        return known
      }
      let text = "\(sent)"
      #expect(text.contains("f-3") == sends && text.contains("ks") == sends, "\(text)")
    }
  }

  @Test func `a client sends a watch again after a loss, and waits for its answer before it reports writes`() throws {
    let text = #"""
      + watch 1 /a
      + open
      > {"t":"c","d":{"t":"h","d":{"ts":1,"v":"5","h":"h","s":"s","x":{"resume":true,"writes":true,"watch":true}}}}
      = connected 1 h s
      < {"t":"d","d":{"r":1,"a":"w","b":{"p":"/a"}}}
      + put 2 /a/x 1
      < {"t":"d","d":{"r":2,"a":"p","b":{"p":"/a/x","d":1,"x":{"n":1,"k":0}}}}
      > {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
      > {"t":"d","d":{"a":"w","b":{"p":"a"}}}
      = changed /a -
      > {"t":"d","d":{"r":1,"b":{"s":"ok","d":{},"v":"f-2"}}}
      = answered 1 ok {}
      = answered 2 ok {}
      > {"t":"d","d":{"a":"w","b":{"p":"a","v":"f-3","s":["x/y",".priority"]}}}
      = changed /a f-3 /x/y /.priority
      > {"t":"d","d":{"a":"w","b":{"p":"a","g":{"s":"retention","to":"f-9"}}}}
      = gap of watch /a retention
      + lost
      + open
      > {"t":"c","d":{"t":"h","d":{"ts":1,"v":"5","h":"h","s":"s","x":{"resume":true,"writes":true,"watch":true}}}}
      = connected 1 h s
      < {"t":"d","d":{"r":3,"a":"w","b":{"p":"/a"}}}
      > {"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}
      = answered 1 ok {}
      + unwatch 4 /a
      < {"t":"d","d":{"r":4,"a":"nw","b":{"p":"/a"}}}
      > {"t":"d","d":{"a":"w","b":{"p":"a","c":"permission_denied: no"}}}
      = watch ended /a permission_denied: no
      > {"t":"d","d":{"a":"w","b":{"p":"a","s":["x.y"]}}}
      = close invalidTree
      """#
    var script = ClientScript()
    #expect(try script.play(text) == text)
  }
}
