internal import MartletChannels
internal import MartletRuntime
internal import MartletSignatures
internal import MartletVocabulary

/// Delivers events to devices by the push services. Confined to its loop.
final class PushSender: ChannelSender {
  private let services: PushServices
  private let devices: DeviceRegistry
  private let tools: ChannelTools
  private let surroundings: OutgoingSurroundings
  private let googleTokens: GoogleTokens?
  private let appleTokens: AppleTokens?

  init(_ services: PushServices, _ devices: DeviceRegistry, _ tools: ChannelTools, _ http: any HTTPExchanging) {
    self.services = services
    self.devices = devices
    self.tools = tools
    let surroundings = OutgoingSurroundings(loop: tools.loop, http: http, log: tools.log)
    self.surroundings = surroundings
    googleTokens = services.fcm.map { GoogleTokens($0, tools, surroundings) }
    appleTokens = services.apns.map { AppleTokens($0) }
  }

  func isEnabled(_ target: ChannelTarget) -> Bool {
    devices.device(target.name).map { services.has($0.platform) } ?? true
  }

  func send(
    _ event: ChannelEvent, attempt: Int, to target: ChannelTarget, context: ChannelDefinition,
    _ completion: @escaping (AttemptOutcome) -> Void
  ) -> AnyObject {
    let delivery = ChannelAttempt(completion)
    // In a turn of its own: what is decided at once must not end inside this call.
    let bound = LoopBound(Turn(sender: self, delivery: delivery), on: tools.loop)
    tools.loop.execute { bound.value.sender.begin(event, target, context, bound.value.delivery) }
    return delivery
  }

  /// What a turn of the loop works on. An attempt that was let go meanwhile is not begun.
  private final class Turn {
    let sender: PushSender
    weak var delivery: ChannelAttempt?

    init(sender: PushSender, delivery: ChannelAttempt) {
      self.sender = sender
      self.delivery = delivery
    }
  }

  private func begin(
    _ event: ChannelEvent, _ target: ChannelTarget, _ context: ChannelDefinition, _ delivery: ChannelAttempt?
  ) {
    guard let delivery else { return }
    guard let device = devices.device(target.name) else {
      return delivery.end(AttemptOutcome.gone("the device is not registered"))
    }
    do throws(ChannelError) {
      switch device.platform {
      case .fcm: try sendByFCM(event, device, context.push, delivery)
      case .apns: try sendByAPNs(event, device, context.push, delivery)
      }
    } catch {
      delivery.end(.refused(error.description))
    }
  }

  // MARK: FCM

  private func sendByFCM(
    _ event: ChannelEvent, _ device: Device, _ options: PushOptions, _ delivery: ChannelAttempt
  ) throws(ChannelError) {
    guard let service = services.fcm, let googleTokens else {
      return delivery.end(.failed("FCM is not configured", retryAfter: nil))
    }
    let body = try PushMessage.fcm(event, to: device.token, options, at: tools.now / 1_000)
    googleTokens.token { [weak delivery, weak self] result in
      guard let self, let delivery else { return }
      switch result {
      case .failure(let error): delivery.end(.failed(error.description, retryAfter: nil))
      case .success(let token):
        var request = HTTPExchangeRequest("POST", url: service.url)
        request.headers = [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json; charset=utf-8")]
        request.body = body
        self.send(request, device, delivery) { [googleTokens] answer, now in
          let judged = PushAnswer.fcm(
            answer.head.status, answer.body, retryAfter: answer.head["Retry-After"], at: now)
          if case .unauthorized = judged { googleTokens.forget(token) }
          return judged
        }
      }
    }
  }

  // MARK: APNs

  /// The name under which the digests of ids are made.
  private static let identifiers = Array("martlet apns-id".utf8)

  private func sendByAPNs(
    _ event: ChannelEvent, _ device: Device, _ options: PushOptions, _ delivery: ChannelAttempt
  ) throws(ChannelError) {
    let now = tools.now / 1_000
    guard let service = services.apns, let appleTokens, let token = appleTokens.token(at: now),
      let digest = MessageCode.sha256(of: Array(event.id.utf8), by: Self.identifiers)
    else { return delivery.end(.failed("APNs is not configured, or its token cannot be signed", retryAfter: nil)) }
    var request = HTTPExchangeRequest("POST", url: "\(service.endpoint)/3/device/\(device.token)")
    request.headers =
      [("authorization", "bearer \(token)")]
      + PushMessage.fields(options, topic: service.topic, digest: digest, at: now)
    request.body = try PushMessage.apns(event, options)
    send(request, device, delivery) { answer, now in
      // Whatever answered by another version is not the service.
      guard answer.head.majorVersion == 2 || !service.isSecure else {
        return .settled(.failed("the answer did not come by HTTP/2, which APNs speaks", retryAfter: nil))
      }
      let judged = PushAnswer.apns(answer.head.status, answer.body, retryAfter: answer.head["Retry-After"], at: now)
      if case .unauthorized = judged { appleTokens.forget(token, at: now) }
      return judged
    }
  }

  // MARK: Both

  private func send(
    _ request: HTTPExchangeRequest, _ device: Device, _ delivery: ChannelAttempt,
    _ judge: @escaping (OutgoingFetch.Answer, Int64) -> PushAnswer
  ) {
    var request = request
    request.totalTime = tools.limits.deliveryTime
    request.connectTime = tools.limits.connectTime
    request.idleTime = nil
    request.bodyBytes = tools.limits.answerBytes
    delivery.fetch = OutgoingFetch(request, surroundings) { [weak delivery, weak self] result in
      guard let self, let delivery else { return }
      switch result {
      case .failure(let error): delivery.end(.failed(error.code.deliveryReason, retryAfter: nil))
      case .success(let answer): delivery.end(self.outcome(judge(answer, self.tools.now / 1_000), device))
      }
    }
  }

  private func outcome(_ answer: PushAnswer, _ device: Device) -> AttemptOutcome {
    switch answer {
    case .settled(let outcome): return .settled(outcome)
    case .unauthorized(let reason): return .settled(.failed(reason, retryAfter: nil))
    case .unknownToken(let reason): return isPresent(device) ? .unreachable(reason) : .settled(Self.replaced)
    case .gone(let reason, let since):
      // The application may have registered the token again after it was removed.
      guard isPresent(device), since.map({ $0 >= device.time }) ?? true else { return .settled(Self.replaced) }
      return .gone(reason)
    }
  }

  /// Whether a device still has the token that an attempt was made with.
  private func isPresent(_ device: Device) -> Bool {
    devices.device(device.id).map { $0.token == device.token } ?? true
  }

  private static let replaced = DeliveryMachine.Outcome.failed(
    "the device has registered another token meanwhile", retryAfter: nil)
}
