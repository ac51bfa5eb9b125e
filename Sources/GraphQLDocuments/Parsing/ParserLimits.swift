/// How much of a document the parser is willing to read. Every bound is checked while reading, before memory is spent.
package struct ParserLimits: Hashable, Sendable {
  /// The bounds by name, for errors and settings.
  package enum Name: String, Hashable, Sendable, CaseIterable {
    case bytes, tokens, depth, aliases, directives, fields
  }

  /// Length of the UTF-8 source. Default 1 MiB: a hundred times the largest operations seen in practice.
  package var bytes: Int
  /// Lexical tokens, punctuation included. Default 20,000.
  package var tokens: Int
  /// Nesting of selection sets, values and type references. Default 64; it also bounds the parser's stack, so values
  /// above `maximumDepth` are lowered to it.
  package var depth: Int
  /// Fields with an alias, since each makes the server resolve a field once more. Default 500.
  package var aliases: Int
  /// Directives written anywhere in the document. Default 1,000.
  package var directives: Int
  /// Fields in selection sets, before fragments are expanded. Default 5,000.
  package var fields: Int

  /// The deepest nesting that any setting can reach. At about 1 KiB of stack a level (debug builds: 4) this leaves a
  /// thread of 512 KiB room to spare.
  package static let maximumDepth = 100

  /// Limits for documents of unknown clients.
  package static let request = ParserLimits(
    bytes: 1 << 20, tokens: 20_000, depth: 64, aliases: 500, directives: 1000, fields: 5000)

  /// Limits for schema files, which their operator wrote.
  package static let schema = ParserLimits(
    bytes: 16 << 20, tokens: 2_000_000, depth: 64, aliases: 500, directives: 200_000, fields: 5000)

  package init(bytes: Int, tokens: Int, depth: Int, aliases: Int, directives: Int, fields: Int) {
    self.bytes = bytes
    self.tokens = tokens
    self.depth = depth
    self.aliases = aliases
    self.directives = directives
    self.fields = fields
  }

  /// The value of the bound called `name`.
  package func value(of name: Name) -> Int {
    switch name {
    case .bytes: bytes
    case .tokens: tokens
    case .depth: min(depth, Self.maximumDepth)
    case .aliases: aliases
    case .directives: directives
    case .fields: fields
    }
  }
}
