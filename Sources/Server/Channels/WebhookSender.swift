internal import MartletChannels
internal import MartletLoop
internal import MartletRuntime
internal import MartletSignatures
internal import MartletSockets
internal import MartletVocabulary
internal import MartletWire

/// Delivers events by HTTP to the configured receivers. Confined to its loop.
///
/// A receiver's name is looked up for each attempt, the addresses are judged, and the connection is made to one that
/// was judged. Redirects are not followed.
final class WebhookSender: ChannelSender {
  private let settings: ChannelSettings
  private let tools: ChannelTools
  private let surroundings: OutgoingSurroundings

  init(_ settings: ChannelSettings, _ tools: ChannelTools, _ http: any HTTPExchanging) {
    self.settings = settings
    self.tools = tools
    surroundings = OutgoingSurroundings(loop: tools.loop, http: http, log: tools.log)
  }

  func isEnabled(_ target: ChannelTarget) -> Bool { settings.receivers[target.name]?.isEnabled == true }

  func send(
    _ event: ChannelEvent, attempt: Int, to target: ChannelTarget, context: ChannelDefinition,
    _ completion: @escaping (AttemptOutcome) -> Void
  ) -> AnyObject {
    let delivery = ChannelAttempt(completion)
    guard let receiver = settings.receivers[target.name] else {
      tools.loop.execute { [bound = LoopBound(delivery, on: tools.loop)] in
        bound.value.end(.failed("the webhook \"\(target.name)\" is not configured", retryAfter: nil))
      }
      return delivery
    }
    let request = request(event, attempt, receiver)
    AddressJudge(ranges: settings.ranges, loop: tools.loop).find(receiver.address) { [weak delivery, self] found in
      guard let delivery else { return }
      switch found {
      case .failure(let error): delivery.end(.failed(error.description, retryAfter: nil))
      case .success(let address):
        var request = request
        request.pinnedAddress = address
        delivery.fetch = OutgoingFetch(request, surroundings) { [weak delivery, tools] result in
          delivery?.end(Self.outcome(result, at: tools.now / 1_000))
        }
      }
    }
    return delivery
  }

  private func request(
    _ event: ChannelEvent, _ attempt: Int, _ receiver: ChannelSettings.Receiver
  ) -> HTTPExchangeRequest {
    let seconds = tools.now / 1_000
    let content = WebhookSignature.content(id: event.id, seconds: seconds, body: event.body)
    let codes = receiver.keys.compactMap { MessageCode.sha256(of: content, by: $0) }
    var request = HTTPExchangeRequest("POST", url: receiver.address.url)
    request.headers =
      [
        ("Content-Type", "application/json; charset=utf-8"), ("webhook-id", event.id),
        ("webhook-timestamp", "\(seconds)"), ("webhook-signature", WebhookSignature.field(codes)),
        ("martlet-attempt", "\(attempt)"),
      ] + receiver.headers
    request.body = event.body
    request.totalTime = tools.limits.deliveryTime
    request.connectTime = tools.limits.connectTime
    request.idleTime = nil
    request.bodyBytes = tools.limits.answerBytes
    return request
  }

  private static func outcome(
    _ result: Result<OutgoingFetch.Answer, HTTPExchangeError>, at seconds: Int64
  ) -> DeliveryMachine.Outcome {
    switch result {
    case .success(let answer):
      WebhookAnswer.outcome(answer.head.status, retryAfter: answer.head["Retry-After"], at: seconds)
    case .failure(let error): .failed(error.code.deliveryReason, retryAfter: nil)
    }
  }
}

extension HTTPExchangeError.Code {
  /// Why an attempt failed. The error's own words name the URL, which may hold a secret.
  var deliveryReason: String {
    switch self {
    case .resolution: "the receiver's name could not be looked up"
    case .connect: "the receiver could not be reached"
    case .tls: "the receiver's certificate was not accepted"
    case .timeout: "the receiver took longer than the limit channels.deliveryTime"
    case .bodyTooLarge: "the receiver's answer is longer than the limit channels.answerBytes"
    // Addresses and fields were checked: what libcurl refuses is what came.
    case .response, .invalidRequest: "the receiver's answer cannot be read as HTTP"
    // Deliveries are not paused.
    case .overflow, .other: "the request failed"
    }
  }
}

/// Looks a receiver's name up and chooses an address that may be reached. Confined to its loop.
struct AddressJudge {
  let ranges: OutgoingRanges
  let loop: any Loop

  /// - Parameter completion: called once, on the loop, after this has returned.
  func find(_ target: TargetAddress, _ completion: @escaping (Result<String, ChannelError>) -> Void) {
    let done = LoopBound(completion, on: loop)
    Resolver.shared.resolve(target.host, port: target.port) { [ranges, loop] answer in
      let found = Self.choose(answer, ranges)
      loop.execute { done.value(found) }
    }
  }

  private static func choose(_ answer: Resolver.Answer, _ ranges: OutgoingRanges) -> Result<String, ChannelError> {
    switch answer {
    case .failure: return .failure(ChannelError(.address, "the receiver's name could not be looked up"))
    case .success(let addresses):
      // Text that cannot be read again is a scoped address, which is never public.
      let known = addresses.compactMap { IPAddress(node: $0.description) }
      guard let allowed = known.first(where: { ranges.allows($0) }) else {
        return .failure(
          ChannelError(.address, "the receiver's address is not public; `allowedAddresses` lists exceptions"))
      }
      return .success(allowed.description)
    }
  }
}
