internal import Foundation

extension ServerEndpoint {
  /// An endpoint that serves the files of a folder, such as the pages of an application in the browser.
  ///
  /// ```swift
  /// configuration.endpoints.append(try ServerEndpoint(files: "public", at: "/app"))
  /// ```
  /// `/app/styles/main.css` is `public/styles/main.css`; a path that ends in `/` is the folder's `index.html`, and
  /// the same path without the slash leads there (308), so that the links of the page fit. Files whose name begins
  /// with a dot, and what links lead to outside the folder, are not served. Browsers ask again each time and are
  /// answered 304 while a file has not changed.
  ///
  /// - Parameters:
  ///   - folder: The folder; it is looked up when a request arrives.
  ///   - path: The beginning of the paths; a slash at its end is dropped.
  ///   - access: Who may read the files: all clients by default, as a page cannot keep its files secret.
  /// - Throws: `ServerError` (`endpoint`) for a path that cannot be served.
  public init(files folder: String, at path: String, access: Access = .open) throws(ServerError) {
    let beginning = path.hasSuffix("/") ? String(path.dropLast()) : path
    try self.init(
      "\(beginning){path...}", takesNothing: true, methods: ["GET", "HEAD"], access: access, bodyBytes: 0
    ) { request, response in
      await StaticFiles(folder).answer(request, response)
    }
  }
}

/// The files of a folder as answers to requests.
struct StaticFiles {
  private let root: String

  /// Bytes of one piece of a file: large enough that reading costs little, small beside a connection's buffers.
  private static let pieceBytes = 65_536

  init(_ folder: String) {
    root = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
  }

  func answer(_ request: EndpointRequest, _ response: EndpointResponse) async {
    if !request.match.hasSuffix("/"), file(request.match + "/") != nil {
      // Relative, because a proxy in front may have another path for this one.
      let name = request.path.split(separator: "/").last ?? ""
      let target = "./\(name)/" + (request.query.map { "?\($0)" } ?? "")
      return await response.send(308, headers: [("Location", target), ("Cache-Control", "no-cache")])
    }
    guard let path = file(request.match), let file = FileHandle(forReadingAtPath: path) else {
      return await response.send(
        404, headers: [("Content-Type", "text/plain; charset=utf-8")], body: Array("Not found.\n".utf8))
    }
    defer { try? file.close() }
    let tag = Self.tag(path)
    var headers = [
      ("Content-Type", Self.type(path)), ("Cache-Control", "no-cache"), ("X-Content-Type-Options", "nosniff"),
    ]
    if let tag { headers.append(("ETag", tag)) }
    if let tag, request.header("If-None-Match") == tag { return await response.send(304, headers: headers) }
    guard request.method != "HEAD" else { return await response.send(200, headers: headers) }
    await response.start(headers: headers)
    while let piece = try? file.read(upToCount: Self.pieceBytes), !piece.isEmpty {
      guard await response.write(Array(piece)) else { return }
    }
    await response.finish()
  }

  /// The regular file that a path names; nil for any other.
  func file(_ match: String) -> String? {
    guard match.hasPrefix("/"), let decoded = match.removingPercentEncoding, !decoded.utf8.contains(0) else {
      return nil
    }
    var parts = decoded.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    if parts.last?.isEmpty == true { parts[parts.count - 1] = "index.html" }
    guard parts.allSatisfy({ !$0.isEmpty && !$0.hasPrefix(".") }) else { return nil }
    let path = URL(fileURLWithPath: root + "/" + parts.joined(separator: "/")).resolvingSymlinksInPath().path
    guard path.hasPrefix(root + "/"),
      let attributes = try? FileManager.default.attributesOfItem(atPath: path),
      attributes[.type] as? FileAttributeType == .typeRegular
    else { return nil }
    return path
  }

  /// Changes when the file does: its size and when it was written.
  private static func tag(_ path: String) -> String? {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
      let size = attributes[.size] as? Int, let date = attributes[.modificationDate] as? Date
    else { return nil }
    return "\"\(String(size, radix: 16))-\(String(Int64(date.timeIntervalSince1970 * 1_000_000), radix: 16))\""
  }

  static func type(_ path: String) -> String {
    let types = [
      "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
      "mjs": "text/javascript; charset=utf-8", "json": "application/json", "map": "application/json",
      "txt": "text/plain; charset=utf-8", "md": "text/plain; charset=utf-8", "svg": "image/svg+xml",
      "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
      "ico": "image/x-icon", "woff2": "font/woff2", "woff": "font/woff", "wasm": "application/wasm",
      "pdf": "application/pdf", "webmanifest": "application/manifest+json",
    ]
    let name = path.split(separator: "/").last ?? ""
    guard let dot = name.lastIndex(of: ".") else { return "application/octet-stream" }
    return types[name[name.index(after: dot)...].lowercased()] ?? "application/octet-stream"
  }
}
