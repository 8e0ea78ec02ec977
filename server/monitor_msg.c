/* server/monitor_msg.c: messages between the server's own processes, field by field. */
#include "server/monitor_msg.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

enum { TEXT_MAX = 256 * 1024, LIST_MAX = 4096 };

static void put_text(struct buf *out, const char *s)
{
	buf_put_cstring(out, s != NULL ? s : "");
}

static char *get_text(struct reader *r)
{
	char *s = reader_cstring(r, TEXT_MAX);

	return s != NULL ? s : mem_strdup("");
}

static void put_optional(struct buf *out, const char *s)
{
	buf_put_bool(out, s != NULL);
	if (s != NULL)
		buf_put_cstring(out, s);
}

static char *get_optional(struct reader *r)
{
	return reader_bool(r) ? get_text(r) : NULL;
}

static void put_list(struct buf *out, const struct str_list *l)
{
	buf_put_u32(out, (uint32_t)l->count);
	for (size_t i = 0; i < l->count; i++)
		buf_put_cstring(out, l->v[i]);
}

static void get_list(struct reader *r, struct str_list *l)
{
	uint32_t n = reader_u32(r);

	memset(l, 0, sizeof(*l));
	if (n > LIST_MAX)
		reader_fail(r);
	for (uint32_t i = 0; i < n && reader_ok(r); i++)
		str_list_add_take(l, get_text(r));
}

/* ---- endpoints */

void endpoints_put(const struct endpoints *p, struct buf *out)
{
	put_text(out, p->remote_ip);
	put_text(out, p->local_ip);
	buf_put_u32(out, p->remote_port);
	buf_put_u32(out, p->local_port);
}

int endpoints_get(struct reader *r, struct endpoints *out)
{
	out->remote_ip = get_text(r);
	out->local_ip = get_text(r);
	out->remote_port = (uint16_t)reader_u32(r);
	out->local_port = (uint16_t)reader_u32(r);
	return reader_ok(r) ? 0 : ERR_PEER;
}

void endpoints_clear(struct endpoints *p)
{
	free(p->remote_ip);
	free(p->local_ip);
	memset(p, 0, sizeof(*p));
}

/* ---- pre-auth setup */

void preauth_setup_put(const struct preauth_setup *s, struct buf *out)
{
	buf_put_bool(out, s->drop);
	buf_put_u32(out, (uint32_t)s->uid);
	buf_put_u32(out, (uint32_t)s->gid);
	put_text(out, s->chroot_dir);
	buf_put_bool(out, s->trap);
	buf_put_bool(out, s->log_to_file);
	buf_put_u32(out, (uint32_t)s->log_level);
	endpoints_put(&s->ends, out);
	put_text(out, s->software);
	for (int i = 0; i < PROPOSAL_COUNT; i++)
		put_text(out, s->proposal.list[i]);
	put_list(out, &s->host_keys);
	put_text(out, s->server_sig_algs);
	put_text(out, s->moduli_file);
}

int preauth_setup_get(struct reader *r, struct preauth_setup *out, struct err *e)
{
	memset(out, 0, sizeof(*out));
	out->drop = reader_bool(r);
	out->uid = (uid_t)reader_u32(r);
	out->gid = (gid_t)reader_u32(r);
	out->chroot_dir = get_text(r);
	out->trap = reader_bool(r);
	out->log_to_file = reader_bool(r);
	out->log_level = (int)reader_u32(r);
	(void)!endpoints_get(r, &out->ends);
	out->software = get_text(r);
	for (int i = 0; i < PROPOSAL_COUNT; i++)
		out->proposal.list[i] = get_text(r);
	get_list(r, &out->host_keys);
	out->server_sig_algs = get_text(r);
	out->moduli_file = get_text(r);
	if (reader_end(r, e, "setup of the pre-auth process") < 0) {
		preauth_setup_clear(out);
		return ERR_PEER;
	}
	return 0;
}

void preauth_setup_clear(struct preauth_setup *s)
{
	free(s->chroot_dir);
	endpoints_clear(&s->ends);
	free(s->software);
	proposal_clear(&s->proposal);
	str_list_clear(&s->host_keys);
	free(s->server_sig_algs);
	free(s->moduli_file);
	memset(s, 0, sizeof(*s));
}

/* ---- verdict */

void mon_verdict_put(const struct mon_verdict *v, struct buf *out)
{
	buf_put_u8(out, (uint8_t)v->kind);
	put_text(out, v->banner);
	put_text(out, v->sig_algs);
	put_text(out, v->methods);
	buf_put_bool(out, v->partial);
	buf_put_u32(out, v->reason);
	put_text(out, v->text);
}

int mon_verdict_get(struct reader *r, struct mon_verdict *out, struct err *e)
{
	uint8_t kind = reader_u8(r);

	memset(out, 0, sizeof(*out));
	out->kind = (enum mon_verdict_kind)kind;
	out->banner = get_text(r);
	out->sig_algs = get_text(r);
	out->methods = get_text(r);
	out->partial = reader_bool(r);
	out->reason = reader_u32(r);
	out->text = get_text(r);
	if (kind >= MON_VERDICT_COUNT)
		reader_fail(r);
	if (reader_end(r, e, "verdict") < 0) {
		mon_verdict_clear(out);
		return ERR_PEER;
	}
	return 0;
}

void mon_verdict_clear(struct mon_verdict *v)
{
	free(v->banner);
	free(v->sig_algs);
	free(v->methods);
	free(v->text);
	memset(v, 0, sizeof(*v));
}

/* ---- user setup */

void user_setup_put(const struct user_setup *s, struct buf *out)
{
	buf_put_bool(out, s->drop);
	buf_put_u32(out, (uint32_t)s->uid);
	buf_put_u32(out, (uint32_t)s->gid);
	put_optional(out, s->chroot_dir);
	put_text(out, s->ciphers);
	put_text(out, s->moduli_file);
	put_text(out, s->user);
	put_text(out, s->home);
	put_text(out, s->shell);
	buf_put_bool(out, s->user_is_root);
	endpoints_put(&s->ends, out);
	put_text(out, s->host);
	put_text(out, s->software);
	buf_put_string(out, s->session_id.p, s->session_id.n);
	buf_put_string(out, s->host_key.p, s->host_key.n);
	put_list(out, &s->group_names);
	key_options_put(&s->key_options, out);
	buf_put_bool(out, s->password_expired);
	buf_put_bool(out, s->use_pam);
	put_list(out, &s->pam_environment);
	put_text(out, s->login_messages);
	put_text(out, s->auth_info);
	put_list(out, &s->host_keys);
	buf_put_u32(out, (uint32_t)s->log_level);
	buf_put_bool(out, s->debug);
	buf_put_string(out, s->config.p, s->config.n);
}

int user_setup_get(struct reader *r, struct user_setup *out, struct err *e)
{
	memset(out, 0, sizeof(*out));
	key_options_init(&out->key_options);
	out->drop = reader_bool(r);
	out->uid = (uid_t)reader_u32(r);
	out->gid = (gid_t)reader_u32(r);
	out->chroot_dir = get_optional(r);
	out->ciphers = get_text(r);
	out->moduli_file = get_text(r);
	out->user = get_text(r);
	out->home = get_text(r);
	out->shell = get_text(r);
	out->user_is_root = reader_bool(r);
	(void)!endpoints_get(r, &out->ends);
	out->host = get_text(r);
	out->software = get_text(r);
	out->session_id = reader_string(r);
	out->host_key = reader_string(r);
	get_list(r, &out->group_names);
	if (key_options_get(r, &out->key_options) < 0)
		reader_fail(r);
	out->password_expired = reader_bool(r);
	out->use_pam = reader_bool(r);
	get_list(r, &out->pam_environment);
	out->login_messages = get_text(r);
	out->auth_info = get_text(r);
	get_list(r, &out->host_keys);
	out->log_level = (int)reader_u32(r);
	out->debug = reader_bool(r);
	out->config = reader_string(r);
	if (reader_end(r, e, "setup of the user process") < 0) {
		user_setup_clear(out);
		return ERR_PEER;
	}
	return 0;
}

void user_setup_clear(struct user_setup *s)
{
	free(s->chroot_dir);
	free(s->ciphers);
	free(s->moduli_file);
	free(s->user);
	free(s->home);
	free(s->shell);
	endpoints_clear(&s->ends);
	free(s->host);
	free(s->software);
	str_list_clear(&s->group_names);
	key_options_clear(&s->key_options);
	str_list_clear(&s->pam_environment);
	free(s->login_messages);
	free(s->auth_info);
	str_list_clear(&s->host_keys);
	memset(s, 0, sizeof(*s));
}

/* ---- pty */

void pty_grant_put(const struct pty_grant *g, struct buf *out)
{
	buf_put_bool(out, g->ok);
	put_text(out, g->name);
	buf_put_u64(out, (uint64_t)g->last_login);
	put_text(out, g->last_host);
}

int pty_grant_get(struct reader *r, struct pty_grant *out, struct err *e)
{
	memset(out, 0, sizeof(*out));
	out->ok = reader_bool(r);
	out->name = get_text(r);
	out->last_login = (int64_t)reader_u64(r);
	out->last_host = get_text(r);
	if (reader_end(r, e, "grant of a terminal") < 0) {
		pty_grant_clear(out);
		return ERR_PEER;
	}
	return 0;
}

void pty_grant_clear(struct pty_grant *g)
{
	free(g->name);
	free(g->last_host);
	memset(g, 0, sizeof(*g));
}
