256 SHA256:7A3i5LoOh/3jX2c/onL6+dn+LXN+Ozu2op4DAslB50I test ecdsa256 (ECDSA)
256 MD5:1a:79:d5:ca:2c:8e:48:66:16:08:58:b3:a2:35:cd:f4 test ecdsa256 (ECDSA)
256 SHA1:L5d96M5bnIi9K+p7TOtG6I0TAKo test ecdsa256 (ECDSA)
256 SHA512:7TuWY4yP/iZnn7Ga+zRwsP36GjyaK7bqIAEf27zECq/wHcymGxaszQkVy2IetMxIuDbEfWFqmxwcW6EMVvxyzw test ecdsa256 (ECDSA)
