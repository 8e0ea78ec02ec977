/* Messages between the server's processes: what put writes, get reads, and nothing shorter; the hand-over through its memory
 * file; framing; host keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "compress.h"
#include "monitor_world.h"
#include "server/monitor_wire.h"
#include "server/proposals.h"

static struct preauth_setup preauth_sample(void)
{
	struct preauth_setup s = { .drop = true, .uid = 103, .gid = 65534, .chroot_dir = mem_strdup("/empty"), .trap = true,
		.log_level = 5, .ends = { mem_strdup("192.0.2.1"), mem_strdup("192.0.2.2"), 5000, 22 },
		.software = mem_strdup("Wirespeed_1"), .server_sig_algs = mem_strdup("ssh-ed25519") };

	for (int i = 0; i < PROPOSAL_COUNT; i++)
		s.proposal.list[i] = str_printf("list%d", i);
	str_list_add(&s.host_keys, "AAAA");
	return s;
}

static void test_preauth_setup(void **state)
{
	struct preauth_setup s = preauth_sample(), got;
	struct buf b = BUF_INIT(65536);
	struct reader r;

	(void)state;
	preauth_setup_put(&s, &b);
	reader_init(&r, b.data, b.size);
	assert_int_equal(preauth_setup_get(&r, &got, NULL), 0);
	assert_true(got.drop && got.trap && got.uid == 103 && got.gid == 65534 && got.log_level == 5);
	assert_string_equal(got.chroot_dir, "/empty");
	assert_string_equal(got.ends.remote_ip, "192.0.2.1");
	assert_int_equal(got.ends.local_port, 22);
	assert_string_equal(got.proposal.list[PROPOSAL_MAC_S2C], s.proposal.list[PROPOSAL_MAC_S2C]);
	assert_string_equal(got.host_keys.v[0], "AAAA");
	preauth_setup_clear(&got);
	for (size_t n = 0; n < b.size; n++) {
		reader_init(&r, b.data, n);
		assert_int_equal(preauth_setup_get(&r, &got, NULL), ERR_PEER);
	}
	preauth_setup_clear(&s);
	buf_free(&b);
}

static void test_user_setup(void **state)
{
	struct user_setup s = { .drop = true, .uid = 1000, .gid = 1000, .user = (char *)"ada", .home = (char *)"/home/ada",
		.shell = (char *)"/bin/sh", .host = (char *)"client", .software = (char *)"Wirespeed_1",
		.session_id = { (const uint8_t *)"ID", 2 }, .host_key = { (const uint8_t *)"KEY", 3 },
		.ends = { (char *)"192.0.2.1", (char *)"192.0.2.2", 5000, 22 }, .password_expired = true,
		.auth_info = (char *)"publickey x\n", .login_messages = (char *)"hello", .log_level = 4,
		.config = { (const uint8_t *)"CONF", 4 } }, got;
	struct buf b = BUF_INIT(65536);
	struct reader r;

	(void)state;
	key_options_init(&s.key_options);
	s.key_options.command = mem_strdup("ls");
	s.key_options.pty = false;
	str_list_add(&s.group_names, "users");
	str_list_add(&s.pam_environment, "A=b");
	user_setup_put(&s, &b);
	reader_init(&r, b.data, b.size);
	assert_int_equal(user_setup_get(&r, &got, NULL), 0);
	assert_null(got.chroot_dir);
	assert_string_equal(got.user, "ada");
	assert_true(got.password_expired && !got.user_is_root && !got.key_options.pty);
	assert_string_equal(got.key_options.command, "ls");
	assert_true(view_is(got.session_id, "ID") && view_is(got.host_key, "KEY") && view_is(got.config, "CONF"));
	assert_string_equal(got.pam_environment.v[0], "A=b");
	user_setup_clear(&got);
	for (size_t n = 0; n < b.size; n++) {
		reader_init(&r, b.data, n);
		assert_int_equal(user_setup_get(&r, &got, NULL), ERR_PEER);
	}
	key_options_clear(&s.key_options);
	str_list_clear(&s.group_names);
	str_list_clear(&s.pam_environment);
	buf_free(&b);
}

static void test_small_ones(void **state)
{
	struct mon_verdict v = { .kind = MON_NO, .methods = (char *)"publickey", .partial = true, .banner = (char *)"hi" }, vg;
	struct pty_grant g = { .ok = true, .name = (char *)"/dev/pts/3", .last_login = -5, .last_host = (char *)"h" }, gg;
	struct buf b = BUF_INIT(4096);
	struct reader r;

	(void)state;
	mon_verdict_put(&v, &b);
	reader_init(&r, b.data, b.size);
	assert_int_equal(mon_verdict_get(&r, &vg, NULL), 0);
	assert_true(vg.kind == MON_NO && vg.partial);
	assert_string_equal(vg.methods, "publickey");
	assert_string_equal(vg.banner, "hi");
	assert_string_equal(vg.text, "");
	mon_verdict_clear(&vg);
	b.data[0] = MON_VERDICT_COUNT;
	reader_init(&r, b.data, b.size);
	assert_int_equal(mon_verdict_get(&r, &vg, NULL), ERR_PEER);
	buf_reset(&b);
	pty_grant_put(&g, &b);
	reader_init(&r, b.data, b.size);
	assert_int_equal(pty_grant_get(&r, &gg, NULL), 0);
	assert_true(gg.ok && gg.last_login == -5);
	assert_string_equal(gg.name, "/dev/pts/3");
	pty_grant_clear(&gg);
	buf_free(&b);
}

static void test_framing(void **state)
{
	int pair[2];
	struct buf b = BUF_INIT(1024), got = BUF_INIT(1024);
	struct err e = { 0 };
	uint8_t type;
	uint32_t size;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	buf_put_cstring(&b, "hello");
	assert_int_equal(mon_send(pair[0], MON_LOG, &b, NULL), 0);
	assert_int_equal(mon_expect(pair[1], MON_LOG, 100, &got, NULL), 0);
	assert_int_equal(got.size, b.size);
	assert_memory_equal(got.data, b.data, b.size);
	assert_int_equal(mon_send(pair[0], MON_LOG, &b, NULL), 0);
	assert_int_equal(mon_expect(pair[1], MON_AUTH, 100, &got, NULL), ERR_PEER);      /* of another type */
	assert_int_equal(mon_recv_body(pair[1], (uint32_t)b.size, &got, NULL), 0);
	assert_int_equal(mon_send(pair[0], MON_LOG, &b, NULL), 0);
	assert_int_equal(mon_expect(pair[1], MON_LOG, 3, &got, NULL), ERR_PEER);         /* too long */
	assert_int_equal(mon_recv_body(pair[1], (uint32_t)b.size, &got, NULL), 0);
	b.failed = true;                                                                 /* never sent half */
	assert_int_equal(mon_send(pair[0], MON_LOG, &b, NULL), ERR_MEMORY);
	assert_int_equal(write(pair[0], "\0\0", 2), 2);
	close(pair[0]);
	assert_int_equal(mon_recv_head(pair[1], &type, &size, &e), ERR_PEER);
	err_clear(&e);
	assert_int_equal(mon_recv_head(pair[1], &type, &size, &e), ERR_CLOSED);
	close(pair[1]);
	b.failed = false;
	buf_free(&b);
	buf_free(&got);
}

static void test_handover(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	struct handover got;
	const struct sig_alg *alg = sig_alg_find((struct view){ (const uint8_t *)"ssh-ed25519", 11 });
	const struct view message = { (const uint8_t *)"text", 4 };
	struct buf sig = BUF_INIT(1024);
	int fd;

	(void)state;
	world_open(w, (const char *const[]){ "MaxAuthTries 3", NULL });
	w->handover.debug_level = 2;
	w->handover.secret[31] = 9;
	fd = handover_write(&w->handover, NULL);
	assert_true(fd >= 0);
#ifdef F_ADD_SEALS
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);     /* sealed */
	assert_int_equal(ftruncate(fd, 0), -1);
#endif
	for (int i = 0; i < 2; i++) {                    /* every monitor reads it from the start */
		assert_int_equal(handover_read(fd, &got, NULL), 0);
		assert_int_equal(got.debug_level, 2);
		assert_int_equal(got.secret[31], 9);
		assert_int_equal(got.host_length, UINT32_MAX);
		assert_int_equal(server_config_options(got.config)->max_auth_tries, 3);
		assert_int_equal(got.keys.count, 1);
		assert_null(got.keys.v[0].private_key);  /* made when it is needed */
		buf_reset(&sig);
		assert_int_equal(host_keys_sign(&got.keys, 0, alg, message, &sig, NULL), 0);
		assert_int_equal(key_verify(w->host_key, alg, message, (struct view){ sig.data, sig.size }), 0);
		handover_clear(&got);
	}
	buf_free(&sig);
	close(fd);
	world_close(w);
	free(w);
}

static void test_host_keys(void **state)
{
	struct host_keys k = { .count = 0 };
	struct key *rsa = key_generate(KEY_RSA, 2048, NULL), *ed = key_generate(KEY_ED25519, 0, NULL),
		*ec = key_generate(KEY_ECDSA, 256, NULL);
	char *names;

	(void)state;
	assert_int_equal(host_keys_add(&k, rsa), 0);
	assert_int_equal(host_keys_add(&k, ec), 0);
	assert_int_equal(host_keys_add(&k, ed), 0);
	names = host_keys_algorithms(&k, "rsa-sha2-256,rsa-sha2-512,ssh-ed25519,ecdsa-sha2-nistp256");
	assert_string_equal(names, "ssh-ed25519,rsa-sha2-512,rsa-sha2-256,ecdsa-sha2-nistp256");
	free(names);
	names = host_keys_algorithms(&k, "rsa-sha2-512");
	assert_string_equal(names, "rsa-sha2-512");
	free(names);
	names = host_keys_algorithms(&k, "");
	assert_string_equal(names, "");
	free(names);
	assert_int_equal(host_keys_find_blob(&k, key_blob(ec)), 1);
	assert_int_equal(host_keys_find_blob(&k, (struct view){ (const uint8_t *)"x", 1 }), -1);
	host_keys_clear(&k);
	key_free(rsa);
	key_free(ed);
	key_free(ec);
}

static void test_proposals(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	const struct server_options *o;
	struct proposal p;
	char *algs;

	(void)state;
	world_open(w, (const char *const[]){ "NoneEnabled yes", "NoneMacEnabled yes", "Ciphers aes256-ctr",
		"MACs hmac-sha2-256", "Compression no", NULL });
	o = server_config_options(w->handover.config);
	server_proposal(o, &w->handover.keys, &p);
	/* never in the first exchange, whatever is configured */
	assert_string_equal(p.list[PROPOSAL_CIPHER_C2S], "aes256-ctr");
	assert_string_equal(p.list[PROPOSAL_MAC_S2C], "hmac-sha2-256");
	assert_string_equal(p.list[PROPOSAL_COMPRESS_C2S], "none");
	server_proposal_add_none(o, &p);
	server_proposal_add_none(o, &p);
#ifdef WITH_NONE_CIPHER
	assert_string_equal(p.list[PROPOSAL_CIPHER_C2S], "aes256-ctr,none");
	assert_string_equal(p.list[PROPOSAL_CIPHER_S2C], "aes256-ctr,none");
	assert_string_equal(p.list[PROPOSAL_MAC_S2C], "hmac-sha2-256,none");
#endif
	proposal_clear(&p);
	world_close(w);
	world_open(w, NULL);
	o = server_config_options(w->handover.config);
	server_proposal(o, &w->handover.keys, &p);
	server_proposal_add_none(o, &p);
	assert_null(strstr(p.list[PROPOSAL_CIPHER_C2S], "none"));
	assert_string_equal(p.list[PROPOSAL_COMPRESS_S2C], compress_has_zstd() ? "none,zlib@openssh.com,zlib@wirespeed,zstd@wirespeed" :
		"none,zlib@openssh.com,zlib@wirespeed");
	algs = server_sig_algs(o);
	assert_null(strstr(algs, "cert-v01"));
	assert_non_null(strstr(algs, "rsa-sha2-512"));
	free(algs);
	proposal_clear(&p);
	world_close(w);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_preauth_setup), cmocka_unit_test(test_user_setup), cmocka_unit_test(test_small_ones),
		cmocka_unit_test(test_framing), cmocka_unit_test(test_handover), cmocka_unit_test(test_host_keys),
		cmocka_unit_test(test_proposals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
