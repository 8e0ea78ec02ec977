/* regress/unit/server/test_server_options.c: sshd_config: every keyword with good and bad values, Match, Include, hand-over to
 * another process, -T. */
#include "server/server_options.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "paths.h"
#include "version.h"
#include "../log_capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static char dir[] = "/tmp/ws-test-server.XXXXXX";

static char *dir_file(const char *name, const char *text)
{
	char *path = str_printf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	return path;
}

/* The configuration of a text; NULL and the error. */
static struct server_config *load(const char *text, struct err *e)
{
	struct server_config *c = server_config_new();
	char *path = dir_file("config", text);

	err_clear(e);
	if (server_config_load(c, path, e) != 0) {
		server_config_free(c);
		c = NULL;
	}
	free(path);
	return c;
}

static void collect(void *ctx, const char *line)
{
	str_list_add(ctx, line);
}

/* Lines of -T that begin with the name (any case), joined by '|'. */
static char *values(const struct server_options *o, const char *name)
{
	struct str_list lines = { 0 }, found = { 0 };
	size_t i;
	char *out;

	server_options_dump(o, collect, &lines);
	for (i = 0; i < lines.count; i++) {
		size_t n = strcspn(lines.v[i], " ");
		char *word = mem_strndup(lines.v[i], n);

		if (str_equal_nocase(word, name))
			str_list_add(&found, lines.v[i] + n + 1);
		free(word);
	}
	out = found.count != 0 ? str_list_join(&found, "|") : mem_strdup("-");
	str_list_clear(&lines);
	str_list_clear(&found);
	return out;
}

struct sample { const char *line, *name, *want; };

static void check_one(const struct sample *s)
{
	char *text = str_printf("%s\n", s->line), *got;
	struct err e = { 0 };
	struct server_config *c = load(text, &e);

	got = c != NULL ? values(server_config_options(c), s->name) : mem_strdup("BAD");
	if (strcmp(got, s->want) != 0)
		fail_msg("\"%s\" gives %s \"%s\", not \"%s\" (%s)", s->line, s->name, got, s->want, e.text);
	free(got);
	free(text);
	server_config_free(c);
}

static void check(const struct sample *s, size_t n)
{
	size_t i;

	log_capture_start(LOG_LEVEL_QUIET);
	for (i = 0; i < n; i++)
		check_one(&s[i]);
}

static int compress_level(const char *text)
{
	struct err e = { 0 };
	struct server_config *c = load(text, &e);
	int level;

	assert_non_null(c);
	level = server_options_compress_level(server_config_options(c));
	server_config_free(c);
	return level;
}

/* ---- -T */

static char *replace(char *text, const char *from, const char *to)
{
	char *at = strstr(text, from), *out;

	if (at == NULL)
		return text;
	out = str_printf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	free(text);
	return replace(out, from, to);
}

static bool line_is(const char *line, const char *const *names, size_t count)
{
	size_t i, n = strcspn(line, " ");

	for (i = 0; i < count; i++)
		if (str_is(line, n, names[i]))
			return true;
	return false;
}

static void test_golden(void **state)
{
	static const char *const own[] = {
		"HPNDisabled", "TcpRcvBufPoll", "NoneEnabled", "NoneMacEnabled", "UseMPTCP", "CompressionLevel", "CompressionMode", "CompressionZstd",
		"CipherPreference"
	};
	static const char *const lists[] = {
		"Ciphers", "Macs", "KexAlgorithms", "CASignatureAlgorithms", "HostbasedAcceptedAlgorithms", "HostKeyAlgorithms",
		"PubkeyAcceptedAlgorithms"
	};
	/* They depend on how it was built. */
	static const char *const built[] = { "PidFile", "XAuthLocation", "UsePAM", "PAMServiceName" };
	char *path = str_printf("%s/regress/unit/server/data/defaults-T.txt", getenv("WS_SRC") ? getenv("WS_SRC") : "."), *want;
	struct str_list lines = { 0 };
	struct server_config *c;
	struct err e = { 0 };
	const char *p;
	size_t size, i, owns = 0;

	assert_int_equal(path_read_file(path, 65536, &want, &size, &e), 0);
	free(path);
	want = replace(want, "PREFIX/etc", PATH_SYSCONFDIR);
	want = replace(want, "PREFIX/libexec", PATH_LIBEXECDIR);
	c = server_config_new();
	assert_int_equal(server_config_load(c, "none", &e), 0);
	server_options_dump(server_config_options(c), collect, &lines);
	p = want;
	for (i = 0; i < lines.count; i++) {
		size_t n;

		while (line_is(p, built, MEM_COUNT(built)))
			p += strcspn(p, "\n") + 1;
		n = strcspn(p, "\n");
		if (line_is(lines.v[i], lists, MEM_COUNT(lists)) || line_is(lines.v[i], built, MEM_COUNT(built)))
			continue;
		if (line_is(lines.v[i], own, MEM_COUNT(own))) {
			owns++;
			continue;
		}
		assert_int_equal(owns, 0);
		if (!str_is(p, n, lines.v[i]))
			fail_msg("\"%s\" instead of \"%.*s\"", lines.v[i], (int)n, p);
		p += n + 1;
	}
	assert_string_equal(p, "");
	assert_int_equal(owns, MEM_COUNT(own));
	free(want);
	str_list_clear(&lines);
	server_config_free(c);
}

/* ---- values */

static void test_words(void **state)
{
	static const struct sample s[] = {
		{ "AddressFamily inet", "ListenAddress", "0.0.0.0:22" }, { "AddressFamily inet6", "ListenAddress", "[::]:22" },
		{ "AddressFamily x", "AddressFamily", "BAD" }, { "AllowAgentForwarding no", "AllowAgentForwarding", "no" },
		{ "AllowAgentForwarding true", "AllowAgentForwarding", "BAD" }, { "AllowTcpForwarding local", "AllowTcpForwarding", "local" },
		{ "AllowTcpForwarding all", "AllowTcpForwarding", "yes" }, { "AllowStreamLocalForwarding remote", "AllowStreamLocalForwarding", "remote" },
		{ "Compression delayed", "Compression", "yes" }, { "Compression no", "Compression", "no" }, { "Compression x", "Compression", "BAD" },
		{ "DisableForwarding YES", "DisableForwarding", "yes" }, { "ExposeAuthInfo yes", "ExposeAuthInfo", "yes" },
		{ "FingerprintHash md5\nFingerprintHash sha512", "FingerprintHash", "SHA512" }, { "GatewayPorts clientspecified", "GatewayPorts", "clientspecified" },
		{ "HostbasedAuthentication yes", "HostbasedAuthentication", "yes" },
		{ "HostbasedUsesNameFromPacketOnly yes", "HostbasedUsesNameFromPacketOnly", "yes" }, { "IgnoreRhosts shosts-only", "IgnoreRhosts", "shosts-only" },
		{ "IgnoreUserKnownHosts yes", "IgnoreUserKnownHosts", "yes" }, { "ChallengeResponseAuthentication no", "KbdInteractiveAuthentication", "no" },
		{ "SKeyAuthentication no", "KbdInteractiveAuthentication", "no" }, { "PasswordAuthentication no", "PasswordAuthentication", "no" },
		{ "PermitEmptyPasswords yes", "PermitEmptyPasswords", "yes" }, { "PermitRootLogin without-password", "PermitRootLogin", "prohibit-password" },
		{ "PermitRootLogin forced-commands-only", "PermitRootLogin", "forced-commands-only" }, { "PermitRootLogin true", "PermitRootLogin", "BAD" },
		{ "PermitTTY no", "PermitTTY", "no" }, { "PermitTunnel ethernet", "PermitTunnel", "ethernet" }, { "PermitTunnel YES", "PermitTunnel", "BAD" },
		{ "PermitUserEnvironment LANG,LC_*", "PermitUserEnvironment", "LANG,LC_*" }, { "PermitUserEnvironment yes", "PermitUserEnvironment", "yes" },
		{ "PermitUserRC no", "PermitUserRC", "no" }, { "PrintLastLog no", "PrintLastLog", "no" }, { "PrintMotd no", "PrintMotd", "no" },
		{ "PubkeyAuthentication no", "PubkeyAuthentication", "no" }, { "DSAAuthentication no", "PubkeyAuthentication", "no" },
		{ "RefuseConnection yes", "RefuseConnection", "yes" }, { "StreamLocalBindUnlink yes", "StreamLocalBindUnlink", "yes" },
		{ "StrictModes no", "StrictModes", "no" }, { "KeepAlive no", "TCPKeepAlive", "no" }, { "UseDNS yes", "UseDNS", "yes" },
		{ "X11Forwarding yes", "X11Forwarding", "yes" }, { "X11UseLocalhost no", "X11UseLocalhost", "no" },
		{ "PubkeyAuthOptions touch-required verify-required", "PubkeyAuthOptions", "touch-required verify-required" },
		{ "PubkeyAuthOptions x", "PubkeyAuthOptions", "BAD" }, { "RDomain x", "Port", "BAD" }, { "RDomain none", "Port", "BAD" },
	};

	check(s, MEM_COUNT(s));
}

static void test_numbers(void **state)
{
	static const struct sample s[] = {
		{ "Port 2222\nPort 22", "Port", "2222|22" }, { "Port x", "Port", "BAD" }, { "Port 0", "Port", "BAD" },
		{ "ListenAddress 127.0.0.1\nListenAddress [::1]:99\nPort 1\nPort 2", "ListenAddress", "127.0.0.1:1|127.0.0.1:2|[::1]:99" },
		{ "ListenAddress a:0", "ListenAddress", "BAD" }, { "ListenAddress 127.0.0.1 rdomain x", "ListenAddress", "BAD" },
		{ "ListenAddress ::1", "ListenAddress", "[::1]:22" }, { "ClientAliveInterval 5m", "ClientAliveInterval", "300" },
		{ "ClientAliveInterval none", "ClientAliveInterval", "BAD" }, { "ClientAliveCountMax 0", "ClientAliveCountMax", "0" },
		{ "LoginGraceTime 2m", "LoginGraceTime", "120" }, { "LoginGraceTime none", "LoginGraceTime", "BAD" }, { "LoginGraceTime 0", "LoginGraceTime", "0" },
		{ "MaxAuthTries 3", "MaxAuthTries", "3" }, { "MaxAuthTries -1", "MaxAuthTries", "BAD" }, { "MaxSessions 0", "MaxSessions", "0" },
		{ "MaxStartups 5", "MaxStartups", "5:30:5" }, { "MaxStartups 5:50:60", "MaxStartups", "5:50:60" }, { "MaxStartups 60:50:5", "MaxStartups", "BAD" },
		{ "MaxStartups 5:0:60", "MaxStartups", "BAD" }, { "MaxStartups 5:101:60", "MaxStartups", "BAD" }, { "MaxStartups 5:50", "MaxStartups", "BAD" },
		{ "MaxStartups x", "MaxStartups", "BAD" }, { "MaxStartups 1:2:3:4", "MaxStartups", "BAD" },
		{ "PerSourceMaxStartups none", "PerSourceMaxStartups", "none" }, { "PerSourceMaxStartups 5", "PerSourceMaxStartups", "5" },
		{ "PerSourceMaxStartups None", "PerSourceMaxStartups", "BAD" }, { "PerSourceNetBlockSize 24", "PerSourceNetBlockSize", "24:128" },
		{ "PerSourceNetBlockSize 24:64", "PerSourceNetBlockSize", "24:64" }, { "PerSourceNetBlockSize 33", "PerSourceNetBlockSize", "BAD" },
		{ "PerSourcePenaltyExemptList 10.0.0.0/8,::1", "PerSourcePenaltyExemptList", "10.0.0.0/8,::1" },
		{ "PerSourcePenaltyExemptList 10.0.0.1/8", "PerSourcePenaltyExemptList", "BAD" }, { "RekeyLimit 1G 1h", "RekeyLimit", "1073741824 3600" },
		{ "RequiredRSASize 2048", "RequiredRSASize", "2048" }, { "StreamLocalBindMask 0111\nStreamLocalBindMask 0", "StreamLocalBindMask", "00" },
		{ "X11DisplayOffset 20", "X11DisplayOffset", "20" }, { "IPQoS none", "IPQoS", "none none" }, { "LogLevel DEBUG1", "LogLevel", "DEBUG" },
		{ "SyslogFacility LOCAL7", "SyslogFacility", "LOCAL7" },
	};

	check(s, MEM_COUNT(s));
}

static void test_penalties(void **state)
{
	static const char text[] = "PerSourcePenalties";
	static const char all[] = "crash:90.000000 authfail:5.000000 noauth:1.000000 invaliduser:5.000000 grace-exceeded:10.000000 "
		"refuseconnection:10.000000 max:600.000000 min:15.000000 max-sources4:65536 max-sources6:65536 overflow:permissive "
		"overflow6:permissive";
	static const struct sample s[] = {
		{ "PerSourcePenalties yes", text, all }, { "PerSourcePenalties no", text, "no" }, { "PerSourcePenalties yes no", text, "BAD" },
		{ "PerSourcePenalties crash:0.5 authfail:1m\nPerSourcePenalties authfail:9 min:1.25s overflow:deny-all", text,
			"crash:0.500000 authfail:60.000000 noauth:1.000000 invaliduser:5.000000 grace-exceeded:10.000000 refuseconnection:10.000000 "
			"max:600.000000 min:1.250000 max-sources4:65536 max-sources6:65536 overflow:deny-all overflow6:deny-all" },
		{ "PerSourcePenalties no\nPerSourcePenalties crash:1", text, "no" }, { "PerSourcePenalties crash", text, "BAD" },
		{ "PerSourcePenalties crash:x", text, "BAD" }, { "PerSourcePenalties boredom:1", text, "BAD" }, { "PerSourcePenalties overflow:x", text, "BAD" },
		{ "PerSourcePenalties crash:1.5m", text, "BAD" }, { "PerSourcePenalties max-sources4:0", text, "BAD" },
	};
	struct err e = { 0 };
	struct server_config *c;

	/* Where they are not built only "no" starts. */
	log_capture_start(LOG_LEVEL_QUIET);
	c = load("PerSourcePenalties crash:1\n", &e);
	if (c != NULL)
		check(s, MEM_COUNT(s));
	server_config_free(c);
}

static void test_texts(void **state)
{
	static const struct sample s[] = {
		{ "Banner /etc/issue", "Banner", "/etc/issue" }, { "Banner none", "Banner", "none" }, { "ChrootDirectory ~/x", "ChrootDirectory", "~/x" },
		{ "ForceCommand echo \"hi\" # there", "ForceCommand", "echo \"hi\" # there" }, { "ForceCommand none", "ForceCommand", "none" },
		{ "AuthorizedKeysCommand /bin/x a \"b c\"\nAuthorizedKeysCommandUser nobody", "AuthorizedKeysCommand", "/bin/x a \"b c\"" },
		{ "AuthorizedKeysCommand bin/x\nAuthorizedKeysCommandUser nobody", "AuthorizedKeysCommand", "BAD" },
		{ "AuthorizedKeysCommand /bin/x", "AuthorizedKeysCommand", "BAD" }, { "AuthorizedKeysCommand none", "AuthorizedKeysCommand", "none" },
		{ "AuthorizedPrincipalsCommand /bin/x", "Port", "BAD" },
		{ "AuthorizedPrincipalsCommand /bin/x\nAuthorizedPrincipalsCommandUser u", "AuthorizedPrincipalsCommandUser", "u" },
		{ "AuthorizedKeysFile a b", "AuthorizedKeysFile", "a b" }, { "AuthorizedKeysFile none", "AuthorizedKeysFile", "-" },
		{ "AuthorizedKeysFile none b", "AuthorizedKeysFile", "BAD" }, { "AuthorizedPrincipalsFile %h/x", "AuthorizedPrincipalsFile", "%h/x" },
		{ "HostKey /a\nHostKey /b\nHostDSAKey /c", "HostKey", "/a|/b|/c" }, { "HostKey none", "HostKey", "-" }, { "HostCertificate /c", "HostCertificate", "/c" },
		{ "HostKeyAgent SSH_AUTH_SOCK", "HostKeyAgent", "SSH_AUTH_SOCK" }, { "PidFile none", "PidFile", "none" }, { "PidFile /x/y", "PidFile", "/x/y" },
		{ "ModuliFile /m", "ModuliFile", "/m" }, { "XAuthLocation none", "XAuthLocation", "none" }, { "TrustedUserCAKeys /ca", "TrustedUserCAKeys", "/ca" },
		{ "SecurityKeyProvider internal", "SecurityKeyProvider", "internal" }, { "VersionAddendum a b # c", "VersionAddendum", "a b # c" },
		{ "SshdAuthPath /a", "SshdAuthPath", "/a" }, { "SshdSessionPath /a", "SshdSessionPath", "/a" }, { "RevokedKeys none", "RevokedKeys", "-" },
		{ "LogVerbose a:b:c d:e:f", "LogVerbose", "a:b:c d:e:f" }, { "LogVerbose none", "LogVerbose", "-" },
	};

	check(s, MEM_COUNT(s));
}

static void test_lists(void **state)
{
	static const struct sample s[] = {
		{ "AcceptEnv LANG LC_*\nAcceptEnv X", "AcceptEnv", "LANG|LC_*|X" }, { "AcceptEnv A=b", "AcceptEnv", "BAD" },
		{ "AllowUsers a b@10.0.0.0/8\nAllowUsers c", "AllowUsers", "a|b@10.0.0.0/8|c" }, { "AllowUsers a@10.0.0.1/8", "AllowUsers", "BAD" },
		{ "DenyUsers x", "DenyUsers", "x" }, { "AllowGroups g h", "AllowGroups", "g|h" }, { "DenyGroups i", "DenyGroups", "i" },
		{ "SetEnv A=b C=\"d e\"\nSetEnv E=f", "SetEnv", "A=b|C=d e" }, { "SetEnv x", "SetEnv", "BAD" },
		{ "AuthenticationMethods publickey,password publickey", "AuthenticationMethods", "publickey,password publickey" },
		{ "AuthenticationMethods any", "AuthenticationMethods", "any" }, { "AuthenticationMethods any publickey", "Port", "BAD" },
		{ "AuthenticationMethods keyboard-interactive:pam", "AuthenticationMethods", "keyboard-interactive:pam" },
		{ "AuthenticationMethods telepathy", "Port", "BAD" }, { "AuthenticationMethods password\nPasswordAuthentication no", "Port", "BAD" },
		{ "AuthenticationMethods password publickey\nPasswordAuthentication no", "AuthenticationMethods", "password publickey" },
		{ "ChannelTimeout none", "ChannelTimeout", "none" }, { "Subsystem sftp internal-sftp\nSubsystem sftp /x\nSubsystem a /b -c \"d e\"", "Subsystem",
			"sftp internal-sftp|a /b -c \"d e\"" }, { "Subsystem sftp", "Subsystem", "BAD" },
		{ "PermitOpen a:1 *:*", "PermitOpen", "a:1 *:*" }, { "PermitOpen none", "PermitOpen", "none" }, { "PermitOpen None", "PermitOpen", "BAD" },
		{ "PermitListen 80 localhost:81", "PermitListen", "*:80 localhost:81" }, { "Ciphers aes128-ctr", "Ciphers", "aes128-ctr" },
		{ "Ciphers none", "Ciphers", "BAD" }, { "Ciphers bogus", "Ciphers", "BAD" }, { "MACs hmac-sha2-256,none", "Macs", "hmac-sha2-256" },
		{ "KexAlgorithms sntrup761x25519-sha512@openssh.com,curve25519-sha256", "Port", "22" }, { "KexAlgorithms bogus", "KexAlgorithms", "BAD" },
		{ "HostKeyAlgorithms ssh-ed25519", "HostKeyAlgorithms", "ssh-ed25519" }, { "PubkeyAcceptedKeyTypes ssh-ed25519", "PubkeyAcceptedAlgorithms", "ssh-ed25519" },
		{ "HostbasedAcceptedKeyTypes ssh-ed25519", "HostbasedAcceptedAlgorithms", "ssh-ed25519" },
		{ "CASignatureAlgorithms ssh-ed25519", "CASignatureAlgorithms", "ssh-ed25519" },
	};

	check(s, MEM_COUNT(s));
}

static void test_hpn_and_old(void **state)
{
	static const struct sample s[] = {
		{ "NoneEnabled yes", "NoneEnabled", "yes" }, { "NoneMacEnabled yes", "NoneMacEnabled", "yes" }, { "HPNDisabled yes", "HPNDisabled", "yes" },
		{ "TcpRcvBufPoll no", "TcpRcvBufPoll", "no" }, { "HPNBufferSize 4096", "Port", "22" }, { "HPNBufferLimit yes", "Port", "22" },
		{ "TcpRcvBuf 4096", "Port", "22" }, { "DisableMTAES yes", "Port", "22" }, { "UseMPTCP yes", "UseMPTCP", "yes" },
		{ "CompressionLevel 1", "CompressionLevel", "1" }, { "CompressionLevel 10", "Port", "BAD" }, { "CompressionMode auto", "CompressionMode", "auto" },
		{ "KerberosAuthentication yes", "Port", "22" }, { "KerberosOrLocalPasswd yes", "Port", "22" }, { "KerberosTicketCleanup yes", "Port", "22" },
		{ "KerberosGetAFSToken yes", "Port", "22" }, { "GSSAPIAuthentication yes", "Port", "22" }, { "GSSAPICleanupCredentials yes", "Port", "22" },
		{ "GSSAPIDelegateCredentials yes", "Port", "22" }, { "GSSAPIStrictAcceptorCheck yes", "Port", "22" }, { "Protocol 2", "Port", "22" },
		{ "ServerKeyBits 1024", "Port", "22" }, { "KeyRegenerationInterval 1h", "Port", "22" }, { "RHostsAuthentication no", "Port", "22" },
		{ "RhostsRSAAuthentication no", "Port", "22" }, { "RSAAuthentication yes", "Port", "22" }, { "CheckMail no", "Port", "22" },
		{ "UseLogin no", "Port", "22" }, { "VerifyReverseMapping no", "Port", "22" }, { "ReverseMappingCheck no", "Port", "22" },
		{ "AuthorizedKeysFile2 x", "Port", "22" }, { "UsePrivilegeSeparation sandbox", "Port", "22" }, { "KerberosTgtPassing no", "Port", "22" },
		{ "AFSTokenPassing no", "Port", "22" }, { "DebianBanner no", "Port", "22" }, { "UsePrivilegeSeparation", "Port", "BAD" },
	};
	struct err e = { 0 };
	struct server_config *c;

	check(s, MEM_COUNT(s));
	log_capture_start(LOG_LEVEL_INFO);
	c = load("\nKerberosAuthentication yes\nUseLogin no\nProtocol 2\n", &e);
	assert_non_null(c);
	assert_true(log_capture_has("/config line 2: Unsupported option KerberosAuthentication"));
	assert_true(log_capture_has("/config line 3: Deprecated option UseLogin"));
	assert_false(log_capture_has("Protocol"));
	server_config_free(c);
}

static void test_compress_level(void **state)
{
	(void)state;
	assert_int_equal(compress_level(""), 0);
	assert_int_equal(compress_level("CompressionLevel 4\n"), 4);
	assert_int_equal(compress_level("CompressionMode fixed\n"), 6);
	assert_int_equal(compress_level("CompressionLevel 9\nCompressionMode auto\n"), 0);
	assert_int_equal(compress_level("CompressionLevel 9\nCompressionMode fixed\n"), 9);
}

static void test_errors(void **state)
{
	struct err e = { 0 };

	log_capture_start(LOG_LEVEL_INFO);
	assert_null(load("Nonsense 1\nPort\nPort 22 23\n", &e));
	assert_true(log_capture_has("/config: line 1: Bad configuration option: Nonsense"));
	assert_true(log_capture_has("/config line 2: no argument after keyword \"Port\""));
	assert_non_null(strstr(e.text, "/config: terminating, 3 bad configuration options"));
	assert_null(load("Match user x\nUseDNS yes\n", &e));
	assert_non_null(strstr(e.text, "/config line 2: Directive 'UseDNS' is not allowed within a Match block"));
	assert_null(load("Match user x\nNonsense yes\n", &e));
	assert_non_null(strstr(e.text, "Directive 'Nonsense' is not allowed"));
	assert_null(load("Match user x\nPort 23\n", &e));
}

/* ---- Match */

static char *matched(const char *text, const struct server_subject *who, const char *name)
{
	struct server_options o = { .marks = { { 0 } } };
	struct err e = { 0 };
	struct server_config *c = load(text, &e);
	char *got;

	if (c == NULL)
		return mem_strdup("BAD");
	assert_int_equal(server_config_match(c, who, &o, &e), 0);
	got = values(&o, name);
	server_options_clear(&o);
	server_config_free(c);
	return got;
}

static void test_match_criteria(void **state)
{
	static const struct { const char *criteria; bool want; } t[] = {
		{ "user ann", true }, { "user ANN", false }, { "user bob,a*", true }, { "user *,!ann", false }, { "User ann", true }, { "user=ann", true },
		{ "group staff", true }, { "group wheel,users", true }, { "group wheel", false }, { "group staff,!users", false },
		{ "host client.example.com", true }, { "host *.EXAMPLE.com", true }, { "host other", false }, { "address 192.0.2.7", true },
		{ "address 192.0.2.0/24", true }, { "address 10.0.0.0/8,192.0.2.*", true }, { "address 10.0.0.0/8", false },
		{ "localaddress 198.51.100.1", true }, { "localaddress 198.51.100.0/25", true }, { "localport 2222", true }, { "localport 22", false },
		{ "rdomain x", false }, { "version " WS_IDENT_PREFIX "*", true }, { "version OpenSSH*", false }, { "invalid-user", false },
		{ "user ann group staff address 192.0.2.7", true }, { "user ann group wheel", false }, { "all", true }, { "user ann #x", true },
	};
	struct str_list groups = { 0 };
	struct server_subject who = {
		.user = "ann", .groups = &groups, .host = "client.example.com", .address = "192.0.2.7", .local_address = "198.51.100.1", .local_port = 2222
	};
	size_t i;

	str_list_add(&groups, "users");
	str_list_add(&groups, "staff");
	log_capture_start(LOG_LEVEL_QUIET);
	for (i = 0; i < MEM_COUNT(t); i++) {
		char *text = str_printf("MaxSessions 1\nMatch %s\nMaxSessions 2\n", t[i].criteria), *got = matched(text, &who, "MaxSessions");

		if (strcmp(got, t[i].want ? "2" : "1") != 0)
			fail_msg("%s", t[i].criteria);
		free(got);
		free(text);
	}
	str_list_clear(&groups);
}

static void test_match_unknown(void **state)
{
	static const char *const nothing[] = {
		"user *", "group *", "host *", "address *", "localaddress *", "localport 22", "rdomain *"
	};
	static const char *const bad[] = {
		"user", "all user x", "user x all", "color red", "address 192.0.2.1/24", "localport ssh", "localport 0", "user \"\"", "localaddress ::1/0"
	};
	struct server_subject nobody = { .local_port = -1 }, invalid = { .user = "x", .invalid_user = true };
	size_t i;
	char *got;

	log_capture_start(LOG_LEVEL_QUIET);
	/* What is not known does not match. */
	for (i = 0; i < MEM_COUNT(nothing); i++) {
		char *text = str_printf("MaxSessions 1\nMatch %s\nMaxSessions 2\n", nothing[i]);

		got = matched(text, &nobody, "MaxSessions");
		assert_string_equal(got, "1");
		free(got);
		free(text);
	}
	for (i = 0; i < MEM_COUNT(bad); i++) {
		char *text = str_printf("Match %s\nMaxSessions 2\n", bad[i]);

		got = matched(text, &nobody, "MaxSessions");
		if (strcmp(got, "BAD") != 0)
			fail_msg("%s", bad[i]);
		free(got);
		free(text);
	}
	got = matched("Match invalid-user\nMaxSessions 2\n", &invalid, "MaxSessions");
	assert_string_equal(got, "2");
	free(got);
}

static void test_match_merge(void **state)
{
	struct server_subject ann = { .user = "ann", .local_port = -1 }, bob = { .user = "bob", .local_port = -1 };
	static const char text[] =
		"AllowUsers g1\nAcceptEnv G\nSetEnv G=1\nSubsystem a /a\nSubsystem b /b\nNoneEnabled no\nX11DisplayOffset 5\n"
		"Match user a*\nAllowUsers m1\nAcceptEnv M1\nSetEnv M=1\nSubsystem b /mb\nMaxSessions 3\nNoneEnabled yes\nNoneMacEnabled yes\n"
		"Match user ann\nAllowUsers m2\nAcceptEnv M2\nSetEnv M=2\nSubsystem c /mc\nMaxSessions 4\nMaxAuthTries 2\n"
		"Match user bob\nMaxSessions 9\n";
	static const struct { const char *name, *ann, *bob; } t[] = {
		{ "AllowUsers", "m1|m2", "g1" }, { "AcceptEnv", "M1|M2", "G" }, { "SetEnv", "M=1", "G=1" }, { "Subsystem", "b /mb|c /mc", "a /a|b /b" },
		{ "MaxSessions", "3", "9" }, { "MaxAuthTries", "2", "6" }, { "NoneEnabled", "yes", "no" }, { "NoneMacEnabled", "yes", "no" },
		{ "X11DisplayOffset", "5", "5" },
	};
	size_t i;

	for (i = 0; i < MEM_COUNT(t); i++) {
		char *got = matched(text, &ann, t[i].name);

		assert_string_equal(got, t[i].ann);
		free(got);
		got = matched(text, &bob, t[i].name);
		assert_string_equal(got, t[i].bob);
		free(got);
	}
}

static void test_match_all_at_start(void **state)
{
	static const struct sample s[] = {
		{ "Match all\nUseDNS yes\nMaxSessions 2", "UseDNS", "yes" }, { "MaxSessions 1\nMatch all\nMaxSessions 2", "MaxSessions", "1" },
		{ "Match version " WS_IDENT_PREFIX "*\nUseDNS yes", "UseDNS", "yes" }, { "Match version x\nMaxSessions 2", "MaxSessions", "10" },
		{ "Match version x\nUseDNS yes", "UseDNS", "BAD" }, { "Match user x\nMatch all\nUseDNS yes", "UseDNS", "yes" },
	};
	struct server_subject ann = { .user = "ann", .local_port = -1 };
	char *got;

	check(s, MEM_COUNT(s));
	/* For a connection a block comes before the global part. */
	got = matched("MaxSessions 1\nUseDNS no\nMatch all\nMaxSessions 2\nUseDNS yes\n", &ann, "MaxSessions");
	assert_string_equal(got, "2");
	free(got);
	got = matched("UseDNS no\nMatch all\nUseDNS yes\n", &ann, "UseDNS");
	assert_string_equal(got, "no");
	free(got);
	got = matched("Ciphers aes128-ctr\nPubkeyAcceptedAlgorithms ssh-ed25519\nMatch user ann\nPubkeyAcceptedAlgorithms -*ed25519*\n", &ann,
		"PubkeyAcceptedAlgorithms");
	/* A list with - starts from what is built in, not from the global one. */
	assert_non_null(strstr(got, "rsa-sha2-512"));
	assert_null(strstr(got, "ssh-ed25519"));
	free(got);
	/* none overrides an earlier time */
	got = matched("UnusedConnectionTimeout none\n", &ann, "UnusedConnectionTimeout");
	assert_string_equal(got, "none");
	free(got);
}

static void test_include(void **state)
{
	struct server_subject ann = { .user = "ann", .local_port = -1 }, bob = { .user = "bob", .local_port = -1 };
	char *inc = dir_file("part.inc", "MaxSessions 5\nMatch user ann\nMaxAuthTries 1\n"), *text, *got;

	log_capture_start(LOG_LEVEL_QUIET);
	text = str_printf("Include %s %s/nothing*\nPermitTTY no\n", inc, dir);
	got = matched(text, &ann, "MaxAuthTries");
	assert_string_equal(got, "1");
	free(got);
	got = matched(text, &bob, "MaxSessions");
	assert_string_equal(got, "5");
	free(got);
	/* The block of the included file has ended with it. */
	got = matched(text, &bob, "PermitTTY");
	assert_string_equal(got, "no");
	free(got);
	free(text);
	text = str_printf("Match user bob\nInclude %s\n", inc);
	got = matched(text, &bob, "MaxSessions");
	assert_string_equal(got, "5");
	free(got);
	got = matched(text, &ann, "MaxAuthTries");
	assert_string_equal(got, "6");
	free(got);
	free(text);
	/* Keywords that may not stand in a block may not stand in what it includes. */
	free(dir_file("part.inc", "UseDNS yes\n"));
	text = str_printf("Match user bob\nInclude %s\n", inc);
	got = matched(text, &ann, "UseDNS");
	assert_string_equal(got, "BAD");
	free(got);
	free(text);
	free(inc);
}

/* ---- command line, hand-over */

static void test_command_line(void **state)
{
	struct server_config *c = server_config_new();
	char *path = dir_file("config", "Port 1\nMaxSessions 1\nHostKey /b\nListenAddress ::1\n"), *got;
	struct err e = { 0 };

	log_capture_start(LOG_LEVEL_INFO);
	assert_int_equal(server_config_add_line(c, "MaxSessions=2", &e), 0);
	assert_int_equal(server_config_add_line(c, "HostKey /a", &e), 0);
	assert_int_equal(server_config_add_line(c, "Nonsense 1", &e), ERR_NONE_FOUND);
	assert_true(log_capture_has("command-line: line 0: Bad configuration option: Nonsense"));
	err_clear(&e);
	assert_int_equal(server_config_add_line(c, "MaxSessions 1 2", &e), ERR_NONE_FOUND);
	err_clear(&e);
	assert_int_equal(server_config_add_line(c, "MaxSessions x", &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "command-line line 0:"));
	err_clear(&e);
	assert_int_equal(server_config_add_line(c, "Match all", &e), ERR_NONE_FOUND);
	err_clear(&e);
	assert_int_equal(server_config_add_port(c, 77, &e), 0);
	assert_int_equal(server_config_add_port(c, 78, &e), 0);
	assert_int_equal(server_config_load(c, path, &e), 0);
	got = values(server_config_options(c), "Port");
	assert_string_equal(got, "77|78");
	free(got);
	got = values(server_config_options(c), "ListenAddress");
	assert_string_equal(got, "[::1]:77|[::1]:78");
	free(got);
	got = values(server_config_options(c), "HostKey");
	assert_string_equal(got, "/a|/b");
	free(got);
	assert_int_equal(server_config_options(c)->max_sessions, 2);
	assert_int_equal(SERVER_ORIGIN(server_config_options(c), max_sessions), CONF_COMMAND_LINE);
	assert_int_equal(SERVER_ORIGIN(server_config_options(c), use_dns), CONF_DEFAULT);
	server_config_free(c);
	/* -o Port and Port of the file add up. */
	c = server_config_new();
	assert_int_equal(server_config_add_line(c, "Port 9", &e), 0);
	assert_int_equal(server_config_load(c, path, &e), 0);
	got = values(server_config_options(c), "Port");
	assert_string_equal(got, "9|1");
	free(got);
	server_config_free(c);
	c = server_config_new();
	assert_int_equal(server_config_load(c, "/nonexistent/x", &e), ERR_NONE_FOUND);
	server_config_free(c);
	free(path);
}

static void test_paths(void **state)
{
	char *cwd = getcwd(NULL, 0), *want, *got;
	struct err e = { 0 };
	struct server_config *c;

	assert_int_equal(chdir(dir), 0);
	c = load("Banner issue\nHostKey keys/a\nPidFile ~/pid\nRevokedKeys none\nTrustedUserCAKeys none\n", &e);
	assert_int_equal(chdir(cwd), 0);
	assert_non_null(c);
	want = str_printf("%s/issue", dir);
	assert_string_equal(server_config_options(c)->banner, want);
	free(want);
	want = str_printf("%s/keys/a", dir);
	assert_string_equal(server_config_options(c)->host_key.v[0], want);
	free(want);
	got = values(server_config_options(c), "PidFile");
	assert_true(got[0] == '/' && str_ends(got, "/pid"));
	free(got);
	server_config_free(c);
	free(cwd);
}

static void all_lines(const struct server_options *o, struct str_list *out)
{
	server_options_dump(o, collect, out);
}

static void assert_same(const struct server_options *a, const struct server_options *b)
{
	struct str_list x = { 0 }, y = { 0 };
	size_t i;

	all_lines(a, &x);
	all_lines(b, &y);
	assert_int_equal(x.count, y.count);
	for (i = 0; i < x.count; i++)
		assert_string_equal(x.v[i], y.v[i]);
	str_list_clear(&x);
	str_list_clear(&y);
}

static struct server_config *configured(struct err *e)
{
	struct server_config *c = server_config_new();
	char *inc, *path, *text;

	inc = dir_file("more.inc", "AcceptEnv A\nMatch user ann\nMaxAuthTries 1\n");
	text = str_printf("Banner issue\nHostKey a\nInclude %s/m*.inc\nUseLogin no\nMatch user ann\nMaxSessions 3\n", dir);
	path = dir_file("config", text);
	assert_int_equal(server_config_add_line(c, "LogLevel DEBUG2", e), 0);
	assert_int_equal(server_config_add_port(c, 77, e), 0);
	assert_int_equal(server_config_load(c, path, e), 0);
	/* Nobody reads them again. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(inc), 0);
	free(inc);
	free(path);
	free(text);
	return c;
}

static void test_hand_over(void **state)
{
	struct server_subject ann = { .user = "ann", .local_port = -1 };
	struct server_options a = { .marks = { { 0 } } }, b = { .marks = { { 0 } } };
	struct buf out = BUF_INIT(1 << 20);
	struct server_config *c, *d;
	struct reader r;
	struct err e = { 0 };

	c = configured(&e);
	server_config_put(c, &out);
	assert_true(buf_ok(&out));
	reader_init(&r, out.data, out.size);
	log_capture_start(LOG_LEVEL_INFO);
	assert_int_equal(chdir("/"), 0);
	d = server_config_get(&r, &e);
	assert_non_null(d);
	assert_int_equal(reader_left(&r), 0);
	/* What was told once is not told by every process. */
	assert_string_equal(log_capture_text(), "");
	assert_same(server_config_options(c), server_config_options(d));
	assert_int_equal(server_config_match(c, &ann, &a, &e), 0);
	assert_int_equal(server_config_match(d, &ann, &b, &e), 0);
	assert_same(&a, &b);
	assert_int_equal(b.max_sessions, 3);
	assert_int_equal(b.max_auth_tries, 1);
	server_options_clear(&a);
	server_options_copy(&a, &b);
	server_options_clear(&b);
	assert_int_equal(a.max_auth_tries, 1);
	server_options_clear(&a);
	server_config_free(c);
	server_config_free(d);
	buf_free(&out);
}

/* CipherPreference: whoever the configuration is handed to has the order that was measured, and measures nothing. */
static void test_hand_over_order(void **state)
{
	struct buf out = BUF_INIT(1 << 20);
	struct server_config *c = server_config_new(), *d;
	struct server_options o = { .marks = { { 0 } } };
	struct server_subject ann = { .user = "ann", .local_port = -1 };
	char *ciphers, *macs;
	struct reader r;
	struct err e = { 0 };

	assert_int_equal(server_config_add_line(c, "CipherPreference fastest", &e), 0);
	assert_int_equal(server_config_add_line(c, "Ciphers aes256-ctr,aes128-ctr", &e), 0);
	assert_int_equal(server_config_add_line(c, "MACs hmac-sha2-512,umac-64@openssh.com", &e), 0);
	assert_int_equal(server_config_load(c, "none", &e), 0);
	assert_string_equal(server_config_options(c)->ciphers.names, "aes256-ctr,aes128-ctr");
	server_config_prefer(c);
	ciphers = mem_strdup(server_config_options(c)->ciphers.names);
	macs = mem_strdup(server_config_options(c)->macs.names);
	assert_int_equal(strlen(ciphers), strlen("aes256-ctr,aes128-ctr"));
	assert_string_equal(macs, "umac-64@openssh.com,hmac-sha2-512");
	server_config_put(c, &out);
	reader_init(&r, out.data, out.size);
	d = server_config_get(&r, &e);
	assert_non_null(d);
	assert_string_equal(server_config_options(d)->ciphers.names, ciphers);
	assert_string_equal(server_config_options(d)->macs.names, macs);
	assert_int_equal(server_config_match(d, &ann, &o, &e), 0);
	assert_string_equal(o.ciphers.names, ciphers);
	server_options_clear(&o);
	free(ciphers);
	free(macs);
	server_config_free(c);
	server_config_free(d);
	buf_free(&out);
}

/* Without it nothing is measured and nothing moves. */
static void test_order_default(void **state)
{
	struct server_config *c = server_config_new();
	struct err e = { 0 };

	assert_int_equal(server_config_add_line(c, "Ciphers aes256-ctr,aes128-ctr", &e), 0);
	assert_int_equal(server_config_load(c, "none", &e), 0);
	server_config_prefer(c);
	assert_string_equal(server_config_options(c)->ciphers.names, "aes256-ctr,aes128-ctr");
	server_config_free(c);
}

static void test_hand_over_damaged(void **state)
{
	struct buf out = BUF_INIT(1 << 20);
	struct server_config *c, *d;
	struct reader r;
	struct err e = { 0 };
	size_t n;

	c = configured(&e);
	server_config_put(c, &out);
	log_capture_start(LOG_LEVEL_QUIET);
	for (n = 0; n < out.size; n++) {
		err_clear(&e);
		reader_init(&r, out.data, n);
		d = server_config_get(&r, &e);
		assert_null(d);
		assert_int_equal(e.code, ERR_PEER);
	}
	server_config_free(c);
	buf_free(&out);
}

static void test_subject(void **state)
{
	struct server_subject who = { .local_port = -1 };
	struct str_list keep = { 0 };
	struct err e = { 0 };

	assert_int_equal(server_subject_parse(&who, "user=ann,addr=::1,host=h,laddr=10.0.0.1,lport=22,rdomain=r", &keep, &e), 0);
	assert_int_equal(server_subject_parse(&who, "invalid-user", &keep, &e), 0);
	assert_string_equal(who.user, "ann");
	assert_string_equal(who.address, "::1");
	assert_string_equal(who.host, "h");
	assert_string_equal(who.local_address, "10.0.0.1");
	assert_string_equal(who.rdomain, "r");
	assert_int_equal(who.local_port, 22);
	assert_true(who.invalid_user);
	assert_int_equal(server_subject_parse(&who, "color=red", &keep, &e), ERR_USAGE);
	err_clear(&e);
	assert_int_equal(server_subject_parse(&who, "lport=x", &keep, &e), ERR_USAGE);
	err_clear(&e);
	assert_int_equal(server_subject_parse(&who, "user", &keep, &e), ERR_USAGE);
	str_list_clear(&keep);
}

static void test_real_files(void **state)
{
	static const char debian[] =
		"Include /etc/ssh/sshd_config.d/no-such-*.conf\nKbdInteractiveAuthentication no\nUsePAM no\nX11Forwarding yes\nPrintMotd no\n"
		"AcceptEnv LANG LC_* COLORTERM NO_COLOR\nSubsystem\tsftp\t/usr/lib/openssh/sftp-server\n"
		"#Match User anoncvs\n#\tX11Forwarding no\n";
	static const char hpn[] =
		"Port 2222\nTcpRcvBufPoll yes\nHPNDisabled no\nHPNBufferSize 2048\nNoneEnabled no\nNoneMacEnabled no\nDisableMTAES no\n"
		"Ciphers chacha20-poly1305-mt@hpnssh.org,aes256-gcm@openssh.com,aes256-ctr,arcfour256\n"
		"KexAlgorithms curve25519-sha256,diffie-hellman-group-exchange-sha256,diffie-hellman-group14-sha1\n"
		"MACs hmac-sha2-256-etm@openssh.com,hmac-ripemd160\nHostKeyAlgorithms ssh-ed25519,ssh-rsa,ssh-dss\nUsePrivilegeSeparation sandbox\n";
	struct err e = { 0 };
	struct server_config *c;

	log_capture_start(LOG_LEVEL_QUIET);
	c = load(debian, &e);
	assert_non_null(c);
	server_config_free(c);
	c = load(hpn, &e);
	assert_non_null(c);
	assert_non_null(strstr(server_config_options(c)->ciphers.names, "chacha20-poly1305@openssh.com,aes256-gcm@openssh.com,aes256-ctr"));
	server_config_free(c);
#ifdef HAVE_PAM
	if (access("/etc/ssh/sshd_config", R_OK) == 0) {
		c = server_config_new();
		assert_int_equal(server_config_load(c, "/etc/ssh/sshd_config", &e), 0);
		server_config_free(c);
	}
#endif
}

static int setup(void **state)
{
	umask(022);
	return mkdtemp(dir) == NULL;
}

static int teardown(void **state)
{
	char *command = str_printf("rm -rf %s", dir);
	int r = system(command);

	free(command);
	log_capture_stop();
	return r;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden), cmocka_unit_test(test_words), cmocka_unit_test(test_numbers), cmocka_unit_test(test_penalties),
		cmocka_unit_test(test_texts), cmocka_unit_test(test_lists), cmocka_unit_test(test_hpn_and_old), cmocka_unit_test(test_compress_level), cmocka_unit_test(test_errors),
		cmocka_unit_test(test_match_criteria), cmocka_unit_test(test_match_unknown), cmocka_unit_test(test_match_merge),
		cmocka_unit_test(test_match_all_at_start), cmocka_unit_test(test_include), cmocka_unit_test(test_command_line),
		cmocka_unit_test(test_paths), cmocka_unit_test(test_hand_over),
		cmocka_unit_test(test_hand_over_order), cmocka_unit_test(test_order_default), cmocka_unit_test(test_hand_over_damaged),
		cmocka_unit_test(test_subject), cmocka_unit_test(test_real_files),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
