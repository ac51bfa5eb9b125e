import MartletJSON
import MartletJSONTree
import MartletTreeWire
import MartletVocabulary
import Testing

@testable import MartletTreeClient

/// What the client's machine makes of one connection after another. `+` what the owner does, `>` a frame of the server,
/// `<` a frame to it, `=` what is reported.
struct ClientTranscript {
  var client = TreeClient()

  mutating func play(_ text: String) throws -> String {
    var played: [String] = []
    for line in text.split(separator: "\n").map(String.init) where line.hasPrefix("> ") || line.hasPrefix("+ ") {
      played.append(line)
      let rest = String(line.dropFirst(2))
      let actions =
        line.hasPrefix("> ")
        ? client.receive(rest, now: .zero, milliseconds: 1_000) : try command(rest)
      for action in actions { played += Self.lines(action) }
    }
    return played.joined(separator: "\n")
  }

  private mutating func command(_ text: String) throws -> [TreeClient.Action] {
    let words = text.split(separator: " ", maxSplits: 2).map(String.init)
    switch words[0] {
    case "open":
      client.opened(now: .zero)
      return []
    case "lost":
      client.lost()
      return []
    case "listen": return client.listen(at: try TreePath(words[1]), .all, as: ListenerID(1), now: .zero)
    case "watch": return client.watch(try TreePath(words[1]), as: ListenerID(Int64(words[2]) ?? 3), now: .zero)
    case "known":
      let cached = TreeClient.CachedValue(node: try TreeReader().read(1), revision: words[2])
      return client.watch(try TreePath(words[1]), as: ListenerID(3), cached: cached, now: .zero)
    case "unlisten": return client.unlisten(ListenerID(Int64(words[1]) ?? 0), now: .zero)
    case "merge":
      return try client.write(
        .merge(try JSONValue(parsing: words[2]).object ?? [:]), at: try TreePath(words[1]), now: .zero,
        milliseconds: 1_000
      ).actions
    case "last":
      return client.listen(at: try TreePath(words[1]), Window(limit: .last(2)), as: ListenerID(2), now: .zero)
    case "put":
      return try client.write(
        .put(try JSONValue(parsing: words[2])), at: try TreePath(words[1]), now: .zero, milliseconds: 1_000
      ).actions
    case "later":
      return try client.deferWrite(
        .put(try JSONValue(parsing: words[2])), at: try TreePath(words[1]), repeats: true, now: .zero
      ).actions
    case "transact": return client.transact(at: try TreePath(words[1]), now: .zero).actions
    case "computed":
      return try client.computed(
        Int64(words[1]) ?? 0, try JSONValue(parsing: words[2]), now: .zero, milliseconds: 1_000)
    case "get": return client.get(try TreePath(words[1]), .all, now: .zero).actions
    case "auth": return client.authenticate(words[1], isAdministrator: false, now: .zero)
    case "purge": return client.purge(now: .zero)
    default:
      Issue.record("unknown command \(text)")
      return []
    }
  }

  static func lines(_ action: TreeClient.Action) -> [String] {
    switch action {
    case .send(let frames): frames.map { "< \($0)" }
    case .connected(let session): ["= connected \(session)"]
    case .gap(let id, let gap): ["= gap \(id.number) \(gap.reason)"]
    case .event(let event):
      ["= \(event.kind) \(event.key?.text ?? "-") \(event.node.json())\(event.isAcknowledged ? "" : " pending")"]
    case .ready(let id): ["= ready \(id.number)"]
    case .settled(let id, .acknowledged(let revision, let value)): ["= acknowledged \(id) \(revision ?? "-") \(value)"]
    case .settled(let id, .rejected(let status, _)): ["= rejected \(id) \(status)"]
    case .settled(let id, .purged): ["= purged \(id)"]
    case .settled(let id, .aborted): ["= aborted \(id)"]
    case .registered(let id): ["= registered \(id)"]
    case .read(let id, .server(let node, _, let isAcknowledged)): ["= read \(id) \(node.json()) \(isAcknowledged)"]
    case .read(let id, _): ["= read \(id)"]
    case .compute(let id, let node): ["= compute \(id) \(node.json())"]
    case .credential(let refused): ["= credential \(refused ?? "accepted")"]
    case .revoked(let reason): ["= revoked \(reason)"]
    case .reset(let host): ["= reset \(host)"]
    case .shutDown(let reason): ["= shut down \(reason)"]
    case .close(let error): ["= close \(error.code.rawValue)"]
    case .changed, .forget: []
    }
  }
}

@Suite struct TreeClientTests {
  static let greeting = #"> {"t":"c","d":{"t":"h","d":{"ts":5000,"v":"5","h":"h","s":"s1"}}}"#
  static let extended =
    #"> {"t":"c","d":{"t":"h","d":{"ts":5000,"v":"5","h":"h","s":"s1","x":{"resume":true,"writes":true}}}}"#

  static let transcripts: [String] = [
    // Version 5: the credential first, then listens with hashes, then what was not answered.
    """
    + auth token
    + listen /a
    + put /a/b 1
    = childAdded b 1 pending
    + open
    \(greeting)
    = connected s1
    < {"t":"d","d":{"r":1,"a":"auth","b":{"cred":"token"}}}
    < {"t":"d","d":{"r":2,"a":"q","b":{"p":"/a","h":""}}}
    < {"t":"d","d":{"r":3,"a":"p","b":{"p":"/a/b","d":1}}}
    > {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
    = credential accepted
    > {"t":"d","d":{"a":"d","b":{"p":"a","d":{"c":2}}}}
    = childAdded c 2
    = value - {"b":1,"c":2} pending
    > {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
    = ready 1
    + lost
    + open
    \(greeting)
    = connected s1
    < {"t":"d","d":{"r":4,"a":"auth","b":{"cred":"token"}}}
    < {"t":"d","d":{"r":5,"a":"q","b":{"p":"/a","h":"AUxjaaJJRZdP0Ejtl8tWwNi3EZs="}}}
    < {"t":"d","d":{"r":6,"a":"p","b":{"p":"/a/b","d":1}}}
    > {"t":"d","d":{"r":5,"b":{"s":"ok","d":{}}}}
    > {"t":"d","d":{"a":"d","b":{"p":"a/b","d":1}}}
    > {"t":"d","d":{"r":6,"b":{"s":"ok","d":{}}}}
    = childAcknowledged b 1
    = valueAcknowledged - {"b":1,"c":2}
    = acknowledged 2 - null
    """,
    // With the additions: numbers and revisions in place of hashes.
    """
    + open
    \(extended)
    = connected s1
    + listen /a
    < {"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}
    > {"t":"d","d":{"a":"d","b":{"p":"a","d":7}}}
    = value - 7
    > {"t":"d","d":{"r":1,"b":{"s":"ok","d":{},"v":"f-4"}}}
    = ready 1
    > {"t":"c","d":{"t":"v","d":"f-9"}}
    + put /n {".sv":{"increment":2}}
    < {"t":"d","d":{"r":2,"a":"p","b":{"p":"/n","d":{".sv":{"increment":2}},"x":{"n":1,"k":0}}}}
    + put /m 1
    < {"t":"d","d":{"r":3,"a":"p","b":{"p":"/m","d":1,"x":{"n":2,"k":0}}}}
    > {"t":"d","d":{"r":2,"b":{"s":"ok","d":12,"v":"f-10"}}}
    = acknowledged 2 f-10 12
    + lost
    + open
    \(extended)
    = connected s1
    < {"t":"d","d":{"r":4,"a":"q","b":{"p":"/a","h":"","x":{"v":"f-9"}}}}
    < {"t":"d","d":{"r":5,"a":"p","b":{"p":"/m","d":1,"x":{"n":2,"k":1,"r":true}}}}
    > {"t":"d","d":{"r":4,"b":{"s":"ok","d":{},"v":"f-11"}}}
    > {"t":"d","d":{"r":5,"b":{"s":"permission_denied","d":"/m: /.write is false"}}}
    = rejected 3 permission_denied
    """,
    // A transaction runs again after another write, and a deferred write is registered with each connection.
    """
    + open
    \(greeting)
    = connected s1
    + transact /t
    < {"t":"d","d":{"r":1,"a":"g","b":{"p":"/t"}}}
    > {"t":"d","d":{"r":1,"b":{"s":"ok","d":1}}}
    = compute 1 1
    + computed 1 2
    < {"t":"d","d":{"r":2,"a":"p","b":{"p":"/t","d":2,"h":"YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="}}}
    > {"t":"d","d":{"r":2,"b":{"s":"datastale","d":"changed"}}}
    < {"t":"d","d":{"r":3,"a":"g","b":{"p":"/t"}}}
    > {"t":"d","d":{"r":3,"b":{"s":"ok","d":5}}}
    = compute 1 5
    + computed 1 6
    < {"t":"d","d":{"r":4,"a":"p","b":{"p":"/t","d":6,"h":"w28swksk9+tXf5jEdS9R5oSFAv8="}}}
    > {"t":"d","d":{"r":4,"b":{"s":"ok","d":{}}}}
    = acknowledged 1 - 6
    + later /o false
    < {"t":"d","d":{"r":5,"a":"o","b":{"p":"/o","d":false}}}
    > {"t":"d","d":{"r":5,"b":{"s":"ok","d":{}}}}
    = registered 6
    = acknowledged 6 - null
    + lost
    + open
    \(greeting)
    = connected s1
    < {"t":"d","d":{"r":6,"a":"o","b":{"p":"/o","d":false}}}
    > {"t":"d","d":{"r":6,"b":{"s":"ok","d":{}}}}
    = registered 6
    """,
    // Reads see one's own writes; dropped writes are taken back; a revoked listener is the last word.
    """
    + open
    \(extended)
    = connected s1
    + last /l
    < {"t":"d","d":{"r":1,"a":"q","b":{"p":"/l","q":{"l":2,"vf":"r","i":".key"},"t":1,"h":""}}}
    > {"t":"d","d":{"a":"d","b":{"p":"l","d":{"a":1,"b":2},"t":1}}}
    = childAdded a 1
    = childAdded b 2
    = value - {"a":1,"b":2}
    > {"t":"d","d":{"r":1,"b":{"s":"ok","d":{},"v":"f-3"}}}
    = ready 2
    + put /l/c 3
    = childRemoved a 1
    = childAdded c 3 pending
    = value - {"b":2,"c":3} pending
    < {"t":"d","d":{"r":2,"a":"p","b":{"p":"/l/c","d":3,"x":{"n":1,"k":0}}}}
    + get /l
    < {"t":"d","d":{"r":3,"a":"g","b":{"p":"/l"}}}
    > {"t":"d","d":{"r":3,"b":{"s":"ok","d":{"a":1,"b":2}}}}
    = read 3 {"a":1,"b":2,"c":3} false
    + purge
    = childRemoved c 3
    = childAdded a 1
    = value - {"a":1,"b":2}
    = purged 2
    > {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
    + lost
    + open
    \(extended)
    = connected s1
    < {"t":"d","d":{"r":4,"a":"q","b":{"p":"/l","q":{"l":2,"vf":"r","i":".key"},"t":1,"h":"","x":{"v":"f-3","ks":["a","b"]}}}}
    > {"t":"d","d":{"a":"c","b":{"p":"l","q":{"l":2,"vf":"r","i":".key"}}}}
    = cancelled - null
    """,
  ]

  @Test(arguments: transcripts) func `the client says and reports what is written here`(transcript: String) throws {
    var script = ClientTranscript()
    #expect(try script.play(transcript) == transcript)
  }
}
