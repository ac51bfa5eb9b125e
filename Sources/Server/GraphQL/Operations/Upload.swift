public import MartletJSON
internal import MartletWire

/// A file that a client sent beside its operation, by the GraphQL multipart request specification.
///
/// The schema declares `scalar Upload`; a resolver reads the argument:
///
/// ```swift
/// resolvers.resolve("Mutation", "setPicture") { request in
///   let picture = try Upload(request.arguments["picture"])
///   …
/// }
/// ```
public struct Upload: Sendable, Hashable {
  /// The file's name as the client says it. Not a path to be trusted.
  public var filename: String
  /// The media type as the client says it.
  public var mediaType: String
  /// The file's content.
  public var bytes: [UInt8]

  /// Reads an argument of the scalar `Upload`.
  ///
  /// - Throws: `InvalidUpload` when the argument is absent, null, or not a file.
  public init(_ value: JSONValue?) throws(InvalidUpload) {
    guard let filename = value?["filename"]?.string, let mediaType = value?["mimetype"]?.string,
      let content = value?["content"]?.string, let bytes = Base64.decodeLeniently(content.utf8)
    else { throw InvalidUpload() }
    self.filename = filename
    self.mediaType = mediaType
    self.bytes = bytes
  }
}

/// An argument that should be a file and is none.
public struct InvalidUpload: Error, Sendable, Hashable, CustomStringConvertible {
  /// For people.
  public var description: String { "The argument must be a file, sent as a GraphQL multipart request." }
}
