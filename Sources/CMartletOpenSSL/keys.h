// Public keys from their components, and checks of signatures by them. Each function leaves the thread's error queue
// empty, because TLS on the same thread reads it.
#ifndef CMARTLET_OPENSSL_KEYS_H
#define CMARTLET_OPENSSL_KEYS_H

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

// Takes what `build` holds; NULL when the library refuses it.
static inline EVP_PKEY *martlet_key_from(const char *type, OSSL_PARAM_BLD *build) {
  EVP_PKEY *key = NULL;
  OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(build);
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
  if (parameters == NULL || context == NULL || EVP_PKEY_fromdata_init(context) != 1 ||
      EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1) {
    EVP_PKEY_free(key);
    key = NULL;
  }
  EVP_PKEY_CTX_free(context);
  OSSL_PARAM_free(parameters);
  ERR_clear_error();
  return key;
}

// An RSA key from big-endian numbers.
static inline EVP_PKEY *martlet_key_rsa(
    const unsigned char *modulus, size_t modulus_length, const unsigned char *exponent, size_t exponent_length) {
  EVP_PKEY *key = NULL;
  BIGNUM *n = BN_bin2bn(modulus, (int)modulus_length, NULL);
  BIGNUM *e = BN_bin2bn(exponent, (int)exponent_length, NULL);
  OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
  if (n != NULL && e != NULL && build != NULL && OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
      OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, e) == 1)
    key = martlet_key_from("RSA", build);
  OSSL_PARAM_BLD_free(build);
  BN_free(n);
  BN_free(e);
  ERR_clear_error();
  return key;
}

// A key on `curve` from its uncompressed point (04, x, y); NULL also when the point is not on the curve.
static inline EVP_PKEY *martlet_key_point(const char *curve, const unsigned char *point, size_t length) {
  EVP_PKEY *key = NULL;
  OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
  if (build != NULL && OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, curve, 0) == 1 &&
      OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point, length) == 1)
    key = martlet_key_from("EC", build);
  OSSL_PARAM_BLD_free(build);
  if (key != NULL) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    if (context == NULL || EVP_PKEY_public_check(context) != 1) {
      EVP_PKEY_free(key);
      key = NULL;
    }
    EVP_PKEY_CTX_free(context);
  }
  ERR_clear_error();
  return key;
}

static inline EVP_PKEY *martlet_key_ed25519(const unsigned char *bytes, size_t length) {
  EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, bytes, length);
  ERR_clear_error();
  return key;
}

// A check of a signature by `key`, ready to be copied for each; NULL when the library refuses the key. Preparing one looks
// algorithms up, which takes as long as a sixth of an RSA check. `digest` is NULL for Ed25519; `pss` asks for PSS padding
// with a salt of the digest's length (RFC 7518, section 3.5).
static inline EVP_MD_CTX *martlet_check_prepared(EVP_PKEY *key, const char *digest, int pss) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  EVP_PKEY_CTX *settings = NULL;
  int good = context != NULL && EVP_DigestVerifyInit_ex(context, &settings, digest, NULL, NULL, key, NULL) == 1;
  if (good && pss)
    good = EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING) == 1 &&
           EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, RSA_PSS_SALTLEN_DIGEST) == 1;
  if (!good) {
    EVP_MD_CTX_free(context);
    context = NULL;
  }
  ERR_clear_error();
  return context;
}

// Whether `signature` is right over `message`. `prepared` is only read.
static inline int martlet_check(
    const EVP_MD_CTX *prepared, const unsigned char *signature, size_t signature_length, const unsigned char *message,
    size_t message_length) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  int good = context != NULL && EVP_MD_CTX_copy_ex(context, prepared) == 1 &&
             EVP_DigestVerify(context, signature, signature_length, message, message_length) == 1;
  EVP_MD_CTX_free(context);
  ERR_clear_error();
  return good;
}

#endif
