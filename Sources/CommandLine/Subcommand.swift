/// One word after the name of a program.
package protocol Subcommand: SendableMetatype {
  static var specification: CommandSpecification { get }

  /// Does the work. Output goes to standard output, remarks to standard error.
  ///
  /// - Throws: `CommandFailure`, or `UsageError` for values that do not fit.
  static func run(_ arguments: ParsedArguments) async throws -> ExitCode
}
