internal import Foundation
internal import MartletJSON

extension FCMService {
  /// Reads the member `fcm` of a channels file, and the file that it names.
  init(_ entry: JSONObject) throws(ServerError) {
    var reader = ChannelFileReader(entry)
    self.init(serviceAccount: try reader.contents("serviceAccountFile"))
    if let endpoint = try reader.text("endpoint") { self.endpoint = endpoint }
    try reader.finish("\"fcm\"")
  }
}

extension APNsService {
  /// Reads the member `apns` of a channels file, and the file that it names.
  init(_ entry: JSONObject) throws(ServerError) {
    var reader = ChannelFileReader(entry)
    let key = try reader.contents("keyFile")
    guard let keyID = try reader.text("keyID"), let teamID = try reader.text("teamID"),
      let topic = try reader.text("topic")
    else { throw ServerError(.channels, "\"apns\" needs \"keyFile\", \"keyID\", \"teamID\" and \"topic\".") }
    self.init(key: key, keyID: keyID, teamID: teamID, topic: topic)
    if let endpoint = try reader.text("endpoint") { self.endpoint = endpoint }
    try reader.finish("\"apns\"")
  }
}

extension ChannelFileReader {
  /// The text of the file that a member names.
  fileprivate mutating func contents(_ name: String) throws(ServerError) -> String {
    guard let path = try text(name) else { throw ServerError(.channels, "\"\(name)\" is missing: the name of a file.") }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw ServerError(.channels, "The file \"\(path)\" of \"\(name)\" cannot be read.")
    }
    return String(decoding: data, as: UTF8.self)
  }
}
