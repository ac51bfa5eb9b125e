package import MartletJSON
package import MartletWire

/// A GraphQL multipart request: `operations` (a request or a list of them, with null where files belong), `map` (which
/// part goes where), then the files.
package enum MultipartRequest {
  /// Whether a request's content type says that it is one.
  package static func isAsked(by head: HTTPRequestHead) -> Bool {
    guard head.method == "POST", let value = head.headers.values("Content-Type").first else { return false }
    return MediaType(value, leniently: true)?.matches("multipart", "form-data") ?? false
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

  /// The value of Content-Type.
  package static func contentType(boundary: String) -> String { "multipart/form-data; boundary=\(boundary)" }

  /// A stretch of a body: bytes, or the content of one of its files.
  package enum Piece: Equatable, Sendable {
    case bytes([UInt8])
    case file(Int)
  }

  /// What a body says of a file, beside its content.
  package struct FilePart: Sendable {
    /// Where it stands in the variables: `variables.file`, `variables.files.0`.
    package var path: String
    package var name: String
    package var mediaType: String

    package init(path: String, name: String, mediaType: String) {
      self.path = path
      self.name = name
      self.mediaType = mediaType
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

  /// A request's body without the content of its files, which need not be in memory: stretches of bytes and, each once
  /// and in order, the files between them.
  package static func pieces(operations: [UInt8], files: [FilePart], boundary: String) -> [Piece] {
    var writer = JSONWriter()
    writer.beginObject()
    for (index, file) in files.enumerated() {
      writer.key(String(index))
      writer.beginArray()
      writer.string(file.path)
      writer.endArray()
    }
    writer.endObject()
    var pieces: [Piece] = []
    var bytes: [UInt8] = []
    func begin(_ disposition: String, _ contentType: String) {
      bytes += Array("--\(boundary)\r\nContent-Disposition: form-data; \(disposition)\r\n".utf8)
      bytes += Array("Content-Type: \(contentType)\r\n\r\n".utf8)
    }
    for (name, content) in [("operations", operations), ("map", writer.bytes)] {
      begin("name=\"\(name)\"", "application/json")
      bytes += content + [0x0D, 0x0A]
    }
    for (index, file) in files.enumerated() {
      let type = Array(file.mediaType.utf8)
      let isLegal = !type.isEmpty && HTTPSyntax.isFieldValue(type[...])
      begin(
        "name=\"\(index)\"; filename=\"\(quoted(file.name))\"", isLegal ? file.mediaType : "application/octet-stream")
      pieces += [.bytes(bytes), .file(index)]
      bytes = [0x0D, 0x0A]
    }
    return pieces + [.bytes(bytes + Array("--\(boundary)--\r\n".utf8))]
  }

  /// Quotes and line ends as the HTML standard escapes them in file names.
  private static func quoted(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 0x22: bytes += Array("%22".utf8)
      case 0x0A: bytes += Array("%0A".utf8)
      case 0x0D: bytes += Array("%0D".utf8)
      case 0x00..<0x20, 0x7F: continue
      case 0x5C: bytes += [0x5C, 0x5C]
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
