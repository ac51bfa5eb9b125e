import Foundation

/// The process of the `martlet` command: words in, exit code out.
@main
enum MartletMain {
  static func main() async {
    exit(await Dispatcher.run(Array(CommandLine.arguments.dropFirst())).rawValue)
  }
}
