import Foundation

/// The process of the `martlet` command: words in, exit code out.
@main
enum MartletMain {
  static func main() async {
    StandardStreams.prepare()
    exit(await Dispatcher.run(Array(CommandLine.arguments.dropFirst())).rawValue)
  }
}
