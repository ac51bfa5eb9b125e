import MartletCommandLine

/// `martlet access key create|list|revoke`, `martlet access token check` and `martlet access explain`.
enum AccessCommand: Subcommand {
  static let specification = CommandSpecification(
    name: "access", summary: "Manage API keys, check tokens and explain rules.",
    operands: [
      .init(
        name: "ACTION",
        help: "key create, key list, key revoke, token check or explain; create, list and revoke are about keys",
        offers: [
          .init("key", "create, list or revoke API keys"), .init("token", "check tokens"),
          .init("explain", "say which rule lets a caller see what"),
        ] + keyActions),
      .init(
        name: "WHAT", help: "the rest of the action; for explain, the operation", isOptional: true,
        offersAfter: [
          ("key", keyActions), ("token", [.init("check", "say whether a token is accepted, and why not")]),
        ]),
      .init(name: "VALUE", help: "the key's name; a token, or - for one a line from standard input", isOptional: true),
    ],
    options: KeyActions.options + TokenCheck.options + ExplainAction.options,
    examples: [
      ("martlet access key create \"departure board\"", "prints a key, and the entry for the access file"),
      ("martlet access key create board --file access.json", "prints a key and adds its entry to access.json"),
      ("martlet access list --file access.json", "names the keys, and when they expire"),
      ("martlet access key revoke board --file access.json", "removes the key; a running server reads it at SIGHUP"),
      ("martlet access token check --keys jwks.json -", "says of each line whether the token is accepted, and why not"),
      (
        "martlet access token check --keys jwks.json --issuer https://login.example --audience board \"$TOKEN\"",
        "checks one token as a server would"
      ),
      (
        "martlet access explain --schema app.graphql --as '{\"sub\":\"ada\"}' '{ listNotes { items { text } } }'",
        "says which rule lets the caller see what"
      ),
    ],
    discussion:
      "A key is printed once. The file keeps its SHA-256 only, which is enough because the key is 256 random bits. "
      + "token check exits with 1 when a token is refused. It reads no network: save a provider's key set to a file.")

  private static let keyActions: [CommandSpecification.Choice] = [
    .init("create", "make a key and print it once"), .init("list", "name the keys of an access file"),
    .init("revoke", "remove a key from an access file"),
  ]

  private static let actions = ["key create", "key list", "key revoke", "token check", "explain"]

  /// Actions of keys, which are understood without the word `key`.
  private static let shortActions = ["create", "list", "revoke"]

  static func run(_ arguments: ParsedArguments) throws -> ExitCode {
    var words = arguments.operands
    if words[0] == "new" { words[0] = "create" }
    if shortActions.contains(words[0]) { words.insert("key", at: 0) }
    guard words.count <= 3 else { throw UsageError("Unexpected operand '\(words[3])'.") }
    let (what, value) = (words.count > 1 ? words[1] : "", words.count > 2 ? words[2] : nil)
    switch (words[0], what, value) {
    case ("key", "create", let name?): return try KeyActions.create(name, arguments)
    case ("key", "list", nil): return try KeyActions.list(arguments)
    case ("key", "revoke", let name?): return try KeyActions.revoke(name, arguments)
    case ("token", "check", let token?): return try TokenCheck.run(token, arguments)
    case ("explain", "", nil): throw UsageError("explain needs an operation.")
    case ("explain", let operation, nil): return try ExplainAction.run(operation, arguments)
    case ("key", "create", nil), ("key", "revoke", nil): throw UsageError("key \(what) needs the key's name.")
    case ("token", "check", nil): throw UsageError("token check needs a token, or - for standard input.")
    default:
      let action = words.prefix(2).joined(separator: " ")
      let near = Choices.nearest(action, among: actions + shortActions).map { " Did you mean \($0)?" } ?? ""
      throw UsageError("Unknown action '\(action)': key create, key list, key revoke, token check or explain.\(near)")
    }
  }

  /// Options of the other actions, which would otherwise be given in vain.
  static func refuse(_ options: [CommandSpecification.Option], in arguments: ParsedArguments, of action: String) throws
  {
    for option in options where arguments.has(option.name) {
      throw UsageError("--\(option.name) is not an option of \(action).")
    }
  }
}
