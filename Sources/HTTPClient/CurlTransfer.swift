internal import CMartletCurl
internal import MartletRuntime

/// One exchange as a libcurl handle: options in, head and body out. Confined to its loop.
final class CurlTransfer: CurlWork {
  let handle = EasyHandle()
  private let request: HTTPExchangeRequest
  /// Strong: the handle's sockets end with the driver.
  private let driver: CurlDriver
  private var handler: (any HTTPExchangeHandler)?
  private var head = ResponseHeadReader()
  private var bodyBytes = 0
  private var isPaused = false
  private var failure: HTTPExchangeError?
  var wish = CurlWish.start

  init(
    _ request: HTTPExchangeRequest, options: CurlClient.Options, driver: CurlDriver, handler: any HTTPExchangeHandler
  ) {
    self.request = request
    self.driver = driver
    self.handler = handler
    if let error = HTTPRequestCheck.error(in: request) {
      wish = .fail(error)
    } else if request.bodyFile != nil {
      wish = .fail(HTTPExchangeError(.invalidRequest, "files are sent over a connection of the pool, not by libcurl"))
    } else {
      configure(options)
    }
  }

  // MARK: Setting up

  private func configure(_ options: CurlClient.Options) {
    handle.setUp(options.security)
    handle.set(CURLOPT_URL, request.url)
    handle.set(CURLOPT_USERAGENT, options.userAgent)
    handle.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
    handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    handle.set(CURLOPT_CONNECTTIMEOUT_MS, request.connectTime)
    if let total = request.totalTime { handle.set(CURLOPT_TIMEOUT_MS, total) }
    if let idle = request.idleTime {
      handle.set(CURLOPT_LOW_SPEED_LIMIT, 1)
      handle.set(CURLOPT_LOW_SPEED_TIME, max(1, EasyHandle.milliseconds(idle) / 1000))
    }
    if let address = request.pinnedAddress {
      let bracketed = address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]" : address
      handle.setList(CURLOPT_CONNECT_TO, ["::\(bracketed):"])
    }
    setMethodAndBody()
    // No "Expect: 100-continue": it costs a round trip and we know no server that needs it.
    handle.setList(
      CURLOPT_HTTPHEADER,
      request.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" } + ["Expect:"])
    let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
    let easy = unsafe handle.pointer
    _ = unsafe martlet_curl_set_data(easy, CURLOPT_HEADERFUNCTION, Self.receivedHeader)
    _ = unsafe martlet_curl_set_pointer(easy, CURLOPT_HEADERDATA, owner)
    _ = unsafe martlet_curl_set_data(easy, CURLOPT_WRITEFUNCTION, Self.receivedBody)
    _ = unsafe martlet_curl_set_pointer(easy, CURLOPT_WRITEDATA, owner)
  }

  private func setMethodAndBody() {
    if let body = request.body {
      let easy = unsafe handle.pointer
      _ = unsafe martlet_curl_set_large(easy, CURLOPT_POSTFIELDSIZE_LARGE, body.count)
      // Copied by libcurl during the call.
      unsafe body.withUnsafeBytes { bytes in
        _ = unsafe martlet_curl_set_text(
          easy, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
      }
      if body.isEmpty { handle.set(CURLOPT_COPYPOSTFIELDS, "") }
    } else if request.method == "HEAD" {
      return handle.set(CURLOPT_NOBODY, 1)
    }
    handle.set(CURLOPT_CUSTOMREQUEST, request.method)
  }

  // MARK: The owner's wishes

  func cancel() {
    handler = nil
    wish = .cancel
    driver.change(self)
  }

  func pause(_ paused: Bool) {
    isPaused = paused
    guard !paused, case .none = wish else { return }
    wish = .resume
    driver.change(self)
  }

  // MARK: Ending

  func end(_ error: HTTPExchangeError?) {
    let told = handler
    handler = nil
    told?.ended(error)
  }

  func isDone(_ code: CURLcode) -> CurlEnd {
    if let failure { return .failed(failure) }
    if let error = handle.error(code, "\(request.method) \(request.url)") { return .failed(error) }
    return head.isComplete ? .completed : .failed(HTTPExchangeError(.response, "the response has no head"))
  }

  // MARK: Called by libcurl

  private static func transfer(_ owner: UnsafeMutableRawPointer?) -> CurlTransfer? {
    guard let owner = unsafe owner else { return nil }
    // Set in `configure`; the driver holds the transfer while its handle is in use.
    return unsafe Unmanaged<CurlTransfer>.fromOpaque(owner).takeUnretainedValue()
  }

  private static let receivedHeader:
    @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
      bytes, _, count, owner in
      guard let transfer = unsafe transfer(owner), let bytes = unsafe bytes else { return 0 }
      let line = unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count))
      if let head = transfer.head.take(line) { transfer.handler?.received(head: head) }
      return count
    }

  private static let receivedBody:
    @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
      bytes, _, count, owner in
      guard let transfer = unsafe transfer(owner), let bytes = unsafe bytes else { return 0 }
      if transfer.isPaused { return Int(CURL_WRITEFUNC_PAUSE) }
      // Cancelled inside an earlier callback: any other answer than `count` ends the transfer.
      guard let handler = transfer.handler else { return count == 0 ? 1 : 0 }
      transfer.driver.arrived()
      transfer.bodyBytes += count
      if let most = transfer.request.bodyBytes, transfer.bodyBytes > most {
        transfer.failure = HTTPExchangeError(.bodyTooLarge, "the response is longer than \(most) bytes")
        return count == 0 ? 1 : 0
      }
      // The memory is libcurl's and valid during the call.
      handler.received(body: unsafe RawSpan(_unsafeStart: bytes, byteCount: count))
      return count
    }
}
