/// One word behind `martlet`.
protocol Subcommand: SendableMetatype {
  static var specification: CommandSpecification { get }

  /// Does the work. Output goes to standard output, remarks to standard error.
  ///
  /// - Throws: `CommandFailure`, or `UsageError` for values that do not fit.
  static func run(_ arguments: ParsedArguments) async throws -> ExitCode
}

extension EchoCommand: Subcommand {}

/// Every subcommand, in the order of the help.
enum Subcommands {
  static let all: [any Subcommand.Type] = [
    ServeCommand.self, AccessCommand.self, RulesCommand.self, QueryCommand.self, MutateCommand.self,
    SubscribeCommand.self,
    ImportCommand.self, SchemaCommand.self, GenerateCommand.self, BackupCommand.self, BenchCommand.self,
    EchoCommand.self, CompletionCommand.self, HelpCommand.self,
  ]

  static func named(_ name: String) -> (any Subcommand.Type)? {
    all.first { $0.specification.name == name }
  }

  static var specifications: [CommandSpecification] { all.map { $0.specification } }
}
