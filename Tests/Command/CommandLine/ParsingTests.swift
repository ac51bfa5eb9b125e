import MartletCommandLine
import Testing

@testable import MartletCommand

@Suite struct ParsingTests {
  private func parse(_ words: String...) throws -> ParsedArguments {
    try ParsedArguments(words, for: ServeCommand.specification)
  }

  @Test func `options are accepted before, after and between operands`() throws {
    let arguments = try parse("--port", "9", "a.graphql", "--dev", "--data=x=y")
    #expect(arguments.operands == ["a.graphql"])
    #expect(try arguments.integer("port", in: 0...65_535) == 9)
    #expect(arguments.has("dev"))
    #expect(arguments.value("data") == "x=y")
  }

  @Test func `what follows two dashes is an operand`() throws {
    #expect(try parse("--", "--dev").operands == ["--dev"])
  }

  @Test(arguments: [
    (["a", "--prot", "9"], "Unknown option --prot. Did you mean --port?"),
    (["a", "--nonsense"], "Unknown option --nonsense. 'martlet serve --help' lists the options."),
    (["a", "--port"], "--port needs a value: --port N."),
    (["a", "--dev=yes"], "--dev takes no value."),
    (["a", "--port", "1", "--port", "2"], "--port is given twice."),
    (["a", "--log-level", "loud"], "--log-level must be one of debug, info, warning, error, not 'loud'."),
    (
      ["a", "--log-level", "warn"],
      "--log-level must be one of debug, info, warning, error, not 'warn'. Did you mean warning?"
    ),
    ([], "Missing operand SCHEMA.\nUSAGE: martlet serve SCHEMA [OPTIONS]"),
    (["a", "b"], "Unexpected operand 'b'.\nUSAGE: martlet serve SCHEMA [OPTIONS]"),
  ])
  func `a mistake is named, with what may have been meant`(words: [String], message: String) {
    #expect { try ParsedArguments(words, for: ServeCommand.specification) } throws: { error in
      (error as? UsageError)?.description == message
    }
  }

  @Test(arguments: [
    ("30", 30_000), ("1.5", 1_500), ("200ms", 200), ("5m", 300_000), ("2h", 7_200_000), ("7d", 604_800_000),
  ])
  func `durations have units`(text: String, milliseconds: Int) throws {
    #expect(try parse("a", "--retention", text).duration("retention") == .milliseconds(milliseconds))
  }

  @Test(arguments: ["", "x", "-1", "1y", "inf"])
  func `a duration that is none is refused`(text: String) throws {
    let arguments = try parse("a", "--retention", text)
    #expect(throws: UsageError.self) { try arguments.duration("retention") }
  }

  @Test(arguments: [
    ("sevre", "Unknown subcommand 'sevre'. Did you mean 'serve'?"),
    ("frobnicate", "Unknown subcommand 'frobnicate'. 'martlet --help' lists them."),
    ("--versoin", "Unknown option --versoin. Did you mean --version?"),
    ("--port", "Unknown option --port. Options follow the subcommand; 'martlet --help' lists the subcommands."),
  ])
  func `an unknown subcommand is answered with the nearest`(word: String, message: String) {
    #expect(Subcommands.dispatcher.unknown(word) == message)
  }

  @Test(arguments: [
    (["--dev"], "Say where the data lives: --data DIR, or --memory to forget it at the end."),
    (["--data", "d", "--memory"], "--data and --memory exclude each other."),
    (["--memory", "--tls-key", "k"], "TLS needs both --tls-certificate and --tls-key."),
  ])
  func `options of serve that do not fit together are refused`(options: [String], message: String) throws {
    let arguments = try ParsedArguments([#filePath] + options, for: ServeCommand.specification)
    #expect { try ServeCommand.configuration(arguments) } throws: { error in
      (error as? UsageError)?.description == message
    }
  }
}
