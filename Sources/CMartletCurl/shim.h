// libcurl, with its variadic setters and getters as functions of one type each.
#ifndef CMARTLET_CURL_SHIM_H
#define CMARTLET_CURL_SHIM_H

#include <curl/curl.h>
#include <string.h>

typedef size_t (*martlet_curl_data)(char *bytes, size_t size, size_t count, void *owner);
typedef int (*martlet_curl_socket)(CURL *easy, curl_socket_t socket, int what, void *owner, void *mark);
typedef int (*martlet_curl_timer)(CURLM *multi, long milliseconds, void *owner);

static inline CURLcode martlet_curl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode martlet_curl_set_large(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode martlet_curl_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode martlet_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode martlet_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode martlet_curl_set_data(CURL *easy, CURLoption option, martlet_curl_data value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode martlet_curl_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode martlet_curl_get_pointer(CURL *easy, CURLINFO info, void **value) {
  return curl_easy_getinfo(easy, info, value);
}
// The descriptor of a connection that libcurl opened and left to its user; -1 when there is none.
static inline int martlet_curl_get_socket(CURL *easy) {
  curl_socket_t socket = CURL_SOCKET_BAD;
  if (curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket) != CURLE_OK) return -1;
  return (int)socket;
}
// The system's text for why a connection failed; null when it did not say.
static inline const char *martlet_curl_system_text(CURL *easy) {
  long error = 0;
  if (curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &error) != CURLE_OK || error == 0) return NULL;
  return strerror((int)error);
}
static inline CURLMcode martlet_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode martlet_curl_multi_set_callbacks(
    CURLM *multi, martlet_curl_socket socket, martlet_curl_timer timer, void *owner) {
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, owner);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, owner);
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
  return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
}
// Nothing but HTTP: a URL from outside must not read files or talk to mail servers.
static inline CURLcode martlet_curl_only_http(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
  return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}
static inline CURLcode martlet_curl_global_init(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }
// A finished transfer of `multi` and its result; null when there is none.
static inline CURL *martlet_curl_multi_finished(CURLM *multi, CURLcode *result) {
  int left = 0;
  CURLMsg *message;
  while ((message = curl_multi_info_read(multi, &left)) != NULL) {
    if (message->msg == CURLMSG_DONE) {
      *result = message->data.result;
      return message->easy_handle;
    }
  }
  return NULL;
}

#endif
