import Foundation
import PackagePlugin

/// Generates Swift for the GraphQL operations of a target at every build that needs it. The target's folder has a schema
/// and operations, and may have a `martlet-generate.json`, as `martlet generate` reads it; its "output" does not count.
@main
struct MartletGeneratePlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let folder = target.directoryURL
    let configuration = folder.appendingPathComponent("martlet-generate.json")
    let hasConfiguration = FileManager.default.fileExists(atPath: configuration.path)
    let hasSchema = ["schema.graphql", "schema.graphqls", "schema.json"].contains {
      FileManager.default.fileExists(atPath: folder.appendingPathComponent($0).path)
    }
    guard hasConfiguration || hasSchema else {
      Diagnostics.error(
        "\(target.name) uses MartletGeneratePlugin but has neither a schema.graphql nor a martlet-generate.json in its "
          + "folder.")
      return []
    }
    // Whatever can change the result: the build runs the tool again when one of them changed.
    var inputs = hasConfiguration ? [configuration] : []
    if let walker = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) {
      for case let url as URL in walker where ["graphql", "graphqls", "gql", "json"].contains(url.pathExtension) {
        if url.path != configuration.path { inputs.append(url) }
      }
    }
    if hasConfiguration { inputs += outside(configuration, folder: folder) }
    let output = context.pluginWorkDirectoryURL.appendingPathComponent("Operations.graphql.swift")
    return [
      .buildCommand(
        displayName: "Generating Swift for the GraphQL operations of \(target.name)",
        executable: try context.tool(named: "martlet-generate").url,
        arguments: [hasConfiguration ? configuration.path : folder.path, output.path], inputFiles: inputs,
        outputFiles: [output])
    ]
  }

  /// Schema files the configuration names that lie elsewhere.
  private func outside(_ configuration: URL, folder: URL) -> [URL] {
    guard let data = try? Data(contentsOf: configuration),
      let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    else { return [] }
    let names = object["schema"] as? [String] ?? (object["schema"] as? String).map { [$0] } ?? []
    return names.filter { $0.hasPrefix("../") || $0.hasPrefix("/") }.map {
      $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : folder.appendingPathComponent($0).standardizedFileURL
    }
  }
}
