import Foundation
import MartletGenerateFiles
import MartletGenerator
import MartletGraphQLLanguage

/// Folders of this suite in the checkout.
enum Place {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  static let fixtures = root.appendingPathComponent("Tests/Generator/Fixtures")
  static let golden = root.appendingPathComponent("Tests/Generator/Golden")

  static func temporary() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }
}

/// Generates from texts.
enum Made {
  static func output(
    _ schema: String, _ operations: String..., configuration: GeneratorConfiguration = GeneratorConfiguration(),
    limits: GeneratorLimits = GeneratorLimits()
  ) throws -> Generator.Output {
    try Generator.generate(
      schema: try Schema.build(schema),
      operations: operations.enumerated().map { SourceFile(name: "\($0 + 1).graphql", text: $1) },
      configuration: configuration, limits: limits)
  }

  /// The text of one generated file.
  static func text(
    _ name: String, _ schema: String, _ operations: String,
    configuration: GeneratorConfiguration = GeneratorConfiguration()
  ) throws -> String {
    try output(schema, operations, configuration: configuration).files.first { $0.name == name + ".swift" }?.text ?? ""
  }

  /// What generating complains about, one line each.
  static func complaints(
    _ schema: String, _ operations: String..., configuration: GeneratorConfiguration = GeneratorConfiguration(),
    limits: GeneratorLimits = GeneratorLimits()
  ) throws -> [String] {
    do {
      _ = try Generator.generate(
        schema: try Schema.build(schema),
        operations: operations.enumerated().map { SourceFile(name: "\($0 + 1).graphql", text: $1) },
        configuration: configuration, limits: limits)
      return []
    } catch let error as GenerationErrors {
      return error.errors.map(\.description)
    }
  }
}
