// Makes tokens for the benchmarks: one key pair, and as many JSON Web Tokens as are asked for, each of a caller of its own.
//
//   mint ES256|RS256 COUNT [GROUP]
//
// Prints the public key as a JSON Web Key, then one token a line: `sub` is u0, u1, ..., `iss` https://bench.example, `aud`
// bench, `exp` in 2100, and `groups` has GROUP where one is given.
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(int isGood, const char *what) {
  if (isGood) return;
  fprintf(stderr, "mint: %s\n", what);
  exit(70);
}

static size_t encode(char *to, const unsigned char *bytes, size_t count) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  size_t length = 0, held = 0;
  unsigned int bits = 0;
  for (size_t i = 0; i < count; i++) {
    bits = bits << 8 | bytes[i];
    held += 8;
    while (held >= 6) to[length++] = digits[bits >> (held -= 6) & 63];
  }
  if (held) to[length++] = digits[bits << (6 - held) & 63];
  to[length] = 0;
  return length;
}

static void print_number(EVP_PKEY *key, const char *name, const char *member, int size) {
  BIGNUM *number = NULL;
  unsigned char bytes[512];
  char text[700];
  need(EVP_PKEY_get_bn_param(key, name, &number), name);
  int count = size ? size : BN_num_bytes(number);
  need(BN_bn2binpad(number, bytes, count) == count, name);
  encode(text, bytes, count);
  printf(",\"%s\":\"%s\"", member, text);
  BN_free(number);
}

int main(int count, char **words) {
  int elliptic = count > 1 && strcmp(words[1], "ES256") == 0;
  if (count < 3 || (!elliptic && strcmp(words[1], "RS256"))) {
    fprintf(stderr, "usage: mint ES256|RS256 COUNT [GROUP]\n");
    return 64;
  }
  EVP_PKEY *key = elliptic ? EVP_EC_gen("P-256") : EVP_RSA_gen(2048);
  need(key != NULL, "no key");
  printf("{\"kty\":\"%s\",\"alg\":\"%s\",\"kid\":\"k\"%s", elliptic ? "EC" : "RSA", words[1], elliptic ? ",\"crv\":\"P-256\"" : "");
  if (elliptic) {
    print_number(key, OSSL_PKEY_PARAM_EC_PUB_X, "x", 32);
    print_number(key, OSSL_PKEY_PARAM_EC_PUB_Y, "y", 32);
  } else {
    print_number(key, OSSL_PKEY_PARAM_RSA_N, "n", 0);
    print_number(key, OSSL_PKEY_PARAM_RSA_E, "e", 0);
  }
  printf("}\n");
  char header[128], head[256];
  encode(head, (unsigned char *)header, snprintf(header, sizeof header, "{\"alg\":\"%s\",\"kid\":\"k\"}", words[1]));
  for (long n = 0; n < atol(words[2]); n++) {
    char claims[512], group[128] = "", text[2048], signature_text[1024];
    if (count > 3) snprintf(group, sizeof group, ",\"groups\":[\"%s\"]", words[3]);
    int length = snprintf(claims, sizeof claims,
        "{\"iss\":\"https://bench.example\",\"aud\":\"bench\",\"sub\":\"u%ld\",\"exp\":4102444800%s}", n, group);
    length = snprintf(text, sizeof text, "%s.", head) + (int)encode(text + strlen(head) + 1, (unsigned char *)claims, length);
    unsigned char signature[512], raw[64];
    size_t size = sizeof signature;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    need(EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1, "no signature");
    need(EVP_DigestSign(context, signature, &size, (unsigned char *)text, length) == 1, "no signature");
    EVP_MD_CTX_free(context);
    if (elliptic) {
      const unsigned char *start = signature;
      ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &start, size);
      need(pair != NULL, "no pair");
      BN_bn2binpad(ECDSA_SIG_get0_r(pair), raw, 32);
      BN_bn2binpad(ECDSA_SIG_get0_s(pair), raw + 32, 32);
      ECDSA_SIG_free(pair);
      encode(signature_text, raw, 64);
    } else {
      encode(signature_text, signature, size);
    }
    printf("%s.%s\n", text, signature_text);
  }
  EVP_PKEY_free(key);
  return 0;
}
