// Private keys in PEM form, and signatures by them with SHA-256. Each function leaves the thread's error queue empty,
// because TLS on the same thread reads it.
#ifndef CMARTLET_OPENSSL_SIGNING_H
#define CMARTLET_OPENSSL_SIGNING_H

#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <string.h>

enum { MARTLET_PRIVATE_OTHER = 0, MARTLET_PRIVATE_RSA = 1, MARTLET_PRIVATE_P256 = 2 };

// Keys with a password are refused in place of asking the terminal for it.
static inline int martlet_no_password(char *buffer, int size, int writing, void *data) {
  (void)buffer;
  (void)size;
  (void)writing;
  (void)data;
  return -1;
}

// The first private key of a PEM text; NULL when there is none that can be read.
static inline EVP_PKEY *martlet_private_key(const unsigned char *text, size_t length) {
  if (length > INT_MAX) return NULL;
  BIO *input = BIO_new_mem_buf(text, (int)length);
  EVP_PKEY *key = input == NULL ? NULL : PEM_read_bio_PrivateKey(input, NULL, martlet_no_password, NULL);
  BIO_free(input);
  ERR_clear_error();
  return key;
}

// What kind of key it is, of those that sign here.
static inline int martlet_private_kind(const EVP_PKEY *key) {
  if (EVP_PKEY_is_a(key, "RSA")) return EVP_PKEY_get_bits(key) >= 2048 ? MARTLET_PRIVATE_RSA : MARTLET_PRIVATE_OTHER;
  char group[64] = {0};
  size_t length = 0;
  int isP256 = EVP_PKEY_is_a(key, "EC") && EVP_PKEY_get_group_name(key, group, sizeof group, &length) == 1 &&
               (strcmp(group, "prime256v1") == 0 || strcmp(group, "P-256") == 0);
  ERR_clear_error();
  return isP256 ? MARTLET_PRIVATE_P256 : MARTLET_PRIVATE_OTHER;
}

// Signs a message with SHA-256. `length` is the room at `signature` before the call, and the signature's length after
// it; ECDSA's is in DER. Returns 1 when it was made.
static inline int martlet_private_sign(
    EVP_PKEY *key, const unsigned char *message, size_t message_length, unsigned char *signature, size_t *length) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  int made = context != NULL && EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
             EVP_DigestSign(context, signature, length, message, message_length) == 1;
  EVP_MD_CTX_free(context);
  ERR_clear_error();
  return made;
}

#endif
