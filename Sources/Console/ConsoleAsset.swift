/// One file of the console and of the page at `/`. `Assets` holds the files; `Embedded` is written from them by
/// Scripts/embed-console.
package struct ConsoleAsset: Sendable {
  package enum Kind: Sendable {
    case html, css, javaScript, svg
  }

  /// The file's name, without a folder.
  package let name: String
  package let kind: Kind
  private let text: String

  init(_ name: String, _ kind: Kind, _ text: String) {
    self.name = name
    self.kind = kind
    self.text = text
  }

  /// The file's content.
  package var bytes: [UInt8] { Array(text.utf8) }

  package var contentType: String {
    switch kind {
    case .html: "text/html; charset=utf-8"
    case .css: "text/css; charset=utf-8"
    case .javaScript: "text/javascript; charset=utf-8"
    case .svg: "image/svg+xml"
    }
  }

  /// The file called `name`; nil when there is none.
  package static func named(_ name: String) -> ConsoleAsset? {
    all.first { $0.name.utf8.elementsEqual(name.utf8) }
  }
}
