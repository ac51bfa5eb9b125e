package import MartletJSON
package import MartletWire

extension MultipartRequest {
  /// Whether a request's content type says that it is one.
  package static func isAsked(by head: HTTPRequestHead) -> Bool {
    guard head.method == "POST", let value = head.headers.first("Content-Type") else { return false }
    // Without its parameters, because every request of a connection is asked this several times.
    return HTTPSyntax.equals(HTTPSyntax.trimmed(value.prefix { $0 != UInt8(ascii: ";") }), "multipart/form-data")
  }

  /// Reads a body that has arrived whole; the files stand in the variables (`UploadedFile.variable`).
  package static func read(
    contentType: String, body: [UInt8], batch: BatchLimits = BatchLimits(), limits: UploadLimits = UploadLimits(),
    json: JSONLimits = JSONLimits()
  ) throws(UploadError) -> RequestBatch {
    var parts = try parts(contentType, body, limits)[...]
    let operations = try take("operations", &parts, limits)
    let map = try take("map", &parts, limits)
    var requests: RequestBatch
    do throws(GraphQLRequestError) {
      requests = try RequestBatch(json: operations.file.bytes, limits: batch, json: json)
    } catch {
      throw .operations(error)
    }
    let places = try readMap(map.file.bytes, limits, json)
    var files = parts.filter { part in part.isFile || places.contains { name(part, is: $0.name) } }
    if files.count > limits.files { throw .tooManyFiles(limit: limits.files) }
    for (name, paths) in places {
      guard let index = files.firstIndex(where: { self.name($0, is: name) }) else { throw .fileMissing(name) }
      let value = files.remove(at: index).file.variable
      for path in paths where !requests.substitute(value, at: path) { throw .path(path) }
    }
    // A form may carry more than the map speaks of, but nothing of that twice.
    for left in files where places.contains(where: { name(left, is: $0.name) }) { throw .duplicateFile(left.name) }
    return requests
  }

  // MARK: Reading parts

  private struct Part {
    var name: String
    /// It has a file name: it is a file, not a field of the form.
    var isFile: Bool
    var file: UploadedFile
  }

  /// Takes the next of the two parts that are not files. Other fields of the form are somebody else's; files come
  /// later.
  private static func take(
    _ wanted: String, _ parts: inout ArraySlice<Part>, _ limits: UploadLimits
  ) throws(UploadError) -> Part {
    while let part = parts.popFirst() {
      if name(part, is: wanted) {
        guard part.file.bytes.count <= limits.operationsBytes else {
          throw .tooLarge(part: part.name, limit: limits.operationsBytes)
        }
        return part
      }
      guard !part.isFile, !name(part, is: "operations"), !name(part, is: "map") else {
        throw .order(expected: wanted, found: part.name)
      }
    }
    throw .missing(wanted)
  }

  private static func name(_ part: Part, is name: String) -> Bool { part.name.utf8.elementsEqual(name.utf8) }

  private static func parts(
    _ contentType: String, _ body: [UInt8], _ limits: UploadLimits
  ) throws(UploadError) -> [Part] {
    var own = MultipartLimits()
    own.partBytes = max(limits.fileBytes, limits.operationsBytes)
    var found: [MultipartPart] = []
    do throws(MultipartFailure) {
      var reader = try MultipartReader(contentType: contentType, limits: own)
      try reader.receive(body, parts: &found)
      try reader.inputEnded()
    } catch {
      throw .multipart(error)
    }
    if found.count > limits.files + limits.fields + 2 { throw .tooManyFiles(limit: limits.files) }
    var parts: [Part] = []
    for (index, part) in found.enumerated() {
      guard let disposition = part.headers.values("Content-Disposition").first,
        let (name, fileName) = names(disposition)
      else { throw .unnamedPart(index) }
      if index >= 2, part.body.count > limits.fileBytes { throw .tooLarge(part: name, limit: limits.fileBytes) }
      let file = UploadedFile(
        name: fileName ?? name, mediaType: part.headers["Content-Type"] ?? "application/octet-stream",
        bytes: part.body)
      parts.append(Part(name: name, isFile: fileName != nil, file: file))
    }
    return parts
  }

  /// The names in `form-data; name="0"; filename="a.txt"`. Browsers escape quotes by percent signs, others by a
  /// backslash.
  private static func names(_ disposition: ArraySlice<UInt8>) -> (name: String, fileName: String?)? {
    let pieces = HTTPSyntax.split(disposition, at: UInt8(ascii: ";"))
    guard HTTPSyntax.equals(pieces[0], "form-data") else { return nil }
    var name: String?
    var fileName: String?
    for piece in pieces.dropFirst() {
      guard let equals = piece.firstIndex(of: UInt8(ascii: "=")),
        let value = HTTPSyntax.parameterValue(piece[(equals + 1)...])
      else { continue }
      let text = String(decoding: value, as: UTF8.self)
      if HTTPSyntax.equals(piece[..<equals], "name") { name = text }
      if HTTPSyntax.equals(piece[..<equals], "filename") { fileName = text }
    }
    return name.map { ($0, fileName) }
  }

  private static func readMap(
    _ bytes: [UInt8], _ limits: UploadLimits, _ json: JSONLimits
  ) throws(UploadError) -> [(name: String, paths: [String])] {
    guard let value = try? JSONValue(parsing: bytes, limits: json), let object = value.object else {
      throw .map("must be an object in JSON")
    }
    if object.count > limits.files { throw .tooManyFiles(limit: limits.files) }
    var map: [(name: String, paths: [String])] = []
    for (name, value) in object {
      guard let list = value.array else { throw .map("\"\(name)\" must be a list of paths") }
      var paths: [String] = []
      for path in list {
        guard let text = path.string else { throw .map("\"\(name)\" must be a list of paths") }
        paths.append(text)
      }
      map.append((name, paths))
    }
    return map
  }

  // MARK: Writing

  /// A file and where it belongs, as a path of member names and positions: `variables.file`, `variables.files.0`.
  package struct Attachment: Sendable {
    package var path: String
    package var file: UploadedFile

    package init(path: String, file: UploadedFile) {
      self.path = path
      self.file = file
    }
  }

  /// Writes a request's body.
  ///
  /// - Parameters:
  ///   - operations: the request in JSON, with null where files belong.
  ///   - boundary: a token that occurs in no file; draw one of 128 random bits.
  package static func body(operations: [UInt8], attachments: [Attachment], boundary: String) -> [UInt8] {
    let files = attachments.map { FilePart(path: $0.path, name: $0.file.name, mediaType: $0.file.mediaType) }
    return pieces(operations: operations, files: files, boundary: boundary).flatMap { piece in
      switch piece {
      case .bytes(let bytes): bytes
      case .file(let index): attachments[index].file.bytes
      }
    }
  }
}
