internal import CMartletCurl
internal import MartletRuntime

/// One libcurl handle with everything libcurl keeps pointers to. Confined to its loop.
@safe final class EasyHandle {
  /// Nil once closed, and where libcurl could not be set up.
  private(set) var pointer: UnsafeMutableRawPointer?
  private var lists: [UnsafeMutablePointer<curl_slist>?] = unsafe []
  /// Where libcurl writes what went wrong; longer than its code says. Owned by this object and freed with the handle.
  private let message: UnsafeMutablePointer<CChar>

  init() {
    unsafe message = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    unsafe pointer = CurlClient.isReady ? curl_easy_init() : nil
    _ = unsafe martlet_curl_set_pointer(pointer, CURLOPT_ERRORBUFFER, message)
  }

  deinit {
    close()
    unsafe message.deallocate()
  }

  /// Frees the handle. It must have left its multi handle.
  func close() {
    if let pointer = unsafe pointer { unsafe curl_easy_cleanup(pointer) }
    unsafe pointer = nil
    unsafe lists.forEach { unsafe curl_slist_free_all($0) }
    unsafe lists = []
  }

  func set(_ option: CURLoption, _ value: Int) {
    _ = unsafe martlet_curl_set_long(pointer, option, value)
  }

  func set(_ option: CURLoption, _ value: String) {
    // Strings are copied by libcurl.
    _ = unsafe martlet_curl_set_text(pointer, option, value)
  }

  func set(_ option: CURLoption, _ time: Duration) {
    set(option, Self.milliseconds(time))
  }

  func setList(_ option: CURLoption, _ values: [String]) {
    var list: UnsafeMutablePointer<curl_slist>?
    for value in values { unsafe list = curl_slist_append(list, value) ?? list }
    unsafe lists.append(list)
    _ = unsafe martlet_curl_set_list(pointer, option, list)
  }

  /// What every handle of the package has: nothing but HTTP, no signals.
  func setUp(_ security: CurlSecurity) {
    set(CURLOPT_NOSIGNAL, 1)
    _ = unsafe martlet_curl_only_http(pointer)
    set(security)
  }

  static func milliseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    return max(1, Int(clamping: min(max(seconds, 0), 1_000_000_000) * 1000 + attoseconds / 1_000_000_000_000_000))
  }

  /// What libcurl's result means; nil for success. `what` names what was tried.
  func error(_ code: CURLcode, _ what: String) -> HTTPExchangeError? {
    if code == CURLE_OK { return nil }
    let kind: HTTPExchangeError.Code
    switch code {
    case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: kind = .invalidRequest
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: kind = .resolution
    case CURLE_COULDNT_CONNECT, CURLE_SEND_ERROR: kind = .connect
    case CURLE_OPERATION_TIMEDOUT: kind = .timeout
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE,
      CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      kind = .tls
    case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2,
      CURLE_HTTP2_STREAM:
      kind = .response
    default: kind = .other
    }
    return HTTPExchangeError(kind, "\(what): \(text(of: code))")
  }

  /// The system's words, or else libcurl's own, which say more than its code where it has any.
  func text(of code: CURLcode) -> String {
    if code == CURLE_COULDNT_CONNECT, let text = unsafe martlet_curl_system_text(pointer) {
      return unsafe String(cString: text)
    }
    // libcurl ends both texts with a zero; the buffer was zeroed before it had one.
    let said = unsafe String(cString: message)
    return said.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : said
  }
}
