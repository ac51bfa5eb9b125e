import MartletCommandLine

/// Every subcommand, in the order of the help.
enum Subcommands {
  static let all: [any Subcommand.Type] = [
    ServeCommand.self, AccessCommand.self, RulesCommand.self, ChannelsCommand.self, QueryCommand.self,
    MutateCommand.self,
    SubscribeCommand.self, ImportCommand.self, SchemaCommand.self, GenerateCommand.self, BackupCommand.self,
    CheckCommand.self, CompletionCommand.self, HelpCommand.self,
  ]

  static let dispatcher = Dispatcher("martlet", version: Version.text, commands: all) { HelpCommand.overview }

  static func named(_ name: String) -> (any Subcommand.Type)? { dispatcher.named(name) }

  static var specifications: [CommandSpecification] { dispatcher.specifications }
}
