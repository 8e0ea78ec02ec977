/* server/usession_log.h: the log lines of HPN-SSH about a connection (HPN-README 7): a fixed grammar that others parse. */
#ifndef SERVER_USESSION_LOG_H
#define SERVER_USESSION_LOG_H

struct user;
void usession_log_kex(const struct user *u);
void usession_log_authname(const struct user *u);
void usession_log_throughput(const struct user *u);

#endif
