"""Chromium over the DevTools protocol, by a pair of pipes: no port, nothing but the standard library."""
import json, os, select, shutil, signal, subprocess, tempfile, time

PROGRAMS = ["chromium", "chromium-browser", "google-chrome"]


def program():
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


class Failure(Exception):
    pass


class Browser:
    """One headless browser with one page. `patience` is how long anything may take, in seconds."""

    def __init__(self, patience=60, overrides=None):
        self.patience, self.overrides = patience, overrides
        self.folder = tempfile.mkdtemp(prefix="martlet-browser-")
        to_browser, self.out = os.pipe()
        self.source, from_browser = os.pipe()

        def arrange():
            # The browser reads commands from descriptor 3 and writes to 4.
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        self.process = subprocess.Popen(
            [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-features=LocalNetworkAccessChecks", "--disable-component-update", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={self.folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False,
            preexec_fn=arrange, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.answers, self.session = b"", 0, {}, None
        self.hosts, self.complaints, self.paths = set(), [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Network", "Log"]:
            self.call(f"{domain}.enable")
        if overrides:
            self.call("Fetch.enable", patterns=[{"urlPattern": "*/console*"}])
        self.resize(1440, 900)

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.out)
        os.close(self.source)
        shutil.rmtree(self.folder, ignore_errors=True)

    # The protocol

    def call(self, method, **parameters):
        number = self.post(method, **parameters)
        end = time.monotonic() + self.patience
        while number not in self.answers:
            self.read(end, method)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise Failure(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def post(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        return self.number

    def read(self, end, purpose):
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.source], [], [], left)[0]:
                raise Failure(f"the browser did not answer {purpose} within {self.patience} s")
            piece = os.read(self.source, 1 << 16)
            if not piece:
                raise Failure("the browser has ended")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        if "id" in message:
            self.answers[message["id"]] = message
        else:
            self.note(message["method"], message["params"])

    def note(self, method, given):
        if method == "Network.requestWillBeSent":
            address = given["request"]["url"]
            if address.startswith("http"):
                self.hosts.add(address.split("/")[2])
        elif method == "Network.webSocketCreated":
            self.hosts.add(given["url"].split("/")[2])
        elif method == "Runtime.exceptionThrown":
            details = given["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and given["type"] in ("error", "assert"):
            self.complaints.append(" ".join(str(each.get("value", each.get("description"))) for each in given["args"]))
        elif method == "Log.entryAdded" and given["entry"]["level"] == "error":
            # A document that is refused has the status 400, which is what is asked for.
            if given["entry"]["source"] == "network" and given["entry"].get("url", "").endswith("/graphql"):
                return
            self.complaints.append(f"{given['entry']['text']} {given['entry'].get('url', '')}")
        elif method == "Fetch.requestPaused":
            self.answer_from_disk(given)

    def answer_from_disk(self, given):
        """Serves files of a folder in place of the embedded ones, while the pages are worked on."""
        import base64
        name = given["request"]["url"].split("?")[0].split("/")[-1]
        if name == "state":
            return self.post("Fetch.fulfillRequest", requestId=given["requestId"], responseCode=200,
              body=base64.b64encode(b'{"server":{"term":"9f03a1","head":1,"first":1,"bytes":1},"gauges":{"connections":1,"subscriptions":1},"counters":{"operations":1,"deliveries":1},"changes":[],"isCut":false,"isDevelopment":true}').decode())
        path = os.path.join(self.overrides, "console.html" if name == "console" else name)
        if not os.path.isfile(path):
            return self.post("Fetch.continueRequest", requestId=given["requestId"])
        kinds = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml", "html": "text/html"}
        self.post("Fetch.fulfillRequest", requestId=given["requestId"], responseCode=200,
                  responseHeaders=[{"name": "Content-Type", "value": kinds[path.split(".")[-1]]}],
                  body=base64.b64encode(open(path, "rb").read()).decode())

    # The page

    def open(self, address):
        self.call("Page.navigate", url=address)
        self.until(f"document.readyState === 'complete' && location.href.startsWith({json.dumps(address)})")

    def run(self, expression):
        """The value of an expression, awaited when it is a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True,
                           userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Failure(f"{expression}: {details.get('exception', {}).get('description') or details['text']}")
        return answer["result"].get("value")

    def until(self, expression, what=None):
        """Waits until an expression is true of the page."""
        end = time.monotonic() + self.patience
        while True:
            if self.run(f"Boolean({expression})"):
                return
            if time.monotonic() > end:
                raise Failure(f"not within {self.patience} s: {what or expression}")
            time.sleep(0.02)

    def click(self, selector):
        box = self.run(f"""(() => {{ const it = document.querySelector({json.dumps(selector)});
            if (!it) return null; it.scrollIntoView({{block: 'center'}}); const box = it.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; }})()""")
        if not box:
            raise Failure(f"there is no {selector}")
        for kind in ["mousePressed", "mouseReleased"]:
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def type(self, text):
        for character in text:
            self.call("Input.insertText", text=character) if character != "\n" else self.key("Enter")

    def key(self, name, control=False, shift=False):
        codes = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowRight": 39, "ArrowLeft": 37, " ": 32}
        given = dict(key=name, code="Space" if name == " " else name, windowsVirtualKeyCode=codes[name],
                     modifiers=(2 if control else 0) | (8 if shift else 0))
        if name == "Enter" and not control:
            given["text"] = "\r"
        self.call("Input.dispatchKeyEvent", type="keyDown", **given)
        given.pop("text", None)
        self.call("Input.dispatchKeyEvent", type="keyUp", **given)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        import base64
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
