// swift-format-ignore-file
// Written by Scripts/embed-console.

extension ConsoleAsset {
  /// Every file of the console, by name.
  package static let all: [ConsoleAsset] = [activityJS, consoleCSS, consoleHTML, docsJS, domJS, editorJS, graphqlJS, jsonJS, liveJS, mainJS, martletSVG, pageCSS, pageHTML, protocolsJS, schemaJS, themeCSS, timelineJS]
}
