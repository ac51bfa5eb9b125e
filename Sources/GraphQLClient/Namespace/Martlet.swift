@_exported public import MartletGraphQLOperations
@_exported public import MartletJSON
@_exported public import MartletVocabulary

/// The namespace of the facade; each product extends it. Instances come first: what stands here is a thin layer.
public enum Martlet {}
