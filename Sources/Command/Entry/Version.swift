/// The version of the command and the libraries it was built with.
enum Version {
  static let text = "martlet 0.1.0"
}
