"""asyncssh against our sshd (run by server_asyncssh.t): every algorithm of both, new keys by either side, sessions, SFTP, logins."""
import asyncio
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import asyncssh                                                             # noqa: E402
import tap                                                                  # noqa: E402

PLAIN, OFTEN = tap.number("PLAIN", 0), tap.number("OFTEN", 0)
USER, PASSWORD, WORK = tap.setting("LOGIN"), tap.setting("PASSWORD"), tap.setting("WORK")
KEY, KNOWN_HOSTS = tap.setting("KEY"), tap.setting("KNOWN_HOSTS")
DATA = tap.random_data(8 * 1024 * 1024)
SUM = tap.sha(DATA)


def connect(port=PLAIN, **options):
    options = dict({"username": USER, "client_keys": [KEY], "known_hosts": KNOWN_HOSTS, "agent_path": None, "config": None}, **options)
    return asyncssh.connect("127.0.0.1", port, **options)


async def both_ways(c, data=DATA, command="cat"):
    p = await c.create_process(command, encoding=None)

    async def give():
        for at in range(0, len(data), 65536):
            p.stdin.write(data[at:at + 65536])
            await p.stdin.drain()
        p.stdin.write_eof()

    _, out = await asyncio.gather(give(), p.stdout.read())
    await p.wait()
    return out, p.exit_status


async def check(name, data=DATA, wanted=0, command="cat", **options):
    try:
        async with connect(**options) as c:
            out, status = await asyncio.wait_for(both_ways(c, data, command), 100)
        tap.same(name, (tap.sha(out), status), (tap.sha(data), wanted))
    except (asyncssh.Error, OSError, asyncio.TimeoutError) as e:
        tap.say(False, name, repr(e))


async def algorithms():
    from asyncssh import compression, encryption, kex, mac, public_key
    known = {"ciphers": encryption.get_encryption_algs(), "macs": mac.get_mac_algs(), "kex": kex.get_kex_algs(),
             "key_types": public_key.get_public_key_algs()}
    options = {"ciphers": "encryption_algs", "macs": "mac_algs", "kex": "kex_algs", "key_types": "server_host_key_algs"}
    small = DATA[:2 * 1024 * 1024]
    for kind, have in known.items():
        ours = tap.names(tap.setting("OUR_" + kind.upper()))
        for name in (n.decode() for n in have):
            if name not in ours:
                continue
            more = {options[kind]: [name]}
            if kind == "macs":
                more["encryption_algs"] = ["aes128-ctr"]
            await check("%s %s" % (kind, name), small if kind != "ciphers" else DATA, **more)
    await check("compression", small, compression_algs=["zlib@openssh.com"])
    del compression


async def keys():
    for cipher in ("aes128-gcm@openssh.com", "chacha20-poly1305@openssh.com", "aes128-ctr"):
        await check("new keys by asyncssh, %s" % cipher, rekey_bytes=1024 * 1024, encryption_algs=[cipher])
        await check("new keys by the server, %s" % cipher, port=OFTEN, encryption_algs=[cipher])
        await check("new keys by both, %s" % cipher, port=OFTEN, rekey_bytes=300000, encryption_algs=[cipher], compression_algs=["zlib@openssh.com"])


async def sessions():
    async with connect() as c:
        for wanted in (0, 1, 7, 255):
            r = await c.run("exit %d" % wanted)
            tap.same("exit status %d" % wanted, r.exit_status, wanted)
        r = await c.run("kill -TERM $$")
        tap.same("exit signal", (r.exit_signal or ("",))[0], "TERM")
        r = await c.run("echo out; echo err >&2")
        tap.same("stdout and stderr", (r.stdout, r.stderr), ("out\n", "err\n"))
        r = await c.run("stty size; tty", term_type="vt100", term_size=(77, 33))
        tap.say(r.stdout.startswith("33 77\r\n/dev/pts/"), "a terminal", r.stdout)
        r = await c.run("echo $TEST_X", env={"TEST_X": "value"})
        tap.same("environment", r.stdout, "value\n")
        p = await c.create_process('trap "echo got INT; exit 9" INT; echo READY; while :; do sleep 0.05; done')
        await p.stdout.readline()
        p.send_signal("INT")
        tap.same("a signal", await p.stdout.readline(), "got INT\n")
        await p.wait()
        tap.same("its status", p.exit_status, 9)
        p = await c.create_process("cat", term_type="vt100")
        p.stdin.write("typed\n")
        await p.stdout.readline()
        p.stdin.write("\x04")
        await asyncio.wait_for(p.wait(), 20)
        tap.same("^D on a terminal ends cat", p.exit_status, 0)
        results = await asyncio.gather(*(both_ways(c, DATA[:500000], "cat; exit %d" % n) for n in range(10)))
        tap.same("ten sessions at once", [(tap.sha(o), s) for o, s in results], [(tap.sha(DATA[:500000]), n) for n in range(10)])
        r = await c.run("seq 1 200000; exit 7")
        tap.same("all of the output", (tap.sha(r.stdout.encode()), r.exit_status), (tap.sha(b"".join(b"%d\n" % n for n in range(1, 200001))), 7))
    async with connect() as c:
        p = await c.create_process("cat /dev/zero | head -c 20000000", encoding=None, window=10000, max_pktsize=1000)
        tap.same("a small window", len(await p.stdout.read()), 20000000)


async def files():
    for name, port in (("", PLAIN), (", new keys all the time", OFTEN)):
        async with connect(port=port) as c, c.start_sftp_client() as s:
            top = os.path.join(WORK, "asyncssh")
            await s.mkdir(top)
            local = os.path.join(WORK, "local")
            with open(local, "wb") as f:
                f.write(DATA)
            await s.put(local, top + "/data")
            await s.get(top + "/data", local + ".back")
            with open(local + ".back", "rb") as f:
                tap.same("sftp there and back" + name, tap.sha(f.read()), SUM)
            async with s.open(top + "/data", "rb") as f:
                parts = await asyncio.gather(*(f.read(1000, i * 100000) for i in range(50)))
                tap.same("sftp, fifty reads at once" + name, b"".join(parts), b"".join(DATA[i * 100000:i * 100000 + 1000] for i in range(50)))
            async with s.open(top + "/data2", "wb") as f:
                await asyncio.gather(*(f.write(DATA[i * 30000:i * 30000 + 30000], i * 30000) for i in range(50)))
            async with s.open(top + "/data2", "rb") as f:
                tap.same("sftp, fifty writes at once" + name, tap.sha(await f.read()), tap.sha(DATA[:1500000]))
            tap.same("sftp listdir" + name, sorted(await s.listdir(top)), [".", "..", "data", "data2"])
            tap.same("sftp glob" + name, sorted(await s.glob(top + "/data?")), [top + "/data2"])
            await s.posix_rename(top + "/data2", top + "/data")
            st = await s.statvfs(top)
            tap.say(st.bsize > 0 and st.namemax > 0, "sftp statvfs" + name)
            await s.link(top + "/data", top + "/hard")
            tap.same("sftp link" + name, (await s.stat(top + "/hard")).size, 1500000)
            async with s.open(top + "/data", "r+b") as f:
                await f.fsync()
            try:
                await s.stat(top + "/nothing")
                tap.say(False, "sftp stat of nothing" + name)
            except asyncssh.SFTPNoSuchFile:
                tap.say(True, "sftp stat of nothing" + name)
            await s.rmtree(top)
            tap.say(not await s.exists(top), "sftp rmtree" + name)
    async with connect() as c:
        await asyncssh.scp(os.path.join(WORK, "local"), (c, os.path.join(WORK, "scp")))
        await asyncssh.scp((c, os.path.join(WORK, "scp")), os.path.join(WORK, "scp.back"))
        with open(os.path.join(WORK, "scp.back"), "rb") as f:
            tap.same("scp there and back", tap.sha(f.read()), SUM)


async def logins():
    if not PASSWORD:
        tap.skip("passwords")
    else:
        for methods in ("password", "keyboard-interactive"):
            async with connect(client_keys=None, password=PASSWORD, preferred_auth=methods) as c:
                tap.same("by " + methods, (await c.run("echo in")).stdout, "in\n")
            try:
                async with connect(client_keys=None, password="wrong", preferred_auth=methods):
                    tap.say(False, "a wrong answer to " + methods)
            except asyncssh.PermissionDenied:
                tap.say(True, "a wrong answer to " + methods)
    wrong = asyncssh.generate_private_key("ssh-ed25519")
    try:
        async with connect(client_keys=[wrong]):
            tap.say(False, "a key that is not allowed")
    except asyncssh.PermissionDenied:
        tap.say(True, "a key that is not allowed")


PARTS = {"algorithms": algorithms, "keys": keys, "sessions": sessions, "files": files, "logins": logins}
for part in sys.argv[1:] or PARTS:
    asyncio.run(asyncio.wait_for(PARTS[part](), 250))
