/// A certificate that no system trusts, and its key, made once for these tests.
enum SelfSigned {
  static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBoDCCAUegAwIBAgIUCapp0olBcLsZmwu4o7en/dyB4I4wCgYIKoZIzj0EAwIw
    FzEVMBMGA1UEAwwMbWFydGxldC50ZXN0MCAXDTI2MTEyMjIxMjAwMloYDzIxMjYx
    MDI5MjEyMDAyWjAXMRUwEwYDVQQDDAxtYXJ0bGV0LnRlc3QwWTATBgcqhkjOPQIB
    BggqhkjOPQMBBwNCAATB0Rnpn5r+Wq9gVjMRiEfOuvb7uS3XMUjvGg2sroGiubbD
    8nvYb5OLD/669DS2yQWhXW89nku06L1vx3kh/bNWo28wbTAdBgNVHQ4EFgQUjd2v
    Tur0P/md4xGSvdf5XG7NsKQwHwYDVR0jBBgwFoAUjd2vTur0P/md4xGSvdf5XG7N
    sKQwDwYDVR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEw
    CgYIKoZIzj0EAwIDRwAwRAIgWT+uu9IjHuUncCRvkb+QRxN1oCrHedGWjK8iA3sm
    ebICIGV/yvX1ZpYVvwa2YpGr4L+FjGjVguXhSOYwy9WydCap
    -----END CERTIFICATE-----
    """
  static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg9swwZr+BURn4joOP
    m+/faqfAmHpsL/K+6UaPQf3wCHWhRANCAATB0Rnpn5r+Wq9gVjMRiEfOuvb7uS3X
    MUjvGg2sroGiubbD8nvYb5OLD/669DS2yQWhXW89nku06L1vx3kh/bNW
    -----END PRIVATE KEY-----
    """
}
