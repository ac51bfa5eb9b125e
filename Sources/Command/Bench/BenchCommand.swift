/// `martlet bench`: points to the measurements, which need peers and generators that are no part of the command.
enum BenchCommand: Subcommand {
  static let specification = CommandSpecification(
    name: "bench", summary: "Say how the project's measurements are taken.",
    discussion: "The measurements live in the repository's Benchmarks folder; 'make bench' builds and runs them.")

  static func run(_ arguments: ParsedArguments) throws -> ExitCode {
    Console.out(specification.discussion)
    return .success
  }
}
