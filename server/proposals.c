/* server/proposals.c: configuration to KEXINIT lists; the home of the pre-auth process. */
#include "server/proposals.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/mem.h"
#include "base/str.h"
#include "compress.h"
#include "kex/moduli.h"
#include "paths.h"
#include "version.h"

char *server_software(const struct server_options *o)
{
	bool addendum = o->version_addendum != NULL && *o->version_addendum != '\0';

	return str_printf("%s%s%s", WS_IDENT, addendum ? " " : "", addendum ? o->version_addendum : "");
}

void server_proposal(const struct server_options *o, const struct host_keys *keys, struct proposal *out)
{
	char *host_algs = host_keys_algorithms(keys, o->host_key_algorithms.names);
	/* RFC 4253's plain zlib would run before authentication; it is not offered (SECURITY.md). */
	const char *compress = !o->compression ? "none" : !o->compression_zstd || !compress_has_zstd() ?
		"none,zlib@openssh.com,zlib@wirespeed" : "none,zlib@openssh.com,zlib@wirespeed,zstd@wirespeed";

	memset(out, 0, sizeof(*out));
	proposal_set(out, PROPOSAL_KEX, o->kex_algorithms.names);
	proposal_set(out, PROPOSAL_HOST_KEY, host_algs);
	for (int dir = 0; dir < 2; dir++) {
		proposal_set(out, PROPOSAL_CIPHER_C2S + dir, o->ciphers.names);
		proposal_set(out, PROPOSAL_MAC_C2S + dir, o->macs.names);
		proposal_set(out, PROPOSAL_COMPRESS_C2S + dir, compress);
		proposal_set(out, PROPOSAL_LANG_C2S + dir, "");
	}
	free(host_algs);
}

const char *server_moduli_file(const struct server_options *o)
{
	return o->moduli_file != NULL && moduli_wanted(o->kex_algorithms.names) ? o->moduli_file : "";
}

static void append_none(struct proposal *p, enum proposal_list which)
{
	char *list;

	if (p->list[which] != NULL && str_names_has(p->list[which], "none", 4))
		return;
	list = str_printf("%s%snone", p->list[which], *p->list[which] != '\0' ? "," : "");
	proposal_set(p, which, list);
	free(list);
}

void server_proposal_add_none(const struct server_options *o, struct proposal *p)
{
#ifdef WITH_NONE_CIPHER
	if (!o->none_enabled)
		return;
	append_none(p, PROPOSAL_CIPHER_C2S);
	append_none(p, PROPOSAL_CIPHER_S2C);
	if (!o->none_mac_enabled)
		return;
	append_none(p, PROPOSAL_MAC_C2S);
	append_none(p, PROPOSAL_MAC_S2C);
#else
	(void)o;
	(void)p;
	(void)append_none;
#endif
}

char *server_sig_algs(const struct server_options *o)
{
	static const char cert[] = "-cert-v01@openssh.com";
	struct str_list names = { 0 };
	const char *cursor = o->pubkey_accepted_algorithms.names, *name;
	size_t n;
	char *joined;

	while (cursor != NULL && str_next_name(&cursor, &name, &n)) {
		char *one = mem_strndup(name, n);

		if (str_ends(one, cert)) {       /* the signature of a certificate is that of its key */
			size_t plain = n - (sizeof(cert) - 1);
			bool sk = str_starts(one, "sk-") || str_starts(one, "webauthn-");
			char *signature = str_printf("%.*s%s", (int)plain, one, sk ? "@openssh.com" : "");

			free(one);
			one = signature;
		}
		if (!str_list_has(&names, one))
			str_list_add(&names, one);
		free(one);
	}
	joined = names.count > 0 ? str_list_join(&names, ",") : mem_strdup("");
	str_list_clear(&names);
	return joined;
}

const char *server_privsep_path(void)
{
	return PATH_PRIVSEP;
}

int server_privsep_user(uid_t *uid, gid_t *gid, struct err *e)
{
	const struct passwd *pw = getpwnam(PRIVSEP_USER);

	if (pw == NULL)
		return err_set(e, ERR_USAGE, "there is no user %s, which runs the part of sshd that talks to strangers; "
			"create it with: useradd --system --no-create-home --home-dir %s --shell /usr/sbin/nologin %s",
			PRIVSEP_USER, PATH_PRIVSEP, PRIVSEP_USER);
	if (pw->pw_uid == 0)
		return err_set(e, ERR_USAGE, "user %s must not be root", PRIVSEP_USER);
	*uid = pw->pw_uid;
	*gid = pw->pw_gid;
	return 0;
}

int server_privsep_check(struct err *e)
{
	uid_t uid;
	gid_t gid;
	struct stat st;

	if (server_privsep_user(&uid, &gid, e) < 0)
		return ERR_USAGE;
	if (stat(PATH_PRIVSEP, &st) < 0 || !S_ISDIR(st.st_mode))
		return err_set(e, ERR_USAGE, "the folder %s is missing; create it with: install -d -m 755 %s", PATH_PRIVSEP,
			PATH_PRIVSEP);
	if (st.st_uid != 0 || (st.st_mode & 022) != 0)
		return err_set(e, ERR_USAGE, "%s must be owned by root and not group or world-writable.", PATH_PRIVSEP);
	return 0;
}
