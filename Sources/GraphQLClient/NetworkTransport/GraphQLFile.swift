/// A file that goes along with an operation.
///
///     let picture = try GraphQLFile(fieldName: "picture", mimeType: "image/png", fileURL: url)
///     try await client.upload(operation: SetPicture(), files: [picture])
public struct GraphQLFile: Sendable {
  package enum Source: Sendable {
    case bytes([UInt8])
    case file(any UploadFile)
  }

  /// Where it stands in the variables, such as `file` or `input.picture`. Several files of one name are a list.
  public var fieldName: String
  /// Its name, as the server sees it.
  public var originalName: String
  /// Its media type.
  public var mimeType: String
  package var source: Source

  /// Its content; empty for a file that is read while it is sent.
  public var content: [UInt8] {
    get {
      switch source {
      case .bytes(let bytes): bytes
      case .file: []
      }
    }
    set { source = .bytes(newValue) }
  }

  /// How many bytes it has.
  public var contentLength: Int {
    switch source {
    case .bytes(let bytes): bytes.count
    case .file(let file): file.length
    }
  }

  /// A file with its content.
  public init(
    fieldName: String, originalName: String, mimeType: String = "application/octet-stream", content: [UInt8]
  ) {
    self.init(fieldName: fieldName, originalName: originalName, mimeType: mimeType, source: .bytes(content))
  }

  package init(fieldName: String, originalName: String, mimeType: String, source: Source) {
    self.fieldName = fieldName
    self.originalName = originalName
    self.mimeType = mimeType
    self.source = source
  }
}
