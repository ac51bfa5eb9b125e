// Made once with another library (Python's cryptography, version 48) from random keys that were thrown away.

/// Keys and tokens of every algorithm, and tokens that must be refused.
enum MadeTokens {
  /// The claims of every token unless its name says otherwise.
  static let claims = """
    {"iss":"https://issuer.example","sub":"ada","aud":["board","other"],"exp":2000,"nbf":1000,"iat":1000}
    """

  /// A key set with one key of each algorithm, whose "kid" is the algorithm.
  static let keys = """
    {"keys":[{"kty":"RSA","kid":"RS256","alg":"RS256","use":"sig","n":"3DeRZ91R5supCGGTCB76rsxx0hwPHpgyvxz50Lr3Gj4\
    BeSOYq3YOKSpOmYjCwTSyy7neb9-ECbE7PQWyKSRT6_EQDID4z6g_Lxr062JdOebGAZPqk0XHS_ijn5Iun3uS2gkdsZiTgcTj4OAoAmsZXx8gW\
    _9sVbmpuZ1X4nnfBi-6-RayIaj0bSXdY_UpTnY4AnS6UnvaSEMb3Og4Z_wUKeQvEaeyThgpvwOgt9kHcJ-pUd84aNeXivGS-JW2JGCdG2H-1_9\
    jROynbJoAnyYtVkF15CcPbXhYtsigRnIgR9vtt6D4_IUB1MQrkNjo8MZTEX8HavkXGk70IjPXX_Yrmw","e":"AQAB"},{"kty":"RSA","kid\
    ":"RS384","alg":"RS384","use":"sig","n":"3DeRZ91R5supCGGTCB76rsxx0hwPHpgyvxz50Lr3Gj4BeSOYq3YOKSpOmYjCwTSyy7neb\
    9-ECbE7PQWyKSRT6_EQDID4z6g_Lxr062JdOebGAZPqk0XHS_ijn5Iun3uS2gkdsZiTgcTj4OAoAmsZXx8gW_9sVbmpuZ1X4nnfBi-6-RayIaj\
    0bSXdY_UpTnY4AnS6UnvaSEMb3Og4Z_wUKeQvEaeyThgpvwOgt9kHcJ-pUd84aNeXivGS-JW2JGCdG2H-1_9jROynbJoAnyYtVkF15CcPbXhYt\
    sigRnIgR9vtt6D4_IUB1MQrkNjo8MZTEX8HavkXGk70IjPXX_Yrmw","e":"AQAB"},{"kty":"RSA","kid":"RS512","alg":"RS512","u\
    se":"sig","n":"3DeRZ91R5supCGGTCB76rsxx0hwPHpgyvxz50Lr3Gj4BeSOYq3YOKSpOmYjCwTSyy7neb9-ECbE7PQWyKSRT6_EQDID4z6g\
    _Lxr062JdOebGAZPqk0XHS_ijn5Iun3uS2gkdsZiTgcTj4OAoAmsZXx8gW_9sVbmpuZ1X4nnfBi-6-RayIaj0bSXdY_UpTnY4AnS6UnvaSEMb3\
    Og4Z_wUKeQvEaeyThgpvwOgt9kHcJ-pUd84aNeXivGS-JW2JGCdG2H-1_9jROynbJoAnyYtVkF15CcPbXhYtsigRnIgR9vtt6D4_IUB1MQrkNj\
    o8MZTEX8HavkXGk70IjPXX_Yrmw","e":"AQAB"},{"kty":"RSA","kid":"PS256","alg":"PS256","use":"sig","n":"3DeRZ91R5su\
    pCGGTCB76rsxx0hwPHpgyvxz50Lr3Gj4BeSOYq3YOKSpOmYjCwTSyy7neb9-ECbE7PQWyKSRT6_EQDID4z6g_Lxr062JdOebGAZPqk0XHS_ijn\
    5Iun3uS2gkdsZiTgcTj4OAoAmsZXx8gW_9sVbmpuZ1X4nnfBi-6-RayIaj0bSXdY_UpTnY4AnS6UnvaSEMb3Og4Z_wUKeQvEaeyThgpvwOgt9k\
    HcJ-pUd84aNeXivGS-JW2JGCdG2H-1_9jROynbJoAnyYtVkF15CcPbXhYtsigRnIgR9vtt6D4_IUB1MQrkNjo8MZTEX8HavkXGk70IjPXX_Yrm\
    w","e":"AQAB"},{"kty":"RSA","kid":"PS384","alg":"PS384","use":"sig","n":"3DeRZ91R5supCGGTCB76rsxx0hwPHpgyvxz50\
    Lr3Gj4BeSOYq3YOKSpOmYjCwTSyy7neb9-ECbE7PQWyKSRT6_EQDID4z6g_Lxr062JdOebGAZPqk0XHS_ijn5Iun3uS2gkdsZiTgcTj4OAoAms\
    ZXx8gW_9sVbmpuZ1X4nnfBi-6-RayIaj0bSXdY_UpTnY4AnS6UnvaSEMb3Og4Z_wUKeQvEaeyThgpvwOgt9kHcJ-pUd84aNeXivGS-JW2JGCdG\
    2H-1_9jROynbJoAnyYtVkF15CcPbXhYtsigRnIgR9vtt6D4_IUB1MQrkNjo8MZTEX8HavkXGk70IjPXX_Yrmw","e":"AQAB"},{"kty":"RSA\
    ","kid":"PS512","alg":"PS512","use":"sig","n":"3DeRZ91R5supCGGTCB76rsxx0hwPHpgyvxz50Lr3Gj4BeSOYq3YOKSpOmYjCwTS\
    yy7neb9-ECbE7PQWyKSRT6_EQDID4z6g_Lxr062JdOebGAZPqk0XHS_ijn5Iun3uS2gkdsZiTgcTj4OAoAmsZXx8gW_9sVbmpuZ1X4nnfBi-6-\
    RayIaj0bSXdY_UpTnY4AnS6UnvaSEMb3Og4Z_wUKeQvEaeyThgpvwOgt9kHcJ-pUd84aNeXivGS-JW2JGCdG2H-1_9jROynbJoAnyYtVkF15Cc\
    PbXhYtsigRnIgR9vtt6D4_IUB1MQrkNjo8MZTEX8HavkXGk70IjPXX_Yrmw","e":"AQAB"},{"kty":"EC","kid":"ES256","alg":"ES25\
    6","use":"sig","crv":"P-256","x":"gMN_fOrewRldIGYSRzBlT6YM5Qh3aua_Jq2SBgfEldA","y":"Sm2KqnxTGVs9uAy-zEmzPJ0-K1\
    WRgt_WKBRwFwmAoUU"},{"kty":"EC","kid":"ES384","alg":"ES384","use":"sig","crv":"P-384","x":"cr6_p4ypj2F1KKbU6Py\
    C0VayxXn2ReZs3LxUop3Ox_xqUNAWP0yIsveoeYt8eW5_","y":"YKn2ZI5yTf5Dan14UuoJx_yZ_jwuKtKe6H-aPXp-2cdo0tPT_qvQkK5pvG\
    9zgby-"},{"kty":"EC","kid":"ES512","alg":"ES512","use":"sig","crv":"P-521","x":"AZ_M3JA-mV6DfxCcx9qNAer3VYbkYe\
    NYB08iIcagfbVqRP7ysZP-XRNVMuDyBcpL2NiaGSpdcZ6QjJylvb1iWojy","y":"AbxPLV95rKbSyLWtZi9tnRZVcSPNEnO6CnHZfd2vWRNdT\
    PitsHLTnuKhPMV_Ug7leQfuhUrp_QrquSOyiAvQQlil"},{"kty":"OKP","crv":"Ed25519","kid":"EdDSA","alg":"EdDSA","use":"\
    sig","x":"qRc8N48XfxzZ1ybGQ4PULGFIKtXt_PC8LvM9gVtkhgE"},{"kty":"oct","kid":"HS256","alg":"HS256","use":"sig","\
    k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0-Pw"},{"kty":"oct","kid\
    ":"HS384","alg":"HS384","use":"sig","k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyM\
    zQ1Njc4OTo7PD0-Pw"},{"kty":"oct","kid":"HS512","alg":"HS512","use":"sig","k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYX\
    GBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0-Pw"}]}
    """

  /// A token of each algorithm.
  static let tokens: [String: String] = [
    "RS256":
      "eyJhbGciOiJSUzI1NiIsImtpZCI6IlJTMjU2In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVk"
      + "IjpbImJvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.o7RL5wuvLlAWYg8ZxBcKGeYAQx6f93L0"
      + "jFP2ZZXKF9jyHQ6OFaKddB4RW3t3w81brkaiDkPmqQ5fr5a9wh2U6s3MBr73t6Tn-vrrz8cq64sfPaKi_t77toCb4fPompws-_iyxe8L"
      + "_MJU3OuqSnJQuvKw81i6TPpIg3PxAhYKsL9qmc-j7sZdRrVERxNZRRbptOpu9DLMv5GRt03wk3bx54CBbEHVky3oWJPBbjeuS9O7i5qJ"
      + "2OCyouTGQfItbCSspLwxexwq2q3ykZ_T075qvmqjXxPxwZVaD5Q76chsHFHawW_3GLR01kao1odd6qMb-jvWjVyH5ufB8Yc9NJPj4g",
    "RS384":
      "eyJhbGciOiJSUzM4NCIsImtpZCI6IlJTMzg0In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVk"
      + "IjpbImJvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.06bnTbrH4NmM8VmhOpoMPGDDRwRekU42"
      + "N3zLia-afcMP_GZpfoQr58q7Z9zj6m6OQ6WbYjHxoYCAeBUdmA_1wgeCKR5WIZxPeAz6hZUma9MzfuO5QnuN8-PgqqDrYVCt-KaHnxvg"
      + "OZBHZa_AxuzaejpnhGJCCcHP2xos24LuSfZfd6zfDr_IFybowE1qhsBDUSrup79etBvNG_c6E_fp-bMVmtpM4uKBEcoPZOSh8r0M3UGS"
      + "p9u-MgOln6XMHXMWhS9MWF6YqY7oqqpB8JDyUQD54nzx3XFx05VN831pmu3ekXn5ssectMUbuprpeK_QV1tfIvcG2PQoz3TjmqePGA",
    "RS512":
      "eyJhbGciOiJSUzUxMiIsImtpZCI6IlJTNTEyIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVk"
      + "IjpbImJvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.RzrTKSeNIlBwuASaWbv1Lis921XecCUO"
      + "mCV_5seUY8n1xEKz7qATB-_-jfIO6TKkLZmFhvwfLa8bWVSdUiuLlA7sNDhWjCqQUOC31YF5JovRv0s4vkkR1Pf0KKR901ZS0Ly5Dq9a"
      + "Z1eCVJ_KYGOHWaSfEgK9ikLCuvAYI2xTGWUPm52p-s_lvdN0iIF8RPmdx3bgHwmwMv-eCgpySitb4EJTWhynEVs9jZRyEM4lpc-P-FpW"
      + "GqkFmBvEI6YG0Hl5Fj3FwMpGz2IOlBFhbs0j7i4pSeCE9YuDobLjSdE0X4zheAhagCtHhYH8IFgOxNIMy9ysLhJX-T1-gcOQu4pp1A",
    "PS256":
      "eyJhbGciOiJQUzI1NiIsImtpZCI6IlBTMjU2In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVk"
      + "IjpbImJvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.FMLDH3OSjPmHDERlQu0iOK3yN-NqjCKu"
      + "kYGkrkHTY9yhU-YY_l59tfbEvuxWIy4KJMHJnDH0oNzV_6tUv42ImFvYKSTqVenRO23SbQC2q6VrMGqZxRDLDGDg-9NCI8NZ47i3Nyvx"
      + "uG18tFRMnqQukqvV5L_96lPjP7f8-Ojqmk3l7Qv4qjwxBueRooKY4KSdii9H3F3M9qC9AFzjojkXWtFAQclhjskc94JQ0CnQSw4acgf6"
      + "hCqJ3iDn48-jv5zLG7jd-dNOLzeLmR-8-yb-bkFYLM1cXQV2J8T7IeBp0CtnNC994Dq5LWu8jlcJuH11PQNGcw52saCvs7LJJqkTlw",
    "PS384":
      "eyJhbGciOiJQUzM4NCIsImtpZCI6IlBTMzg0In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVk"
      + "IjpbImJvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.snBScjXqk2rH7iWHVCqojxO16qnzVyyQ"
      + "2xpiwcT9O5l2BqpNW2YQe6xrz3uekiX5vBPWUv_JZEb30moNPNbiOYPFzPKmk4vP_64PrM_sSg3Uv7XGBZbXDOX1OFA_a91niK2req9J"
      + "aqPd-osHcu4pZBY4st-iGZPg0OTGrkwj_aA54dzsFlcDI2uiRPbRbREbyd9DtsKTCCNKXVZtpjbexdN97sw29Itm6_hQHReqV0k8t14p"
      + "CSGUudSS7-0fSTwcqiPbxaxQnU8TPRJStkJGx7RQnNfOSUJldMfX8-lAw1DNmwLWhzf4YL83gNmsKlpNbkjtW0xJeYH-uL4HQeI0vA",
    "PS512":
      "eyJhbGciOiJQUzUxMiIsImtpZCI6IlBTNTEyIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVk"
      + "IjpbImJvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.fG-K7FVUVbJvEbCYcOsA0BvO36PL3IPy"
      + "HZZ0Nm6jp0FtAq84nEqCxbOX6p_BIsRuL94WUbg0DoodRBfSiEGiTov_wcca5YsL-qRip9ETA0GTuVIWkNYwjsiyQvLWOAcVBNxkrJCj"
      + "3j9ziSa79iMUaI--i-r6sJ_ST7bRq7zAimws836ma2JlOddSxN-D-pNo4crUHMYhIrE_WAMtcoXPayCJraHKDZqLm6ko4INT_AwgVtD6"
      + "Ilm5WcWxrrVjoimybqskNfT1_htAWTy47674deegp19b2squC_V2BrYnLzaT2Mzh4Y9WwcnoqGWEV5LqimEEeCuG4iv2kpF-lUcAkg",
    "ES256":
      "eyJhbGciOiJFUzI1NiIsImtpZCI6IkVTMjU2In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVk"
      + "IjpbImJvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.jekBdVvpfNchjgI58VdhNGHqv-_ScAGH"
      + "yDCoC4k7IQJ2HthQ8DkY_3IMPTWGOO8Nx84bsU5BkEVlrPu_RzzZJA",
    "ES384":
      "eyJhbGciOiJFUzM4NCIsImtpZCI6IkVTMzg0In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVk"
      + "IjpbImJvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.tZgnWDdKR_3ucGcwPV7YafThmJfoFxKT"
      + "e2MmfzO35qlf_teSRxH7k-_1QPeiY8Vu-6ZZyNyfOreoZ0b0p8vfXDMq3lA7OsPttgG3cD_LowfYXwTS62PJ8F8ntE1rHvBG",
    "ES512":
      "eyJhbGciOiJFUzUxMiIsImtpZCI6IkVTNTEyIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVk"
      + "IjpbImJvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.AdrmXAjApXMyErjX-4JB1CHM1MVGw6FT"
      + "osEgqqEOe_eeHc-4GwVImO5cXik1Rjlmhv8AzUVRddaHOh063Z-aHIlEAcvbmPJKauZiwXKzxe5y6-LpQfHVQjqKqbE7gWIcFZoyu-Bx"
      + "bKQLAxOzjY_TPQDctPhZt3_RkEEsFdMTbdlQkzG-",
    "EdDSA":
      "eyJhbGciOiJFZERTQSIsImtpZCI6IkVkRFNBIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVk"
      + "IjpbImJvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.nSk-DvyDOaJPrcAHI2a5Cn8aT5cNrT8w"
      + "TTLvnw98ttDhb1ilbQEzDuaY0Wkifk6Aj97nqzSI4Ou792rYsBHxBA",
    "HS256":
      "eyJhbGciOiJIUzI1NiIsImtpZCI6IkhTMjU2In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVk"
      + "IjpbImJvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.hf2gkTLv3p3_iFhHNLddBjUqLO3F2EHa"
      + "29qYvCdRtLI",
    "HS384":
      "eyJhbGciOiJIUzM4NCIsImtpZCI6IkhTMzg0In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVk"
      + "IjpbImJvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.eA4SLzna1SNuht1oJP5T2QKq7tk7z7WM"
      + "fAkw7CCsK0gGNKt1O_9U9DUXvNRRe0Pm",
    "HS512":
      "eyJhbGciOiJIUzUxMiIsImtpZCI6IkhTNTEyIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVk"
      + "IjpbImJvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.QHo9UCeASlByvGzOL8PzZnI8Oc9aKzHv"
      + "XblbEvKP74jbu2tTDEfXeruHUwdbpPVRdFR20psEsKjYc1k0aXMj5g",
  ]

  static let sStartsWithZero = """
    eyJhbGciOiJFUzI1NiIsImtpZCI6IkVTMjU2In0.eyJuIjogNTF9.cAYCEAAC75GwY4BDpcGmBQ5QwGWeINm-hkP5Dr8MlYAAZJLTsanTy-D5k\
    Z0f2utxr-0j9j21opCTtU22cltlTg
    """

  static let rStartsWithZero = """
    eyJhbGciOiJFUzI1NiIsImtpZCI6IkVTMjU2In0.eyJuIjogMzE1fQ.AO5Ch8l1tk3Wy9fzN5mKpTt72eiWq_xzuoTC0IA9JRfJa8BReTbksJQ\
    qiyVpxFVW2C5634Kbq-8UxP9zs5PufQ
    """

  static let derES256 = """
    eyJhbGciOiJFUzI1NiIsImtpZCI6IkVTMjU2In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVkIjpbIm\
    JvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.MEUCIHxJuTnI719LvNLXuEl_ROM93mgsqhqkRxKgpVdZ\
    _o1IAiEA79LQlLre01HSiHd2p81YmlmRdqp2xiS_DJOuHRXK5ic
    """

  static let hmacWithPublicPEM = """
    eyJhbGciOiJIUzI1NiIsImtpZCI6IlJTMjU2In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVkIjpbIm\
    JvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.RKnGc-Ll29XeC3WxiSpzYRL1fbzOzW_EC5Iw76FdoTo
    """

  static let hmacWithModulus = """
    eyJhbGciOiJIUzI1NiIsImtpZCI6IlJTMjU2In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVkIjpbIm\
    JvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.IZrGam6SrcVZmGfMvJp12zpaoRWxE3599PhMIQRPvlQ
    """

  static let pssShortSalt = """
    eyJhbGciOiJQUzI1NiIsImtpZCI6IlBTMjU2In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVkIjpbIm\
    JvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.YOvpgoh0nFaBaiFRXVBWEO3ztxm9_5jwnUB3QGGbTJLt\
    unhmfQLNNW04Zrxw9r4se18h1bIu46vtMneEakelGW33dc5yOn6IgOtAZR1oNoghv6mU0aFo8C-8oUN_lY_PKRWwWmnDFflcj4tY3OjtpkSSfu\
    Dh1zilhmBZz4enT3WWN9A9CGpe7ZgKAUjuwr7GNjknjAM-hpHCYJigu7leENZP6_y65jL7Hue34Az24jJxmPOlDUxcA7SlC-ebt8LR9ZmI1yvJ\
    CGpy2SdqFWVZJpSPuuEiMv90gABXR_dFAz07whiOJtNP6AQTDnrvP5beatpWtdfhtPNWqIuyfGY5Ng
    """

  static let pssLongSalt = """
    eyJhbGciOiJQUzI1NiIsImtpZCI6IlBTMjU2In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVkIjpbIm\
    JvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.khkLkSheDgyD3br3rEn11AWEOtJAvqWRq0JJrePcMEk1\
    Y7KmItsUsx4Lt1vToNFBVnJFpyDCFS3UPRMkbEVSGR9IevUHVdg41ybpE4QBHpYoztCBHKKDep3nDuWV4Lv7aEGehdU9MyWwZmI5MIlpRKRw42\
    fzZPLzuWXtx4pIgw2p9NoLWhLb5FAq3VwTdbMMjb0pmWXR-McBU2KF3-FHQYvIDex6pyVK2JIn230WZPTOJqiXCQzG7liv7udnY19rUMBZSWYp\
    TFA2scAgwfFvaLJhJBU4vkxM_cdj5Io8aJUngSqVSv8rgxeLU85yxdhHKcjRW1-aBGFMD4lJ-wlLPg
    """

  static let pssUnderRS256 = """
    eyJhbGciOiJSUzI1NiIsImtpZCI6IlJTMjU2In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVkIjpbIm\
    JvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.roeOx25RIsF7NblYHPDWYreLO2s1uJIg5FLmtDzsOg5p\
    LdPSmL9SeRv4xiNOylV0zu8RYrAfdNBUk8DyC0tAj7pATIIJf6QHBsMdMBwn_LB3UtWLZGsHiCjngECYnSm-SzqCTbZbZPkB5SEQ2ttl3a8CRd\
    n2qKLFGfB3Cks49Ao-yXVOa3XO-AXMkmDEqrK1Ytv5LuhqQFpm-KNJpa5WStLBUni8a4x0L_6wX3HMwojf-4vIqYUtJhnxDxPVk77-V3kT2edc\
    -qEhgPadbZEq3Kpvnp6rjxfhQy0z0mBDPZXmGRuvNOGHk9x4w13fSmiFrZGDDqpUAUR0H3usy9spow
    """

  static let rs512WithRS256Key = """
    eyJhbGciOiJSUzUxMiIsImtpZCI6IlJTMjU2In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVkIjpbIm\
    JvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.s0FZUzSRIh4w0T3n7j7aybtuSpUF8pW8fXOKgDSK3vKL\
    idoQ8_dNextgrAPhodO19qi-M2nI1tbHkqSRZdCGZLs5p6dwAJLssrOeQ1ueHsSWteOot0wEmqc-ond-Uw0xWO9nC1gRCl4vwNiFiv6SFXYiMn\
    sH5dIM6NdYj9InmMcRXzJJ6zzmiEbomYD6-tohqHzWrPmn-i4dbWzqMyAvQtUjQ5pmP7SOxSQAOJqgWRHq11q8-vyk7I6y_O311S6v8sDUW5bD\
    3K4UrPw3E68k9RiayD39zsdfyBK-81qHHhFXCKpAN9C7ypEv5pqqVM2SApFDcvCFmT3EZ50U0DHxtw
    """

  static let otherKey = """
    eyJhbGciOiJSUzI1NiIsImtpZCI6IlJTMjU2In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVkIjpbIm\
    JvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.kZgVQx3oDRIxGLSeJvCjrSI6_gSG-syuz_Zzr_T0360r\
    mD3nf8n1TGouM77fKFjelTNRvdHeFGXo5k7QDp3V349vk9HCQrz9Llfc16UvGNn2VXkF2L44jTYzdkp0WnfmnwcKfXhn4wkZ6vtYGrAOCTOpHQ\
    oJvpSAE03-H4aZXrang-o6wMlJa0aDDLEb3WkE6YfH5DuEdwdfnzVo5rINeliogiGpby2plkMy6_NJLQdK4tD6_2b7SEYbazRg1x1T-LA0vpC2\
    DNnfd01UyzNHfceaZAoLc8UMrAxcYr8LiblgMfojek5mQCXYkAJjzImd5uBdr5SDy5IDGvUD7oZ5Ew
    """

  static let noKeyID = """
    eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVkIjpbImJvYXJkIiwib3RoZXIiX\
    SwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.iLYTOnkKBoKwwPZOX4scrqsw1DcU2aVkPhJA0SE_SsSgtP9P6CQRFDAfr8Un1lu\
    SK2jgRHptZsQifuD_8oi-PCzjc582KBMnmLIUcKJBamewskymPn7EsLM-djiUadXS5r2L1Ql5C9AQ11XRpeeot1fUPe8LUIYUbEJ2JirYFQ1dw\
    3HL_s23EQyipr-iggReEYhl9M_RyQyVfQg04yuyBwH9-MzhFlcV2SckAzI0n39jUdlag5V5H03GOSJOa3Mk2JcRb5YLJ6aQnWaEUcyWBm9rLI4\
    dHtU0bO_u44eauEORNZpsiMBeDJR9Rc7u2qmzpbdWvCxXRnUr-Perohazzw
    """

  static let unknownKeyID = """
    eyJhbGciOiJSUzI1NiIsImtpZCI6ImdvbmUifQ.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVkIjpbImJ\
    vYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.VwWAX2toUuW4Cvi_Mt3gABgpK3Mn-ZHLM8JbTFOaFGMg8\
    oi2bDPddcWgWvsm5WXScNT-XLSdIZuck5vhPWC85U8nIwuTxDkmM5Uj0AX95plFi9Icw2FQ7aqOrqPNY3eg2SLISUV0Cbzcn5roTUvNAAUAKuN\
    hy9TOcW1xWU0urGhLdaXk2IhTTyjd9t5wNed7HWsQhgJPPI4cOsAynoEswLatMvcQvYnk0ehgryzrzu6PxUiFQ5sNAl2859Ckhy423mFQzldIj\
    VyY34yq_nOwhsHejhBCbUIRyX_j7zQL5Zjm8hykiEULy6qBJZzKcnzKC1DYAcH7ffHy1PVu4Zg2Yg
    """

  static let smallKeyToken = """
    eyJhbGciOiJSUzI1NiIsImtpZCI6InNtYWxsIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVkIjpbIm\
    JvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.Lo2Y307hTudmUB4UHcaUaTwN5IE83GBVVNTC7mseNyib\
    53_nQUXY0zpnxrBlMvrfRGG807EkL4M6uiGLu0l4lY8PIQmeZshMHtQwytmW5Wfx5A9BOIR4WuGk4GjwbaPcc8i0x1X4xGGz-_CeXNS0vlavIt\
    M9iAw8qN4pzB01w8w
    """

  static let embeddedKey = """
    eyJhbGciOiJSUzI1NiIsImtpZCI6IlJTMjU2IiwiandrIjp7Imt0eSI6IlJTQSIsImtpZCI6IlJTMjU2IiwiYWxnIjoiUlMyNTYiLCJ1c2UiOi\
    JzaWciLCJuIjoiMDVvQ1I5NUlPdTBab3J5bXU5RE9fTlJRWko4ZVFUMDM2Ykw3c3FfRWp2Ul96WTBIR29hdm8wRmttbzk5c1hMWWcxX1dQcGpo\
    U2xCcGRwSUJ3Mm84VHpsaDdJbG1qZEFMR2FvLXhlWlc1dVVjTFk0b3VicVZXc0RoXy1RcW1handmN3FxanNXcGhteDFZQldDVzh2cFZxRkpUMj\
    ZIRy16eVNrMmxtSHhua3MzZTl2WlIzVVRZQXpkVUdxUnFpSlBLX0FQWUs5Y1pxZkJ6cm81VFF6UFdJTlFpbF9vOTBZMWdDNXlJTzYxd0ZTTncw\
    NHd6cHRpLXZLRnhnREFJdGFXUFJZTUtwS1lGNEMwZ2RnS2stUG5JRWxqT2wtVHE1WFh6bDVCMnYxSWMxSnMzeTZaRlMyekVxSWJqMUtleHl2a0\
    5MWW1rdy1aRUx3RWRfbDQybmgxa2Z3IiwiZSI6IkFRQUIifX0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwi\
    YXVkIjpbImJvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.fAhaNZHX-PjBet4y5kS2fK7Rx3s8riEyy5\
    C7IJDKWo0BrHfMD81pBe6ptJ_5IsIM-BJkuyDud4dQ_t43dhhX2Vg6zYyQ_Dzi0VbmDOFJk0XV-ZoqTOnAbYOFnnev5gbSzU3mYidJvh-yKVzj\
    lb2iuSc0OfergtKhu2lODmKbOD4Qt1QW1kP2tfRGC2FfClceBAzvtDnKnIeUhKbqb_j3NQb3j88smKyQTHFxhvclpVRIcQVZpvWEdPfQbJVf4f\
    FjZqqbASk90h4b4xLzhAy6T6D6PqCj1H_gqjw6mYVglF1UEuJ1K8v0HnuO0aQqIwE4Vedp_UrpjG-kDuUPJ1RKDA
    """

  static let b64True = """
    eyJhbGciOiJSUzI1NiIsImtpZCI6IlJTMjU2IiwiY3JpdCI6WyJiNjQiXSwiYjY0Ijp0cnVlfQ.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGF\
    tcGxlIiwic3ViIjoiYWRhIiwiYXVkIjpbImJvYXJkIiwib3RoZXIiXSwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsImlhdCI6MTAwMH0.fAH9tYFLz\
    chj3a2vuqHlggelidNt0qk1txBgsWfKJqEWsQ9F7ZdTD1CfIAudLSo-qr6LV9AW6ImlGggeQzlnSxkav6W91pUTrJZ2BIhlf5RqkKhCHEXC-WH\
    IWWGudwpvsSgP_mZUjuihfeqVprkNNn0fjKG-IS3HOZSin2YBiPimwMrJ7TuI7a5cejkzvZ6c0ot8KlHGuxJ2K3eeC8FiAQJUCFsod4MMhcGry\
    vHW5T9QZZ9XCfmreQt3v8zMKFs6pfVaDOrJ-CfdLGSkFQffyFxzaN-lEfLXiDHtMI4wgRhugOvO-WWvJK6vBnhySU9iAKR0HwhyLctqzDjP-ek\
    OtA
    """

  static let smallKey = """
    {"kty":"RSA","kid":"small","alg":"RS256","use":"sig","n":"uWav3VsFfABuu2qhm53mVWdmDw02ruMEhE4fDMFell4pt9ugfXao\
    WJuqFQtTWc2XY0lHpDXU3bRD0m6_sa7dEqp35Y1mc1jWjWINUnYXkr1VhERc7avr1uF5Z2OeqrEU0Ip2gauYq3wqrV1nuGsklRwkQs1ScSm0OY\
    au8peyPRM","e":"AQAB"}
    """

  static let exponent3Key = """
    {"kty":"RSA","kid":"exponent3","alg":"RS256","use":"sig","n":"sQmhtTw7Ha8aBa5BtyZ4z1CSWdhxB80Jzqf0ZP5O9Jzy2L-9\
    tg8Y3uSYeqA9G7oYkgrCOd48E6_AZPFT8uUeep96m9DuPJ7vz1B2gIuPBmx9LMieqr3g36_czL-5ZkImVwba-471NLSA0hkB525yiOqzKJSd4o\
    oo6ApSR5QvTyWZ7d1HHip3iSEECMQ4lA1G6UAoHhAPtEcEC6EAX2ItGQidae9zvinnoqAM8rVskL-eB5_IH8IiOA5GNeYQsPwEG3dWwlbt8PRS\
    YME3zGswxvFNAvjD7RhEsTl_WFOCe966bJBcNnrcomcBgo6mzd6hzusDFm9zTGfzDvDv_Surew","e":"Aw"}
    """

  static let secondKey = """
    {"kty":"RSA","kid":"RS256","alg":"RS256","use":"sig","n":"05oCR95IOu0Zorymu9DO_NRQZJ8eQT036bL7sq_EjvR_zY0HGoav\
    o0Fkmo99sXLYg1_WPpjhSlBpdpIBw2o8Tzlh7IlmjdALGao-xeZW5uUcLY4oubqVWsDh_-Qqmajwf7qqjsWphmx1YBWCW8vpVqFJT26HG-zySk\
    2lmHxnks3e9vZR3UTYAzdUGqRqiJPK_APYK9cZqfBzro5TQzPWINQil_o90Y1gC5yIO61wFSNw04wzpti-vKFxgDAItaWPRYMKpKYF4C0gdgKk\
    -PnIEljOl-Tq5XXzl5B2v1Ic1Js3y6ZFS2zEqIbj1KexyvkNLYmkw-ZELwEd_l42nh1kfw","e":"AQAB"}
    """

  /// Another key of RSA, and a token of PS256 whose signature begins with a zero: whole, and without that byte.
  static let pssKey = """
    {"kty":"RSA","alg":"PS256","n":"vklUSQ2TzVvh-sv9Mjt9UpBf8qFfVOGrqRmEL5ysc1H5U4gWcvYAipFxL_Jr-4XG0V6bPsxvno6Xl_\
    FYpQWL-8eblRswOL3eWMhCAap2BcgumFioRT-X88Sj_ohh3m3rsT7fgkXxu8rTTJ1pASRPhxICds9DqAs988hcY0P7xrBgvOzxaepGfAy04uGj\
    KnuFR9e3bIS9RCkiCx-HlX1GWp7YTjC7IDwfmn65gSAJA0lR0WrhEnenvlwcMgXxlcCBe4U-M2Zp6vY_nDUZFij2VfZ_AFx676k0a58eMaXovy\
    7xJM0mi5SgxTCRI3FcwN8OmX0EHfaDJ8xkIC_GPsgyrw","e":"AQAB"}
    """

  static let pssStartsWithZero = """
    eyJhbGciOiAiUFMyNTYifQ.eyJuIjogNjJ9.AI7g1s2Ue6wKJUK4lS78jEmGkU72y5L4vZ3wxpvWq5ALXc7KfGp4HzTcq0cX8lfXnW8ZnPeFga\
    X6PG4YrWOrmFXfI5kcPX4DBr6dsE7OT__udSOawW_Em7-mvrDMqMHrOI6Nskx0OBLFxaDgR_FSWVW0OkORE0utWcrZGgwGhfrL7yXlLfxP4B47\
    LG2mHnu7bZJHq9p2MeIkgDYua7dGcVQ2zZ6gUYQnOHBJiuY2PupcTudycCi5piUCo0AYGZfqF76KPoqaRCPKaFwAZRd-qR98Bqnb1VXKOBA11k\
    A3D9MZ1BOfXJR3A-91g2Fw8CGFmOWo5TI9TcFOvRDMhJBlCA
    """

  static let pssWithoutItsZero = """
    eyJhbGciOiAiUFMyNTYifQ.eyJuIjogNjJ9.juDWzZR7rAolQriVLvyMSYaRTvbLkvi9nfDGm9arkAtdzsp8angfNNyrRxfyV9edbxmc94WBpf\
    o8bhitY6uYVd8jmRw9fgMGvp2wTs5P_-51I5rBb8Sbv6a-sMyowes4jo2yTHQ4EsXFoOBH8VJZVbQ6Q5ETS61ZytkaDAaF-svvJeUt_E_gHjss\
    baYee7ttkker2nYx4iSANi5rt0ZxVDbNnqBRhCc4cEmK5jY-6lxO53JwKLmmJQKjQBgZl-oXvoo-ippEI8poXABlF36pH3wGqdvVVco4EDXWQD\
    cP0xnUE59clHcD73WDYXDwIYWY5ajlMj1NwU69EMyEkGUI
    """
}
