package import MartletJSON

extension TokenKey {
  /// Reads a JSON Web Key (RFC 7517, section 4; RFC 7518, section 6; RFC 8037, section 2). Private members are ignored.
  ///
  /// A key without `alg` is for the first of `algorithms` that fits its type and curve.
  ///
  /// - Throws: why the key cannot be used to check signatures.
  package init(_ value: JSONValue, algorithms: [TokenAlgorithm]) throws(KeyRefusal) {
    guard let object = value.object else { throw .notAnObject }
    let reader = KeyReader(object: object)
    try reader.checkUse()
    let material = try reader.material()
    let algorithm: TokenAlgorithm
    if let name = try reader.text("alg") {
      guard let known = TokenAlgorithm(rawValue: name) else { throw .unknownAlgorithm(name) }
      algorithm = known
    } else {
      guard let first = algorithms.first(where: material.fits) else { throw .noFittingAlgorithm }
      algorithm = first
    }
    try self.init(id: try reader.text("kid"), algorithm: algorithm, material: material)
  }
}

extension TokenKey.Material {
  /// Whether keys of this type and curve can have `algorithm`.
  func fits(_ algorithm: TokenAlgorithm) -> Bool {
    switch (algorithm.scheme, self) {
    case (.hmac, .secret), (.rsaPKCS1, .rsa), (.rsaPSS, .rsa), (.edDSA, .ed25519): true
    case (.ecdsa(_, let needed), .point(let curve, _, _)): needed == curve
    case (.hmac, _), (.rsaPKCS1, _), (.rsaPSS, _), (.ecdsa, _), (.edDSA, _): false
    }
  }
}

/// Reads the members of one key.
private struct KeyReader {
  let object: JSONObject

  func text(_ name: String) throws(KeyRefusal) -> String? {
    guard let value = object[name] else { return nil }
    guard let text = value.string else { throw .wrongType(name) }
    return text
  }

  private func required(_ name: String) throws(KeyRefusal) -> String {
    guard let text = try text(name) else { throw .missingMember(name) }
    return text
  }

  private func bytes(_ name: String) throws(KeyRefusal) -> [UInt8] {
    guard let bytes = Base64URL.decode(try required(name).utf8) else { throw .malformedMember(name) }
    return bytes
  }

  func checkUse() throws(KeyRefusal) {
    if let use = try text("use"), use != "sig" { throw .notForSignatures(use) }
    guard let value = object["key_ops"] else { return }
    guard let operations = value.array else { throw .wrongType("key_ops") }
    var names: [String] = []
    for operation in operations {
      guard let name = operation.string else { throw .wrongType("key_ops") }
      names.append(name)
    }
    guard names.contains("verify") else { throw .notForVerification }
  }

  func material() throws(KeyRefusal) -> TokenKey.Material {
    switch try required("kty") {
    case "RSA": return .rsa(modulus: try bytes("n"), exponent: try bytes("e"))
    case "EC":
      let name = try required("crv")
      guard let curve = EllipticCurve(rawValue: name) else { throw .unknownCurve(name) }
      return .point(curve, x: try bytes("x"), y: try bytes("y"))
    case "OKP":
      let name = try required("crv")
      guard name == "Ed25519" else { throw .unknownCurve(name) }
      return .ed25519(try bytes("x"))
    case "oct": return .secret(try bytes("k"))
    case let type: throw .unknownType(type)
    }
  }
}
