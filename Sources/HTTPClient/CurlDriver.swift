internal import CMartletCurl
internal import MartletRuntime
internal import MartletVocabulary

/// libcurl's multi handle on one loop: it says which sockets to watch and when to come back, the loop says when they
/// are ready (libcurl's `multi_socket` interface).
///
/// libcurl must not be called from inside its own callbacks. Handlers run inside them, so that whatever they start or
/// cancel waits for the end of the turn.
///
/// Confined to its loop; lives as long as the client.
@safe final class CurlDriver {
  /// What libcurl keeps to.
  struct Limits {
    /// Connections kept open when idle.
    var idleConnections: Int
    /// Connections to one host at a time; 0 for no bound.
    var connectionsPerHost: Int
    /// How long after the last piece of a response the sockets are looked at once more.
    var lookInterval = Duration.milliseconds(20)
  }

  let loop: any DescriptorLoop
  private let multi: OpaquePointer?
  private var works: [ObjectIdentifier: any CurlWork] = [:]
  private var watches: [Int32: SocketWatch] = [:]
  private var timer: LoopTimer?
  private var changed: [any CurlWork] = []
  private var awaitsTurnEnd = false
  /// Pieces of responses that have come; equal to `seen` when none came since the last look.
  private var arrivals = 0
  private var seen = 0
  private var look: LoopTimer?
  private let lookInterval: Duration

  init(_ loop: any DescriptorLoop, limits: Limits) {
    self.loop = loop
    lookInterval = limits.lookInterval
    unsafe multi = CurlClient.isReady ? OpaquePointer(curl_multi_init()) : nil
    guard let multi = unsafe rawMulti else { return }
    _ = unsafe martlet_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, limits.idleConnections)
    _ = unsafe martlet_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, limits.connectionsPerHost)
    // Not retained: the handle is gone before the driver is.
    let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
    _ = unsafe martlet_curl_multi_set_callbacks(multi, Self.socketChanged, Self.timerChanged, owner)
  }

  deinit {
    if let multi = unsafe rawMulti { unsafe curl_multi_cleanup(multi) }
  }

  /// Gives every exchange up and lets go of the sockets; the driver is not used afterwards.
  func shutDown() {
    for work in Array(works.values) { finish(work, HTTPExchangeError(.other, "the client is gone")) }
    timer?.cancel()
    look?.cancel()
    guard let multi = unsafe rawMulti else { return }
    _ = unsafe martlet_curl_multi_set_callbacks(multi, nil, nil, nil)
    for (descriptor, watch) in watches { loop.unwatch(watch.token, descriptor) }
    watches = [:]
  }

  private var rawMulti: UnsafeMutableRawPointer? {
    unsafe multi.map { unsafe UnsafeMutableRawPointer($0) }
  }

  // MARK: Work

  /// Starts the work at the end of the turn.
  func add(_ work: any CurlWork) {
    works[ObjectIdentifier(work)] = work
    change(work)
  }

  /// Looks at the work at the end of the turn: it wants to start, continue or end.
  func change(_ work: any CurlWork) {
    changed.append(work)
    guard !awaitsTurnEnd else { return }
    awaitsTurnEnd = true
    loop.atEndOfTurn(self)
  }

  private func follow(_ work: any CurlWork) {
    guard let multi = unsafe rawMulti, let easy = unsafe work.handle.pointer else {
      works[ObjectIdentifier(work)] = nil
      return work.end(HTTPExchangeError(.other, "libcurl could not be set up"))
    }
    switch work.wish {
    case .none: break
    case .start:
      work.wish = .none
      let result = unsafe curl_multi_add_handle(multi, easy)
      if result != CURLM_OK { finish(work, HTTPExchangeError(.other, "libcurl refused the request")) }
    case .resume:
      work.wish = .none
      _ = unsafe curl_easy_pause(easy, CURLPAUSE_CONT)
    case .fail(let error):
      finish(work, error)
    case .cancel:
      finish(work, nil, isCancelled: true)
    }
  }

  private func finish(_ work: any CurlWork, _ error: HTTPExchangeError?, isCancelled: Bool = false) {
    guard works.removeValue(forKey: ObjectIdentifier(work)) != nil else { return }
    if let multi = unsafe rawMulti, let easy = unsafe work.handle.pointer {
      _ = unsafe curl_multi_remove_handle(multi, easy)
    }
    work.handle.close()
    if !isCancelled { work.end(error) }
  }

  private func collectFinished() {
    guard let multi = unsafe rawMulti else { return }
    var code = CURLE_OK
    while let easy = unsafe martlet_curl_multi_finished(multi, &code) {
      guard let work = works.values.first(where: { unsafe $0.handle.pointer == easy }) else { continue }
      if case .cancel = work.wish {
        finish(work, nil, isCancelled: true)
        continue
      }
      switch work.isDone(code) {
      case .staysOpen: break
      case .completed: finish(work, nil)
      case .failed(let error): finish(work, error)
      }
    }
  }

  // MARK: Readiness and time

  func ready(_ descriptor: Int32, _ readiness: Readiness) {
    guard let multi = unsafe rawMulti else { return }
    var mask: Int32 = 0
    if readiness.contains(.readable) { mask |= CURL_CSELECT_IN }
    if readiness.contains(.writable) { mask |= CURL_CSELECT_OUT }
    if readiness.contains(.failed) || readiness.contains(.hungUp) { mask |= CURL_CSELECT_ERR }
    var running: Int32 = 0
    _ = unsafe curl_multi_socket_action(multi, descriptor, mask, &running)
    collectFinished()
    lookAgainLater()
  }

  private func timedOut() {
    guard let multi = unsafe rawMulti else { return }
    var running: Int32 = 0
    // -1 is libcurl's CURL_SOCKET_TIMEOUT: no socket, only time.
    _ = unsafe curl_multi_socket_action(multi, -1, 0, &running)
    collectFinished()
    lookAgainLater()
  }

  /// A piece of a response has come.
  func arrived() {
    arrivals &+= 1
  }

  /// libcurl 7.88 (Debian 12 has it) at times keeps the end of one of several HTTP/2 responses in its buffer and says
  /// so to no owner. One more look, once nothing has come for a while, finds it; silence is not looked at again, so
  /// that a stream without events costs nothing.
  private func lookAgainLater() {
    guard arrivals != seen, !works.isEmpty else { return }
    seen = arrivals
    look?.cancel()
    look = loop.schedule(at: loop.now + lookInterval) { [weak self] in self?.lookAgain() }
  }

  private func lookAgain() {
    look = nil
    for descriptor in watches.keys.sorted() where watches[descriptor] != nil { ready(descriptor, .readable) }
  }

  private func watch(_ descriptor: Int32, for interest: Readiness?) {
    guard let interest else {
      if let old = watches.removeValue(forKey: descriptor) { loop.unwatch(old.token, descriptor) }
      return
    }
    if let known = watches[descriptor] { return loop.rewatch(known.token, descriptor, for: interest) }
    let handler = SocketWatch(descriptor, driver: self)
    guard let token = loop.watch(descriptor, for: interest, handler: handler) else { return }
    handler.token = token
    watches[descriptor] = handler
  }

  /// Watches a descriptor no more, which libcurl has left to somebody else.
  func letGo(of descriptor: Int32) {
    watch(descriptor, for: nil)
  }

  private func setTimer(_ milliseconds: Int) {
    timer?.cancel()
    timer = nil
    guard milliseconds >= 0 else { return }
    // Never inside this call, and never in the same turn.
    let deadline = loop.now + max(.nanoseconds(1), .milliseconds(milliseconds))
    timer = loop.schedule(at: deadline) { [weak self] in self?.timedOut() }
  }

  // MARK: Called by libcurl

  private static let socketChanged:
    @convention(c) (
      UnsafeMutableRawPointer?, Int32, Int32, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
    ) -> Int32 = { _, descriptor, what, owner, _ in
      guard let owner = unsafe owner else { return 0 }
      let driver = unsafe Unmanaged<CurlDriver>.fromOpaque(owner).takeUnretainedValue()
      switch what {
      case CURL_POLL_IN: driver.watch(descriptor, for: .readable)
      case CURL_POLL_OUT: driver.watch(descriptor, for: .writable)
      case CURL_POLL_INOUT: driver.watch(descriptor, for: [.readable, .writable])
      case CURL_POLL_REMOVE: driver.watch(descriptor, for: nil)
      default: break
      }
      return 0
    }

  private static let timerChanged: @convention(c) (UnsafeMutableRawPointer?, Int, UnsafeMutableRawPointer?) -> Int32 = {
    _, milliseconds, owner in
    guard let owner = unsafe owner else { return 0 }
    unsafe Unmanaged<CurlDriver>.fromOpaque(owner).takeUnretainedValue().setTimer(milliseconds)
    return 0
  }
}

extension CurlDriver: TurnEnd {
  func turnEnded() {
    awaitsTurnEnd = false
    let due = changed
    changed = []
    for work in due { follow(work) }
    collectFinished()
  }
}

/// One socket of libcurl's under the loop's watch.
private final class SocketWatch: ReadinessHandler {
  private let descriptor: Int32
  private weak var driver: CurlDriver?
  var token = WatchToken(rawValue: .max)

  init(_ descriptor: Int32, driver: CurlDriver) {
    self.descriptor = descriptor
    self.driver = driver
  }

  func ready(_ readiness: Readiness) {
    driver?.ready(descriptor, readiness)
  }
}
