internal import MartletHTTPWire
internal import MartletJSON

/// A GraphQL multipart request: `operations` (a request or a list of them, with null where files belong), `map` (which
/// part goes where), then the files.
package enum MultipartRequest {
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
