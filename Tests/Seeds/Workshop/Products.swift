import Foundation

/// What the build of this test run has left behind: modules to compile against, and objects to link.
struct Products: Sendable {
  let folder: URL

  /// Beside the test bundle; the bundle's own path says where that is.
  static let current: Products? = {
    let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let candidates = [bundle, SeedFolder.root.appendingPathComponent(".build/debug")].map {
      $0.resolvingSymlinksInPath()
    }
    return candidates.first { folder in
      FileManager.default.fileExists(atPath: folder.appendingPathComponent("Modules/Martlet.swiftmodule").path)
        && FileManager.default.fileExists(atPath: folder.appendingPathComponent("martlet").path)
    }.map(Products.init)
  }()

  var command: String { folder.appendingPathComponent("martlet").path }

  private static let cModules = ["CMartletSystem", "CMartletVFS"]
  private static let systemModules = ["CMartletSQLite", "CMartletZlib", "CMartletOpenSSL", "CMartletCurl"]

  /// Options that find the modules, and the rules every block is compiled by.
  var compilerOptions: [String] {
    var options = ["-swift-version", "6", "-warnings-as-errors", "-Onone", "-I", folder.path + "/Modules"]
    options += ["-module-cache-path", folder.path + "/SeedModuleCache"]
    let sources = SeedFolder.root.appendingPathComponent("Sources").path
    for module in Self.cModules {
      options += ["-Xcc", "-fmodule-map-file=\(folder.path)/\(module).build/module.modulemap"]
      options += ["-Xcc", "-I", "-Xcc", "\(sources)/\(module)/include"]
    }
    for module in Self.systemModules { options += ["-Xcc", "-fmodule-map-file=\(sources)/\(module)/module.modulemap"] }
    return options
  }

  /// The objects of every library of the package, by the lists of sources the build has kept: objects of files that
  /// are gone may lie beside them.
  func objects() throws -> [String] {
    let manager = FileManager.default
    let names = try manager.contentsOfDirectory(atPath: SeedFolder.root.appendingPathComponent("Sources").path).sorted()
    var objects: [String] = []
    for name in names where name != "Command" && name != "GenerateTool" {
      let target = name == "Martlet" || name.hasPrefix("CMartlet") ? name : "Martlet" + name
      let build = folder.appendingPathComponent("\(target).build")
      if let sources = try? String(contentsOf: build.appendingPathComponent("sources"), encoding: .utf8) {
        objects += sources.split(separator: "\n").map { path in
          // A path with a space in it stands in quotes.
          let file = path.split(separator: "/").last.map { $0.filter { $0 != "'" && $0 != "\"" } } ?? ""
          return build.appendingPathComponent("\(file).o").path
        }
      } else if Self.cModules.contains(target) {
        objects += try manager.contentsOfDirectory(atPath: build.path).filter { $0.hasSuffix(".c.o") }.sorted()
          .map { build.appendingPathComponent($0).path }
      }
    }
    return objects
  }
}
