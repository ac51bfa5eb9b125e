internal import MartletJSON
internal import MartletWire

/// The tree's rows of the table: its WebSocket and `/PATH.json`.
struct TreeEndpoints {
  private let trees: LoopTrees
  private let transport: LoopTransport
  private let bodyBytes: Int

  init(_ trees: LoopTrees, _ transport: LoopTransport, bodyBytes: Int) {
    self.trees = trees
    self.transport = transport
    self.bodyBytes = bodyBytes
  }

  static let methods = ["GET", "PUT", "PATCH", "POST", "DELETE"]

  var rows: [Endpoint] {
    var rows: [Endpoint] = []
    if let path = PathPattern("/.ws") {
      rows.append(
        Endpoint(
          path, meaning: "the synced tree over WebSocket", methods: ["GET"], sharing: .configured,
          bodyBytes: { _ in 0 }, admission: { _ in .sameOrigin },
          upgrade: { _, request in .open(subprotocol: nil, session(request)) },
          respond: { _, responder in responder.send(.text(426, "This path speaks WebSocket only.")) }))
    }
    for pattern in ["/.json", "/{path...}.json"] {
      guard let path = PathPattern(pattern) else { continue }
      rows.append(
        Endpoint(
          path, meaning: "the synced tree over HTTP", methods: Self.methods, sharing: .configured, countsRequests: true,
          bodyBytes: { [bodyBytes] _ in bodyBytes }, tooLarge: { [bodyBytes] in Self.tooLarge($0, bodyBytes) },
          admission: { _ in .identified(.http) }, queryCredentials: Self.credentials,
          respond: { [trees, unowned transport] request, responder in
            let caller = Self.caller(request, transport.admission)
            let use = transport.use(of: request.peer)
            trees.find(Self.namespace(request)) { found in
              switch found {
              case .success(let service):
                TreeRequests(service: service, use: use).answer(request, responder, as: caller)
              case .failure(let refusal): TreeRequests.refuse(refusal, responder)
              }
            }
          }))
    }
    return rows
  }

  private static func tooLarge(_ head: HTTPRequestHead, _ bytes: Int) -> ImmediateAnswer {
    let path = head.path.hasSuffix(".json") ? String(head.path.dropLast(5)) : head.path
    let text = "\(path): the body is larger than the limit writeBytes (\(bytes))"
    return ImmediateAnswer(
      status: 413, headers: HTTPHeaders([("Content-Type", "application/json; charset=utf-8")]),
      body: JSONValue.object(["error": .string(text)]).serialized(), note: .violation, reason: text)
  }

  private func session(_ request: HTTPRequest) -> TreeDoor {
    let use = transport.use(of: request.peer)
    return TreeDoor(
      use, messageBytes: transport.limits.tree.strangerMessageBytes,
      slowed: transport.limits.callers.messagesPerTurn, waiting: transport.limits.tree.waitingMessages,
      find: { [trees] completion in trees.find(Self.namespace(request), completion) },
      session: { [unowned transport] service in
        TreeSession(
          service, use, host: request.head.headers["Host"] ?? "", TreeOpening(request.head.query ?? ""),
          as: TreeAdmitted(request.caller),
          authenticate: { [unowned transport] in Self.judge($0, transport, request.peer, $1) })
      })
  }

  /// The tree that a request names; nil for the first.
  private static func namespace(_ request: HTTPRequest) -> String? {
    let parameters = try? TreeRequests.parameters(request.head.query ?? "")
    return parameters?.last { $0.name == "ns" }?.value
  }

  /// The credentials in a query, as the clients of the Realtime Database's REST interface show them.
  private static func credentials(_ head: HTTPRequestHead) -> [String] {
    guard let query = head.query, let parameters = try? TreeRequests.parameters(query) else { return [] }
    return parameters.filter { $0.name == "auth" || $0.name == "access_token" }.map(\.value)
  }

  /// What rules are to see as `auth` of an administrator; what cannot be read is null.
  private static func variables(_ head: HTTPRequestHead) -> JSONValue? {
    guard let query = head.query, let parameters = try? TreeRequests.parameters(query),
      let text = parameters.last(where: { $0.name == "auth_variable_override" })?.value
    else { return nil }
    return (try? JSONValue(parsing: text)) ?? .null
  }

  /// The credential of an administrator in development, which the Realtime Database's tools send.
  private static let developer = "owner"

  /// Judges a credential that a client sends after opening. What its key or the custom authorizer decides comes later.
  private static func judge(
    _ credential: String, _ transport: LoopTransport, _ peer: Peer, _ completion: @escaping (TreeAdmitted?) -> Void
  ) -> PendingQuestion? {
    let admission = transport.admission
    if admission.access.isDevelopment {
      completion(credential == developer ? TreeAdmitted(caller: .administrator) : nil)
      return nil
    }
    func refuse(_ reason: String) {
      transport.noteRefusal(
        "A credential was refused on a socket of the tree.", reason: reason, isLogged: true, over: peer)
      completion(nil)
    }
    let payload: JSONObject = ["Authorization": .string("Bearer \(credential)")]
    switch admission.shown(in: payload) {
    case .nothing: refuse("missing")
    case .refused(let reason): refuse(reason)
    case .caller(let shown):
      let program = admission.asksProgram ? ConnectionRequest(payload: payload, transport: .http) : nil
      let asked = AdmissionQuestion(program: program, shown)
      let question = admission.ask(asked) { outcome in
        switch outcome {
        case .admitted(let caller, _):
          transport.audit.connected(caller.identity, peer, over: "tree")
          completion(TreeAdmitted(caller))
        case .refused: refuse("program")
        case .unknown(let reason): refuse(reason)
        }
      }
      if let question { return question }
      transport.audit.connected(shown.identity, peer, over: "tree")
      completion(TreeAdmitted(shown))
    }
    return nil
  }

  private static func caller(_ request: HTTPRequest, _ admission: Admission) -> TreeAdmitted {
    if admission.access.isDevelopment {
      let shown = admission.access.takesQueryCredentials ? credentials(request.head) : []
      let isDeveloper = request.head.headers["Authorization"] == "Bearer \(developer)" || shown == [developer]
      if isDeveloper { return TreeAdmitted(caller: .administrator).restricted(to: variables(request.head)) }
    }
    return TreeAdmitted(request.caller)
  }
}

/// What the query of a handshake asks for: `x=1` the additions, `c` the client's name for its writes, `ls` its last
/// session.
struct TreeOpening {
  private(set) var isExtended = false
  private(set) var client: String?
  private(set) var lastSession: String?

  init(_ query: String) {
    guard let parameters = try? TreeRequests.parameters(query) else { return }
    for (name, value) in parameters {
      switch name {
      case "x": isExtended = value == "1"
      // As long as the names of other numbered writes.
      case "c": client = (1...64).contains(value.utf8.count) ? value : nil
      case "ls": lastSession = value
      default: continue
      }
    }
  }
}
