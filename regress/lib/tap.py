"""tap.py: lines for from_program in ssh.sh, and data, for the tests in Python."""
import hashlib
import os
import sys
import traceback


def say(good, name, why=""):
    print(("ok " if good else "not ok ") + name, flush=True)
    if not good and why:
        for line in str(why).splitlines()[-12:]:
            print("   " + line, flush=True)


def same(name, got, wanted):
    say(got == wanted, name, "got: %.2000r\nwanted: %.200r" % (got, wanted))


def skip(name):
    print("skip " + name, flush=True)


def attempt(name, function, *arguments):
    """A test that is good when the function returns True or None; what it throws is shown."""
    try:
        result = function(*arguments)
        say(result is None or result is True, name, result)
    except Exception:
        say(False, name, traceback.format_exc())


def wants(name, errors, function, *arguments):
    """A test that is good when one of the errors is thrown."""
    try:
        result = function(*arguments)
        say(False, name, "no error, but %.200r" % (result,))
    except errors:
        say(True, name)
    except Exception:
        say(False, name, traceback.format_exc())


def sha(data):
    return hashlib.sha256(data).hexdigest()


def random_data(n):
    return os.urandom(n)


def names(text):
    return [n for n in text.replace(",", " ").split() if n]


def setting(name, default=""):
    return os.environ.get(name, default)


def number(name, default):
    return int(os.environ.get(name, default))


if __name__ == "__main__":
    sys.exit("to be imported")
