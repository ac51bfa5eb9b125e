import MartletJSON
package import MartletJSONTree

/// The server's side of one connection: frames in, requests out; answers and pushes in, frames out.
///
/// It checks the form of what the client sends and bounds it. What requests mean is its owner's business: the owner
/// pushes a listener's value and then answers the listen, so that the value precedes the answer.
package struct TreeServerMachine: Sendable {
  package enum Action: Hashable, Sendable {
    /// Send these frames, in order.
    case send([String])
    /// Carry out a request and answer it under this number.
    case request(Int64, TreeRequest, TreeAdditions = TreeAdditions())
    /// The client asked whether the server is there, and was answered.
    case pinged
    /// Close the connection; what the client sent is refused.
    case close(TreeWireError)
  }

  private struct Listen: Hashable {
    var path: TreePath
    var window: Window
    var isWatch = false
  }

  private let limits: TreeWireLimits
  private let treeLimits: TreeLimits
  private var reader: TreeFrameReader
  private var listens: Set<Listen> = []
  private var open: Set<Int64> = []
  private var deferred = 0
  private var isClosed = false
  /// Whether the client asked for what goes beyond version 5.
  package let isExtended: Bool
  private let numbersWrites: Bool

  /// - Parameter numbersWrites: whether the client has a name, under which its writes can be numbered.
  package init(
    limits: TreeWireLimits = TreeWireLimits(), treeLimits: TreeLimits = TreeLimits(), isExtended: Bool = false,
    numbersWrites: Bool = true
  ) {
    self.numbersWrites = numbersWrites
    self.limits = limits
    self.treeLimits = treeLimits
    self.isExtended = isExtended
    reader = TreeFrameReader(limits: limits)
  }

  /// Greets the client.
  ///
  /// - Parameters:
  ///   - milliseconds: the server's time since 1970, from which the client takes its offset.
  ///   - host: under which the client connects the next time.
  ///   - session: names this connection.
  package mutating func opened(milliseconds: Int64, host: String, session: String) -> [Action] {
    var greeting: JSONObject = ["ts": .int(milliseconds), "v": "5", "h": .string(host), "s": .string(session)]
    if isExtended { greeting["x"] = ["resume": true, "writes": .bool(numbersWrites), "watch": true] }
    return send(TreeEnvelope.control("h", .object(greeting)))
  }

  private func send(_ message: [UInt8]) -> [Action] {
    isClosed ? [] : [.send(TreeFraming.frames(of: message, limits: limits))]
  }

  /// Sets how many bytes one message may have, where that is less than the limits say: of a client without credentials.
  package mutating func bound(messageBytes: Int?) {
    reader.messageBytes = min(messageBytes ?? .max, limits.messageBytes)
  }

  /// Takes one text frame.
  package mutating func receive(_ frame: String) -> [Action] {
    if isClosed { return [] }
    do {
      guard let message = try reader.read(frame) else { return [] }
      return try handle(message)
    } catch {
      isClosed = true
      return [.close(error)]
    }
  }

  private mutating func handle(_ message: [UInt8]) throws(TreeWireError) -> [Action] {
    let envelope: TreeEnvelope
    do { envelope = try TreeEnvelope.read(message, limits: limits) } catch {
      guard error.code == .loneSurrogate else { throw error }
      return try refuse(message, error)
    }
    switch envelope {
    case .control("p", _): return send(TreeEnvelope.control("o", [:])) + [.pinged]
    // No other control message of a client needs an answer.
    case .control: return []
    case .data(let data):
      let number = try opened(data)
      guard let action = data["a"]?.string else { return malformed(number, "a is not a text") }
      guard let body = (data["b"] ?? [:]).object else { return malformed(number, "\(action): b is not an object") }
      return try request(number, action, body)
    }
  }

  /// The number of a request, which is open from now on. Without one there is nothing to answer.
  private mutating func opened(_ data: JSONObject) throws(TreeWireError) -> Int64 {
    guard let number = data["r"]?.int else {
      throw TreeWireError(.malformedMessage, "r of a request is not a whole number")
    }
    guard open.count < limits.openRequests, open.insert(number).inserted else {
      throw TreeWireError(.tooManyRequests, "request \(number) is open, or \(limits.openRequests) are")
    }
    return number
  }

  /// Refuses the one request that has not the form of its action.
  private mutating func malformed(_ number: Int64, _ text: String) -> [Action] {
    answer(number, TreeAnswer(status: "invalid_request", data: .string(text)))
  }

  /// Refuses the one request whose texts no tree can hold. The clients of JavaScript send what their texts have.
  private mutating func refuse(_ message: [UInt8], _ error: TreeWireError) throws(TreeWireError) -> [Action] {
    let envelope = try TreeEnvelope.read(LoneSurrogates.replaced(in: message), limits: limits)
    guard case .data(let data) = envelope else { return [] }
    let number = try opened(data)
    let status =
      switch data["a"]?.string {
      case "p", "m", "o", "om": "invalid_data"
      case "auth", "gauth", "appcheck": "invalid_token"
      default: "invalid_path"
      }
    let path = data["b"]?["p"]?.string.map { $0 + ": " } ?? ""
    return answer(number, TreeAnswer(status: status, data: .string(path + error.text)))
  }

  private mutating func request(
    _ number: Int64, _ action: String, _ body: JSONObject
  ) throws(TreeWireError) -> [Action] {
    let request: TreeRequest?
    do { request = try TreeRequest(action: action, body: body, limits: treeLimits) } catch {
      // What the tree refuses concerns this request only.
      switch error.code {
      case .invalidTree: return answer(number, TreeAnswer(status: "invalid_path", data: .string(error.text)))
      case .invalidWrite: return answer(number, TreeAnswer(status: "invalid_data", data: .string(error.text)))
      case .malformedMessage: return malformed(number, error.text)
      case .malformedFrame, .malformedJSON, .loneSurrogate, .messageTooLarge, .tooManyRequests: throw error
      }
    }
    guard let request, isExtended || !request.isAddition else {
      return answer(number, TreeAnswer(status: "invalid_action", data: .string("the action \(action) is not known")))
    }
    switch request {
    case .listen(let path, let window, _, _, _):
      guard insert(Listen(path: path, window: window)) else {
        return answer(number, Self.tooMany("listens", limits.listens, path))
      }
    case .watch(let path):
      guard insert(Listen(path: path, window: .all, isWatch: true)) else {
        return answer(number, Self.tooMany("listens", limits.listens, path))
      }
    case .unlisten(let path, let window, _): listens.remove(Listen(path: path, window: window))
    case .unwatch(let path): listens.remove(Listen(path: path, window: .all, isWatch: true))
    case .deferredPut(let path, _), .deferredMerge(let path, _):
      guard deferred < limits.deferredWrites else {
        return answer(number, Self.tooMany("deferredWrites", limits.deferredWrites, path))
      }
      deferred += 1
    case .put, .merge, .get, .cancelDeferred, .authenticate, .unauthenticate, .attest, .stats: break
    }
    guard isExtended else { return [.request(number, request)] }
    let additions = TreeAdditions(body["x"], windowKeys: limits.windowKeys, limits: treeLimits)
    return [.request(number, request, additions)]
  }

  /// - Returns: false when there are too many.
  private mutating func insert(_ listen: Listen) -> Bool {
    guard listens.contains(listen) || listens.count < limits.listens else { return false }
    listens.insert(listen)
    return true
  }

  private static func tooMany(_ limit: String, _ value: Int, _ path: TreePath) -> TreeAnswer {
    TreeAnswer(status: "limit_exceeded", data: .string("\(path): the limit \(limit) (\(value))"))
  }

  /// Answers a request. A number that is not open is ignored: its connection's client asked for something else since.
  package mutating func answer(_ number: Int64, _ answer: TreeAnswer) -> [Action] {
    guard open.remove(number) != nil else { return [] }
    return send(answer.message(number))
  }

  /// Ends a listener whose listen is refused, together with the answer.
  ///
  /// - Parameter isWatch: whether it asked for changes without their values.
  package mutating func refuse(
    _ number: Int64, listen path: TreePath, _ window: Window, isWatch: Bool = false, _ answer: TreeAnswer
  ) -> [Action] {
    listens.remove(Listen(path: path, window: window, isWatch: isWatch))
    return self.answer(number, answer)
  }

  /// Sends a value or a notice. A listener that is cancelled is forgotten.
  package mutating func push(_ push: TreePush) -> [Action] {
    switch push {
    case .cancelled(let path, let window, _): listens.remove(Listen(path: path, window: window))
    case .watched(let path, .ended): listens.remove(Listen(path: path, window: .all, isWatch: true))
    default: break
    }
    return send(push.message)
  }

  /// Everything up to this revision has been sent to the listeners whose listens were answered.
  package mutating func position(_ revision: String) -> [Action] {
    isExtended ? send(TreeEnvelope.control("v", .string(revision))) : []
  }

  /// How many deferred writes the owner dropped or ran.
  package mutating func deferredWritesEnded(_ count: Int) { deferred = max(0, deferred - count) }

  /// The frames of a push to listeners that stay, in UTF-8: they are the same for every connection with these limits.
  package func frames(of push: TreePush) -> [[UInt8]] {
    TreeFraming.frames(of: push.message, limits: limits).map { Array($0.utf8) }
  }

  package var listenCount: Int { listens.count }

  /// Asks the client not to reconnect.
  package mutating func shutDown(_ reason: String) -> [Action] {
    send(TreeEnvelope.control("s", .string(reason)))
  }

  /// Sends the client to another host.
  package mutating func reset(to host: String) -> [Action] {
    send(TreeEnvelope.control("r", .string(host)))
  }
}
