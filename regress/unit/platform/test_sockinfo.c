/* regress/unit/platform/test_sockinfo.c: what the kernel tells of sockets, against its own header. */
#include "platform/sockinfo.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void tcp_pair(int sv[2])
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t n = sizeof(sin);
	int l = socket(AF_INET, SOCK_STREAM, 0);

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(l, (const struct sockaddr *)&sin, sizeof(sin)), 0);
	assert_int_equal(listen(l, 1), 0);
	assert_int_equal(getsockname(l, (struct sockaddr *)&sin, &n), 0);
	sv[0] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(sv[0], (const struct sockaddr *)&sin, sizeof(sin)), 0);
	sv[1] = accept(l, NULL, NULL);
	assert_true(sv[1] >= 0);
	close(l);
}

static void test_summary(void **state)
{
	struct sockinfo s;
	char b[50000] = { 0 };
	int sv[2], i;

	tcp_pair(sv);
	for (i = 0; i < 4; i++) {
		assert_int_equal(write(sv[0], b, sizeof(b)), sizeof(b));
		assert_int_equal(recv(sv[1], b, sizeof(b), MSG_WAITALL), sizeof(b));
	}
	assert_int_equal(sockinfo_tcp(sv[0], &s), 0);
	assert_true(s.rtt_us > 0 && s.rtt_us < 10000000);
	assert_true(s.mss_bytes >= 500);
	assert_true(s.cwnd_packets > 0);
	assert_true(s.acked_bytes <= 200001);
	assert_int_equal(sockinfo_tcp(sv[1], &s), 0);
	assert_int_equal(s.received_bytes, 200000);
	close(sv[0]);
	close(sv[1]);
	assert_int_equal(sockinfo_tcp(-1, &s), ERR_NONE_FOUND);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	assert_int_equal(sockinfo_tcp(sv[0], &s), ERR_NONE_FOUND);
	close(sv[0]);
	close(sv[1]);
}

#define AT(f) { #f, offsetof(struct tcp_info, tcpi_##f), sizeof(((struct tcp_info *)NULL)->tcpi_##f) }

static void test_fields(void **state)
{
	static const struct { const char *name; size_t offset, size; } header[] = {
		AT(state), AT(ca_state), AT(retransmits), AT(probes), AT(backoff), AT(options), AT(rto), AT(ato), AT(snd_mss),
		AT(rcv_mss), AT(unacked), AT(sacked), AT(lost), AT(retrans), AT(fackets), AT(last_data_sent), AT(last_ack_sent),
		AT(last_data_recv), AT(last_ack_recv), AT(pmtu), AT(rcv_ssthresh), AT(rtt), AT(rttvar), AT(snd_ssthresh),
		AT(snd_cwnd), AT(advmss), AT(reordering), AT(rcv_rtt), AT(rcv_space), AT(total_retrans), AT(pacing_rate),
		AT(max_pacing_rate), AT(bytes_acked), AT(bytes_received), AT(segs_out), AT(segs_in), AT(notsent_bytes), AT(min_rtt),
		AT(data_segs_in), AT(data_segs_out), AT(delivery_rate), AT(busy_time), AT(rwnd_limited), AT(sndbuf_limited),
		AT(delivered), AT(delivered_ce), AT(bytes_sent), AT(bytes_retrans), AT(dsack_dups), AT(reord_seen),
		AT(rcv_ooopack), AT(snd_wnd),
	};
	struct sockinfo_field f[SOCKINFO_FIELDS];
	struct tcp_info ti;
	socklen_t len = sizeof(ti);
	int sv[2];
	size_t n, i, j, found = 0;
	uint64_t want, value[SOCKINFO_FIELDS];
	uint32_t w;

	tcp_pair(sv);
	assert_int_equal(write(sv[0], "abc", 3), 3);
	memset(&ti, 0, sizeof(ti));
	n = sockinfo_tcp_fields(sv[1], f);
	assert_int_equal(getsockopt(sv[1], IPPROTO_TCP, TCP_INFO, &ti, &len), 0);
	assert_true(n >= 30);
	assert_string_equal(f[0].name, "state");
	assert_int_equal(f[0].value, 1); /* established */
	assert_string_equal(f[6].name, "snd_wscale");
	assert_int_equal(f[6].value, ti.tcpi_snd_wscale);
	assert_string_equal(f[7].name, "rcv_wscale");
	assert_int_equal(f[7].value, ti.tcpi_rcv_wscale);
	for (i = 0; i < MEM_COUNT(header); i++) {
		for (j = 0; j < n; j++) {
			if (strcmp(f[j].name, header[i].name) != 0)
				continue;
			found++;
			assert_int_equal(f[j].bytes, header[i].size);
			/* Ages in milliseconds move between two looks; everything else stands still. */
			if (strncmp(f[j].name, "last_", 5) == 0 || strcmp(f[j].name, "busy_time") == 0)
				continue;
			want = 0;
			if (header[i].size == 1) {
				want = ((const uint8_t *)&ti)[header[i].offset];
			} else if (header[i].size == 4) {
				memcpy(&w, (const char *)&ti + header[i].offset, 4);
				want = w;
			} else {
				memcpy(&want, (const char *)&ti + header[i].offset, 8);
			}
			assert_true(f[j].value == want);
		}
	}
	if (n == 57 - 1)
		assert_int_equal(found, MEM_COUNT(header));
	for (i = 0; i < n; i++) {
		value[i] = f[i].value;
		for (j = 0; j < i; j++)
			assert_string_not_equal(f[i].name, f[j].name);
	}
	(void)value;
	assert_true(sockinfo_fields_version() >= 0x050500);
	close(sv[0]);
	close(sv[1]);
	assert_int_equal(sockinfo_tcp_fields(-1, f), 0);
}

static void test_peer_ids(void **state)
{
	struct err e = { 0 };
	uid_t uid;
	gid_t gid;
	pid_t pid;
	int sv[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	assert_int_equal(sockinfo_peer_ids(sv[0], &uid, &gid, &pid, &e), 0);
	assert_int_equal(uid, getuid());
	assert_int_equal(gid, getgid());
	assert_int_equal(pid, getpid());
	close(sv[0]);
	close(sv[1]);
	tcp_pair(sv);
	assert_true(sockinfo_peer_ids(sv[0], &uid, &gid, &pid, &e) < 0);
	close(sv[0]);
	close(sv[1]);
	assert_true(sockinfo_peer_ids(-1, &uid, &gid, &pid, NULL) < 0);
}

static void test_local(void **state)
{
	int sv[2], p[2], udp = socket(AF_INET, SOCK_DGRAM, 0), none = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in from = { .sin_family = AF_INET }, to = { .sin_family = AF_INET, .sin_port = htons(9) };

	(void)state;
	tcp_pair(sv);
	assert_true(sockinfo_is_local(sv[0]));
	assert_true(sockinfo_is_local(sv[1]));
	close(sv[0]);
	close(sv[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	assert_true(sockinfo_is_local(sv[0]));
	close(sv[0]);
	close(sv[1]);
	assert_int_equal(pipe(p), 0);
	assert_true(sockinfo_is_local(p[1]));
	close(p[0]);
	close(p[1]);
	/* Two addresses of one machine count as two machines: nothing is lost but a chance. */
	from.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
	assert_int_equal(bind(udp, (const struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(connect(udp, (const struct sockaddr *)&to, sizeof(to)), 0);
	assert_false(sockinfo_is_local(udp));
	assert_false(sockinfo_is_local(none));
	assert_false(sockinfo_is_local(-1));
	close(udp);
	close(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_local),
		cmocka_unit_test(test_summary), cmocka_unit_test(test_fields), cmocka_unit_test(test_peer_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
