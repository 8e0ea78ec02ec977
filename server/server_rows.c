/* server/server_rows.c: every keyword of sshd_config: one row each, in the order of `sshd -T`, then what stands in
 * files of old.
 *
 * CONF_UNBUILT rows: the feature is not there yet, and leaving it out permits nothing that the file forbids (fewer
 * may come in, less can be done): one -v line. CONF_UNBUILT_REFUSE rows: the line restricts something that would
 * then stay open, so sshd does not start with it, in whatever block it stands. Whoever builds a feature takes the
 * flag away. */
#include "server/server_options.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "conf/types.h"
#include "paths.h"
#include "server/server_types.h"

static const struct conf_word words_family[] = {
	{ "any", SERVER_ANY }, { "inet", SERVER_INET }, { "inet6", SERVER_INET6 }, { NULL, 0 }
};
static const struct conf_word words_root[] = {
	{ "prohibit-password", SERVER_PROHIBIT_PASSWORD }, { "without-password", SERVER_PROHIBIT_PASSWORD },
	{ "forced-commands-only", SERVER_FORCED_COMMANDS_ONLY }, { "yes", SERVER_YES }, { "no", SERVER_NO }, { NULL, 0 }
};
static const struct conf_word words_rhosts[] = {
	{ "yes", SERVER_YES }, { "no", SERVER_NO }, { "shosts-only", SERVER_SHOSTS_ONLY }, { NULL, 0 }
};
static const struct conf_word words_gateway[] = {
	{ "clientspecified", SERVER_CLIENT_SPECIFIED }, { "yes", SERVER_YES }, { "no", SERVER_NO }, { NULL, 0 }
};
static const struct conf_word words_forwarding[] = {
	{ "yes", SERVER_YES }, { "all", SERVER_YES }, { "no", SERVER_NO }, { "local", SERVER_LOCAL },
	{ "remote", SERVER_REMOTE }, { NULL, 0 }
};
static const struct conf_word words_tunnel[] = {
	{ "yes", CONF_TUNNEL_BOTH }, { "no", CONF_TUNNEL_NO }, { "point-to-point", CONF_TUNNEL_POINT_TO_POINT },
	{ "ethernet", CONF_TUNNEL_ETHERNET }, { NULL, 0 }
};
static const struct conf_word words_compression_mode[] = {
	{ "auto", SERVER_AUTO }, { "fixed", SERVER_FIXED }, { NULL, 0 }
};
static const struct conf_word words_preference[] = {
	{ "default", SERVER_DEFAULT }, { "fastest", SERVER_FASTEST }, { NULL, 0 }
};
static const struct conf_range range_level = { 1, 9 };

/* -p: Port lines of files do not count then. */
static int port_allowed(const struct conf_line *l)
{
	const struct server_parse *p = l->ctx;

	return p != NULL && p->ports_from_flags && l->origin != CONF_COMMAND_LINE ? -1 : 0;
}

/* As in OpenSSH: UnusedConnectionTimeout none counts even after an earlier value. */
static int unused_allowed(const struct conf_line *l)
{
	return l->count == 1 && strcmp(l->arg[0], "none") == 0 ? 1 : 0;
}

#ifdef WITH_NONE_CIPHER
#define NONE_FLAGS CONF_IN_MATCH
#else
#define NONE_FLAGS (CONF_IN_MATCH | CONF_UNBUILT)
#endif

/* A file name of the build, which may hold blanks. */
#define QUOTED(path) "\"" path "\""
#define HOST_KEY(type) QUOTED(PATH_SYSCONFDIR "/ssh_host_" type "_key")
#define M CONF_IN_MATCH

#define ROW(n, f, t, ...) { .name = (n), .offset = offsetof(struct server_options, f), .type = &(t), __VA_ARGS__ }
#define BARE(n, fl, ...) { .name = (n), .flags = (fl), __VA_ARGS__ }

static const struct conf_row server_rows[] = {
	{ .name = "Match", .type = &server_type_match, .flags = CONF_BLOCK | CONF_FILE_ONLY | M },
	{ .name = "Include", .flags = CONF_INCLUDE | CONF_FILE_ONLY | M },
	/* It asks for a separation that this system cannot give. */
	ROW("RDomain", rdomain, server_type_rdomain, .flags = M | CONF_NO_DUMP),

	ROW("Port", port, server_type_ports, .flags = CONF_COLLECTS, .def = "22", .allowed = port_allowed),
	ROW("AddressFamily", address_family, conf_word_type, .arg = words_family, .def = "any"),
	ROW("ListenAddress", listen_address, server_type_listens, .flags = CONF_COLLECTS),
#ifdef HAVE_PAM
	ROW("UsePAM", use_pam, conf_bool, .def = "no"),
	ROW("PAMServiceName", pam_service_name, conf_string, .def = "sshd", .flags = M),
#else
	/* PAM's account rules may shut users out. */
	ROW("UsePAM", use_pam, conf_bool, .def = "no", .flags = CONF_NO_DUMP | CONF_UNBUILT_REFUSE, .harmless = "no"),
	ROW("PAMServiceName", pam_service_name, conf_string, .def = "sshd", .flags = M | CONF_NO_DUMP),
#endif
	ROW("LoginGraceTime", login_grace_time_s, conf_seconds, .def = "120"),
	ROW("X11DisplayOffset", x11_display_offset, conf_int, .def = "10", .flags = M | CONF_UNBUILT),
	ROW("MaxAuthTries", max_auth_tries, conf_int, .def = "6", .flags = M),
	ROW("MaxSessions", max_sessions, conf_int, .def = "10", .flags = M),
	ROW("ClientAliveInterval", client_alive_interval_s, conf_seconds, .def = "0", .flags = M),
	ROW("ClientAliveCountMax", client_alive_count_max, conf_int, .def = "3", .flags = M),
	ROW("RequiredRSASize", required_rsa_size, conf_int, .def = "1024", .flags = M),
	ROW("StreamLocalBindMask", stream_local_bind_mask, conf_octal, .def = "0177",
		.flags = M | CONF_LAST_WINS | CONF_UNBUILT),
	ROW("UnusedConnectionTimeout", unused_connection_timeout_s, server_type_unused, .def = "none", .flags = M,
		.allowed = unused_allowed),
	ROW("PermitRootLogin", permit_root_login, conf_word_type, .arg = words_root, .def = "prohibit-password",
		.flags = M),
	ROW("IgnoreRhosts", ignore_rhosts, conf_word_type, .arg = words_rhosts, .def = "yes",
		.flags = M | CONF_UNBUILT),
	ROW("IgnoreUserKnownHosts", ignore_user_known_hosts, conf_bool, .def = "no", .flags = CONF_UNBUILT),
	/* A way in less. */
	ROW("HostbasedAuthentication", hostbased_authentication, conf_bool, .def = "no", .flags = M | CONF_UNBUILT,
		.harmless = "no"),
	ROW("HostbasedUsesNameFromPacketOnly", hostbased_uses_name_from_packet_only, conf_bool, .def = "no",
		.flags = M | CONF_UNBUILT, .harmless = "no"),
	ROW("PubkeyAuthentication", pubkey_authentication, conf_bool, .def = "yes", .flags = M,
		.aliases = "dsaauthentication"),
	ROW("PasswordAuthentication", password_authentication, conf_bool, .def = "yes", .flags = M),
	ROW("KbdInteractiveAuthentication", kbd_interactive_authentication, conf_bool, .def = "yes", .flags = M,
		.aliases = "challengeresponseauthentication,skeyauthentication"),
	ROW("PrintMotd", print_motd, conf_bool, .def = "yes"),
	ROW("PrintLastLog", print_last_log, conf_bool, .def = "yes"),
	ROW("X11Forwarding", x11_forwarding, conf_bool, .def = "no", .flags = M | CONF_UNBUILT, .harmless = "no"),
	ROW("X11UseLocalhost", x11_use_localhost, conf_bool, .def = "yes", .flags = M | CONF_UNBUILT),
	ROW("PermitTTY", permit_tty, conf_bool, .def = "yes", .flags = M),
	ROW("PermitUserRC", permit_user_rc, conf_bool, .def = "yes", .flags = M),
	ROW("StrictModes", strict_modes, conf_bool, .def = "yes"),
	ROW("TCPKeepAlive", tcp_keep_alive, conf_bool, .def = "yes", .aliases = "keepalive"),
	ROW("PermitEmptyPasswords", permit_empty_passwords, conf_bool, .def = "no", .flags = M),
	ROW("Compression", compression, server_type_yes_delayed, .def = "yes"),
	ROW("GatewayPorts", gateway_ports, conf_word_type, .arg = words_gateway, .def = "no",
		.flags = M | CONF_UNBUILT, .harmless = "no"),
	ROW("UseDNS", use_dns, conf_bool, .def = "no"),
	ROW("AllowTcpForwarding", allow_tcp_forwarding, conf_word_type, .arg = words_forwarding, .def = "yes",
		.flags = M | CONF_UNBUILT, .harmless = "no"),
	ROW("AllowAgentForwarding", allow_agent_forwarding, conf_bool, .def = "yes", .flags = M | CONF_UNBUILT,
		.harmless = "no"),
	/* Nothing is forwarded as yet, so there is nothing to forbid. With the first kind of forward this one must be
	 * obeyed, as AllowTcpForwarding, PermitOpen and their like. */
	ROW("DisableForwarding", disable_forwarding, conf_bool, .def = "no", .flags = M | CONF_UNBUILT,
		.harmless = "yes,no"),
	ROW("AllowStreamLocalForwarding", allow_stream_local_forwarding, conf_word_type, .arg = words_forwarding,
		.def = "yes", .flags = M | CONF_UNBUILT, .harmless = "no"),
	ROW("StreamLocalBindUnlink", stream_local_bind_unlink, conf_bool, .def = "no", .flags = M | CONF_UNBUILT,
		.harmless = "no"),
	ROW("FingerprintHash", fingerprint_hash, conf_word_type, .arg = conf_hash_words, .def = "SHA256",
		.flags = CONF_LAST_WINS),
	ROW("ExposeAuthInfo", expose_auth_info, conf_bool, .def = "no", .flags = M),
	ROW("RefuseConnection", refuse_connection, conf_bool, .def = "no", .flags = M),
	ROW("PidFile", pid_file, server_type_path, .def = QUOTED(PATH_PID_FILE)),
	ROW("ModuliFile", moduli_file, server_type_path, .def = QUOTED(PATH_SYSCONFDIR "/moduli")),
	ROW("XAuthLocation", xauth_location, server_type_path, .def = QUOTED(PATH_XAUTH), .flags = CONF_UNBUILT,
		.harmless = "none"),
	ROW("Ciphers", ciphers, conf_algs_type, .arg = &server_kind_ciphers),
	ROW("MACs", macs, conf_algs_type, .arg = &server_kind_macs, .shown = "Macs"),
	ROW("Banner", banner, server_type_path, .def = "none", .flags = M),
	ROW("ForceCommand", force_command, conf_raw_none, .def = "none", .flags = M | CONF_RAW),
	ROW("ChrootDirectory", chroot_directory, conf_string_none, .def = "none", .flags = M),
	/* Certificates are not built, so their rules have nothing to restrict. */
	ROW("TrustedUserCAKeys", trusted_user_ca_keys, server_type_path, .def = "none", .flags = M | CONF_UNBUILT,
		.harmless = "none"),
	ROW("SecurityKeyProvider", security_key_provider, server_type_path, .arg = "internal", .def = "internal",
		.flags = CONF_UNBUILT, .harmless = "internal,none"),
	ROW("AuthorizedPrincipalsFile", authorized_principals_file, server_type_home_path, .def = "none",
		.flags = M | CONF_UNBUILT, .harmless = "none"),
	ROW("VersionAddendum", version_addendum, conf_raw_none, .def = "none", .flags = CONF_RAW),
	/* Fewer keys are known without it. */
	ROW("AuthorizedKeysCommand", authorized_keys_command, server_type_command, .def = "none",
		.flags = M | CONF_RAW | CONF_UNBUILT, .harmless = "none"),
	ROW("AuthorizedKeysCommandUser", authorized_keys_command_user, conf_string_none, .def = "none",
		.flags = M | CONF_UNBUILT, .harmless = "none"),
	ROW("AuthorizedPrincipalsCommand", authorized_principals_command, server_type_command, .def = "none",
		.flags = M | CONF_RAW | CONF_UNBUILT, .harmless = "none"),
	ROW("AuthorizedPrincipalsCommandUser", authorized_principals_command_user, conf_string_none, .def = "none",
		.flags = M | CONF_UNBUILT, .harmless = "none"),
	ROW("HostKeyAgent", host_key_agent, server_type_path, .arg = "SSH_AUTH_SOCK", .def = "none",
		.flags = CONF_UNBUILT, .harmless = "none"),
	ROW("KexAlgorithms", kex_algorithms, conf_algs_type, .arg = &server_kind_kex),
	ROW("CASignatureAlgorithms", ca_signature_algorithms, conf_algs_type, .arg = &server_kind_ca_keys,
		.flags = M | CONF_UNBUILT),
	ROW("HostbasedAcceptedAlgorithms", hostbased_accepted_algorithms, conf_algs_type, .arg = &server_kind_keys,
		.flags = M | CONF_UNBUILT, .aliases = "hostbasedacceptedkeytypes"),
	ROW("HostKeyAlgorithms", host_key_algorithms, conf_algs_type, .arg = &server_kind_keys),
	ROW("PubkeyAcceptedAlgorithms", pubkey_accepted_algorithms, conf_algs_type, .arg = &server_kind_keys,
		.flags = M, .aliases = "pubkeyacceptedkeytypes"),
	/* There is one binary, and every process of a connection is it. */
	ROW("SshdSessionPath", sshd_session_path, server_type_path, .def = QUOTED(PATH_LIBEXECDIR "/sshd-session"),
		.flags = CONF_NO_EFFECT),
	ROW("SshdAuthPath", sshd_auth_path, server_type_path, .def = QUOTED(PATH_LIBEXECDIR "/sshd-auth"),
		.flags = CONF_NO_EFFECT),
	ROW("PerSourcePenaltyExemptList", per_source_penalty_exempt_list, server_type_addresses, .def = "none"),
	ROW("LogLevel", log_level, conf_log_level, .def = "INFO", .flags = M),
	ROW("SyslogFacility", syslog_facility, conf_facility, .def = "AUTH"),
	ROW("AuthorizedKeysFile", authorized_keys_file, server_type_home_paths,
		.def = ".ssh/authorized_keys .ssh/authorized_keys2", .flags = M),
	ROW("RevokedKeys", revoked_keys, server_type_home_paths, .flags = M),
	ROW("HostKey", host_key, server_type_paths, .aliases = "hostdsakey", .flags = CONF_COLLECTS,
		.def = HOST_KEY("rsa") " " HOST_KEY("ecdsa") " " HOST_KEY("ed25519") " " HOST_KEY("mldsa44_ed25519")),
	ROW("HostCertificate", host_certificate, server_type_paths, .flags = CONF_COLLECTS | CONF_UNBUILT,
		.harmless = "none"),
	ROW("AllowUsers", allow_users, server_type_users, .flags = M | CONF_COLLECTS),
	ROW("DenyUsers", deny_users, server_type_users, .flags = M | CONF_COLLECTS),
	ROW("AllowGroups", allow_groups, conf_words_items, .flags = M | CONF_COLLECTS),
	ROW("DenyGroups", deny_groups, conf_words_items, .flags = M | CONF_COLLECTS),
	ROW("AcceptEnv", accept_env, server_type_env_names, .flags = M | CONF_COLLECTS),
	ROW("SetEnv", set_env, conf_setenv, .flags = M),
	ROW("AuthenticationMethods", authentication_methods, server_type_methods, .def = "any", .flags = M),
	ROW("LogVerbose", log_verbose, server_type_list_opt, .flags = M | CONF_UNBUILT, .harmless = "none"),
	ROW("ChannelTimeout", channel_timeout, conf_timeouts_type, .flags = M),
	ROW("Subsystem", subsystem, server_type_subsystems, .flags = M | CONF_COLLECTS),
	ROW("MaxStartups", max_startups, server_type_startups, .def = "10:30:100"),
	ROW("PerSourceMaxStartups", per_source_max_startups, server_type_per_source, .def = "none"),
	ROW("PerSourceNetBlockSize", per_source_net_block_size, server_type_block_size, .def = "32:128"),
	ROW("PermitTunnel", permit_tunnel, conf_word_exact, .arg = words_tunnel, .def = "no",
		.flags = M | CONF_UNBUILT, .harmless = "no"),
	ROW("IPQoS", ipqos, conf_ipqos_type, .def = "ef cs0", .flags = M),
	ROW("RekeyLimit", rekey_limit, conf_rekey_type, .def = "0 none", .flags = M),
	ROW("PermitOpen", permit_open, conf_permits_type, .def = "any", .flags = M | CONF_UNBUILT,
		.harmless = "any,none"),
	ROW("PermitListen", permit_listen, conf_permits_listen_type, .def = "any", .flags = M | CONF_UNBUILT,
		.harmless = "any,none"),
	ROW("PermitUserEnvironment", permit_user_environment, server_type_permit_env, .def = "no"),
	/* Keys of that kind are not accepted at all. */
	ROW("PubkeyAuthOptions", pubkey_auth_options, server_type_pubkey_options, .def = "none",
		.flags = M | CONF_UNBUILT, .harmless = "none"),
	ROW("PerSourcePenalties", per_source_penalties, server_type_penalties, .def = "yes", .flags = CONF_COLLECTS),

	/* HPN, in the order of its -T (HPN-SSH); in Match blocks they work here */
	ROW("HPNDisabled", hpn_disabled, conf_bool, .def = "no", .flags = M),
	ROW("TcpRcvBufPoll", tcp_rcv_buf_poll, conf_bool, .def = "yes", .flags = M),
	ROW("NoneEnabled", none_enabled, conf_bool, .def = "no", .flags = NONE_FLAGS, .harmless = "no"),
	ROW("NoneMacEnabled", none_mac_enabled, conf_bool, .def = "no", .flags = NONE_FLAGS, .harmless = "no"),
	ROW("UseMPTCP", use_mptcp, conf_bool, .def = "no"),
	ROW("DisableMTAES", disable_mtaes, conf_bool, .def = "no", .flags = M | CONF_NO_DUMP),
	ROW("TcpRcvBuf", tcp_rcv_buf_kib, conf_int, .def = "0", .flags = M | CONF_NO_DUMP | CONF_NO_EFFECT),
	ROW("HPNBufferSize", hpn_buffer_size_kib, conf_int, .def = "0", .flags = M | CONF_NO_DUMP),
	ROW("HPNBufferLimit", hpn_buffer_limit, conf_bool, .def = "no", .flags = M | CONF_NO_DUMP | CONF_NO_EFFECT),

	/* our own */
	ROW("CompressionLevel", compression_level, conf_level, .arg = &range_level, .def = "6", .flags = M),
	ROW("CompressionMode", compression_mode, conf_word_type, .arg = words_compression_mode, .def = "auto", .flags = M),
	ROW("CompressionZstd", compression_zstd, conf_bool, .def = "yes"),
	ROW("CipherPreference", cipher_preference, conf_word_type, .arg = words_preference, .def = "default"),

	/* found in files, kept nowhere */
	BARE("KerberosAuthentication", M | CONF_UNSUPPORTED),
	BARE("KerberosOrLocalPasswd", CONF_UNSUPPORTED),
	BARE("KerberosTicketCleanup", CONF_UNSUPPORTED),
	BARE("KerberosGetAFSToken", CONF_UNSUPPORTED),
	BARE("KerberosUniqueTicket", CONF_UNSUPPORTED),
	BARE("GSSAPIAuthentication", M | CONF_UNSUPPORTED),
	BARE("GSSAPICleanupCredentials", CONF_UNSUPPORTED),
	BARE("GSSAPIDelegateCredentials", CONF_UNSUPPORTED),
	BARE("GSSAPIStrictAcceptorCheck", CONF_UNSUPPORTED),
	/* of GSSAPI key exchange patches that distributions carry, and of Debian */
	BARE("GSSAPIKeyExchange", CONF_UNSUPPORTED),
	BARE("GSSAPIKexAlgorithms", CONF_UNSUPPORTED),
	BARE("GSSAPIStoreCredentialsOnRekey", CONF_UNSUPPORTED),
	BARE("DebianBanner", CONF_SILENT),
	BARE("Protocol", M | CONF_SILENT),
	BARE("ServerKeyBits", CONF_DEPRECATED),
	BARE("KeyRegenerationInterval", CONF_DEPRECATED),
	BARE("RHostsAuthentication", CONF_DEPRECATED),
	BARE("RhostsRSAAuthentication", M | CONF_DEPRECATED),
	BARE("RSAAuthentication", M | CONF_DEPRECATED),
	BARE("CheckMail", CONF_DEPRECATED),
	BARE("UseLogin", CONF_DEPRECATED),
	BARE("VerifyReverseMapping", CONF_DEPRECATED),
	BARE("ReverseMappingCheck", CONF_DEPRECATED),
	BARE("AuthorizedKeysFile2", M | CONF_DEPRECATED),
	BARE("UsePrivilegeSeparation", CONF_DEPRECATED),
	BARE("KerberosTgtPassing", CONF_DEPRECATED),
	BARE("AFSTokenPassing", CONF_DEPRECATED),
};
_Static_assert(sizeof(server_rows) / sizeof(server_rows[0]) <= CONF_ROWS_MAX, "more rows than marks");

const struct conf_table server_options_table = {
	.rows = server_rows, .count = sizeof(server_rows) / sizeof(server_rows[0]),
	.options_size = sizeof(struct server_options),
	.bad_value_is_fatal = true, .restricted_blocks = true,
	.deprecated_level = LOG_LEVEL_INFO, .unsupported_level = LOG_LEVEL_INFO
};
