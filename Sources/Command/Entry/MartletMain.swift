import MartletCommandLine

/// The process of the `martlet` command: words in, exit code out.
@main
enum MartletMain {
  static func main() async {
    StandardStreams.prepare()
    StandardStreams.end(with: await Subcommands.dispatcher.run(Array(CommandLine.arguments.dropFirst())))
  }
}
