"""paramiko against our sshd (run by server_paramiko.t): every algorithm of both, new keys while data flows, SFTP, wrong things."""
import io
import os
import socket
import sys
import threading
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import paramiko                                                             # noqa: E402
from paramiko.common import cMSG_CHANNEL_DATA, cMSG_CHANNEL_WINDOW_ADJUST, MSG_NAMES  # noqa: E402,F401
from paramiko.message import Message                                        # noqa: E402
import tap                                                                  # noqa: E402

PLAIN, OFTEN = tap.number("PLAIN", 0), tap.number("OFTEN", 0)
USER, PASSWORD = tap.setting("LOGIN"), tap.setting("PASSWORD")
WORK = tap.setting("WORK")
KEY = paramiko.Ed25519Key(filename=tap.setting("KEY"))
SIZE = 2 * 1024 * 1024
DATA = tap.random_data(SIZE)


def transport(port=PLAIN, kind=paramiko.Transport, auth=True, **options):
    sock = socket.create_connection(("127.0.0.1", port))
    t = kind(sock)
    t.banner_timeout = t.handshake_timeout = 60
    security = t.get_security_options()
    for name, value in options.items():
        if name == "compress":
            t.use_compression(True)
        else:
            setattr(security, name, [value])
    t.start_client(timeout=60)
    if auth:
        t.auth_publickey(USER, KEY)
    return t


def both_ways(t, data=DATA, command="cat", after=None):
    """Sends the data and takes what comes back, at once; returns it and the exit status."""
    c = t.open_session(timeout=30)
    c.settimeout(60)
    c.exec_command(command)
    got = io.BytesIO()

    def take():
        while True:
            part = c.recv(65536)
            if not part:
                return
            got.write(part)

    reader = threading.Thread(target=take, daemon=True)
    reader.start()
    for at in range(0, len(data), 100000):
        c.sendall(data[at:at + 100000])
        if after:
            after(t, at)
    c.shutdown_write()
    reader.join(90)
    status = c.recv_exit_status()
    c.close()
    return got.getvalue(), status


def check_both_ways(**options):
    t = transport(**options)
    try:
        got, status = both_ways(t)
        return (tap.sha(got), status) == (tap.sha(DATA), 0)
    finally:
        t.close()


def algorithms():
    ours = {kind: tap.names(tap.setting("OUR_" + kind.upper())) for kind in ("ciphers", "digests", "kex", "key_types")}
    theirs = paramiko.Transport(socket.socketpair()[0]).get_security_options()
    for kind in ("kex", "key_types", "ciphers", "digests"):
        for name in getattr(theirs, kind):
            if name not in ours[kind]:
                continue
            options = {kind: name}
            if kind == "digests":
                options["ciphers"] = "aes128-ctr"
            if kind == "ciphers" and name.endswith("-cbc"):
                options["digests"] = "hmac-sha2-256"
            tap.attempt("%s %s" % (kind, name), lambda: check_both_ways(**options))
    tap.attempt("compression", lambda: check_both_ways(compress=True))


# ---- new keys while data flows

def by_us():
    t = transport()
    t.packetizer.REKEY_BYTES = 512 * 1024
    got, status = both_ways(t)
    t.close()
    return (tap.sha(got), status) == (tap.sha(DATA), 0)


class Counting(paramiko.Transport):
    exchanges = 0

    def _activate_outbound(self):
        super()._activate_outbound()
        self.exchanges += 1


def by_server():
    # How often depends on what is in flight when an exchange begins.
    t = transport(port=OFTEN, kind=Counting)
    big = DATA * 4
    got, status = both_ways(t, big)
    n = t.exchanges
    t.close()
    return (tap.sha(got), status) == (tap.sha(big), 0) and n >= 3 or "%d exchanges" % n


def by_us_on_request():
    t = transport(kind=Counting)
    left = [3]

    def sometimes(_, at):
        if left[0] and at % 500000 == 0:
            left[0] -= 1
            threading.Thread(target=t.renegotiate_keys, daemon=True).start()

    got, status = both_ways(t, after=sometimes)
    n = t.exchanges
    t.close()
    return (tap.sha(got), status) == (tap.sha(DATA), 0) and n >= 2 or "%d exchanges" % n


class Late(Counting):
    """Data that was on its way when the server's KEXINIT came: fifty more messages before our own KEXINIT."""
    channel = None
    sent = 0

    def _send_kex_init(self):
        c = self.channel
        if c is not None:
            for _ in range(50):
                m = Message()
                m.add_byte(cMSG_CHANNEL_DATA)
                m.add_int(c.remote_chanid)
                m.add_string(b"late" * 8)
                self._send_message(m)
                self.sent += 1
        super()._send_kex_init()


def late_data():
    t = transport(port=OFTEN, kind=Late)
    c = t.open_session()
    c.settimeout(60)
    c.exec_command("cat >/dev/null; echo done")
    t.channel = c
    # Ours go first: the server starts an exchange when it has seen enough.
    for _ in range(40):
        c.sendall(b"x" * 100000)
    t.channel = None
    c.shutdown_write()
    answer, status = c.recv(100), c.recv_exit_status()
    n, sent = t.exchanges, t.sent
    t.close()
    return (answer, status) == (b"done\n", 0) and n >= 2 and sent >= 50 or (answer, status, n, sent)


def late_requests():
    """The server's KEXINIT has come, ours not yet: a channel may still be opened, closed, asked; the answer waits."""
    class Asking(Counting):
        asked = 0

        def _send_kex_init(self):
            if self.authenticated and self.exchanges > 0:
                m = Message()
                m.add_byte(paramiko.common.cMSG_GLOBAL_REQUEST)
                m.add_string("nothing@example.com")
                m.add_boolean(True)
                self._send_message(m)
                self.asked += 1
            super()._send_kex_init()

    t = transport(port=OFTEN, kind=Asking)
    got, status = both_ways(t, DATA * 2)
    asked, alive = t.asked, t.is_active()
    t.close()
    return (len(got), status, alive) == (SIZE * 2, 0, True) and asked > 0 or (len(got), status, asked, alive)


# ---- sessions

def statuses():
    t = transport()
    for wanted in (0, 1, 7, 255):
        c = t.open_session()
        c.exec_command("exit %d" % wanted)
        tap.same("exit status %d" % wanted, c.recv_exit_status(), wanted)
    c = t.open_session()
    c.exec_command("echo out; echo err >&2")
    tap.same("stdout", c.makefile("rb").read(), b"out\n")
    tap.same("stderr", c.makefile_stderr("rb").read(), b"err\n")
    c = t.open_session()
    c.get_pty("vt100", 77, 33)
    c.exec_command("stty size; tty")
    text = c.makefile("rb").read()
    tap.say(text.startswith(b"33 77\r\n/dev/pts/"), "a terminal of 33 rows and 77 columns", text)
    c = t.open_session()
    c.get_pty("vt100", 77, 33)
    c.exec_command('trap "stty size; exit 0" WINCH; echo READY; while :; do sleep 0.05; done')
    f = c.makefile("rb")
    f.readline()
    c.resize_pty(100, 44)
    tap.same("a changed size", f.readline(), b"44 100\r\n")
    c = t.open_session()
    c.invoke_shell()
    c.sendall("echo $((40+2)); exit 3\n")
    tap.say(b"42" in c.makefile("rb").read(), "a shell")
    tap.same("its status", c.recv_exit_status(), 3)
    c = t.open_session()
    c.set_environment_variable("TEST_X", "value")
    c.exec_command("echo $TEST_X")
    tap.same("environment", c.makefile("rb").read(), b"value\n")

    sessions, threads, good = 12, [], []

    def one(n):
        try:
            got, status = both_ways(t, DATA[:300000], "cat; exit %d" % n)
        except Exception:
            good.append(traceback.format_exc())
            return
        good.append((tap.sha(got), status) == (tap.sha(DATA[:300000]), n))

    for n in range(sessions):
        threads.append(threading.Thread(target=one, args=(n,)))
        threads[-1].start()
    for thread in threads:
        thread.join(60)
    tap.same("%d sessions at once" % sessions, good, [True] * sessions)
    t.close()


def small_window():
    """A client that gives its window in small pieces gets everything, in packets it can take."""
    t = transport()
    c = t.open_session(window_size=5000, max_packet_size=1024)
    c.settimeout(60)
    c.exec_command("cat %s" % os.path.join(WORK, "known"))
    got = c.makefile("rb").read()
    t.close()
    with open(os.path.join(WORK, "known"), "rb") as f:
        return tap.sha(got) == tap.sha(f.read())


# ---- SFTP

def sftp(port):
    t = transport(port=port)
    s = paramiko.SFTPClient.from_transport(t)
    path = os.path.join(WORK, "sftp")
    s.mkdir(path)
    s.chdir(path)
    s.putfo(io.BytesIO(DATA), "data", confirm=True)
    back = io.BytesIO()
    s.getfo("data", back)
    tap.same("sftp there and back", tap.sha(back.getvalue()), tap.sha(DATA))
    with s.open("data", "r") as f:
        f.prefetch()
        tap.same("sftp read with prefetch", tap.sha(f.read()), tap.sha(DATA))
    with s.open("data", "r") as f:
        parts = f.readv([(0, 10), (1000, 100), (SIZE - 5, 5)])
        tap.same("sftp readv", [bytes(p) for p in parts], [DATA[:10], DATA[1000:1100], DATA[-5:]])
    with s.open("data", "r+") as f:
        f.seek(100)
        f.write(b"changed")
    with s.open("data", "r") as f:
        f.seek(90)
        tap.same("sftp write in the middle", f.read(30), DATA[90:100] + b"changed" + DATA[107:120])
    with s.open("log", "a") as f:
        f.write(b"one")
    with s.open("log", "a") as f:
        f.write(b"two")
    tap.same("sftp append", s.open("log").read(), b"onetwo")
    s.truncate("log", 3)
    tap.same("sftp truncate", s.stat("log").st_size, 3)
    s.chmod("log", 0o640)
    s.utime("log", (1000000000, 1100000000))
    st = s.stat("log")
    tap.same("sftp mode and times", (st.st_mode & 0o777, int(st.st_atime), int(st.st_mtime)), (0o640, 1000000000, 1100000000))
    s.symlink("log", "link")
    tap.same("sftp readlink", s.readlink("link"), "log")
    tap.say(s.lstat("link").st_mode & 0o170000 == 0o120000, "sftp lstat")
    s.rename("log", "log2")
    wanted = sorted(["data", "link", "log2"])
    tap.same("sftp listdir", sorted(s.listdir()), wanted)
    tap.wants("sftp rename onto a file", IOError, s.rename, "log2", "data")
    s.posix_rename("log2", "data2")
    tap.same("sftp normalize", s.normalize("."), path)
    for name, function, arguments in (
            ("open of nothing", s.open, ("nothing",)), ("stat of nothing", s.stat, ("nothing",)),
            ("remove of nothing", s.remove, ("nothing",)), ("rmdir of a full folder", s.rmdir, (path,)),
            ("mkdir of what is there", s.mkdir, (path,)), ("listdir of a file", s.listdir, ("data",)),
            ("readlink of a file", s.readlink, ("data",))):
        tap.wants("sftp " + name, IOError, function, *arguments)
    for i in range(300):
        s.open("many%03d" % i, "w").close()
    tap.same("sftp 300 names", len([n for n in s.listdir() if n.startswith("many")]), 300)
    for name in s.listdir():
        s.remove(name)
    s.rmdir(path)
    t.close()


# ---- logins

def logins():
    if PASSWORD:
        t = transport(auth=False)
        t.auth_password(USER, PASSWORD)
        tap.say(t.is_authenticated(), "by password")
        t.close()
        t = transport(auth=False)
        t.auth_interactive(USER, lambda title, text, prompts: [PASSWORD for _ in prompts])
        tap.say(t.is_authenticated(), "by keyboard-interactive")
        t.close()
        t = transport(auth=False)
        tap.wants("wrong password", paramiko.AuthenticationException, t.auth_password, USER, "wrong", None, False)
        tap.wants("wrong keyboard-interactive", paramiko.AuthenticationException, t.auth_interactive, USER,
                  lambda title, text, prompts: ["wrong" for _ in prompts])
        t.auth_password(USER, PASSWORD, None, False)
        tap.say(t.is_authenticated(), "the right one after wrong ones")
        t.close()
    else:
        tap.skip("passwords")
    t = transport(auth=False)
    wrong = paramiko.ECDSAKey.generate()
    tap.wants("a key that is not allowed", paramiko.AuthenticationException, t.auth_publickey, USER, wrong)
    t.close()
    t = transport(auth=False)
    tap.wants("none", paramiko.BadAuthenticationType, t.auth_none, USER)
    t.close()
    t = transport(auth=False)
    tap.wants("an unknown user", paramiko.AuthenticationException, t.auth_publickey, "no-such-user-here", KEY)
    t.close()

    def too_many():
        tries = 0
        t = transport(auth=False)
        while t.is_active() and tries < 20:
            tries += 1
            try:
                t.auth_publickey(USER, wrong)
            except (paramiko.SSHException, EOFError):
                pass
        return tries < 20
    tap.attempt("too many tries end it", too_many)


# ---- wrong things

def wrong_things():
    t = transport()
    tap.wants("an unknown channel type is refused", paramiko.ChannelException, t.open_channel, "nonsense@example.com", None, None, None, None, 20)
    tap.say(t.global_request("nonsense@example.com", wait=True) is None, "an unknown global request fails")
    tap.say(t.is_active(), "and the connection goes on")

    def request(c, name, *fields):
        m = Message()
        m.add_byte(paramiko.common.cMSG_CHANNEL_REQUEST)
        m.add_int(c.remote_chanid)
        m.add_string(name)
        m.add_boolean(True)
        for field in fields:
            m.add_string(field)
        c._event_pending()
        t._send_user_message(m)
        c._wait_for_event()

    c = t.open_session()
    tap.wants("an unknown subsystem is refused", paramiko.SSHException, c.invoke_subsystem, "no-such-subsystem")
    c = t.open_session()
    tap.wants("an unknown channel request is refused", paramiko.SSHException, request, c, "nonsense@example.com")
    c = t.open_session()
    c.exec_command("cat")
    tap.wants("a second command on one channel is refused", paramiko.SSHException, request, c, "exec", "true")
    tap.say(t.is_active(), "and the connection goes on")
    c.close()
    got, status = both_ways(t, b"still", "cat; exit 4")
    tap.same("work goes on", (got, status), (b"still", 4))
    t.close()

    def raw(name, build, **options):
        """The server must end the connection, or stay sound: never hang, never take it."""
        t = transport(**options)
        c = t.open_session()
        c.exec_command("cat >/dev/null")
        try:
            build(t, c)
        except (paramiko.SSHException, OSError, EOFError):
            pass                 # it has ended already
        end = time.time() + 20
        while t.is_active() and time.time() < end:
            time.sleep(0.02)
        tap.say(not t.is_active(), name)
        t.close()

    def message(kind, *parts):
        m = Message()
        m.add_byte(bytes([kind]))
        for part in parts:
            if isinstance(part, int):
                m.add_int(part)
            elif isinstance(part, bytes):
                m.add_bytes(part)
            else:
                m.add_string(part)
        return m

    def overflow(t, c):
        # Many times the window, without asking for room, to a program that does not read.
        c = t.open_session()
        c.exec_command("exec sleep 20")
        for _ in range(4000):
            t._send_message(message(94, c.remote_chanid, "x" * 32000))

    raw("more data than the window ends it", overflow)
    raw("data for a channel that is not open ends it", lambda t, c: t._send_message(message(94, 4711, "data")))
    raw("a length beyond the message ends it", lambda t, c: t._send_message(message(94, c.remote_chanid, 1000, b"short")))
    raw("a window that overflows ends it", lambda t, c: [t._send_message(message(93, c.remote_chanid, 0xffffffff)) for _ in range(3)])
    raw("NEWKEYS out of turn ends it", lambda t, c: t._send_message(message(21)))
    raw("a message of the key exchange out of turn ends it", lambda t, c: t._send_message(message(30, "x")))
    raw("a request cut short ends it", lambda t, c: t._send_message(message(98, c.remote_chanid, 99999)))
    raw("an open confirmation that nobody asked for ends it", lambda t, c: t._send_message(message(91, c.remote_chanid, 1, 1000, 1000)))

    t = transport()
    t._send_message(message(200))
    got, status = both_ways(t, b"still", "cat; exit 4")
    tap.same("an unknown message is answered, and work goes on", (got, status), (b"still", 4))
    t._send_message(message(50, USER, "ssh-connection", "none"))
    got, status = both_ways(t, b"still", "cat; exit 4")
    tap.same("authentication after authentication is passed over", (got, status), (b"still", 4))
    t.close()

    tap.attempt("and the next connection works", lambda: check_both_ways())


PARTS = {
    "algorithms": algorithms, "sessions": statuses, "sftp": lambda: sftp(PLAIN), "sftp-often": lambda: sftp(OFTEN), "logins": logins,
    "wrong": wrong_things,
    "keys": lambda: [tap.attempt(*a) for a in (
        ("new keys by the client", by_us), ("new keys by the server", by_server), ("new keys by the client at any time", by_us_on_request),
        ("data on its way when the server's KEXINIT comes", late_data),
        ("requests on their way when the server's KEXINIT comes", late_requests), ("a small window", small_window))],
}
for part in sys.argv[1:] or PARTS:
    PARTS[part]()
