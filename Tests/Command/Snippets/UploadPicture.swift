import MartletServer

/// The guide's resolver that takes a file.
enum UploadPicture {
  static func attach(_ resolvers: inout Resolvers) {
    resolvers.resolve("Mutation", "setPicture") { request in
      let picture = try Upload(request.arguments["picture"])
      return "\(picture.filename): \(picture.bytes.count) bytes"
    }
  }
}
