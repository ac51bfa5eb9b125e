import MartletJSON
import MartletJSONTree
import MartletVocabulary
import Testing

@testable import MartletTreeWire

/// What is said on one connection. The machine plays the lines that come from outside, and the text with its own lines
/// between them must be the text that is written here.
///
/// `> …` a frame from the peer, `+ …` what the owner does, `< …` a frame to the peer, `= …` what is reported to the
/// owner.
struct ServerScript {
  var machine = TreeServerMachine()

  mutating func play(_ text: String) throws -> String {
    var played: [String] = []
    for line in text.split(separator: "\n").map(String.init) where line.hasPrefix("> ") || line.hasPrefix("+ ") {
      played.append(line)
      let rest = String(line.dropFirst(2))
      for action in line.hasPrefix("> ") ? machine.receive(rest) : try command(rest) { played += Self.lines(action) }
    }
    return played.joined(separator: "\n")
  }

  private mutating func command(_ text: String) throws -> [TreeServerMachine.Action] {
    let words = text.split(separator: " ", maxSplits: 3).map(String.init)
    switch words[0] {
    case "open": return machine.opened(milliseconds: 1_234, host: "h.example", session: "s1")
    case "answer":
      let data = words.count > 3 ? try JSONValue(parsing: words[3]) : .null
      return machine.answer(Int64(words[1]) ?? 0, TreeAnswer(status: words[2], data: data))
    case "push":
      let tag = words.count > 3 ? Int64(words[3]) : nil
      return machine.push(.overwrite(try TreePath(words[1]), try JSONValue(parsing: words[2]), tag: tag))
    case "changed":
      let places = try words.dropFirst(3).flatMap { $0.split(separator: " ") }.map { try TreePath(wire: String($0)) }
      return machine.push(.watched(try TreePath(words[1]), .changed(places: places, revision: words[2])))
    case "miss":
      let gap = TreePush.Gap(reason: words[2], from: "f-1", to: "f-9")
      return machine.push(.watched(try TreePath(words[1]), .gap(gap)))
    case "end": return machine.push(.watched(try TreePath(words[1]), .ended(reason: words[2])))
    case "cancel": return machine.push(.cancelled(try TreePath(words[1]), .all))
    case "shutdown": return machine.shutDown("over")
    case "reset": return machine.reset(to: "other.example")
    default:
      Issue.record("unknown command \(text)")
      return []
    }
  }

  static func lines(_ action: TreeServerMachine.Action) -> [String] {
    switch action {
    case .send(let frames): frames.map { "< \($0)" }
    case .request(let number, let request, _): ["= \(number) \(request.action) \(request.body)"]
    case .pinged: ["= pinged"]
    case .close(let error): ["= close \(error.code.rawValue)"]
    }
  }
}

struct ClientScript {
  var machine = TreeClientMachine()
  var now = Instant.zero

  mutating func play(_ text: String) throws -> String {
    var played: [String] = []
    for line in text.split(separator: "\n").map(String.init) where line.hasPrefix("> ") || line.hasPrefix("+ ") {
      played.append(line)
      let rest = String(line.dropFirst(2))
      let actions =
        line.hasPrefix("> ")
        ? machine.receive(rest, now: now) { path, _, _ in
          var known = TreeClientMachine.Known()
          known.hash = path.isRoot ? "" : "hash"
          return known
        } : try command(rest)
      for action in actions { played += Self.lines(action) }
    }
    return played.joined(separator: "\n")
  }

  private mutating func command(_ text: String) throws -> [TreeClientMachine.Action] {
    let words = text.split(separator: " ", maxSplits: 3).map(String.init)
    func ask(_ request: TreeRequest) -> [TreeClientMachine.Action] {
      machine.request(Int64(words[1]) ?? 0, request, now: now)
    }
    switch words[0] {
    case "open":
      machine.opened(now: now)
      return []
    case "lost":
      machine.lost()
      return machine.takeHeldBack()
    case "listen": return ask(.listen(try TreePath(words[2]), .all, tag: nil, hash: nil))
    case "window":
      return ask(.listen(try TreePath(words[2]), Window(order: .key, limit: .last(2)), tag: 5, hash: nil))
    case "unlisten": return ask(.unlisten(try TreePath(words[2]), .all, tag: nil))
    case "watch": return ask(.watch(try TreePath(words[2])))
    case "unwatch": return ask(.unwatch(try TreePath(words[2])))
    case "put": return ask(.put(try TreePath(words[2]), try JSONValue(parsing: words[3]), expectedHash: nil))
    case "get": return ask(.get(try TreePath(words[2]), .all))
    case "later": return ask(.deferredPut(try TreePath(words[2]), try JSONValue(parsing: words[3])))
    case "auth": return ask(.authenticate(words[2], isAdministrator: false))
    case "wait":
      now = now + .seconds(Int(words[1]) ?? 0)
      return machine.passed(now: now)
    default:
      Issue.record("unknown command \(text)")
      return []
    }
  }

  static func lines(_ action: TreeClientMachine.Action) -> [String] {
    switch action {
    case .send(let frames): frames.map { "< \($0)" }
    case .connected(let milliseconds, let host, let session): ["= connected \(milliseconds) \(host) \(session)"]
    case .position(let revision): ["= position \(revision)"]
    case .push(.overwrite(let path, let json, let tag)): ["= overwrite \(path) \(json)" + (tag.map { " \($0)" } ?? "")]
    case .push(.merge(let path, let object, let tag)): ["= merge \(path) \(object)" + (tag.map { " \($0)" } ?? "")]
    case .push(.gap(let path, _, let gap)): ["= gap \(path) \(gap.reason)"]
    case .push(.part(let path, let json, let part)):
      ["= part \(part.number) \(path) \(json)" + (part.isLast ? " last" : "")]
    case .push(.rangeMerge(let path, let ranges, _)): ["= ranges \(path) \(ranges.count)"]
    case .push(.cancelled(let path, _, _)): ["= cancelled \(path)"]
    case .push(.watched(let path, .changed(let places, let revision))):
      [(["= changed \(path) \(revision ?? "-")"] + places.map(\.description)).joined(separator: " ")]
    case .push(.watched(let path, .gap(let gap))): ["= gap of watch \(path) \(gap.reason)"]
    case .push(.watched(let path, .ended(let reason))): ["= watch ended \(path) \(reason)"]
    case .push(.revoked(let status, let reason)): ["= revoked \(status) \(reason)"]
    case .push(.debug(let text)): ["= debug \(text)"]
    case .answered(let id, let answer): ["= answered \(id) \(answer.status) \(answer.data)"]
    case .reset(let host): ["= reset \(host)"]
    case .shutDown(let reason): ["= shut down \(reason)"]
    case .close(let error): ["= close \(error.code.rawValue)"]
    }
  }
}

@Suite struct TreeTranscriptTests {
  static let server: [String] = [
    #"""
    + open
    < {"t":"c","d":{"t":"h","d":{"ts":1234,"v":"5","h":"h.example","s":"s1"}}}
    > {"t":"d","d":{"r":1,"a":"s","b":{"c":{"sdk.js.9-0-0":1}}}}
    = 1 s {"c":{"sdk.js.9-0-0":1}}
    + answer 1 ok
    < {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
    > {"t":"d","d":{"r":2,"a":"q","b":{"p":"/a/b","h":""}}}
    = 2 q {"p":"/a/b","h":""}
    + push a/b {"x":1}
    < {"t":"d","d":{"a":"d","b":{"p":"a/b","d":{"x":1}}}}
    + answer 2 ok
    < {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
    > {"t":"d","d":{"r":3,"a":"q","b":{"p":"/a","q":{"sp":1,"sn":"k","l":3,"vf":"r","i":"n/m"},"t":9,"h":"x"}}}
    = 3 q {"p":"/a","q":{"sp":1,"sn":"k","l":3,"vf":"r","i":"n/m"},"t":9,"h":"x"}
    + push a {"k":{"n":{"m":1}}} 9
    < {"t":"d","d":{"a":"d","b":{"p":"a","d":{"k":{"n":{"m":1}}},"t":9}}}
    > 0
    > {"t":"d","d":{"r":4,"a":"p","b":{"p":"/a/x","d":{".sv":"timestamp"}}}}
    = 4 p {"p":"/a/x","d":{".sv":"timestamp"}}
    + answer 4 permission_denied "Permission denied"
    < {"t":"d","d":{"r":4,"b":{"s":"permission_denied","d":"Permission denied"}}}
    > {"t":"d","d":{"r":5,"a":"m","b":{"p":"/a","d":{"x/y":1,"z":null}}}}
    = 5 m {"p":"/a","d":{"x/y":1,"z":null}}
    > {"t":"d","d":{"r":6,"a":"n","b":{"p":"/a/b"}}}
    = 6 n {"p":"/a/b"}
    + cancel a
    < {"t":"d","d":{"a":"c","b":{"p":"a"}}}
    + shutdown
    < {"t":"c","d":{"t":"s","d":"over"}}
    """#,
    // Requests that are refused by themselves; the connection continues.
    #"""
    > {"t":"d","d":{"r":1,"a":"q","b":{"p":"/a.b","h":""}}}
    < {"t":"d","d":{"r":1,"b":{"s":"invalid_path","d":"/: a key contains a control character or one of . $ # [ ] /: a.b"}}}
    > {"t":"d","d":{"r":2,"a":"q","b":{"p":"/a","q":{"l":0},"h":""}}}
    < {"t":"d","d":{"r":2,"b":{"s":"invalid_path","d":"/a: the window's bounds or limit are invalid: limit 0"}}}
    > {"t":"d","d":{"r":3,"a":"dance","b":{}}}
    < {"t":"d","d":{"r":3,"b":{"s":"invalid_action","d":"the action dance is not known"}}}
    > {"t":"d","d":{"r":4,"a":"q","b":{"p":"/a","q":{"l":1,"vf":"z"},"h":""}}}
    < {"t":"d","d":{"r":4,"b":{"s":"invalid_path","d":"/a: the window's bounds or limit are invalid: vf \"z\""}}}
    > {"t":"d","d":{"r":5,"a":"p","b":{"p":"/a"}}}
    < {"t":"d","d":{"r":5,"b":{"s":"invalid_data","d":"/a: d is missing"}}}
    > {"t":"d","d":{"r":6,"a":"o","b":{"p":"/a"}}}
    < {"t":"d","d":{"r":6,"b":{"s":"invalid_data","d":"/a: d is missing"}}}
    > {"t":"d","d":{"r":7,"a":"m","b":{"p":"/a","d":3}}}
    < {"t":"d","d":{"r":7,"b":{"s":"invalid_data","d":"/a: d is not an object"}}}
    > {"t":"d","d":{"r":8,"a":"p","b":{"p":"/a","d":1,"h":3}}}
    < {"t":"d","d":{"r":8,"b":{"s":"invalid_data","d":"/a: h is not a text"}}}
    > {"t":"d","d":{"r":4,"a":"g","b":{"p":"/"}}}
    = 4 g {"p":"/"}
    > {"t":"d","d":{"r":4,"a":"g","b":{"p":"/"}}}
    = close tooManyRequests
    > {"t":"d","d":{"r":5,"a":"g","b":{"p":"/"}}}
    """#,
    // A text with half of a surrogate pair concerns its own request; whole pairs and escaped backslashes are texts.
    #"""
    > {"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":{"x":"\ud800"}}}}
    < {"t":"d","d":{"r":1,"b":{"s":"invalid_data","d":"/a: JSON, byte 52: half of a surrogate pair stands alone"}}}
    > {"t":"d","d":{"r":2,"a":"m","b":{"p":"/a","d":{"\uDC00\uD800":"\\ud800 \ud83d\ude00"}}}}
    < {"t":"d","d":{"r":2,"b":{"s":"invalid_data","d":"/a: JSON, byte 48: half of a surrogate pair stands alone"}}}
    > {"t":"d","d":{"r":3,"a":"q","b":{"p":"/a\udfff","h":""}}}
    < {"t":"d","d":{"r":3,"b":{"s":"invalid_path","d":"/a�: JSON, byte 40: half of a surrogate pair stands alone"}}}
    > {"t":"d","d":{"r":4,"a":"auth","b":{"cred":"\ud800"}}}
    < {"t":"d","d":{"r":4,"b":{"s":"invalid_token","d":"JSON, byte 44: half of a surrogate pair stands alone"}}}
    > {"t":"d","d":{"r":5,"a":"p","b":{"p":"/a","d":"\\ud800 \ud83d\ude00"}}}
    = 5 p {"p":"/a","d":"\\ud800 😀"}
    """#,
    "> {\"t\":\"d\",\"d\":{\"r\":1,\"a\":\"\\ud800\",\"b\":{}}\n= close malformedJSON",
    "> {\"t\":\"d\"\n= close malformedJSON",
    "> [1]\n= close malformedMessage",
    #"""
    > {"t":"d","d":{"r":1}}
    < {"t":"d","d":{"r":1,"b":{"s":"invalid_request","d":"a is not a text"}}}
    > {"t":"d","d":{"r":1,"a":"p","b":{}}}
    < {"t":"d","d":{"r":1,"b":{"s":"invalid_request","d":"p is not a text"}}}
    > {"t":"d","d":{"r":2,"a":"q","b":[]}}
    < {"t":"d","d":{"r":2,"b":{"s":"invalid_request","d":"q: b is not an object"}}}
    > {"t":"d","d":{"r":3,"a":"q","b":{"p":"/a","q":1}}}
    < {"t":"d","d":{"r":3,"b":{"s":"invalid_request","d":"q is not an object"}}}
    > {"t":"d","d":{"r":4,"a":"auth","b":{"cred":1}}}
    < {"t":"d","d":{"r":4,"b":{"s":"invalid_request","d":"auth: cred is not a text"}}}
    > {"t":"d","d":{"a":"p","b":{}}}
    = close malformedMessage
    """#,
    "> {\"t\":\"d\",\"d\":{\"r\":1.5,\"a\":\"p\",\"b\":{}}}\n= close malformedMessage",
    "> 2\n> {\"t\":\"c\",\"d\":\n> {\"t\":\"p\",\"d\":{}}}\n< {\"t\":\"c\",\"d\":{\"t\":\"o\",\"d\":{}}}\n= pinged\n> 7x\n= close malformedFrame",
    "> 123456789\n= close malformedFrame",
  ]

  @Test(arguments: server.indices)
  func `a server's connection says what its transcript says`(index: Int) throws {
    var script = ServerScript()
    #expect(try script.play(Self.server[index]) == Self.server[index])
  }

  static let client: [String] = [
    #"""
    + auth 1 secret
    + listen 2 /a
    + put 3 /a/x 1
    + open
    > {"t":"c","d":{"t":"h","d":{"ts":1234,"v":"5","h":"h.example","s":"s1"}}}
    = connected 1234 h.example s1
    < {"t":"d","d":{"r":1,"a":"auth","b":{"cred":"secret"}}}
    < {"t":"d","d":{"r":2,"a":"q","b":{"p":"/a","h":"hash"}}}
    < {"t":"d","d":{"r":3,"a":"p","b":{"p":"/a/x","d":1}}}
    > {"t":"d","d":{"r":1,"b":{"s":"ok","d":{"auth":null}}}}
    = answered 0 ok {"auth":null}
    > {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
    > {"t":"d","d":{"a":"d","b":{"p":"a","d":{"x":1}}}}
    = overwrite /a {"x":1}
    > {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
    = answered 2 ok {}
    = answered 3 ok ""
    + window 4 /w
    < {"t":"d","d":{"r":4,"a":"q","b":{"p":"/w","q":{"l":2,"vf":"r","i":".key"},"t":5,"h":""}}}
    > {"t":"d","d":{"a":"m","b":{"p":"w","d":{"k":1},"t":5}}}
    = merge /w {"k":1} 5
    + wait 44
    + wait 1
    < 0
    > {"t":"d","d":{"r":4,"b":{"s":"permission_denied","d":"no"}}}
    = answered 4 permission_denied "no"
    > {"t":"d","d":{"a":"c","b":{"p":"a"}}}
    = cancelled /a
    > {"t":"d","d":{"a":"ac","b":{"s":"expired_token","d":"old"}}}
    = revoked expired_token old
    > {"t":"d","d":{"a":"sd","b":{"msg":"look"}}}
    = debug look
    > {"t":"d","d":{"a":"rm","b":{"p":"a","d":[{"s":"a","e":"b/c","m":{"b":1}}]}}}
    = ranges /a 1
    > {"t":"d","d":{"a":"newer","b":{}}}
    > {"t":"c","d":{"t":"r","d":"other.example"}}
    = reset other.example
    """#,
    // What was not answered is sent again: listens, writes in order, reads, deferred writes.
    #"""
    + open
    > {"t":"c","d":{"t":"h","d":{"ts":1,"v":"5","h":"h","s":"s"}}}
    = connected 1 h s
    + later 1 /p 0
    < {"t":"d","d":{"r":1,"a":"o","b":{"p":"/p","d":0}}}
    + get 2 /g
    < {"t":"d","d":{"r":2,"a":"g","b":{"p":"/g"}}}
    + put 3 /a 1
    < {"t":"d","d":{"r":3,"a":"p","b":{"p":"/a","d":1}}}
    + put 4 /a 2
    < {"t":"d","d":{"r":4,"a":"p","b":{"p":"/a","d":2}}}
    + listen 5 /l
    < {"t":"d","d":{"r":5,"a":"q","b":{"p":"/l","h":""}}}
    > {"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}
    + lost
    = answered 3 ok {}
    + open
    > {"t":"c","d":{"t":"h","d":{"ts":1,"v":"5","h":"h","s":"s"}}}
    = connected 1 h s
    < {"t":"d","d":{"r":6,"a":"q","b":{"p":"/l","h":"hash"}}}
    < {"t":"d","d":{"r":7,"a":"p","b":{"p":"/a","d":2}}}
    < {"t":"d","d":{"r":8,"a":"g","b":{"p":"/g"}}}
    < {"t":"d","d":{"r":9,"a":"o","b":{"p":"/p","d":0}}}
    + unlisten 10 /l
    < {"t":"d","d":{"r":10,"a":"n","b":{"p":"/l"}}}
    > {"t":"d","d":{"r":8,"b":{"s":"ok","d":7}}}
    = answered 2 ok 7
    > {"t":"c","d":{"t":"s","d":"over"}}
    = shut down over
    """#,
    // Answers to writes wait for the answers to earlier listens, but not to those that have ended.
    #"""
    + open
    > {"t":"c","d":{"t":"h","d":{"ts":1,"v":"5","h":"h","s":"s"}}}
    = connected 1 h s
    + listen 1 /l
    < {"t":"d","d":{"r":1,"a":"q","b":{"p":"/l","h":""}}}
    + put 2 /a 1
    < {"t":"d","d":{"r":2,"a":"p","b":{"p":"/a","d":1}}}
    > {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
    + unlisten 3 /l
    < {"t":"d","d":{"r":3,"a":"n","b":{"p":"/l"}}}
    = answered 2 ok {}
    """#,
    "+ open\n> {\"t\":\"d\",\"d\":{\"a\":\"d\",\"b\":{\"p\":\"a\",\"d\":1}}}\n= close malformedMessage",
    "+ open\n> {\"t\":\"c\",\"d\":{\"t\":\"h\",\"d\":{}}}\n= close malformedMessage",
    "+ open\n> nonsense\n= close malformedJSON",
  ]

  @Test(arguments: client.indices)
  func `a client's connections say what their transcript says`(index: Int) throws {
    var script = ClientScript()
    #expect(try script.play(Self.client[index]) == Self.client[index])
  }

  @Test func `what exceeds a limit of the connection is refused by the limit's name`() throws {
    var limits = TreeWireLimits()
    (limits.listens, limits.openRequests, limits.deferredWrites, limits.messageBytes) = (1, 2, 1, 200)
    var machine = TreeServerMachine(limits: limits)
    func frame(_ number: Int, _ request: TreeRequest) -> String {
      String(decoding: request.message(Int64(number)), as: UTF8.self)
    }
    _ = machine.receive(frame(1, .listen(["a"], .all, tag: nil, hash: nil)))
    let second = machine.receive(frame(2, .listen(["b"], .all, tag: nil, hash: nil)))
    #expect(ServerScript.lines(try #require(second.first)).first?.contains("/b: the limit listens (1)") == true)
    #expect(machine.listenCount == 1)
    _ = machine.answer(1, .ok)
    _ = machine.receive(frame(3, .deferredPut(["a"], 1)))
    _ = machine.answer(3, .ok)
    let fourth = machine.receive(frame(4, .deferredPut(["a"], 1)))
    #expect(ServerScript.lines(try #require(fourth.first)).first?.contains("/a: the limit deferredWrites (1)") == true)
    _ = machine.receive(frame(5, .get(["a"], .all)))
    _ = machine.receive(frame(6, .get(["a"], .all)))
    guard case .close(let error)? = machine.receive(frame(7, .get(["a"], .all))).first else {
      Issue.record("the connection stays open")
      return
    }
    #expect(error.code == .tooManyRequests)
    var other = TreeServerMachine(limits: limits)
    guard case .close(let large)? = other.receive(String(repeating: "x", count: 201)).first else {
      Issue.record("the connection stays open")
      return
    }
    #expect(large.code == .messageTooLarge)
  }
}
