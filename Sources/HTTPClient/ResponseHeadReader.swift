internal import MartletRuntime

/// Puts a response's head together from the lines libcurl hands over, passing over informational heads and trailers.
struct ResponseHeadReader {
  private var status = 0
  private var majorVersion = 1
  private var headers: [(name: String, value: String)] = []
  private(set) var isComplete = false

  /// Takes one line with its end; answers the head when it is complete.
  mutating func take(_ line: [UInt8]) -> HTTPExchangeHead? {
    // Header lines after the head are trailers, which no caller asks for.
    guard !isComplete else { return nil }
    var text = line[...]
    while let last = text.last, last == 0x0A || last == 0x0D { text.removeLast() }
    if text.starts(with: "HTTP/".utf8) {
      begin(text)
    } else if text.isEmpty {
      guard status >= 200 || status == 101 else { return nil }
      isComplete = true
      return HTTPExchangeHead(status: status, headers: headers, majorVersion: majorVersion)
    } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
      let value = text[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
      headers.append((String(decoding: text[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self)))
    }
    return nil
  }

  private mutating func begin(_ line: ArraySlice<UInt8>) {
    let words = line.split(separator: 0x20, maxSplits: 2)
    headers = []
    majorVersion = words.first.map { $0.dropFirst(5).first == UInt8(ascii: "2") ? 2 : 1 } ?? 1
    status = words.count > 1 ? Int(String(decoding: words[1], as: UTF8.self)) ?? 0 : 0
  }
}
