/// The tokens of one document with one token of look-ahead, and how much of the document's limits is used up.
struct TokenStream {
  private var lexer: Lexer
  /// The token that was read but not yet taken.
  private(set) var token: Token
  private let limits: ParserLimits
  private var tokens = 0
  private var depth = 0
  private var aliases = 0
  private var directives = 0
  private var fields = 0

  init(_ source: [UInt8], name: String?, limits: ParserLimits) throws(SyntaxError) {
    self.limits = limits
    // Offsets are kept in 32 bits, whatever the setting says.
    let bytes = min(limits.bytes, Int(Int32.max))
    guard source.count <= bytes else {
      throw SyntaxError(
        kind: .limit(.bytes, allowed: bytes),
        message: "The document has \(source.count) bytes; at most \(bytes) are allowed.",
        location: SourceLocation(line: 1, column: 1), sourceName: name)
    }
    lexer = Lexer(source, sourceName: name)
    token = Token(kind: .end, start: 0, end: 0, line: 1, column: 1)
    try advance()
  }

  var sourceName: String? { lexer.sourceName }

  /// The bytes of a token as text, quotes included.
  @inline(__always)
  func text(_ token: Token) -> String { lexer.text(token) }

  /// The value of a string token.
  func stringText(_ token: Token) throws(SyntaxError) -> String { try lexer.stringText(token) }

  // MARK: Tokens

  /// Takes the current token and reads the next.
  @inline(__always)
  mutating func advance() throws(SyntaxError) {
    token = try lexer.next()
    tokens += 1
    if tokens > limits.tokens { throw exceeded(.tokens) }
  }

  /// Takes the current token if it is of `kind`.
  @inline(__always)
  mutating func take(_ kind: Token.Kind) throws(SyntaxError) -> Bool {
    guard token.kind == kind else { return false }
    try advance()
    return true
  }

  /// Takes the current token, which must be of `kind`, and returns it. The end of the source may be taken repeatedly.
  @discardableResult
  @inline(__always)
  mutating func expect(_ kind: Token.Kind) throws(SyntaxError) -> Token {
    let taken = token
    guard taken.kind == kind else {
      throw error("Expected \(kind.text), found \(describe(taken)).", at: taken)
    }
    if kind != .end { try advance() }
    return taken
  }

  /// Whether the current token is the name `keyword`.
  func isKeyword(_ keyword: StaticString) -> Bool {
    guard token.kind == .name, token.end - token.start == keyword.utf8CodeUnitCount else { return false }
    return lexer.text(token) == keyword.description
  }

  /// Takes the current token if it is the name `keyword`.
  mutating func takeKeyword(_ keyword: StaticString) throws(SyntaxError) -> Bool {
    guard isKeyword(keyword) else { return false }
    try advance()
    return true
  }

  /// Takes the current token, which must be the name `keyword`.
  mutating func expectKeyword(_ keyword: StaticString) throws(SyntaxError) {
    guard try takeKeyword(keyword) else {
      throw error("Expected '\(keyword)', found \(describe(token)).", at: token)
    }
  }

  /// Reads a name.
  @inline(__always)
  mutating func name() throws(SyntaxError) -> Name {
    let taken = try expect(.name)
    return Name(lexer.text(taken), location: taken.location)
  }

  /// One or more names with `separator` between them and perhaps in front.
  mutating func names(separatedBy separator: Token.Kind) throws(SyntaxError) -> [Name] {
    _ = try take(separator)
    var names: [Name] = []
    repeat { names.append(try name()) } while try take(separator)
    return names
  }

  /// Reads one or more items between `open` and `close`.
  mutating func many<Item>(
    _ open: Token.Kind, _ close: Token.Kind, _ item: (inout TokenStream) throws(SyntaxError) -> Item
  ) throws(SyntaxError) -> [Item] {
    try expect(open)
    var items: [Item] = []
    repeat { items.append(try item(&self)) } while try !take(close)
    return items
  }

  /// Reads one or more items between `open` and `close`, or nothing when `open` is not there.
  @inline(__always)
  mutating func optionalMany<Item>(
    _ open: Token.Kind, _ close: Token.Kind, _ item: (inout TokenStream) throws(SyntaxError) -> Item
  ) throws(SyntaxError) -> [Item] {
    guard token.kind == open else { return [] }
    return try many(open, close, item)
  }

  // MARK: Limits

  /// Enters a level of nesting; every call is paired with `leave`.
  mutating func enter() throws(SyntaxError) {
    depth += 1
    if depth > limits.value(of: .depth) { throw exceeded(.depth) }
  }

  mutating func leave() {
    depth -= 1
  }

  mutating func countField() throws(SyntaxError) {
    fields += 1
    if fields > limits.fields { throw exceeded(.fields) }
  }

  mutating func countAlias() throws(SyntaxError) {
    aliases += 1
    if aliases > limits.aliases { throw exceeded(.aliases) }
  }

  mutating func countDirective() throws(SyntaxError) {
    directives += 1
    if directives > limits.directives { throw exceeded(.directives) }
  }

  // MARK: Errors

  func error(_ message: String, at token: Token) -> SyntaxError {
    SyntaxError(
      kind: .grammar, message: message, location: place(token), sourceName: lexer.sourceName)
  }

  /// The error for a token that fits nothing here.
  func unexpected(_ token: Token) -> SyntaxError {
    error("Unexpected \(describe(token)).", at: token)
  }

  func describe(_ token: Token) -> String {
    guard token.kind.hasText else { return token.kind.text }
    let text = (token.kind == .string || token.kind == .blockString ? try? lexer.stringText(token) : nil)
    return "\(token.kind.text) '\(text ?? lexer.text(token))'"
  }

  func exceeded(_ name: ParserLimits.Name, allowed: Int? = nil) -> SyntaxError {
    let allowed = allowed ?? limits.value(of: name)
    let message =
      name == .depth
      ? "The document is nested too deeply; at most \(allowed) levels are allowed."
      : "The document has too many \(name.rawValue); at most \(allowed) are allowed."
    return SyntaxError(
      kind: .limit(name, allowed: allowed), message: message, location: place(token), sourceName: lexer.sourceName)
  }

  private func place(_ token: Token) -> SourceLocation {
    SourceLocation(line: Int(token.line), column: Int(token.column), offset: token.start)
  }
}
