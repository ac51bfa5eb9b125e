internal import CMartletCurl
internal import MartletRuntime

/// One exchange as a libcurl handle: options in, head and body out. Confined to its loop.
@safe final class CurlTransfer {
  /// What is to be done with the handle when the turn ends.
  enum Wish {
    case none
    case start
    case resume
    case cancel
    case fail(HTTPExchangeError)
  }

  private let request: HTTPExchangeRequest
  /// Strong: the handle's sockets end with the driver.
  private let driver: CurlDriver
  private var handler: (any HTTPExchangeHandler)?
  private(set) var easy: UnsafeMutableRawPointer?
  /// libcurl keeps pointers to its lists until the handle is gone.
  private var lists: [UnsafeMutablePointer<curl_slist>?] = unsafe []
  private var head = ResponseHeadReader()
  private var bodyBytes = 0
  private var isPaused = false
  private var failure: HTTPExchangeError?
  var wish = Wish.start

  init(
    _ request: HTTPExchangeRequest, options: CurlClient.Options, driver: CurlDriver, handler: any HTTPExchangeHandler
  ) {
    self.request = request
    self.driver = driver
    self.handler = handler
    unsafe easy = CurlClient.isReady ? curl_easy_init() : nil
    if let error = RequestCheck.error(in: request) {
      wish = .fail(error)
    } else {
      configure(options)
    }
  }

  deinit {
    close()
  }

  // MARK: Setting up

  private func configure(_ options: CurlClient.Options) {
    set(CURLOPT_NOSIGNAL, 1)
    _ = unsafe martlet_curl_only_http(easy)
    set(CURLOPT_URL, request.url)
    set(CURLOPT_USERAGENT, options.userAgent)
    set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(request.connectTime))
    if let total = request.totalTime { set(CURLOPT_TIMEOUT_MS, Self.milliseconds(total)) }
    if let idle = request.idleTime {
      set(CURLOPT_LOW_SPEED_LIMIT, 1)
      set(CURLOPT_LOW_SPEED_TIME, max(1, Self.milliseconds(idle) / 1000))
    }
    if let file = options.authorityFile { set(CURLOPT_CAINFO, file) }
    if let address = request.pinnedAddress {
      let bracketed = address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]" : address
      setList(CURLOPT_CONNECT_TO, ["::\(bracketed):"])
    }
    setMethodAndBody()
    // No "Expect: 100-continue": it costs a round trip and we know no server that needs it.
    setList(
      CURLOPT_HTTPHEADER,
      request.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" } + ["Expect:"])
    let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
    _ = unsafe martlet_curl_set_data(easy, CURLOPT_HEADERFUNCTION, Self.receivedHeader)
    _ = unsafe martlet_curl_set_pointer(easy, CURLOPT_HEADERDATA, owner)
    _ = unsafe martlet_curl_set_data(easy, CURLOPT_WRITEFUNCTION, Self.receivedBody)
    _ = unsafe martlet_curl_set_pointer(easy, CURLOPT_WRITEDATA, owner)
  }

  private func setMethodAndBody() {
    if let body = request.body {
      _ = unsafe martlet_curl_set_large(easy, CURLOPT_POSTFIELDSIZE_LARGE, body.count)
      // Copied by libcurl during the call.
      unsafe body.withUnsafeBytes { bytes in
        _ = unsafe martlet_curl_set_text(
          easy, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
      }
      if body.isEmpty { set(CURLOPT_COPYPOSTFIELDS, "") }
    } else if request.method == "HEAD" {
      return set(CURLOPT_NOBODY, 1)
    }
    set(CURLOPT_CUSTOMREQUEST, request.method)
  }

  private func set(_ option: CURLoption, _ value: Int) {
    _ = unsafe martlet_curl_set_long(easy, option, value)
  }

  private func set(_ option: CURLoption, _ value: String) {
    // Strings are copied by libcurl.
    _ = unsafe martlet_curl_set_text(easy, option, value)
  }

  private func setList(_ option: CURLoption, _ values: [String]) {
    var list: UnsafeMutablePointer<curl_slist>?
    for value in values { unsafe list = curl_slist_append(list, value) ?? list }
    unsafe lists.append(list)
    _ = unsafe martlet_curl_set_list(easy, option, list)
  }

  private static func milliseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    return max(1, Int(clamping: min(max(seconds, 0), 1_000_000_000) * 1000 + attoseconds / 1_000_000_000_000_000))
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

  /// Frees the handle; it is no longer the driver's.
  func close() {
    if let easy = unsafe easy { unsafe curl_easy_cleanup(easy) }
    unsafe easy = nil
    unsafe lists.forEach { unsafe curl_slist_free_all($0) }
    unsafe lists = []
  }

  func end(_ error: HTTPExchangeError?) {
    let told = handler
    handler = nil
    told?.ended(error)
  }

  /// What libcurl's result means; nil for success.
  func error(_ code: CURLcode) -> HTTPExchangeError? {
    if let failure { return failure }
    if code == CURLE_OK { return head.isComplete ? nil : HTTPExchangeError(.response, "the response has no head") }
    let text = unsafe String(cString: curl_easy_strerror(code))
    let kind: HTTPExchangeError.Code
    switch code {
    case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: kind = .invalidRequest
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: kind = .resolution
    case CURLE_COULDNT_CONNECT, CURLE_SEND_ERROR: kind = .connect
    case CURLE_OPERATION_TIMEDOUT: kind = .timeout
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE:
      kind = .tls
    case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2,
      CURLE_HTTP2_STREAM:
      kind = .response
    default: kind = .other
    }
    return HTTPExchangeError(kind, "\(request.method) \(request.url): \(text)")
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
