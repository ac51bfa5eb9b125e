internal import Foundation
package import MartletGenerator
package import MartletGraphQLLanguage
internal import MartletModelSDL
internal import MartletModels

/// A folder with a schema and operations: finds the files, runs the generator, writes what it made.
package struct GenerateFolder: Sendable {
  /// What a run did.
  package struct Report: Sendable {
    /// Paths of the files that were written because they were new or differ.
    package var written: [String] = []
    /// Paths of generated files whose operation is gone.
    package var removed: [String] = []
    package var unchanged = 0
    package var lines = 0
    package var selectedFields = 0
  }

  private let root: URL
  /// How messages name the folder; empty for the current one.
  private let shown: String
  package var settings: GenerateSettings

  /// - Parameter path: the folder all paths of the settings are relative to.
  package init(_ path: String, settings: GenerateSettings) {
    root = URL(fileURLWithPath: path, isDirectory: true)
    shown = path == "." || path.isEmpty ? "" : path.hasSuffix("/") ? path : path + "/"
    self.settings = settings
  }

  /// The whole schema, with what `@model` types generate.
  package func schema() throws(GenerationErrors) -> Schema {
    var files: [SourceFile] = []
    for path in schemaPaths { files.append(try file(path)) }
    return try Self.schema(files)
  }

  private var schemaPaths: [String] {
    guard settings.schema == GenerateSettings().schema else { return settings.schema }
    let found = GenerateSettings.schemaNames.first { FileManager.default.fileExists(atPath: url($0).path) }
    return found.map { [$0] } ?? settings.schema
  }

  /// The whole schema of texts.
  package static func schema(_ files: [SourceFile]) throws(GenerationErrors) -> Schema {
    let sources = try SchemaSources(files)
    let hasModels = sources.document.definitions.contains {
      if case .type(let type) = $0 { type.directive("model") != nil } else { false }
    }
    guard hasModels, let text = sources.text else { return try sources.schema() }
    do {
      return try ModelSchema(text, options: SchemaOptions(incrementalDelivery: true)).schema
    } catch {
      throw sources.placed(error.errors)
    }
  }

  /// Generates without writing.
  package func generate(_ schema: Schema) throws(GenerationErrors) -> Generator.Output {
    var configuration = settings.generator
    configuration.isSingleFile = settings.output.hasSuffix(".swift")
    return try Generator.generate(
      schema: schema, operations: try operations(), configuration: configuration, models: try models())
  }

  /// The models to write structs for.
  private func models() throws(GenerationErrors) -> [ModelDefinition] {
    guard settings.generator.models else { return [] }
    var files: [SourceFile] = []
    for path in schemaPaths { files.append(try file(path)) }
    let sources = try SchemaSources(files)
    guard let text = sources.text else {
      throw GenerationErrors([
        GenerationError(.configuration, "Models are written from a schema file with @model types, not introspection.")
      ])
    }
    do {
      let models = try ModelSchema(text).models
      guard models.isEmpty else { return models }
    } catch {
      throw sources.placed(error.errors)
    }
    throw GenerationErrors([
      GenerationError(.configuration, "\"models\" is set, and the schema has no type with @model.")
    ])
  }

  /// Generates and writes. Files that are as they should be are left alone, so that builds need not compile them again.
  package func write(_ output: Generator.Output) throws(GenerationErrors) -> Report {
    var report = Report()
    report.selectedFields = output.selectedFields
    let target = url(settings.output)
    let isSingle = settings.output.hasSuffix(".swift")
    let folder = isSingle ? target.deletingLastPathComponent() : target
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for file in output.files {
        report.lines += file.text.utf8.count { $0 == UInt8(ascii: "\n") }
        let url = isSingle ? target : folder.appendingPathComponent(file.name)
        if try Self.write(file.text, to: url) {
          report.written.append(shown + settings.output + (isSingle ? "" : "/" + file.name))
        } else {
          report.unchanged += 1
        }
      }
      if !isSingle { report.removed = try removeStale(in: folder, keeping: Set(output.files.map(\.name))) }
    } catch {
      throw GenerationErrors([
        GenerationError(
          .configuration, "Cannot be written: \(error.localizedDescription)", file: shown + settings.output)
      ])
    }
    return report
  }

  /// Paths of files that `write` would write or remove.
  package func changes(_ output: Generator.Output) -> [String] {
    let target = url(settings.output)
    if settings.output.hasSuffix(".swift") {
      let old = try? String(contentsOf: target, encoding: .utf8)
      return output.files.contains { $0.text != old } ? [shown + settings.output] : []
    }
    var names = output.files.filter { file in
      file.text != (try? String(contentsOf: target.appendingPathComponent(file.name), encoding: .utf8))
    }.map(\.name)
    names += stale(in: target, keeping: Set(output.files.map(\.name)))
    return names.sorted().map { shown + settings.output + "/" + $0 }
  }

  private func stale(in folder: URL, keeping names: Set<String>) -> [String] {
    let found = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return found.sorted().filter { name in
      guard name.hasSuffix(".swift"), !names.contains(name) else { return false }
      let text = try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      return text?.hasPrefix(GeneratedFile.mark) ?? false
    }
  }

  /// Removes what earlier runs generated and this one did not. A file without the generator's mark is not ours.
  private func removeStale(in folder: URL, keeping names: Set<String>) throws -> [String] {
    var removed: [String] = []
    for name in stale(in: folder, keeping: names) {
      try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
      removed.append(shown + settings.output + "/" + name)
    }
    return removed
  }

  /// - Returns: whether the file had to be written.
  private static func write(_ text: String, to url: URL) throws -> Bool {
    if let old = try? Data(contentsOf: url), old == Data(text.utf8) { return false }
    try Data(text.utf8).write(to: url, options: .atomic)
    return true
  }

  // MARK: Files

  /// The operation files that the patterns choose, in order of their paths. Schema files are none.
  package func operationPaths() -> [String] {
    let globs = settings.operations.map(Glob.init)
    let schema = Set(schemaPaths.map { url($0).standardizedFileURL.path })
    let base = root.standardizedFileURL.path + "/"
    guard let walker = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil) else { return [] }
    var paths: [String] = []
    for case let url as URL in walker {
      if [".build", ".git", "node_modules"].contains(url.lastPathComponent) {
        walker.skipDescendants()
        continue
      }
      let whole = url.standardizedFileURL.path
      guard whole.hasPrefix(base), !schema.contains(whole) else { continue }
      let path = String(whole.dropFirst(base.count))
      if globs.contains(where: { $0.matches(path) }), !url.hasDirectoryPath { paths.append(path) }
    }
    return paths.sorted()
  }

  private func operations() throws(GenerationErrors) -> [SourceFile] {
    var files: [SourceFile] = []
    for path in operationPaths() { files.append(try file(path)) }
    guard !files.isEmpty || settings.generator.models else {
      let patterns = settings.operations.map { "\"\($0)\"" }.joined(separator: ", ")
      throw GenerationErrors([
        GenerationError(.configuration, "No file matches \(patterns) in \(shown.isEmpty ? "this folder" : shown).")
      ])
    }
    return files
  }

  private func file(_ path: String) throws(GenerationErrors) -> SourceFile {
    let name = path.hasPrefix("/") ? path : shown + path
    do {
      return SourceFile(name: name, text: try String(contentsOf: url(path), encoding: .utf8))
    } catch {
      throw GenerationErrors([
        GenerationError(.configuration, "Cannot be read: \(error.localizedDescription)", file: name)
      ])
    }
  }

  private func url(_ path: String) -> URL {
    path.hasPrefix("/") ? URL(fileURLWithPath: path) : root.appendingPathComponent(path)
  }
}
