/// Reads GraphQL documents (the grammar of appendix C), by recursive descent with one token of look-ahead.
///
/// Each node reads itself from a `TokenStream`, with `read(from:)`. Depth is limited before the recursion, so no input
/// can exhaust the stack.
package enum Parser {
  /// Reads a document.
  ///
  /// - Parameters:
  ///   - source: the text, as UTF-8.
  ///   - name: how errors name the source.
  ///   - limits: the bounds; the default is for documents of unknown clients.
  package static func parse(
    _ source: [UInt8], name: String? = nil, limits: ParserLimits = .request
  ) throws(SyntaxError) -> Document {
    var tokens = try TokenStream(source, name: name, limits: limits)
    return try Document.read(from: &tokens)
  }

  /// Reads a document from a string.
  package static func parse(
    _ source: String, name: String? = nil, limits: ParserLimits = .request
  ) throws(SyntaxError) -> Document {
    try parse(Array(source.utf8), name: name, limits: limits)
  }

  /// Reads a single value that uses no variables, such as a default value.
  package static func parseConstantValue(
    _ source: String, limits: ParserLimits = .request
  ) throws(SyntaxError) -> Value {
    var tokens = try TokenStream(Array(source.utf8), name: nil, limits: limits)
    let value = try Value.read(from: &tokens, isConstant: true)
    try tokens.expect(.end)
    return value
  }
}
