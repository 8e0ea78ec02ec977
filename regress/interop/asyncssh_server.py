"""An asyncssh server for client_asyncssh.t. Settings come from the environment; prints its port when it listens.

Users log in by the key of AUTHORIZED, or by PASSWORD, by password or keyboard-interactive. Commands are run by sh; a few are not:
  echo-back  returns its input; signal-me  ends with exit signal TERM; no-status  closes without a status;
  late-status  the status comes before the data; slow-eof  data after the client's end of input
"""
import asyncio
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import asyncssh                                                             # noqa: E402
import tap                                                                  # noqa: E402

PASSWORD = tap.setting("PASSWORD")


class Server(asyncssh.SSHServer):
    def connection_made(self, conn):
        self.conn = conn

    def begin_auth(self, username):
        if tap.setting("BANNER"):
            self.conn.send_auth_banner(tap.setting("BANNER"))
        return True

    def password_auth_supported(self):
        return bool(PASSWORD)

    def validate_password(self, username, password):
        return password == PASSWORD

    def kbdint_auth_supported(self):
        return bool(PASSWORD)

    def get_kbdint_challenge(self, username, lang, submethods):
        return "", "two questions", "", [("Password: ", False), ("Again: ", True)]

    def validate_kbdint_response(self, username, responses):
        return responses == [PASSWORD, PASSWORD]


async def echo_back(process):
    while True:
        data = await process.stdin.read(65536)
        if not data:
            break
        process.stdout.write(data)
        await process.stdout.drain()
    process.exit(3)


async def handle(process):
    command = process.command or ""
    if command == "echo-back":
        await echo_back(process)
    elif command == "signal-me":
        process.channel.exit_with_signal("TERM", True, "ended here")
    elif command == "no-status":
        process.stdout.write(b"data")
        process.channel.close()
    elif command == "late-status":
        # Status first, then data: both are to arrive.
        process.channel._send_request(b"exit-status", asyncssh.packet.UInt32(6))
        process.stdout.write(b"x" * 500000)
        await process.stdout.drain()
        process.channel.write_eof()
        process.channel.close()
    elif command == "slow-eof":
        await process.stdin.read()
        process.stdout.write(b"after the end of input")
        process.exit(0)
    else:
        size = process.get_terminal_size() if process.get_terminal_type() else None
        if size:
            process.stdout.write(("%s %d %d\n" % (process.get_terminal_type(), size[1], size[0])).encode())
        child = await asyncio.create_subprocess_exec(
            "/bin/sh", "-c", command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env=dict(os.environ, **{k: v for k, v in process.env.items()}))
        out, err = await child.communicate(await process.stdin.read())
        process.stdout.write(out)
        process.stderr.write(err)
        status = child.returncode
        process.exit(status if status >= 0 else 128 - status)


async def main():
    options = {}
    for name, option in (("CIPHERS", "encryption_algs"), ("MACS", "mac_algs"), ("KEX", "kex_algs"), ("COMPRESSION", "compression_algs")):
        if tap.setting(name):
            options[option] = tap.names(tap.setting(name))
    if tap.setting("REKEY_BYTES"):
        options["rekey_bytes"] = tap.number("REKEY_BYTES", 0)
    server = await asyncssh.create_server(
        Server, "127.0.0.1", 0, server_host_keys=tap.names(tap.setting("HOST_KEY_FILES")), authorized_client_keys=tap.setting("AUTHORIZED"),
        process_factory=handle, encoding=None, sftp_factory=True, allow_scp=True, **options)
    print(server.get_port() if hasattr(server, "get_port") else server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()

if "--list" in sys.argv:
    from asyncssh import encryption, kex, mac
    for kind, have in (("cipher", encryption.get_encryption_algs()), ("mac", mac.get_mac_algs()), ("kex", kex.get_kex_algs())):
        for algorithm in have:
            print(kind, algorithm.decode())
else:
    asyncio.run(main())
