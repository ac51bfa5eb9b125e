internal import MartletChannels
internal import MartletJSON
internal import MartletRuntime
internal import MartletWire

/// `/channels`: subscriptions of webhooks and devices, their state and their dead letters, and the devices.
/// Confined to its loop; the work is done on the loop that serves the channels.
struct ChannelEndpoints {
  private let desk: ChannelDesk
  private let loop: any Loop
  private let bodyBytes: Int

  init(_ desk: ChannelDesk, on loop: any Loop, bodyBytes: Int) {
    self.desk = desk
    self.loop = loop
    self.bodyBytes = bodyBytes
  }

  var rows: [Endpoint] {
    ["/channels", "/channels/{id...}"].compactMap { PathPattern($0) }.map { pattern in
      Endpoint(
        pattern, meaning: "webhooks and push", methods: ["GET", "POST", "PUT", "DELETE"], countsRequests: true,
        bodyBytes: { [bodyBytes] _ in bodyBytes },
        admission: { _ in .identified(.http) }, respond: respond)
    }
  }

  /// What is asked for.
  private enum Action: Sendable {
    case list
    case show(String)
    case subscribe(JSONValue)
    case cancel(String)
    /// One dead letter, or all of them.
    case retry(String, event: String?)
    case discard(String, event: String?)
    case device(DeviceRequests.Action)
  }

  private typealias Answer = DeviceRequests.Answer

  private func respond(_ request: HTTPRequest, _ responder: HTTPResponder) {
    let action: Action
    do throws(ChannelRefused) { action = try self.action(request) } catch {
      return Self.send(.failure(error), to: responder)
    }
    let caller = request.caller
    let bound = LoopBound(responder, on: loop)
    @Sendable func answer(_ answer: Answer) {
      bound.loop.execute { Self.send(answer, to: bound.value) }
    }
    desk.ask { service in
      guard let service else { return answer(.failure(ChannelRefused.unavailable)) }
      service.whenOpen { isOpen in
        guard isOpen else { return answer(.failure(ChannelRefused.unavailable)) }
        Self.perform(action, as: caller, service, answer)
      }
    }
  }

  private func action(_ request: HTTPRequest) throws(ChannelRefused) -> Action {
    let segments = request.path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    var json = JSONValue.null
    if !request.body.isEmpty {
      do { json = try JSONValue(parsing: request.body) } catch {
        throw .bad("The body is not JSON: \(error).")
      }
    }
    if segments.first == ChannelDefinition.reservedID,
      let action = DeviceRequests.Action(request.head.method, segments, json)
    {
      return .device(action)
    }
    switch (request.head.method, request.path.isEmpty ? 0 : segments.count) {
    case ("GET", 0): return .list
    case ("POST", 0): return .subscribe(json)
    case ("GET", 1): return .show(segments[0])
    case ("DELETE", 1): return .cancel(segments[0])
    case ("POST", 2):
      if let event = json["event"], event.string == nil { throw .bad("\"event\" is not a text.") }
      switch segments[1] {
      case "retry": return .retry(segments[0], event: json["event"]?.string)
      case "discard": return .discard(segments[0], event: json["event"]?.string)
      default: break
      }
    default: break
    }
    throw .missing(
      "There is GET and POST /channels, GET and DELETE /channels/ID, POST /channels/ID/retry and /discard, GET and POST "
        + "/channels/devices, GET, PUT and DELETE /channels/devices/ID.")
  }

  private static func perform(
    _ action: Action, as caller: Caller, _ service: ChannelService, _ completion: @escaping @Sendable (Answer) -> Void
  ) {
    service.seen(caller)
    let requests = ChannelRequests(service: service)
    do throws(ChannelRefused) {
      switch action {
      case .list:
        let list = requests.statuses(for: caller).map { $0.json(bodies: false) }
        completion(.success((200, ["subscriptions": .array(list)])))
      case .show(let id): completion(.success((200, try requests.channel(id, for: caller).status.json(bodies: true))))
      case .subscribe(let json):
        requests.subscribe(json, as: caller) { completion($0.map { (201, $0.json(bodies: false)) }) }
      case .cancel(let id): requests.remove(id, as: caller) { completion($0.map { (200, ["id": .string(id)]) }) }
      case .device(let action): DeviceRequests(service: service).perform(action, as: caller, completion)
      case .retry(let id, let event):
        let count = service.retry(try requests.channel(id, for: caller), event)
        completion(try counted(count, "retried", event))
      case .discard(let id, let event):
        let count = try requests.channel(id, for: caller).discard(event)
        completion(try counted(count, "discarded", event))
      }
    } catch {
      completion(.failure(error))
    }
  }

  private static func counted(
    _ count: Int, _ name: String, _ event: String?
  ) throws(ChannelRefused) -> Answer {
    if let event, count == 0 { throw .missing("There is no dead letter \"\(event)\".") }
    return .success((200, [name: .int(Int64(count))]))
  }

  private static func send(_ answer: Answer, to responder: HTTPResponder) {
    switch answer {
    case .success(let (status, json)):
      responder.send(
        status,
        HTTPHeaders([("Content-Type", "application/json; charset=utf-8"), ("Cache-Control", "no-store")]),
        body: json.serialized())
    case .failure(let refused): responder.send(.error(refused.status, refused.message, refused.code))
    }
  }
}
