import Foundation

let words = Array(CommandLine.arguments.dropFirst())
guard words.first == EchoCommand.specification.name else {
  print("USAGE: martlet SUBCOMMAND\n\nSUBCOMMANDS:\n  echo  \(EchoCommand.specification.summary)")
  exit(words.isEmpty || words.first == "--help" ? ExitCode.success.rawValue : ExitCode.usage.rawValue)
}
do {
  let arguments = try ParsedArguments(Array(words.dropFirst()), for: EchoCommand.specification)
  if arguments.wantsHelp {
    print(EchoCommand.specification.helpText)
    exit(ExitCode.success.rawValue)
  }
  exit(await EchoCommand.run(arguments).rawValue)
} catch {
  print(error.description)
  exit(ExitCode.usage.rawValue)
}
