"""Drives a headless Chromium over its DevTools pipe, with nothing but the standard library."""
import fcntl
import json
import os
import shutil
import subprocess
import tempfile

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "ArrowLeft": (37, ""), "ArrowRight": (39, ""), "+": (187, "+"), "Home": (36, "")}


def find_chromium():
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One browser with one page. Every call waits for its answer."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory()
        theirs_in, self.ours_out = os.pipe()
        self.ours_in, theirs_out = os.pipe()

        def hand_over():  # Chromium reads commands from 3 and writes answers to 4
            commands, answers = (fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in (theirs_in, theirs_out))
            os.dup2(commands, 3)
            os.dup2(answers, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
             "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}/profile"],
            preexec_fn=hand_over, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.buffer = b""
        self.number = 0
        self.events = []
        self.session = None
        self.downloads = os.path.join(self.folder.name, "downloads")
        os.mkdir(self.downloads)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Runtime.enable")
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.downloads, eventsEnabled=True, session=None)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.ours_in)
        os.close(self.ours_out)
        self.folder.cleanup()

    def _receive(self):
        while b"\0" not in self.buffer:
            part = os.read(self.ours_in, 1 << 20)
            if not part:
                raise RuntimeError("Chromium has ended")
            self.buffer += part
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, session=True, **arguments):
        self.number += 1
        request = {"id": self.number, "method": method, "params": arguments}
        if session and self.session:
            request["sessionId"] = self.session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.ours_out, data):]
        while True:
            message = self._receive()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def wait(self, method, accept=lambda parameters: True):
        while True:
            for event in self.events:
                if event.get("method") == method and accept(event["params"]):
                    self.events.remove(event)
                    return event["params"]
            self.events.append(self._receive())

    def size(self, width, height=1000):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, address):
        self.call("Page.navigate", url="about:blank")
        self.wait("Page.loadEventFired")
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.wait("Page.loadEventFired")

    def faults(self):
        """Uncaught exceptions of the page's script, and dialogs that it opened."""
        return [event for event in self.events if event.get("method") in ("Runtime.exceptionThrown", "Page.javascriptDialogOpening")]

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def mouse(self, kind, x, y, clicks=1):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=clicks)

    def drag(self, x1, x2, y):
        self.mouse("mousePressed", x1, y)
        self.mouse("mouseMoved", (x1 + x2) / 2, y)
        self.mouse("mouseMoved", x2, y)
        self.mouse("mouseReleased", x2, y)

    def press(self, key, shift=False):
        code, text = KEYS[key]
        common = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def download(self, selector):
        """Presses a button and returns the bytes of the file that it gives."""
        self.run(f"document.querySelector({json.dumps(selector)}).click()")
        begun = self.wait("Browser.downloadWillBegin")
        self.wait("Browser.downloadProgress", lambda p: p["guid"] == begun["guid"] and p["state"] == "completed")
        path = os.path.join(self.downloads, begun["suggestedFilename"])
        with open(path, "rb") as file:
            data = file.read()
        os.remove(path)
        return begun["suggestedFilename"], data
