/* regress/unit/client/test_client_options.c: ssh_config: every keyword with good and bad values, order and precedence, Host and
 * Match, Include, tokens, -G. */
#include "client/client_options.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "client/tokens.h"
#include "paths.h"
#include "version.h"
#include "../log_capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static char home[] = "/tmp/ws-test-client.XXXXXX";

static char *home_file(const char *name, const char *text)
{
	char *path = str_printf("%s/%s", home, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	return path;
}

static struct client_subject subject(const char *host)
{
	return (struct client_subject){ .host_arg = host, .local_user = "me", .home = home, .uid = getuid() };
}

/* Reads text as the file of -F, twice when it must, and fills. */
static int load(struct client_options *o, struct client_subject *who, const char *text, struct err *e)
{
	char *path = home_file("config", text);
	int r;

	err_clear(e);
	r = client_options_read_files(o, path, who, e);
	if (r == 0)
		r = client_options_expand_hostname(o, who, e);
	if (r == 0 && client_options_need_final(o, who)) {
		char *host = mem_strdup(o->hostname);

		who->final_pass = true;
		who->host = host;
		r = client_options_read_files(o, path, who, e);
		free(host);
		who->host = NULL;
	}
	if (r == 0)
		r = client_options_fill(o, who, e);
	free(path);
	return r;
}

static void collect(void *ctx, const char *line)
{
	str_list_add(ctx, line);
}

/* Lines of -G that begin with the name, joined by '|'; "BAD" when the text is refused. */
static char *value_of(const char *text, const char *name)
{
	struct client_options o;
	struct client_subject who = subject("host.example.com");
	struct str_list lines = { 0 }, found = { 0 };
	struct err e = { 0 };
	char *out;
	size_t i, n = strlen(name);

	client_options_init(&o);
	if (load(&o, &who, text, &e) != 0) {
		client_options_clear(&o);
		return mem_strdup("BAD");
	}
	client_options_dump(&o, who.host_arg, collect, &lines);
	for (i = 0; i < lines.count; i++)
		if (str_starts(lines.v[i], name) && lines.v[i][n] == ' ')
			str_list_add(&found, lines.v[i] + n + 1);
	out = found.count != 0 ? str_list_join(&found, "|") : mem_strdup("-");
	str_list_clear(&lines);
	str_list_clear(&found);
	client_options_clear(&o);
	return out;
}

/* The golden text with its placeholders filled in. */
static char *replace(char *text, const char *from, const char *to)
{
	char *at = strstr(text, from), *out;

	if (at == NULL)
		return text;
	out = str_printf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	free(text);
	return replace(out, from, to);
}

static bool is_own(const char *line)
{
	static const char *const own[] = {
		"tcprcvbufpoll", "hpndisabled", "noneswitch", "noneenabled", "nonemacenabled", "fallback", "metrics", "usemptcp",
		"happyeyes", "metricsinterval", "fallbackport", "happydelay", "metricspath", "compressionlevel", "compressionmode", "compressionzstd",
		"noneswitchfromfile", "noneswitchfallback", "peermemory", "cipherpreference"
	};
	size_t i, n = strcspn(line, " ");

	for (i = 0; i < MEM_COUNT(own); i++)
		if (str_is(line, n, own[i]))
			return true;
	return false;
}

static bool is_algorithms(const char *line)
{
	size_t n = strcspn(line, " ");

	return str_is(line, n, "ciphers") || str_is(line, n, "macs") || (n > 10 && str_is(line + n - 10, 10, "algorithms"));
}

static void test_golden(void **state)
{
	struct client_options o;
	struct client_subject who = subject("example.com");
	struct client_tokens tokens;
	struct str_list lines = { 0 };
	struct err e = { 0 };
	char *path = str_printf("%s/regress/unit/client/data/defaults-G.txt", getenv("WS_SRC") ? getenv("WS_SRC") : "."), *want;
	const char *p;
	size_t size, i, own = 0;

	assert_int_equal(path_read_file(path, 65536, &want, &size, &e), 0);
	free(path);
	want = replace(want, "PREFIX/etc", PATH_SYSCONFDIR);
	want = replace(want, "HOME", home);
	want = replace(want, "USER\nhostname", "me\nhostname");
	client_options_init(&o);
	assert_int_equal(client_options_read_files(&o, "none", &who, &e), 0);
	assert_int_equal(client_options_expand_hostname(&o, &who, &e), 0);
	assert_int_equal(client_options_fill(&o, &who, &e), 0);
	client_tokens_fill(&tokens, &o, &who);
	assert_int_equal(client_options_expand(&o, &tokens, &e), 0);
	client_options_dump(&o, "example.com", collect, &lines);
	p = want;
	for (i = 0; i < lines.count; i++) {
		size_t n = strcspn(p, "\n");

		if (is_algorithms(lines.v[i]))
			continue;
		if (is_own(lines.v[i])) {
			own++;
			continue;
		}
		/* Own keywords come after all stock ones. */
		assert_int_equal(own, 0);
		if (str_starts(p, "xauthlocation") && str_starts(lines.v[i], "xauthlocation")) {
			p += n + 1;
			continue;
		}
		if (!str_is(p, n, lines.v[i]))
			fail_msg("\"%s\" instead of \"%.*s\"", lines.v[i], (int)n, p);
		p += n + 1;
	}
	assert_string_equal(p, "");
	assert_int_equal(own, 20);
	free(want);
	str_list_clear(&lines);
	client_options_clear(&o);
}

struct sample { const char *line, *name, *want; };

static void check(const struct sample *s, size_t n)
{
	size_t i;

	log_capture_start(LOG_LEVEL_QUIET);
	for (i = 0; i < n; i++) {
		char *text = str_printf("%s\n", s[i].line), *got = value_of(text, s[i].name);

		if (strcmp(got, s[i].want) != 0)
			fail_msg("\"%s\" gives %s \"%s\", not \"%s\"", s[i].line, s[i].name, got, s[i].want);
		free(got);
		free(text);
	}
}

static void test_words(void **state)
{
	static const struct sample s[] = {
		{ "AddKeysToAgent yes", "addkeystoagent", "true" }, { "AddKeysToAgent no", "addkeystoagent", "false" },
		{ "AddKeysToAgent ask", "addkeystoagent", "ask" }, { "AddKeysToAgent confirm", "addkeystoagent", "confirm" },
		{ "AddKeysToAgent confirm 5m", "addkeystoagent", "confirm 300" }, { "AddKeysToAgent 5m", "addkeystoagent", "300" },
		{ "AddKeysToAgent ask 5m", "addkeystoagent", "BAD" }, { "AddKeysToAgent maybe", "addkeystoagent", "BAD" },
		{ "AddressFamily inet6", "addressfamily", "inet6" }, { "AddressFamily ipx", "addressfamily", "BAD" },
		{ "BatchMode TRUE", "batchmode", "yes" }, { "BatchMode on", "batchmode", "BAD" },
		{ "CanonicalizeHostname always", "canonicalizehostname", "always" }, { "CanonicalizeHostname none", "canonicalizehostname", "BAD" },
		{ "CanonicalizeFallbackLocal no", "canonicalizefallbacklocal", "no" },
		{ "Compression yes", "compression", "yes" }, { "Compression true", "compression", "BAD" },
		{ "ControlMaster auto", "controlmaster", "auto" }, { "ControlMaster autoask", "controlmaster", "autoask" },
		{ "ControlMaster yes", "controlmaster", "true" }, { "ControlMaster maybe", "controlmaster", "BAD" },
		{ "ControlPersist 0", "controlpersist", "yes" }, { "ControlPersist 10m", "controlpersist", "600" },
		{ "ControlPersist YES", "controlpersist", "BAD" }, { "ControlPersist no", "controlpersist", "no" },
		{ "CheckHostIP yes", "checkhostip", "yes" }, { "EnableEscapeCommandline yes", "enableescapecommandline", "yes" },
		{ "EnableSSHKeysign yes", "enablesshkeysign", "yes" }, { "ExitOnForwardFailure yes", "exitonforwardfailure", "yes" },
		{ "FingerprintHash md5", "fingerprinthash", "MD5" }, { "FingerprintHash crc", "fingerprinthash", "BAD" },
		{ "ForkAfterAuthentication yes", "forkafterauthentication", "yes" }, { "ForwardAgent yes", "forwardagent", "yes" },
		{ "ForwardAgent /a/b", "forwardagent", "/a/b" }, { "ForwardAgent $X", "forwardagent", "$X" },
		{ "ForwardX11 yes", "forwardx11", "yes" }, { "ForwardX11Trusted yes", "forwardx11trusted", "yes" },
		{ "GatewayPorts yes", "gatewayports", "yes" }, { "HashKnownHosts yes", "hashknownhosts", "yes" },
		{ "HostbasedAuthentication yes", "hostbasedauthentication", "yes" }, { "IdentitiesOnly yes", "identitiesonly", "yes" },
		{ "ChallengeResponseAuthentication no", "kbdinteractiveauthentication", "no" },
		{ "SkeyAuthentication no", "kbdinteractiveauthentication", "no" }, { "TISAuthentication no", "kbdinteractiveauthentication", "no" },
		{ "NoHostAuthenticationForLocalhost yes", "nohostauthenticationforlocalhost", "yes" },
		{ "PasswordAuthentication no", "passwordauthentication", "no" }, { "PermitLocalCommand yes", "permitlocalcommand", "yes" },
		{ "PubkeyAuthentication no", "pubkeyauthentication", "false" }, { "PubkeyAuthentication host-bound", "pubkeyauthentication", "host-bound" },
		{ "PubkeyAuthentication unbound", "pubkeyauthentication", "unbound" }, { "DSAAuthentication no", "pubkeyauthentication", "false" },
		{ "PubkeyAuthentication maybe", "pubkeyauthentication", "BAD" },
		{ "RequestTTY force", "requesttty", "force" }, { "RequestTTY yes", "requesttty", "true" }, { "RequestTTY x", "requesttty", "BAD" },
		{ "SessionType subsystem", "sessiontype", "subsystem" }, { "SessionType x", "sessiontype", "BAD" },
		{ "StdinNull yes", "stdinnull", "yes" }, { "StreamLocalBindUnlink yes", "streamlocalbindunlink", "yes" },
		{ "StrictHostKeyChecking yes", "stricthostkeychecking", "true" }, { "StrictHostKeyChecking off", "stricthostkeychecking", "false" },
		{ "StrictHostKeyChecking accept-new", "stricthostkeychecking", "accept-new" }, { "StrictHostKeyChecking x", "stricthostkeychecking", "BAD" },
		{ "TCPKeepAlive no", "tcpkeepalive", "no" }, { "KeepAlive no", "tcpkeepalive", "no" },
		{ "Tunnel yes", "tunnel", "point-to-point" }, { "Tunnel ethernet", "tunnel", "ethernet" }, { "Tunnel x", "tunnel", "BAD" },
		{ "UpdateHostKeys ask", "updatehostkeys", "ask" }, { "UpdateHostKeys no", "updatehostkeys", "false" },
		{ "UserKnownHostsFile ~/.ssh/known_hosts", "updatehostkeys", "true" }, { "UserKnownHostsFile /x", "updatehostkeys", "false" },
		{ "VerifyHostKeyDNS ask", "updatehostkeys", "false" }, { "VerifyHostKeyDNS ask", "verifyhostkeydns", "ask" },
		{ "VisualHostKey yes", "visualhostkey", "yes" }, { "WarnWeakCrypto no-pq-kex", "warnweakcrypto", "no-pq-kex" },
		{ "WarnWeakCrypto no", "warnweakcrypto", "no" }, { "ProxyUseFdpass no", "proxyusefdpass", "no" },
	};

	check(s, MEM_COUNT(s));
}

static void test_numbers_and_texts(void **state)
{
	static const struct sample s[] = {
		{ "Port 2222", "port", "2222" }, { "Port 0", "port", "BAD" }, { "Port 99999", "port", "BAD" }, { "Port==22", "port", "BAD" },
		{ "CanonicalizeMaxDots 3", "canonicalizemaxdots", "3" }, { "ConnectionAttempts 0", "connectionattempts", "BAD" },
		{ "ConnectionAttempts 2", "connectionattempts", "2" }, { "ConnectTimeout 1m", "connecttimeout", "60" },
		{ "ConnectTimeout none\nConnectTimeout 5", "connecttimeout", "5" }, { "ConnectTimeout -1", "connecttimeout", "BAD" },
		{ "ForwardX11Timeout 0", "forwardx11timeout", "0" }, { "NumberOfPasswordPrompts 1", "numberofpasswordprompts", "1" },
		{ "ServerAliveInterval 5", "serveraliveinterval", "5" }, { "ServerAliveInterval none", "serveraliveinterval", "0" },
		{ "ServerAliveCountMax x", "serveralivecountmax", "BAD" }, { "RequiredRSASize 2048", "requiredrsasize", "2048" },
		{ "RekeyLimit 1.5G 1h", "rekeylimit", "1610612736 3600" }, { "RekeyLimit 15", "rekeylimit", "BAD" },
		{ "ObscureKeystrokeTiming interval:80", "obscurekeystroketiming", "80" }, { "ObscureKeystrokeTiming no", "obscurekeystroketiming", "no" },
		{ "ObscureKeystrokeTiming interval:1001", "obscurekeystroketiming", "BAD" }, { "ObscureKeystrokeTiming Yes", "obscurekeystroketiming", "BAD" },
		{ "StreamLocalBindMask 0", "streamlocalbindmask", "00" }, { "StreamLocalBindMask 9", "streamlocalbindmask", "BAD" },
		{ "EscapeChar none", "escapechar", "none" }, { "EscapeChar ^B", "escapechar", "\\^B" }, { "EscapeChar ^[", "escapechar", "\\^[" },
		{ "EscapeChar \" \"", "escapechar", "\\040" }, { "EscapeChar \344", "escapechar", "\\M-d" }, { "EscapeChar ab", "escapechar", "BAD" },
		{ "EscapeChar ^1", "escapechar", "BAD" }, { "TunnelDevice 1", "tunneldevice", "1:any" }, { "TunnelDevice any:2", "tunneldevice", "any:2" },
		{ "TunnelDevice x", "tunneldevice", "BAD" }, { "IPQoS 5 af11", "ipqos", "0x05 af11" }, { "IPQoS x", "ipqos", "BAD" },
		{ "LogLevel DEBUG1", "loglevel", "DEBUG" }, { "LogLevel x", "loglevel", "BAD" }, { "SyslogFacility LOCAL0", "syslogfacility", "LOCAL0" },
		{ "BindAddress 1.2.3.4", "bindaddress", "1.2.3.4" }, { "BindInterface eth0", "bindinterface", "eth0" },
		{ "ControlPath /x-%C", "controlpath", "/x-%C" }, { "ControlPath none", "controlpath", "-" }, { "HostKeyAlias Alias", "hostkeyalias", "alias" },
		{ "IdentityAgent none", "identityagent", "none" }, { "KbdInteractiveDevices pam", "kbdinteractivedevices", "pam" },
		{ "LocalCommand echo \"%h\" # x", "localcommand", "echo \"%h\" # x" }, { "RemoteCommand a b", "remotecommand", "a b" },
		{ "RemoteCommand none", "remotecommand", "-" }, { "KnownHostsCommand /bin/x %H", "knownhostscommand", "/bin/x %H" },
		{ "PKCS11Provider /x", "pkcs11provider", "/x" }, { "SmartcardDevice /x", "pkcs11provider", "/x" },
		{ "SecurityKeyProvider none", "securitykeyprovider", "none" }, { "PreferredAuthentications publickey", "preferredauthentications", "publickey" },
		{ "Tag t", "tag", "t" }, { "VersionAddendum a b", "versionaddendum", "a b" }, { "VersionAddendum none", "versionaddendum", "" },
		{ "XAuthLocation none", "xauthlocation", "none" }, { "User u", "user", "u" }, { "IgnoreUnknown a,b", "ignoreunknown", "a,b" },
		{ "LogVerbose a:b:* c:d:*", "logverbose", "a:b:*" }, { "LogVerbose none", "logverbose", "none" },
	};

	check(s, MEM_COUNT(s));
}

static void test_lists(void **state)
{
	static const struct sample s[] = {
		{ "CanonicalDomains a.b c.d\nCanonicalDomains e", "canonicaldomains", "a.b c.d" }, { "CanonicalDomains none", "canonicaldomains", "none" },
		{ "CanonicalizePermittedCNAMEs *", "canonicalizePermittedcnames", "*:*" },
		{ "CanonicalizePermittedCNAMEs a:b c:d", "canonicalizePermittedcnames", "a:b c:d" },
		{ "CanonicalizePermittedCNAMEs a", "canonicalizePermittedcnames", "BAD" },
		{ "CertificateFile a\nCertificateFile b\nCertificateFile a", "certificatefile", "a|b" }, { "CertificateFile none", "certificatefile", "-" },
		{ "ChannelTimeout session=5m", "channeltimeout", "session=5m" }, { "ChannelTimeout x", "channeltimeout", "BAD" },
		{ "DynamicForward 1080\nDynamicForward 1080\nDynamicForward localhost:1081", "dynamicforward", "1080|[localhost]:1081" },
		{ "LocalForward 8080 h:80\nLocalForward *:8080 h:80", "localforward", "8080 [h]:80|[*]:8080 [h]:80" },
		{ "LocalForward 8080", "localforward", "BAD" }, { "LocalForward 8080:h:80", "localforward", "BAD" }, { "RemoteForward 1080", "remoteforward", "1080 [socks]:0" },
		{ "RemoteForward 0 h:22", "remoteforward", "0 [h]:22" }, { "ClearAllForwardings yes\nLocalForward 8080 h:80", "localforward", "-" },
		{ "GlobalKnownHostsFile ~/a b", "globalknownhostsfile", "~/a b" }, { "UserKnownHostsFile none", "userknownhostsfile", "none" },
		{ "UserKnownHostsFile none b", "userknownhostsfile", "BAD" }, { "IdentityFile a\nIdentityFile2 b", "identityfile", "a|b" },
		{ "IdentityFile none", "identityfile", "-" }, { "RevokedHostKeys none", "revokedhostkeys", "none" },
		{ "SendEnv A B C*\nSendEnv A -B", "sendenv", "A|C*|A" }, { "SendEnv A=b", "sendenv", "BAD" },
		{ "SetEnv A=b C=d\nSetEnv E=f", "setenv", "A=b|C=d" }, { "SetEnv A", "setenv", "BAD" },
		{ "PermitRemoteOpen a:1 *:*", "permitremoteopen", "a:1 *:*" }, { "PermitRemoteOpen none", "permitremoteopen", "none" },
		{ "PermitRemoteOpen a", "permitremoteopen", "BAD" }, { "Ciphers aes128-ctr,3des-cbc", "port", "22" }, { "Ciphers none", "ciphers", "BAD" },
		{ "Ciphers aes256-ctr,aes128-ctr", "ciphers", "aes256-ctr,aes128-ctr" }, { "Ciphers bogus", "ciphers", "BAD" },
		{ "MACs hmac-sha2-256", "macs", "hmac-sha2-256" }, { "MACs none,hmac-sha2-256", "macs", "hmac-sha2-256" },
		{ "KexAlgorithms sntrup761x25519-sha512@openssh.com,curve25519-sha256,mlkem768x25519-sha256", "port", "22" },
		{ "KexAlgorithms bogus", "kexalgorithms", "BAD" }, { "HostKeyAlgorithms ssh-ed25519", "hostkeyalgorithms", "ssh-ed25519" },
		{ "HostKeyAlgorithms ssh-ed25519-cert-v01@openssh.com,ssh-ed25519", "port", "22" }, { "HostKeyAlgorithms bogus", "hostkeyalgorithms", "BAD" },
		{ "PubkeyAcceptedKeyTypes rsa-sha2-512", "pubkeyacceptedalgorithms", "rsa-sha2-512" },
		{ "HostbasedKeyTypes rsa-sha2-512", "hostbasedacceptedalgorithms", "rsa-sha2-512" },
		{ "CASignatureAlgorithms ssh-ed25519", "casignaturealgorithms", "ssh-ed25519" },
		{ "CASignatureAlgorithms ssh-ed25519-cert-v01@openssh.com", "casignaturealgorithms", "BAD" },
	};

	check(s, MEM_COUNT(s));
}

static void test_hpn_and_old(void **state)
{
	static const struct sample s[] = {
		{ "NoneEnabled yes", "noneenabled", "yes" }, { "NoneSwitch yes", "noneswitch", "yes" }, { "NoneMacEnabled TRUE", "nonemacenabled", "yes" },
		{ "HPNDisabled yes", "hpndisabled", "yes" }, { "TcpRcvBufPoll no", "tcprcvbufpoll", "no" }, { "TcpRcvBuf 4096", "port", "22" },
		{ "HPNBufferSize 16384", "port", "22" }, { "HPNBufferLimit yes", "port", "22" }, { "DisableMTAES yes", "port", "22" },
		{ "HPNBufferSize x", "port", "BAD" }, { "Metrics yes", "metrics", "yes" }, { "MetricsInterval 7", "metricsinterval", "7" },
		{ "MetricsPath /x", "metricspath", "/x" }, { "MetricsPath /x", "metrics", "yes" }, { "Metrics no\nMetricsPath /x", "metrics", "no" },
		{ "Fallback no", "fallback", "no" }, { "FallbackPort 23", "fallbackport", "23" }, { "UseMPTCP yes", "usemptcp", "yes" },
		{ "HappyEyes yes", "happyeyes", "yes" }, { "HappyDelay 0", "happydelay", "250" }, { "HappyDelay 10", "happydelay", "10" },
		{ "CompressionLevel 9", "compressionlevel", "9" }, { "CompressionLevel 0", "compressionlevel", "BAD" },
		{ "CompressionLevel 10", "compressionlevel", "BAD" }, { "CompressionMode auto", "compressionmode", "auto" },
		{ "CompressionLevel auto", "compressionlevel", "BAD" }, { "CompressionMode x", "compressionmode", "BAD" }, { "NoneSwitchFromFile yes", "noneswitchfromfile", "yes" },
		{ "NoneSwitchFallback yes", "noneswitchfallback", "yes" }, { "PeerMemory no", "peermemory", "no" },
		{ "CipherPreference fastest", "cipherpreference", "fastest" }, { "CipherPreference x", "cipherpreference", "BAD" },
		/* in files of old */
		{ "Protocol 2,1", "port", "22" }, { "Cipher blowfish", "port", "22" }, { "FallBackToRsh no", "port", "22" },
		{ "GlobalKnownHostsFile2 x", "port", "22" }, { "RhostsAuthentication no", "port", "22" }, { "UserKnownHostsFile2 x", "port", "22" },
		{ "UseRoaming no", "port", "22" }, { "UseRsh no", "port", "22" }, { "UsePrivilegedPort no", "port", "22" },
		{ "AFSTokenPassing no", "port", "22" }, { "KerberosAuthentication no", "port", "22" }, { "KerberosTgtPassing no", "port", "22" },
		{ "RSAAuthentication no", "port", "22" }, { "RhostsRSAAuthentication no", "port", "22" }, { "GSSAPIAuthentication yes", "port", "22" },
		{ "GSSAPIDelegateCredentials no", "port", "22" }, { "Protocol", "port", "BAD" },
	};

	check(s, MEM_COUNT(s));
}

static void test_proxies(void **state)
{
	static const struct sample s[] = {
		{ "ProxyCommand nc %h %p # x", "proxycommand", "nc %h %p # x" }, { "ProxyCommand none", "proxycommand", "-" },
		{ "ProxyCommand -", "proxycommand", "-" }, { "ProxyJump none", "proxyjump", "-" }, { "ProxyJump none # c", "proxyjump", "-" },
		{ "ProxyCommand none\nProxyCommand nc", "proxycommand", "-" }, { "ProxyJump none\nProxyCommand nc", "proxycommand", "nc" },
		{ "ProxyJump a;b", "proxyjump", "BAD" }, { "ProxyJump a:b", "proxyjump", "BAD" }, { "ProxyJump ,a", "proxyjump", "BAD" },
		{ "ProxyJump -x@a", "proxyjump", "BAD" }, { "ProxyJump u@-a", "proxyjump", "BAD" },
	};
	struct client_options o, copy;
	struct err e = { 0 };

	check(s, MEM_COUNT(s));
	client_options_init(&o);
	client_options_init(&copy);
	log_capture_start(LOG_LEVEL_QUIET);
	/* Whether ProxyJump is built or not, it is read. */
	if (client_options_line(&o, "ProxyJump u@a,ssh://v@b:2222,w@[::1]:22 #c", &e) != 0)
		err_clear(&e);
	client_options_copy(&copy, &o);
	client_options_clear(&o);
	assert_string_equal(copy.proxy_jump.host, "::1");
	assert_string_equal(copy.proxy_jump.user, "w");
	assert_int_equal(copy.proxy_jump.port, 22);
	assert_string_equal(copy.proxy_jump.earlier, "u@a,ssh://v@b:2222");
	/* The first of both wins. */
	assert_int_equal(client_options_line(&copy, "ProxyCommand nc", &e), 0);
	assert_null(copy.proxy_command);
	client_options_clear(&copy);
}

static void test_precedence(void **state)
{
	struct client_options o;
	struct client_subject who = subject("host");
	struct err e = { 0 };

	client_options_init(&o);
	log_capture_start(LOG_LEVEL_INFO);
	assert_int_equal(client_options_line(&o, "Port=1", &e), 0);
	assert_int_equal(client_options_line(&o, "Port=2", &e), 0);
	assert_int_equal(client_options_line(&o, "ForwardAgent yes", &e), 0);
	assert_int_equal(client_options_force(&o, "ForwardAgent", "no", &e), 0);
	assert_int_equal(client_options_line(&o, "ForwardAgent yes", &e), 0);
	assert_int_equal(client_options_add(&o, "IdentityFile", "a \"b\\ # c", &e), 0);
	assert_int_equal(client_options_add(&o, "RemoteCommand", "echo \"x\" # y", &e), 0);
	assert_int_equal(client_options_add(&o, "LocalForward", "8080:h:80", &e), 0);
	assert_int_equal(o.local_forward.count, 1);
	assert_int_equal(client_options_line(&o, "", &e), 0);
	assert_int_equal(client_options_line(&o, "#x", &e), 0);
	assert_int_equal(load(&o, &who, "Port 3\nForwardAgent yes\nIdentityFile \"a \\\"b\\\\ # c\"\nIdentityFile d\nIdentityFile d\nUser u\n", &e), 0);
	assert_int_equal(o.port, 1);
	assert_false(o.forward_agent.on);
	assert_int_equal(o.identity_file.count, 3);
	assert_string_equal(o.identity_file.v[0].path, "a \"b\\ # c");
	assert_int_equal(o.identity_file.v[0].origin, CONF_COMMAND_LINE);
	assert_int_equal(o.identity_file.v[1].origin, CONF_USER_FILE);
	assert_string_equal(o.remote_command, "echo \"x\" # y");
	assert_int_equal(CLIENT_ORIGIN(&o, port), CONF_COMMAND_LINE);
	assert_int_equal(CLIENT_ORIGIN(&o, user), CONF_USER_FILE);
	assert_int_equal(CLIENT_ORIGIN(&o, batch_mode), CONF_DEFAULT);
	assert_false(client_options_was_set(CLIENT_ORIGIN(&o, batch_mode)));
	client_options_clear(&o);

	client_options_init(&o);
	assert_int_equal(client_options_line(&o, "Nonsense 1", &e), ERR_NONE_FOUND);
	assert_true(log_capture_has("command-line: line 0: Bad configuration option: nonsense"));
	assert_int_equal(client_options_line(&o, "Host x", &e), ERR_NONE_FOUND);
	assert_int_equal(client_options_line(&o, "Match all", &e), ERR_NONE_FOUND);
	assert_int_equal(client_options_line(&o, "Include x", &e), ERR_NONE_FOUND);
	err_clear(&e);
	assert_int_equal(client_options_force(&o, "Nonsense", "1", &e), ERR_USAGE);
	client_options_clear(&o);
}

/* The keyword of protocol 1 as guides write it on command lines; in a file it says nothing any more. */
static void test_cipher_of_old_guides(void **state)
{
	static const struct { const char *line, *ciphers; } lines[] = {
		{ "Cipher=aes128-ctr", "aes128-ctr" }, { "cipher aes256-ctr", "aes256-ctr" }, { "CIPHER = \"aes192-ctr\"", "aes192-ctr" },
		{ "Cipher=aes128-ctr,aes256-ctr", "aes128-ctr,aes256-ctr" },
#ifdef WITH_LEGACY_CIPHERS
		{ "Cipher=3des-cbc", "3des-cbc" }, { "Cipher=3des", "3des-cbc" },
#endif
	};
	struct client_subject who = subject("host");
	struct client_options o;
	struct err e = { 0 };

	for (size_t i = 0; i < MEM_COUNT(lines); i++) {
		client_options_init(&o);
		log_capture_start(LOG_LEVEL_INFO);
		assert_int_equal(client_options_line(&o, lines[i].line, &e), 0);
		assert_true(log_capture_has("Cipher is a keyword of protocol 1: taken as -o Ciphers="));
		assert_string_equal(o.ciphers.names, lines[i].ciphers);
		client_options_clear(&o);
	}
	client_options_init(&o);
	assert_int_not_equal(client_options_line(&o, "Cipher=bogus", &e), 0);
	err_clear(&e);
	assert_int_equal(load(&o, &who, "Cipher 3des\n", &e), 0);
	assert_non_null(strstr(o.ciphers.names, "aes128-ctr"));
	client_options_clear(&o);
	log_capture_drop();
}

static void test_none_switch_origin(void **state)
{
	struct client_options o;
	struct client_subject who = subject("host");
	struct err e = { 0 };

	client_options_init(&o);
	assert_int_equal(load(&o, &who, "NoneSwitch yes\n", &e), 0);
	assert_int_equal(CLIENT_ORIGIN(&o, none_switch), CONF_USER_FILE);
	assert_int_equal(CLIENT_ORIGIN(&o, none_enabled), CONF_DEFAULT);
	client_options_clear(&o);
	assert_int_equal(client_options_line(&o, "NoneSwitch=yes", &e), 0);
	assert_int_equal(load(&o, &who, "NoneSwitch no\n", &e), 0);
	assert_true(o.none_switch);
	assert_int_equal(CLIENT_ORIGIN(&o, none_switch), CONF_COMMAND_LINE);
	client_options_clear(&o);
}

static void test_quirks(void **state)
{
	static const struct sample s[] = {
		{ "Host no\nStreamLocalBindMask 0111\nHost *\nStreamLocalBindMask 0222\nHost no\nStreamLocalBindMask 0333", "streamlocalbindmask", "0333" },
		{ "Host no\nSyslogFacility LOCAL1\nHost *\nSyslogFacility LOCAL2", "syslogfacility", "LOCAL1" },
	};

	check(s, MEM_COUNT(s));
}

static void test_host(void **state)
{
	static const struct sample s[] = {
		{ "Host host.example.com\nPort 1", "port", "1" }, { "Host HOST.example.com\nPort 1", "port", "22" }, { "Host *.example.com\nPort 1", "port", "1" },
		{ "Host a b *.com\nPort 1", "port", "1" }, { "Host *.com !host.*\nPort 1\nHost *\nPort 2", "port", "2" }, { "Host !x\nPort 1", "port", "22" },
		{ "Host !x *\nPort 1", "port", "1" }, { "Host #c\nPort 1", "port", "22" }, { "Host h?st.example.com\nPort 1", "port", "1" },
		{ "Host x\nNonsense 1", "port", "BAD" }, { "Host", "port", "BAD" }, { "Host x,host.example.com\nPort 1", "port", "22" },
	};

	check(s, MEM_COUNT(s));
}

static void test_match(void **state)
{
	static const struct sample s[] = {
		{ "Match all\nPort 1", "port", "1" }, { "Match host host.*\nPort 1", "port", "1" }, { "Match host HOST.*\nPort 1", "port", "1" },
		{ "Match host=host.*\nPort 1", "port", "1" }, { "Match !host host.*\nPort 1", "port", "22" }, { "Match host x,host.*\nPort 1", "port", "1" },
		{ "Match host host.*,!*.com\nPort 1", "port", "22" }, { "Hostname other\nMatch host other\nPort 1", "port", "1" },
		{ "Hostname other\nMatch originalhost host.example.com\nPort 1", "port", "1" }, { "Match user me\nPort 1", "port", "1" },
		{ "User you\nMatch user you localuser me\nPort 1", "port", "1" }, { "User you\nMatch user me\nPort 1", "port", "22" },
		{ "Match localuser \"me,you\"\nPort 1", "port", "1" }, { "Match localnetwork 127.0.0.0/8\nPort 1", "port", "1" },
		{ "Match localnetwork 203.0.113.0/24\nPort 1", "port", "22" }, { "Match localnetwork 127.0.0.1/8\nPort 1", "port", "BAD" },
		{ "Tag t\nMatch tagged t\nPort 1", "port", "1" }, { "Match tagged \"\"\nPort 1", "port", "1" }, { "Tag t\nMatch tagged \"\"\nPort 1", "port", "22" },
		{ "Match command \"\"\nPort 1", "port", "1" }, { "Match command ls*\nPort 1", "port", "22" }, { "Match sessiontype shell\nPort 1", "port", "1" },
		{ "SessionType none\nMatch sessiontype none\nPort 1", "port", "1" }, { "Match sessiontype=shell\nPort 1", "port", "BAD" },
		{ "Match version " WS_IDENT_PREFIX "*\nPort 1", "port", "1" }, { "Match version OpenSSH_*\nPort 1", "port", "22" },
		{ "Match exec true\nPort 1", "port", "1" }, { "Match exec false\nPort 1", "port", "22" }, { "Match !exec false\nPort 1", "port", "1" },
		{ "Match exec \"test %n = host.example.com\"\nPort 1", "port", "1" }, { "Match exec \"kill -9 $$\"\nPort 1", "port", "BAD" },
		{ "Match exec \"echo %z\"\nPort 1", "port", "BAD" },
		{ "Match final\nPort 1", "port", "1" }, { "Match !final\nPort 1", "port", "1" }, { "Match canonical\nPort 1", "port", "22" },
		{ "CanonicalizeHostname yes\nMatch canonical\nPort 1", "port", "1" }, { "Match final host host.*\nPort 1", "port", "1" },
		{ "Match canonical all\nPort 1", "port", "22" }, { "Match host x all\nPort 1", "port", "22" }, { "Match !all\nPort 1", "port", "22" },
		{ "Match all host x\nPort 1", "port", "BAD" }, { "Match user me host host.* all\nPort 1", "port", "BAD" }, { "Match foo bar", "port", "BAD" },
		{ "Match user", "port", "BAD" }, { "Match", "port", "BAD" }, { "Match user me #x\nPort 1", "port", "1" }, { "Match host \"\"", "port", "BAD" },
		{ "Match tag x\nPort 1", "port", "BAD" },
	};

	setenv("SHELL", "/bin/sh", 1);
	check(s, MEM_COUNT(s));
}

static void test_match_exec_order(void **state)
{
	struct client_options o;
	struct client_subject who = subject("host");
	struct err e = { 0 };
	char *mark = str_printf("%s/ran", home), *text;

	/* A command is not run when the block is out already, but is in a file below a block that does not match. */
	client_options_init(&o);
	text = str_printf("Match host other exec \"touch %s\"\n", mark);
	assert_int_equal(load(&o, &who, text, &e), 0);
	assert_int_equal(access(mark, F_OK), -1);
	client_options_clear(&o);
	free(text);
	text = str_printf("Match exec \"touch %s\"\nPort 1\n", mark);
	free(home_file("exec.inc", text));
	free(text);
	text = str_printf("Host other\nInclude %s/exec.inc\n", home);
	assert_int_equal(load(&o, &who, text, &e), 0);
	assert_int_equal(access(mark, F_OK), 0);
	assert_int_equal(o.port, 22);
	client_options_clear(&o);
	free(text);
	free(mark);
}

/* CompressionLevel alone fixes it; a mode beside it decides; the command line wins; it alone knows "auto". */
static void test_compress_level(void **state)
{
	static const struct { const char *file, *option[2]; int want; } cases[] = {
		{ "", { NULL, NULL }, 0 }, { "CompressionLevel 3\n", { NULL, NULL }, 3 }, { "CompressionMode auto\n", { NULL, NULL }, 0 },
		{ "CompressionMode fixed\n", { NULL, NULL }, 6 }, { "CompressionMode fixed\nCompressionLevel 9\n", { NULL, NULL }, 9 },
		{ "CompressionMode auto\nCompressionLevel 9\n", { NULL, NULL }, 0 },
		{ "CompressionMode auto\n", { "CompressionLevel", "2" }, 2 }, { "CompressionLevel 4\n", { "CompressionLevel", "auto" }, 0 },
		{ "CompressionLevel 4\n", { "CompressionMode", "auto" }, 0 }, { "CompressionMode fixed\n", { "CompressionLevel", "auto" }, 0 }
	};
	struct client_subject who;
	struct client_options o;
	struct err e = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(cases); i++) {
		who = subject("host");
		client_options_init(&o);
		if (cases[i].option[0] != NULL)
			assert_int_equal(client_options_add(&o, cases[i].option[0], cases[i].option[1], &e), 0);
		assert_int_equal(load(&o, &who, cases[i].file, &e), 0);
		if (client_options_compress_level(&o) != cases[i].want)
			fail_msg("case %zu: level %d", i, client_options_compress_level(&o));
		client_options_clear(&o);
	}
}

static void test_final_pass(void **state)
{
	struct client_options o;
	struct client_subject who = subject("Short");
	struct err e = { 0 };

	/* First values stay; a block of the final pass sees the name of Hostname. */
	client_options_init(&o);
	assert_int_equal(load(&o, &who, "Host short Short\nHostname %h.example.com\nUser first\nHost short.example.com\nUser second\nCompression yes\n"
		"Match final\nPort 7\n", &e), 0);
	assert_true(who.want_final);
	assert_true(who.final_pass);
	assert_string_equal(o.hostname, "short.example.com");
	assert_string_equal(o.user, "first");
	assert_true(o.compression);
	assert_int_equal(o.port, 7);
	client_options_clear(&o);
}

static void test_include(void **state)
{
	struct client_options o;
	struct client_subject who = subject("host");
	struct err e = { 0 };
	char *ssh = str_printf("%s/.ssh", home), *path, *text;

	(void)mkdir(ssh, 0700);
	path = home_file(".ssh/part.conf", "Port 5\n");
	free(home_file(".ssh/host-part.conf", "User fromtoken\n"));
	client_options_init(&o);
	log_capture_start(LOG_LEVEL_INFO);
	setenv("WS_TEST_PART", "part", 1);
	unsetenv("WS_TEST_UNSET");
	/* Relative to ~/.ssh; tokens and variables; an unset variable is told and its argument passed over. */
	assert_int_equal(load(&o, &who, "Include ${WS_TEST_UNSET} ${WS_TEST_PART}.conf\nInclude %h-part.conf ~/nothing*\n", &e), 0);
	assert_int_equal(o.port, 5);
	assert_string_equal(o.user, "fromtoken");
	assert_true(log_capture_has("${WS_TEST_UNSET}"));
	client_options_clear(&o);
	assert_int_equal(load(&o, &who, "Include %z\n", &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "unknown token %z"));
	client_options_clear(&o);
	/* What is included must be ours. */
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(load(&o, &who, "Include part.conf\n", &e), ERR_DENIED);
	text = str_printf("Bad owner or permissions on %s", path);
	assert_string_equal(e.text, text);
	client_options_clear(&o);
	assert_int_equal(chmod(path, 0600), 0);
	free(text);
	free(path);
	free(ssh);
}

static void test_files(void **state)
{
	struct client_options o;
	struct client_subject who = subject("host");
	struct err e = { 0 };
	char *ssh = str_printf("%s/.ssh", home), *path;

	(void)mkdir(ssh, 0700);
	client_options_init(&o);
	log_capture_start(LOG_LEVEL_QUIET);
	/* ~/.ssh/config is checked for its owner and modes; a missing file is fine, but not after -F. */
	path = home_file(".ssh/config", "Port 6\n");
	assert_int_equal(client_options_read_files(&o, NULL, &who, &e), 0);
	assert_int_equal(o.port, 6);
	client_options_clear(&o);
	assert_int_equal(chmod(path, 0620), 0);
	assert_int_equal(client_options_read_files(&o, NULL, &who, &e), ERR_DENIED);
	assert_true(str_starts(e.text, "Bad owner or permissions on "));
	err_clear(&e);
	assert_int_equal(client_options_read_files(&o, path, &who, &e), 0);
	assert_int_equal(o.port, 6);
	client_options_clear(&o);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(client_options_read_files(&o, NULL, &who, &e), 0);
	assert_int_equal(client_options_read_files(&o, "None", &who, &e), 0);
	assert_int_equal(client_options_read_files(&o, path, &who, &e), ERR_USAGE);
	assert_true(str_starts(e.text, "Can't open user config file /"));
	client_options_clear(&o);
	free(path);
	free(ssh);
}

static void test_refuse_and_unbuilt(void **state)
{
	struct client_options o;
	struct client_subject who = subject("host");
	struct err e = { 0 };

	client_options_init(&o);
	assert_int_equal(load(&o, &who, "Host other\nRefuseConnection \"not there\"\nHost *\nRefuseConnection \"go away\"\n", &e), ERR_DENIED);
	assert_non_null(strstr(e.text, "/config line 4: RefuseConnection: go away"));
	client_options_clear(&o);
	log_capture_start(LOG_LEVEL_VERBOSE);
	assert_int_equal(load(&o, &who, "GSSAPIAuthentication yes\nGSSAPIDelegateCredentials no\n", &e), 0);
	assert_true(log_capture_has("line 1: GSSAPIAuthentication is not built into this program"));
	assert_false(log_capture_has("line 2"));
	client_options_clear(&o);
}

static char *expanded(const char *text, const char *name)
{
	struct client_options o;
	struct client_subject who = subject("Host.Example.com");
	struct client_tokens tokens;
	struct str_list lines = { 0 }, found = { 0 };
	struct err e = { 0 };
	size_t i, n = strlen(name);
	char *out = NULL;

	client_options_init(&o);
	log_capture_start(LOG_LEVEL_QUIET);
	assert_int_equal(load(&o, &who, text, &e), 0);
	client_tokens_fill(&tokens, &o, &who);
	if (client_options_expand(&o, &tokens, &e) == 0) {
		client_options_dump(&o, who.host_arg, collect, &lines);
		for (i = 0; i < lines.count; i++)
			if (str_starts(lines.v[i], name) && lines.v[i][n] == ' ')
				str_list_add(&found, lines.v[i] + n + 1);
		out = str_list_join(&found, "|");
	} else {
		out = str_printf("BAD %s", e.text);
	}
	str_list_clear(&lines);
	str_list_clear(&found);
	client_options_clear(&o);
	return out;
}

static void check_expanded(const char *text, const char *name, char *want)
{
	char *got = expanded(text, name);

	assert_string_equal(got, want);
	free(got);
	free(want);
}

static void test_tokens(void **state)
{
	char host[256];

	assert_int_equal(gethostname(host, sizeof(host)), 0);
	setenv("WS_TEST_VALUE", "%h${HOME}", 1);
	unsetenv("WS_TEST_UNSET");
	check_expanded("Hostname x%h\n", "hostname", mem_strdup("xhost.example.com"));
	check_expanded("Hostname 2001:DB8::1\n", "hostname", mem_strdup("2001:DB8::1"));
	check_expanded("User %u-%n\n", "user", mem_strdup("me-Host.Example.com"));
	check_expanded("ControlPath ~/%h-%n-%p-%r-%u-%i-%d-%k-%j-%%\nPort 5\nUser you\nHostKeyAlias alias\n", "controlpath",
		str_printf("%s/host.example.com-Host.Example.com-5-you-me-%u-%s-alias--%%", home, (unsigned)getuid(), home));
	check_expanded("ControlPath /%l-%L\n", "controlpath", str_printf("/%s-%.*s", host, (int)strcspn(host, "."), host));
	/* What a variable brings in is not expanded again. */
	check_expanded("ControlPath /${WS_TEST_VALUE}\n", "controlpath", mem_strdup("/%h${HOME}"));
	check_expanded("IdentityAgent $WS_TEST_VALUE\n", "identityagent", mem_strdup("%h${HOME}"));
	check_expanded("IdentityAgent SSH_AUTH_SOCK\n", "identityagent", mem_strdup("SSH_AUTH_SOCK"));
	check_expanded("UserKnownHostsFile ~/a /%u\n", "userknownhostsfile", str_printf("%s/a /me", home));
	check_expanded("GlobalKnownHostsFile ~/a\n", "globalknownhostsfile", mem_strdup("~/a"));
	check_expanded("IdentityFile ~/%h\n", "identityfile", mem_strdup("~/%h"));
	check_expanded("SetEnv A%h=%h B=2\n", "setenv", mem_strdup("A%h=host.example.com|B=2"));
}

static void test_token_errors(void **state)
{
	check_expanded("ControlPath /${WS_TEST_UNSET}\n", "controlpath",
		mem_strdup("BAD ControlPath: environment variable ${WS_TEST_UNSET} is not set"));
	check_expanded("ControlPath /%z\n", "controlpath", mem_strdup("BAD ControlPath: unknown token %z in \"/%z\""));
	check_expanded("User %r\n", "user", mem_strdup("BAD User: unknown token %r in \"%r\""));
	check_expanded("User a;b\n", "user", mem_strdup("BAD remote username contains invalid characters"));
	check_expanded("ControlPath /%T\n", "controlpath", mem_strdup("BAD ControlPath: unknown token %T in \"/%T\""));
}

static void test_token_sets(void **state)
{
	struct client_options o;
	struct client_subject who = subject("h");
	struct client_tokens t;
	struct err e = { 0 };
	char *text;

	client_options_init(&o);
	assert_int_equal(load(&o, &who, "Port 5\n", &e), 0);
	client_tokens_fill(&t, &o, &who);
	text = client_tokens_expand(&t, CLIENT_TOKENS_PROXY, "nc %h %p %r %n %k", &e);
	assert_string_equal(text, "nc h 5 me h h");
	free(text);
	assert_null(client_tokens_expand(&t, CLIENT_TOKENS_PROXY, "nc %u", &e));
	assert_null(client_tokens_expand(&t, CLIENT_TOKENS_HOSTNAME, "%p", &e));
	t.tun = "tun3";
	t.lookup_name = "[h]:5";
	t.lookup_reason = "HOSTNAME";
	text = client_tokens_expand(&t, CLIENT_TOKENS_LOCAL_COMMAND, "%T %h", &e);
	assert_string_equal(text, "tun3 h");
	free(text);
	text = client_tokens_expand(&t, CLIENT_TOKENS_KNOWN_HOSTS, "%H %I", &e);
	assert_string_equal(text, "[h]:5 HOSTNAME");
	free(text);
	/* not known for this question */
	assert_null(client_tokens_expand(&t, CLIENT_TOKENS_KNOWN_HOSTS, "%K", &e));
	/* %C: SHA-1 of %l%h%p%r%j, by sha1sum: "lh5mej" */
	t.jump_host = "j";
	(void)str_copy(t.local_host, sizeof(t.local_host), "l");
	text = client_tokens_expand(&t, CLIENT_TOKENS_DEFAULT, "%C", &e);
	assert_string_equal(text, "ac495fd39c9553d32c0334356cba3b0a5101caa4");
	free(text);
	client_options_clear(&o);
}

static void test_arguments(void **state)
{
	assert_true(client_host_arg_ok("host.example.com"));
	assert_true(client_host_arg_ok("fe80::1%eth0"));
	assert_false(client_host_arg_ok("-oProxyCommand=x"));
	assert_false(client_host_arg_ok(""));
	assert_false(client_host_arg_ok("a b"));
	assert_false(client_host_arg_ok("a;b"));
	assert_false(client_host_arg_ok("a`b"));
	assert_false(client_host_arg_ok("a\nb"));
	assert_false(client_host_arg_ok("a{b"));
	assert_true(client_user_arg_ok("user name"));
	assert_true(client_user_arg_ok("DOM\\user"));
	assert_false(client_user_arg_ok("-l"));
	assert_false(client_user_arg_ok("user -x"));
	assert_false(client_user_arg_ok("user\\"));
	assert_false(client_user_arg_ok("user'"));
	assert_false(client_user_arg_ok("us\ner"));
}

static void test_real_files(void **state)
{
	/* What Debian ships, and what people have. */
	static const char text[] =
		"Include /etc/ssh/ssh_config.d/no-such-*.conf\nHost *\n    SendEnv LANG LC_*\n    HashKnownHosts yes\n    GSSAPIAuthentication yes\n"
		"Host *\n  IgnoreUnknown UseKeychain,AddKeysToAgent\n  UseKeychain yes\n  ServerAliveInterval 60\n  KexAlgorithms "
		"+diffie-hellman-group1-sha1,diffie-hellman-group14-sha1\n  HostKeyAlgorithms +ssh-rsa,ssh-dss\n  PubkeyAcceptedKeyTypes +ssh-rsa\n"
		"  Ciphers aes256-gcm@openssh.com,aes128-gcm@openssh.com,aes256-cbc,3des-cbc\n  MACs +hmac-sha1-96,hmac-md5\n"
		"Host git*\n  User git\n  IdentitiesOnly yes\n";
	struct client_options o;
	struct client_subject who = subject("host");
	struct err e = { 0 };

	client_options_init(&o);
	log_capture_start(LOG_LEVEL_INFO);
	assert_int_equal(load(&o, &who, text, &e), 0);
	assert_string_equal(log_capture_text(), "");
	assert_true(o.hash_known_hosts);
	client_options_clear(&o);
	if (access("/etc/ssh/ssh_config", R_OK) == 0) {
		assert_int_equal(client_options_read_files(&o, "/etc/ssh/ssh_config", &who, &e), 0);
		assert_string_equal(log_capture_text(), "");
	}
	client_options_clear(&o);
}

static int setup(void **state)
{
	umask(022);
	return mkdtemp(home) == NULL;
}

static int teardown(void **state)
{
	char *command = str_printf("rm -rf %s", home);
	int r = system(command);

	free(command);
	log_capture_stop();
	return r;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden), cmocka_unit_test(test_words), cmocka_unit_test(test_numbers_and_texts),
		cmocka_unit_test(test_lists), cmocka_unit_test(test_hpn_and_old), cmocka_unit_test(test_proxies),
		cmocka_unit_test(test_precedence), cmocka_unit_test(test_compress_level), cmocka_unit_test(test_cipher_of_old_guides), cmocka_unit_test(test_none_switch_origin), cmocka_unit_test(test_quirks),
		cmocka_unit_test(test_host), cmocka_unit_test(test_match), cmocka_unit_test(test_match_exec_order),
		cmocka_unit_test(test_final_pass), cmocka_unit_test(test_include), cmocka_unit_test(test_files),
		cmocka_unit_test(test_refuse_and_unbuilt), cmocka_unit_test(test_tokens), cmocka_unit_test(test_token_errors),
		cmocka_unit_test(test_token_sets), cmocka_unit_test(test_arguments), cmocka_unit_test(test_real_files),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
