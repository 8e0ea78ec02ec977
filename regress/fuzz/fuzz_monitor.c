/* The monitor before authentication, fed by an arbitrary pre-auth process: monitor_serve_preauth over the bytes of one input, which
 * are framed messages. Whatever they are, nobody may be let in: the key that would be is not known to the input. */
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "crypto/crypto.h"
#include "server/monitor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct handover handover;

/* Delays of refusals would take most of the time. */
int usleep(useconds_t us)
{
	(void)us;
	return 0;
}

static void quiet(void *ctx, enum log_level level, const char *line)
{
	(void)ctx;
	(void)level;
	(void)line;
}

/* The first key pair of RFC 8032 §7.1, so that inputs can name it. */
static struct key *fixed_key(void)
{
	static const uint8_t secret[32] = {
		0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4,
		0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60
	}, public[32] = {
		0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a,
		0x0e, 0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a
	};
	struct buf b = BUF_INIT(4096);
	struct reader r;
	struct key *k;

	buf_put_cstring(&b, "ssh-ed25519");
	buf_put_string(&b, public, 32);
	buf_put_u32(&b, 64);
	buf_put(&b, secret, 32);
	buf_put(&b, public, 32);
	reader_init(&r, b.data, b.size);
	k = key_get_private(&r, NULL);
	buf_free(&b);
	if (k == NULL)
		abort();
	return k;
}

static void prepare(void)
{
	struct key *k;

	crypto_init();
	log_init("fuzz", LOG_LEVEL_QUIET);
	log_to_sink(quiet, NULL);
	handover.config = server_config_new();
	handover.host_length = UINT32_MAX;
	if (server_config_add_line(handover.config, "AuthorizedKeysFile none", NULL) < 0 ||
	    server_config_add_line(handover.config, "PasswordAuthentication no", NULL) < 0 ||
	    server_config_add_line(handover.config, "MaxAuthTries 20", NULL) < 0 ||
	    server_config_load(handover.config, "none", NULL) < 0)
		abort();
	k = fixed_key();
	if (host_keys_add(&handover.keys, k) < 0)
		abort();
	key_free(k);
}

static void drain(int fd)
{
	char b[4096];

	while (recv(fd, b, sizeof(b), MSG_DONTWAIT) > 0)
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct monitor_options o = { .handover = &handover };
	struct monitor *m;
	struct err e = { 0 };
	int pair[2], rc, big = 1 << 20;

	if (handover.config == NULL)
		prepare();
	if (size > 65536 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return 0;
	(void)setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &big, sizeof(big));
	(void)setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &big, sizeof(big));
	o.connection = pair[1];
	if (write(pair[0], data, size) == (ssize_t)size && shutdown(pair[0], SHUT_WR) == 0) {
		m = monitor_new(&o, &e);
		rc = monitor_serve_preauth(m, pair[1], &e);
		if (rc == 1 || monitor_open_session(m, NULL) == 0)
			abort();
		monitor_free(m);
	}
	drain(pair[0]);
	close(pair[0]);
	close(pair[1]);
	return 0;
}
