// OpenSSL, with the macros Martlet needs as functions.
#ifndef CMARTLET_OPENSSL_SHIM_H
#define CMARTLET_OPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "keys.h"
#include "signing.h"

// TLS 1.2 and later; buffers only while a record is in work; a write may come back with another address.
static inline int martlet_tls_configure(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1;
}

static inline int martlet_tls_set_maximum_version_1_2(SSL_CTX *context) {
  return SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION) == 1;
}

static inline void martlet_tls_prefer_server_ciphers(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
}

static inline void martlet_tls_session_cache(SSL_CTX *context, int client) {
  SSL_CTX_set_session_cache_mode(
      context, client ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL : SSL_SESS_CACHE_OFF);
}

static inline int martlet_tls_set_host_name(SSL *ssl, const char *name) {
  return SSL_set_tlsext_host_name(ssl, name) == 1;
}

// Ticket keys go from a context to its successor, so that reloading a certificate keeps sessions resumable.
enum { MARTLET_TLS_TICKET_KEY_BYTES = 80 };
static inline int martlet_tls_copy_ticket_keys(SSL_CTX *from, SSL_CTX *to) {
  unsigned char keys[MARTLET_TLS_TICKET_KEY_BYTES];
  if (SSL_CTX_get_tlsext_ticket_keys(from, keys, sizeof keys) != 1) return 0;
  int copied = SSL_CTX_set_tlsext_ticket_keys(to, keys, sizeof keys) == 1;
  OPENSSL_cleanse(keys, sizeof keys);
  return copied;
}

static inline void martlet_bio_want_read(BIO *bio) {
  BIO_clear_retry_flags(bio);
  BIO_set_retry_read(bio);
}

static inline void martlet_bio_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }

#endif
