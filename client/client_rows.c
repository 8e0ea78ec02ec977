/* client/client_rows.c: every keyword of ssh_config: one row each, in the order of `ssh -G`, then what stands in
 * files of old.
 *
 * CONF_UNBUILT rows: the feature is not there yet, and leaving it out permits nothing that the file forbids: one -v
 * line. Where less would be checked without the feature, or data would go where the file does not send it, a row is
 * CONF_UNBUILT_REFUSE: the line is an error then. Whoever builds a feature takes the flag away. */
#include "client/client_options.h"

#include <limits.h>
#include <stddef.h>

#include "client/client_types.h"
#include "conf/types.h"
#include "paths.h"

/* ---- words; the first of a value is what -G shows */

static const struct conf_word words_family[] = {
	{ "any", CLIENT_ANY }, { "inet", CLIENT_INET }, { "inet6", CLIENT_INET6 }, { NULL, 0 }
};
static const struct conf_word words_ask[] = {
	{ "true", CLIENT_YES }, { "false", CLIENT_NO }, { "yes", CLIENT_YES }, { "no", CLIENT_NO },
	{ "ask", CLIENT_ASK }, { NULL, 0 }
};
static const struct conf_word words_strict[] = {
	{ "true", CLIENT_YES }, { "false", CLIENT_NO }, { "yes", CLIENT_YES }, { "no", CLIENT_NO },
	{ "off", CLIENT_NO }, { "ask", CLIENT_ASK }, { "accept-new", CLIENT_ACCEPT_NEW }, { NULL, 0 }
};
static const struct conf_word words_canonicalize[] = {
	{ "true", CLIENT_YES }, { "false", CLIENT_NO }, { "yes", CLIENT_YES }, { "no", CLIENT_NO },
	{ "always", CLIENT_ALWAYS }, { NULL, 0 }
};
static const struct conf_word words_pubkey[] = {
	{ "true", CLIENT_YES }, { "false", CLIENT_NO }, { "yes", CLIENT_YES }, { "no", CLIENT_NO },
	{ "unbound", CLIENT_UNBOUND }, { "host-bound", CLIENT_HOST_BOUND }, { NULL, 0 }
};
static const struct conf_word words_master[] = {
	{ "true", CLIENT_YES }, { "false", CLIENT_NO }, { "yes", CLIENT_YES }, { "no", CLIENT_NO },
	{ "auto", CLIENT_AUTO }, { "ask", CLIENT_ASK }, { "autoask", CLIENT_AUTO_ASK }, { NULL, 0 }
};
static const struct conf_word words_tty[] = {
	{ "true", CLIENT_YES }, { "false", CLIENT_NO }, { "yes", CLIENT_YES }, { "no", CLIENT_NO },
	{ "force", CLIENT_FORCE }, { "auto", CLIENT_AUTO }, { NULL, 0 }
};
static const struct conf_word words_session[] = {
	{ "none", CLIENT_SESSION_NONE }, { "subsystem", CLIENT_SESSION_SUBSYSTEM }, 
	{ "default", CLIENT_SESSION_DEFAULT }, { NULL, 0 }
};
static const struct conf_word words_tunnel[] = {
	{ "point-to-point", CONF_TUNNEL_POINT_TO_POINT }, { "ethernet", CONF_TUNNEL_ETHERNET },
	{ "true", CONF_TUNNEL_POINT_TO_POINT }, { "yes", CONF_TUNNEL_POINT_TO_POINT }, { "false", CONF_TUNNEL_NO },
	{ "no", CONF_TUNNEL_NO }, { NULL, 0 }
};
static const struct conf_word words_weak[] = {
	{ "yes", CLIENT_YES }, { "true", CLIENT_YES }, { "no", CLIENT_NO }, { "false", CLIENT_NO },
	{ "no-pq-kex", CLIENT_NO_PQ_KEX }, { NULL, 0 }
};
static const struct conf_word words_compression_mode[] = {
	{ "auto", CLIENT_AUTO }, { "fixed", CLIENT_FIXED }, { NULL, 0 }
};
static const struct conf_word words_preference[] = {
	{ "default", CLIENT_DEFAULT }, { "fastest", CLIENT_FASTEST }, { NULL, 0 }
};

static const struct conf_range range_positive = { 1, INT_MAX }, range_level = { 1, 9 }, range_domains = { 0, 32 },
	range_known_hosts = { 0, 32 };
static const enum conf_forward_kind kind_local = CONF_FORWARD_LOCAL, kind_remote = CONF_FORWARD_REMOTE,
	kind_dynamic = CONF_FORWARD_DYNAMIC;

/* Of ProxyCommand and ProxyJump the first wins. ProxyCommand none counts, ProxyJump none does not. */
static int proxy_command_allowed(const struct conf_line *l)
{
	return ((const struct client_options *)l->options)->proxy_jump.host == NULL ? 0 : -1;
}

static int proxy_jump_allowed(const struct conf_line *l)
{
	enum conf_origin command = conf_origin_at(l->table, l->options, offsetof(struct client_options, proxy_command));

	return command <= CONF_DEFAULT ? 0 : -1;
}

#ifdef WITH_NONE_CIPHER
#define NONE_FLAGS 0
#else
#define NONE_FLAGS CONF_UNBUILT
#endif

/* A file name of the build, which may hold blanks. */
#define QUOTED(path) "\"" path "\""

#define ROW(n, f, t, ...) { .name = (n), .offset = offsetof(struct client_options, f), .type = &(t), __VA_ARGS__ }
#define BARE(n, fl, ...) { .name = (n), .flags = (fl), __VA_ARGS__ }

static const struct conf_row client_rows[] = {
	{ .name = "Host", .type = &client_type_host, .flags = CONF_BLOCK | CONF_FILE_ONLY },
	{ .name = "Match", .type = &client_type_match, .flags = CONF_BLOCK | CONF_FILE_ONLY },
	{ .name = "Include", .flags = CONF_INCLUDE | CONF_FILE_ONLY },
	ROW("RefuseConnection", refuse_connection, client_type_refuse, .flags = CONF_NO_DUMP),

	ROW("User", user, conf_string),
	ROW("Hostname", hostname, conf_string),
	ROW("Port", port, conf_port, .def = "22"),
	ROW("AddressFamily", address_family, conf_word_type, .arg = words_family, .def = "any"),
	ROW("BatchMode", batch_mode, conf_bool, .def = "no"),
	ROW("CanonicalizeFallbackLocal", canonicalize_fallback_local, conf_bool, .def = "yes", .flags = CONF_UNBUILT,
		.harmless = "yes,true"),
	ROW("CanonicalizeHostname", canonicalize_hostname, conf_word_type, .arg = words_canonicalize, .def = "no",
		.flags = CONF_UNBUILT, .harmless = "no,false"),
	ROW("CheckHostIP", check_host_ip, conf_bool, .def = "no"),
	ROW("Compression", compression, client_type_yes_no, .def = "no"),
	ROW("ControlMaster", control_master, conf_word_type, .arg = words_master, .def = "no", .flags = CONF_UNBUILT,
		.harmless = "no,false"),
	ROW("EnableSSHKeysign", enable_ssh_keysign, conf_bool, .def = "no", .flags = CONF_UNBUILT,
		.harmless = "no,false"),
	ROW("ClearAllForwardings", clear_all_forwardings, conf_bool, .def = "no"),
	ROW("ExitOnForwardFailure", exit_on_forward_failure, conf_bool, .def = "no"),
	ROW("FingerprintHash", fingerprint_hash, conf_word_type, .arg = conf_hash_words, .def = "SHA256"),
	ROW("ForwardX11", forward_x11, conf_bool, .def = "no", .flags = CONF_UNBUILT, .harmless = "no,false"),
	ROW("ForwardX11Trusted", forward_x11_trusted, conf_bool, .def = "no", .flags = CONF_UNBUILT,
		.harmless = "no,false"),
	ROW("GatewayPorts", gateway_ports, conf_bool, .def = "no", .flags = CONF_UNBUILT, .harmless = "no,false"),
	ROW("HashKnownHosts", hash_known_hosts, conf_bool, .def = "no"),
	ROW("HostbasedAuthentication", hostbased_authentication, conf_bool, .def = "no", .flags = CONF_UNBUILT,
		.harmless = "no,false"),
	ROW("IdentitiesOnly", identities_only, conf_bool, .def = "no"),
	ROW("KbdInteractiveAuthentication", kbd_interactive_authentication, conf_bool, .def = "yes",
		.aliases = "challengeresponseauthentication,skeyauthentication,tisauthentication"),
	ROW("NoHostAuthenticationForLocalhost", no_host_authentication_for_localhost, conf_bool, .def = "no"),
	ROW("PasswordAuthentication", password_authentication, conf_bool, .def = "yes"),
	ROW("PermitLocalCommand", permit_local_command, conf_bool, .def = "no", .flags = CONF_UNBUILT,
		.harmless = "no,false"),
	ROW("ProxyUseFdpass", proxy_use_fdpass, conf_bool, .def = "no"),
	ROW("PubkeyAuthentication", pubkey_authentication, conf_word_type, .arg = words_pubkey, .def = "yes",
		.aliases = "dsaauthentication"),
	ROW("RequestTTY", request_tty, conf_word_type, .arg = words_tty, .def = "auto"),
	ROW("SessionType", session_type, conf_word_type, .arg = words_session, .def = "default"),
	ROW("StdinNull", stdin_null, conf_bool, .def = "no"),
	ROW("ForkAfterAuthentication", fork_after_authentication, conf_bool, .def = "no"),
	ROW("StreamLocalBindUnlink", stream_local_bind_unlink, conf_bool, .def = "no", .flags = CONF_UNBUILT,
		.harmless = "no,false"),
	ROW("StrictHostKeyChecking", strict_host_key_checking, conf_word_type, .arg = words_strict, .def = "ask"),
	ROW("TCPKeepAlive", tcp_keep_alive, conf_bool, .def = "yes", .aliases = "keepalive"),
	ROW("Tunnel", tunnel, conf_word_type, .arg = words_tunnel, .def = "no", .flags = CONF_UNBUILT,
		.harmless = "no,false"),
	ROW("VerifyHostKeyDNS", verify_host_key_dns, conf_word_type, .arg = words_ask, .def = "no",
		.flags = CONF_UNBUILT, .harmless = "no,false"),
	ROW("VisualHostKey", visual_host_key, conf_bool, .def = "no"),
	/* The default depends on others: client_options_fill(). */
	ROW("UpdateHostKeys", update_host_keys, conf_word_type, .arg = words_ask, .flags = CONF_UNBUILT,
		.harmless = "no,false"),
	ROW("EnableEscapeCommandline", enable_escape_commandline, conf_bool, .def = "no", .flags = CONF_UNBUILT,
		.harmless = "no,false"),
	ROW("WarnWeakCrypto", warn_weak_crypto, conf_word_type, .arg = words_weak, .def = "yes",
		.flags = CONF_UNBUILT, .harmless = "no,false"),
	ROW("CanonicalizeMaxDots", canonicalize_max_dots, conf_int, .def = "1", .flags = CONF_UNBUILT),
	ROW("ConnectionAttempts", connection_attempts, conf_int, .arg = &range_positive, .def = "1"),
	ROW("ForwardX11Timeout", forward_x11_timeout_s, conf_seconds_none, .def = "20m", .flags = CONF_UNBUILT),
	ROW("NumberOfPasswordPrompts", number_of_password_prompts, conf_int, .def = "3"),
	ROW("ServerAliveCountMax", server_alive_count_max, conf_int, .def = "3"),
	ROW("ServerAliveInterval", server_alive_interval_s, conf_seconds_none, .def = "0"),
	ROW("RequiredRSASize", required_rsa_size, conf_int, .def = "1024"),
	ROW("ObscureKeystrokeTiming", obscure_keystroke_timing_ms, client_type_obscure, .def = "yes",
		.flags = CONF_UNBUILT, .harmless = "no"),
	ROW("BindAddress", bind_address, conf_string),
	ROW("BindInterface", bind_interface, conf_string),
	ROW("Ciphers", ciphers, conf_algs_type, .arg = &client_kind_ciphers),
	ROW("ControlPath", control_path, conf_string_opt, .flags = CONF_UNBUILT, .harmless = "none"),
	ROW("HostKeyAlgorithms", host_key_algorithms, conf_algs_type, .arg = &client_kind_keys),
	ROW("HostKeyAlias", host_key_alias, conf_string),
	ROW("HostbasedAcceptedAlgorithms", hostbased_accepted_algorithms, conf_algs_type, .arg = &client_kind_keys,
		.aliases = "hostbasedkeytypes", .flags = CONF_UNBUILT),
	ROW("IdentityAgent", identity_agent, conf_string),
	ROW("IgnoreUnknown", ignore_unknown, conf_string),
	ROW("KbdInteractiveDevices", kbd_interactive_devices, conf_string),
	ROW("KexAlgorithms", kex_algorithms, conf_algs_type, .arg = &client_kind_kex),
	ROW("CASignatureAlgorithms", ca_signature_algorithms, conf_algs_type, .arg = &client_kind_ca_keys,
		.flags = CONF_UNBUILT),
	ROW("LocalCommand", local_command, conf_raw, .flags = CONF_RAW | CONF_UNBUILT, .harmless = "none"),
	ROW("RemoteCommand", remote_command, conf_raw, .flags = CONF_RAW),
	ROW("LogLevel", log_level, conf_log_level, .def = "INFO"),
	ROW("MACs", macs, conf_algs_type, .arg = &client_kind_macs),
	ROW("PKCS11Provider", pkcs11_provider, conf_string_opt, .aliases = "smartcarddevice", .flags = CONF_UNBUILT,
		.harmless = "none"),
	ROW("SecurityKeyProvider", security_key_provider, conf_string, .def = "internal", .flags = CONF_UNBUILT,
		.harmless = "internal,none"),
	ROW("PreferredAuthentications", preferred_authentications, conf_string),
	ROW("PubkeyAcceptedAlgorithms", pubkey_accepted_algorithms, conf_algs_type, .arg = &client_kind_keys,
		.aliases = "pubkeyacceptedkeytypes"),
	ROW("XAuthLocation", xauth_location, conf_string, .def = QUOTED(PATH_XAUTH), .flags = CONF_UNBUILT),
	/* Without it fewer keys are known, and the user is asked. */
	ROW("KnownHostsCommand", known_hosts_command, conf_raw, .flags = CONF_RAW),
	ROW("Tag", tag, conf_string),
	ROW("VersionAddendum", version_addendum, client_type_addendum, .flags = CONF_RAW),
	ROW("DynamicForward", dynamic_forward, conf_forwards_type, .arg = &kind_dynamic,
		.flags = CONF_COLLECTS | CONF_UNBUILT),
	ROW("LocalForward", local_forward, conf_forwards_type, .arg = &kind_local,
		.flags = CONF_COLLECTS | CONF_UNBUILT),
	ROW("RemoteForward", remote_forward, conf_forwards_type, .arg = &kind_remote,
		.flags = CONF_COLLECTS | CONF_UNBUILT),
	ROW("IdentityFile", identity_file, client_type_files, .aliases = "identityfile2", .flags = CONF_COLLECTS,
		.def = "~/.ssh/id_rsa ~/.ssh/id_ecdsa ~/.ssh/id_ecdsa_sk ~/.ssh/id_ed25519 ~/.ssh/id_ed25519_sk "
		"~/.ssh/id_mldsa44_ed25519"),
	ROW("CanonicalDomains", canonical_domains, conf_list, .arg = &range_domains, .flags = CONF_UNBUILT,
		.harmless = "none"),
	/* Certificates are not built: a plain key in its place proves no more than the file wants. */
	ROW("CertificateFile", certificate_file, client_type_files, .flags = CONF_COLLECTS | CONF_UNBUILT,
		.harmless = "none"),
	ROW("GlobalKnownHostsFile", global_known_hosts_file, conf_list, .arg = &range_known_hosts,
		.def = QUOTED(PATH_SYSCONFDIR "/ssh_known_hosts") " " QUOTED(PATH_SYSCONFDIR "/ssh_known_hosts2")),
	ROW("UserKnownHostsFile", user_known_hosts_file, conf_list, .arg = &range_known_hosts,
		.def = "~/.ssh/known_hosts ~/.ssh/known_hosts2"),
	/* A key that was revoked must not be trusted because we cannot read the list. */
	ROW("RevokedHostKeys", revoked_host_keys, conf_list),
	ROW("SendEnv", send_env, client_type_send_env, .flags = CONF_COLLECTS),
	ROW("SetEnv", set_env, conf_setenv),
	ROW("LogVerbose", log_verbose, client_type_log_verbose, .flags = CONF_UNBUILT, .harmless = "none"),
	ROW("ChannelTimeout", channel_timeout, conf_timeouts_type, .flags = CONF_UNBUILT, .harmless = "none"),
	ROW("PermitRemoteOpen", permit_remote_open, conf_permits_type, .def = "any", .flags = CONF_UNBUILT,
		.harmless = "any,none"),
	ROW("AddKeysToAgent", add_keys_to_agent, client_type_add_keys, .def = "no"),
	ROW("ForwardAgent", forward_agent, client_type_forward_agent, .def = "no", .flags = CONF_UNBUILT,
		.harmless = "no,false"),
	ROW("ConnectTimeout", connect_timeout_s, conf_seconds_none, .def = "none"),
	ROW("TunnelDevice", tunnel_device, client_type_tun, .def = "any:any", .flags = CONF_UNBUILT),
	ROW("CanonicalizePermittedCNAMEs", canonicalize_permitted_cnames, client_type_cnames, .flags = CONF_UNBUILT,
		.harmless = "none", .shown = "canonicalizePermittedcnames"),
	ROW("ControlPersist", control_persist, client_type_persist, .def = "no", .flags = CONF_UNBUILT,
		.harmless = "no,false"),
	ROW("EscapeChar", escape_char, client_type_escape, .def = "~"),
	ROW("IPQoS", ipqos, conf_ipqos_type, .def = "ef cs0"),
	ROW("RekeyLimit", rekey_limit, conf_rekey_type, .def = "0 none"),
	ROW("StreamLocalBindMask", stream_local_bind_mask, conf_octal, .def = "0177",
		.flags = CONF_LAST_WINS | CONF_ANY_BLOCK | CONF_UNBUILT),
	ROW("SyslogFacility", syslog_facility, conf_facility, .def = "USER", .flags = CONF_ANY_BLOCK),
	ROW("ProxyCommand", proxy_command, conf_raw, .flags = CONF_RAW, .allowed = proxy_command_allowed),
	ROW("ProxyJump", proxy_jump, client_type_jump, .flags = CONF_RAW | CONF_RAW_CUT,
		.allowed = proxy_jump_allowed),

	/* HPN, in the order of its -G (HPN-SSH) */
	ROW("TcpRcvBufPoll", tcp_rcv_buf_poll, conf_bool, .def = "yes"),
	ROW("HPNDisabled", hpn_disabled, conf_bool, .def = "no"),
	/* Whether it counts in a file is decided where the switch is (client/none_switch.c), by its origin. */
	ROW("NoneSwitch", none_switch, conf_bool, .def = "no", .flags = NONE_FLAGS, .harmless = "no,false"),
	ROW("NoneEnabled", none_enabled, conf_bool, .def = "no", .flags = NONE_FLAGS, .harmless = "no,false"),
	ROW("NoneMacEnabled", none_mac_enabled, conf_bool, .def = "no", .flags = NONE_FLAGS, .harmless = "no,false"),
	ROW("Fallback", fallback, conf_bool, .def = "yes"),
	ROW("Metrics", metrics, conf_bool, .def = "no", .flags = CONF_UNBUILT, .harmless = "no,false"),
	ROW("UseMPTCP", use_mptcp, conf_bool, .def = "no"),
	ROW("HappyEyes", happy_eyes, conf_bool, .def = "no"),
	ROW("MetricsInterval", metrics_interval_s, conf_int, .def = "5", .flags = CONF_UNBUILT),
	ROW("FallbackPort", fallback_port, conf_port, .def = "22"),
	ROW("HappyDelay", happy_delay_ms, conf_int, .def = "250"),
	ROW("MetricsPath", metrics_path, conf_string, .def = "./ssh_stack_metrics", .flags = CONF_UNBUILT),
	ROW("DisableMTAES", disable_mtaes, conf_bool, .def = "no", .flags = CONF_NO_DUMP),
	ROW("TcpRcvBuf", tcp_rcv_buf_kib, conf_int, .def = "0", .flags = CONF_NO_DUMP),
	ROW("HPNBufferSize", hpn_buffer_size_kib, conf_int, .def = "0", .flags = CONF_NO_DUMP),
	ROW("HPNBufferLimit", hpn_buffer_limit, conf_bool, .def = "no", .flags = CONF_NO_DUMP | CONF_NO_EFFECT),

	/* our own; CompressionLevel is stock's of old */
	ROW("CompressionLevel", compression_level, conf_level, .arg = &range_level, .def = "6"),
	ROW("CompressionMode", compression_mode, conf_word_type, .arg = words_compression_mode, .def = "auto"),
	ROW("CompressionZstd", compression_zstd, conf_bool, .def = "yes"),
	ROW("NoneSwitchFromFile", none_switch_from_file, conf_bool, .def = "no", .flags = NONE_FLAGS,
		.harmless = "no,false"),
	ROW("NoneSwitchFallback", none_switch_fallback, conf_bool, .def = "no", .flags = NONE_FLAGS,
		.harmless = "no,false"),
	ROW("PeerMemory", peer_memory, conf_bool, .def = "yes"),
	ROW("CipherPreference", cipher_preference, conf_word_type, .arg = words_preference, .def = "default"),

	/* found in files, kept nowhere */
	BARE("GSSAPIAuthentication", CONF_UNBUILT, .harmless = "no,false"),
	BARE("GSSAPIDelegateCredentials", CONF_UNBUILT, .harmless = "no,false"),
	/* of GSSAPI key exchange patches that distributions carry */
	BARE("GSSAPIKeyExchange", CONF_UNBUILT, .harmless = "no,false"),
	BARE("GSSAPIClientIdentity", CONF_UNBUILT),
	BARE("GSSAPIServerIdentity", CONF_UNBUILT),
	BARE("GSSAPITrustDns", CONF_UNBUILT, .harmless = "no,false"),
	BARE("GSSAPIRenewalForcesRekey", CONF_UNBUILT, .harmless = "no,false"),
	BARE("GSSAPIKexAlgorithms", CONF_UNBUILT),
	BARE("Protocol", CONF_SILENT),
	BARE("Cipher", CONF_DEPRECATED),
	BARE("FallBackToRsh", CONF_DEPRECATED),
	BARE("GlobalKnownHostsFile2", CONF_DEPRECATED),
	BARE("RhostsAuthentication", CONF_DEPRECATED),
	BARE("UserKnownHostsFile2", CONF_DEPRECATED),
	BARE("UseRoaming", CONF_DEPRECATED),
	BARE("UseRsh", CONF_DEPRECATED),
	BARE("UsePrivilegedPort", CONF_DEPRECATED),
	BARE("AFSTokenPassing", CONF_UNSUPPORTED),
	BARE("KerberosAuthentication", CONF_UNSUPPORTED),
	BARE("KerberosTgtPassing", CONF_UNSUPPORTED),
	BARE("RSAAuthentication", CONF_UNSUPPORTED),
	BARE("RhostsRSAAuthentication", CONF_UNSUPPORTED),
};
_Static_assert(sizeof(client_rows) / sizeof(client_rows[0]) <= CONF_ROWS_MAX, "more rows than marks");

const struct conf_table client_options_table = {
	.rows = client_rows, .count = sizeof(client_rows) / sizeof(client_rows[0]),
	.options_size = sizeof(struct client_options),
	.true_false = true, .ignore_unknown = offsetof(struct client_options, ignore_unknown), .lower_case = true,
	.deprecated_level = LOG_LEVEL_DEBUG1, .unsupported_level = LOG_LEVEL_ERROR
};
