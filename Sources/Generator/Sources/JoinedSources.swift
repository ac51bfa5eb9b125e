package import MartletGraphQLLanguage

/// Several files read as one document, so that they share definitions and are checked together, and the way back from a
/// place in that document to a place in a file.
package struct JoinedSources: Sendable {
  private struct Start: Sendable {
    var name: String
    var offset: Int
    /// Lines before the file's first.
    var lines: Int
  }

  private var starts: [Start] = []
  package let document: Document
  /// The text of the document.
  package let text: String

  /// - Throws: the syntax errors of all files.
  package init(_ files: [SourceFile], limits: ParserLimits) throws(GenerationErrors) {
    var errors: [GenerationError] = []
    var bytes: [UInt8] = []
    for file in files {
      do {
        if !Self.isBlank(file.text) { _ = try Parser.parse(file.text, name: file.name, limits: limits) }
      } catch {
        errors.append(
          GenerationError(.syntax, error.graphQLError.message, file: file.name, location: error.location))
      }
      starts.append(Start(name: file.name, offset: bytes.count, lines: Self.lines(bytes)))
      bytes += Array(file.text.utf8)
      bytes.append(UInt8(ascii: "\n"))
    }
    guard errors.isEmpty else { throw GenerationErrors(errors) }
    text = String(decoding: bytes, as: UTF8.self)
    guard !Self.isBlank(bytes) else {
      document = Document(definitions: [])
      return
    }
    do {
      document = try Parser.parse(bytes, limits: limits)
    } catch {
      // Each file was read; together they exceed a limit.
      throw GenerationErrors([GenerationError(.limit, error.message)])
    }
  }

  /// The file and place of a place in the joined document.
  package func place(_ location: SourceLocation) -> (file: String, location: SourceLocation)? {
    guard let start = starts.last(where: { $0.offset <= location.offset }) else { return nil }
    return (
      start.name,
      SourceLocation(
        line: location.line - start.lines, column: location.column, offset: location.offset - start.offset)
    )
  }

  /// An error at a node of the document.
  package func error(_ kind: GenerationError.Kind, _ message: String, at location: SourceLocation?) -> GenerationError {
    let place = location.flatMap(self.place)
    return GenerationError(kind, message, file: place?.file, location: place?.location)
  }

  /// An error about several places: at the first, with the others in its message.
  package func error(
    _ kind: GenerationError.Kind, _ message: String, at locations: [SourceLocation]
  ) -> GenerationError {
    let others = locations.dropFirst().prefix(3).compactMap(place).map {
      "\($0.file):\($0.location.line):\($0.location.column)"
    }
    let more = others.isEmpty ? "" : " See also " + others.joined(separator: ", ") + "."
    return error(kind, message + more, at: locations.first)
  }

  /// The name of the file a node was written in.
  func file(of location: Location) -> String? {
    location.source.flatMap(place)?.file
  }

  private static func isBlank(_ text: String) -> Bool { isBlank(Array(text.utf8)) }

  /// Whether there is nothing but space, commas and comments: no document by the grammar, but no mistake in a file.
  private static func isBlank(_ bytes: [UInt8]) -> Bool {
    var inComment = false
    for byte in bytes {
      switch byte {
      case 0x0A, 0x0D: inComment = false
      case 0x20, 0x09, UInt8(ascii: ","), 0xEF, 0xBB, 0xBF: continue
      case UInt8(ascii: "#"): inComment = true
      default: if !inComment { return false }
      }
    }
    return true
  }

  /// Lines that are complete, counted as the lexer counts them.
  private static func lines(_ bytes: [UInt8]) -> Int {
    var count = 0
    var previous: UInt8 = 0
    for byte in bytes {
      if byte == 0x0D || (byte == 0x0A && previous != 0x0D) { count += 1 }
      previous = byte
    }
    return count
  }
}
