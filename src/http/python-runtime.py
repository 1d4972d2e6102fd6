class Unset:
    """The default of what may be left out. None is sent as null, which clears a field."""

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset()

COLUMNS_TYPE: Final = "application/vnd.chartroom.columns"

# Answers that say to try again later; the server has done nothing then.
_LATER: Final = (429, 503)

_LONGEST_WAIT: Final = 60.0


class ChartroomError(Exception):
    """The server said no. `code` is stable; `fields` name what was wrong with the request.

    `status` is 0 if there was no answer. `retry_after` is in seconds, where the server said so.
    """

    def __init__(self, status: int, error: Mapping[str, Any], retry_after: float | None = None) -> None:
        super().__init__(error.get("message") or f"HTTP {status}")
        self.status = status
        self.code: str = error.get("code") or "unknown"
        self.request_id: str = error.get("requestId") or ""
        self.fields: list[dict[str, Any]] = list(error.get("fields") or [])
        waits = error.get("retryAfter")
        self.retry_after: float | None = retry_after if waits is None else float(waits)

    def __str__(self) -> str:
        told = "".join(f"\n  {field.get('path')}: {field.get('message')}" for field in self.fields)
        return f"{super().__str__()} ({self.code}){told}"


class Rows(Sequence[Any]):
    """A list of objects that is kept as columns: `rows[0]` is an object, `rows.columns['close']` a list."""

    def __init__(self, length: int, columns: dict[str, list[Any]]) -> None:
        self._length = length
        self.columns = columns

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._length))]
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return {name: values[index] for name, values in self.columns.items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (list, Rows)) and list(self) == list(other)

    def __repr__(self) -> str:
        return f"Rows({self._length}: {', '.join(self.columns)})"


def columns(rows: Sequence[Mapping[str, Any]] | Mapping[str, Any]) -> dict[str, list[Any]]:
    """The columns of a list of objects: for each name a list of values, None where an object lacks it.

    What is columns already, as the bars are, stays as it is.
    """
    if isinstance(rows, Rows):
        return rows.columns
    if isinstance(rows, Mapping):
        return {name: list(values) for name, values in rows.items()}
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def table(rows: Sequence[Mapping[str, Any]] | Mapping[str, Any]) -> Any:
    """A pandas DataFrame of a list of objects or of columns; the columns as a dict of lists without pandas.

    `time`, and what ends in `Time`, is in milliseconds since 1970, and in a DataFrame a timestamp in UTC; `time` is
    its index.
    """
    found = columns(rows)
    try:
        pandas: Any = importlib.import_module("pandas")
    except ImportError:
        return found
    frame = pandas.DataFrame(found)
    for name in found:
        if name == "time" or name.endswith("Time"):
            frame[name] = pandas.to_datetime(frame[name], unit="ms", utc=True)
    return frame.set_index("time") if "time" in found else frame


def decode_columns(data: bytes) -> Any:
    """Makes of an answer as columns what the JSON answer says, with `Rows` in place of long lists of objects."""
    if len(data) < 8 or data[:4] != b"CRC1":
        raise ValueError("expected an answer as columns")
    offset = 8 + int.from_bytes(data[4:8], "little")
    if offset > len(data):
        raise ValueError("the answer as columns is cut short")
    header = json.loads(data[8:offset])
    root: dict[str, Any] = {"answer": header["answer"]}

    def following(column: Mapping[str, Any]) -> list[Any]:
        nonlocal offset
        code = {"f64": "d", "i32": "i", "i16": "h", "i8": "b"}[column["type"]]
        items: array.array[Any] = array.array(code)
        size = column["length"] * items.itemsize
        if offset + size > len(data):
            raise ValueError("the answer as columns is cut short")
        items.frombytes(data[offset : offset + size])
        if sys.byteorder == "big":
            items.byteswap()
        offset += -(-size // 8) * 8
        scale = column.get("scale", 1)
        if "values" in column:
            values = column["values"]
            return [values[int(item)] for item in items]
        if "from" in column:
            sums: list[Any] = list(itertools.accumulate(items, initial=column["from"]))[1:]
            return sums if scale == 1 else [one / scale for one in sums]
        if code == "d":
            return [None if item != item else item / scale for item in items]
        none = -(1 << (items.itemsize * 8 - 1))
        if scale == 1:
            return [None if item == none else item for item in items]
        return [None if item == none else item / scale for item in items]

    for column in header["columns"]:
        _put(root, ["answer", *column["at"]], following(column))
    for one in header["tables"]:
        fields = {field["at"][0]: following(field) for field in one["fields"]}
        _put(root, ["answer", *one["at"]], Rows(one["length"], fields))
    return root["answer"]


def _put(root: Any, path: Sequence[Any], value: Any) -> None:
    place: Any = root
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value


class Event(TypedDict):
    """One event of a stream. `id` is what `after` takes to go on behind it."""

    id: str
    event: str
    data: Any


class _Caller:
    """What the operations below stand on: one connection a thread, retries that never do a thing twice."""

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:3000",
        token: str | None = None,
        *,
        timeout: float = 300.0,
        retries: int = 2,
    ) -> None:
        """`token` is a personal access token, of CHARTROOM_TOKEN if it is not given. `timeout` is in seconds.

        Answers 429 and 503, and connections that break, are tried again up to `retries` times. A POST carries a key
        by which the server knows a repetition, so that nothing is made twice.
        """
        parts = urllib.parse.urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"base_url must be an address like http://127.0.0.1:3000, not {base_url!r}")
        self._address = parts
        self._token = os.environ.get("CHARTROOM_TOKEN") if token is None else token
        self._timeout = timeout
        self._retries = retries
        self._local = threading.local()
        self._connections: list[http.client.HTTPConnection] = []

    def close(self) -> None:
        """Closes the connections, as the end of a `with` does. The next call opens another."""
        while self._connections:
            self._connections.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(
        self,
        operation: str,
        *,
        path: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = UNSET,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Calls an operation by method and path, `call('GET /api/platform/alerts/{id}', path={'id': …})`."""
        method, _, template = operation.partition(" ")
        sent = {"accept": f"{COLUMNS_TYPE}, application/json", **(headers or {})}
        target, content = self._request(template, path or {}, query or {}, body, sent)
        if method == "POST":
            sent.setdefault("idempotency-key", str(uuid.uuid4()))
        for tried in itertools.count():
            try:
                status, answered, data = self._send(method, target, content, sent)
            except (OSError, http.client.HTTPException) as error:
                if tried >= self._retries:
                    problem = {"code": "no_answer", "message": f"{self._where()} does not answer: {error}"}
                    raise ChartroomError(0, problem) from error
                time.sleep(min(0.2 * 2**tried, 5.0))
                continue
            if 200 <= status < 300:
                return _read(answered, data)
            problem = _problem(status, answered, data)
            waits = 1.0 if problem.retry_after is None else problem.retry_after
            if status not in _LATER or tried >= self._retries or waits > _LONGEST_WAIT:
                raise problem
            time.sleep(waits)
        raise AssertionError("unreachable")

    def pages(self, operation: str, *, query: Mapping[str, Any] | None = None, **more: Any) -> Iterator[Any]:
        """Every item of a list, page by page: `pages('GET /api/platform/alerts')`."""
        cursor: str | None = None
        while True:
            asked = {**(query or {}), **({"cursor": cursor} if cursor else {})}
            answer = self.call(operation, query=asked, **more)
            yield from next(value for value in answer.values() if not isinstance(value, (str, bool, type(None))))
            cursor = answer.get("nextCursor")
            if not cursor:
                return

    def events(
        self,
        operation: str,
        *,
        path: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> Iterator[Event]:
        """The events of a stream as they happen, until the server ends it."""
        sent = {"accept": "text/event-stream"}
        _, _, template = operation.partition(" ")
        target, _ = self._request(template, path or {}, query or {}, UNSET, sent)
        connection = self._connect()
        try:
            connection.request("GET", target, headers=sent)
            response = connection.getresponse()
            if response.status != 200:
                raise _problem(response.status, response.headers, response.read())
            yield from _events(response)
        finally:
            connection.close()

    def _where(self) -> str:
        return f"{self._address.scheme}://{self._address.netloc}"

    def _connect(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._address.scheme == "https" else http.client.HTTPConnection
        return kind(self._address.hostname or "", self._address.port, timeout=self._timeout)

    def _request(
        self,
        template: str,
        path: Mapping[str, Any],
        query: Mapping[str, Any],
        body: Any,
        sent: dict[str, str],
    ) -> tuple[str, bytes | None]:
        """The address and the content of a request; adds to `sent` what the content and the token need."""
        missing = [name for name in re.findall(r"\{(\w+)\}", template) if str(path.get(name, "")) == ""]
        if missing:
            raise ValueError(f"{template} needs {missing[0]!r} in path")
        filled = re.sub(r"\{(\w+)\}", lambda found: urllib.parse.quote(str(path[found[1]]), safe=""), template)
        asked = {name: _text(value) for name, value in query.items() if value is not None and value is not UNSET}
        target = self._address.path.rstrip("/") + filled + (f"?{urllib.parse.urlencode(asked)}" if asked else "")
        if self._token:
            sent.setdefault("authorization", f"Bearer {self._token}")
        if body is UNSET:
            return target, None
        if isinstance(body, (str, bytes)):
            sent.setdefault("content-type", "text/csv; charset=utf-8")
            return target, body.encode() if isinstance(body, str) else body
        sent.setdefault("content-type", "application/json")
        return target, json.dumps(body, allow_nan=False).encode()

    def _send(
        self, method: str, target: str, content: bytes | None, sent: Mapping[str, str]
    ) -> tuple[int, Any, bytes]:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect()
            self._connections.append(connection)
        try:
            connection.request(method, target, body=content, headers=dict(sent))
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        except BaseException:
            connection.close()
            raise


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _given(**fields: Any) -> dict[str, Any]:
    return {name.rstrip("_"): value for name, value in fields.items() if value is not UNSET}


def _headers(*, prefer: str | Unset = UNSET, idempotency_key: str | Unset = UNSET) -> dict[str, str]:
    given = {"prefer": prefer, "idempotency-key": idempotency_key}
    return {name: value for name, value in given.items() if isinstance(value, str)}


def _read(answered: Any, data: bytes) -> Any:
    kind = answered.get_content_type()
    if kind == COLUMNS_TYPE:
        return decode_columns(data)
    if kind == "application/json":
        return json.loads(data)
    return data.decode() if kind.startswith("text/") else data


def _problem(status: int, answered: Any, data: bytes) -> ChartroomError:
    try:
        error = json.loads(data)["error"]
    except (ValueError, KeyError, TypeError):
        error = {"message": f"HTTP {status} without an answer of Chartroom's; is a proxy before it?"}
    waits = answered.get("retry-after")
    return ChartroomError(status, error, float(waits) if waits and waits.isdigit() else None)


def _events(lines: Any) -> Iterator[Event]:
    at, kind = "", "message"
    data: list[str] = []
    for raw in lines:
        line = raw.decode().rstrip("\r\n")
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            at = value
        elif name == "event":
            kind = value
        elif name == "data":
            data.append(value)
        elif line == "" and data:
            text = "\n".join(data)
            try:
                found = json.loads(text)
            except ValueError:
                found = text
            yield {"id": at, "event": kind, "data": found}
            kind = "message"
            data.clear()
