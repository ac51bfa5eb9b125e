import Testing

@main enum Program {
  static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
