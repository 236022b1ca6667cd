"""Messages of the scheduler as frozen dataclasses, in protobuf's binary form and as JSON.

A field names its number and its type as the .proto file spells them; both forms are read from that.
"""
import base64
import dataclasses
import struct
from typing import Any, ClassVar, Dict, Iterator, List, Mapping, Tuple, Type, TypeVar

from .errors import DataLoss, InvalidArgument

M = TypeVar("M", bound="Message")

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
WHOLE = {"int32": 32, "int64": 64}


def wire(number: int, kind: str) -> Any:
    """A field of a message: `kind` is its type in the .proto file, with optional or repeated."""
    label, _, name = kind.rpartition(" ")
    usual: Any = None
    if label == "repeated":
        usual = ()
    elif not label:
        usual = {"string": "", "bytes": b"", "bool": False, "double": 0.0}.get(name)
        usual = 0 if name in WHOLE else usual
    return dataclasses.field(default=usual, metadata={"number": number, "kind": kind})


def enum(number: int, kind: str, names: Tuple[str, ...]) -> Any:
    """A field whose values are the words `names`, by their numbers."""
    usual = names[0] if " " not in kind else None
    return dataclasses.field(default=usual, metadata={"number": number, "kind": kind, "names": names})


@dataclasses.dataclass(frozen=True)
class Field:
    name: str
    number: int
    label: str  # "", "optional" or "repeated"
    kind: str  # a scalar's, or the name of a message or enumeration
    names: Tuple[str, ...]  # of an enumeration
    message: Any  # its class, if the kind is a message

    @property
    def key(self) -> str:
        """Its name in the .proto file; one that is a word of Python ends in _ here."""
        return self.name.rstrip("_")


class Message:
    """What all messages can do; each is a frozen dataclass whose fields are made by wire()."""

    types: ClassVar[Dict[str, Type["Message"]]] = {}
    _fields: ClassVar[Tuple[Field, ...]]

    def __init_subclass__(cls) -> None:
        Message.types[cls.__name__] = cls

    @classmethod
    def wire_fields(cls) -> Tuple[Field, ...]:
        if "_fields" not in cls.__dict__:
            found = []
            for entry in dataclasses.fields(cls):
                label, _, kind = entry.metadata["kind"].rpartition(" ")
                found.append(Field(entry.name, entry.metadata["number"], label, kind,
                                   entry.metadata.get("names", ()), Message.types.get(kind)))
            cls._fields = tuple(found)
        return cls._fields

    def to_bytes(self) -> bytes:
        out = bytearray()
        for field in self.wire_fields():
            value = getattr(self, field.name)
            if field.label == "repeated":
                if field.kind in WHOLE and value:
                    packed = b"".join(_varint(_whole(one, field)) for one in value)
                    out += _key(field.number, BYTES) + _varint(len(packed)) + packed
                else:
                    for one in value:
                        out += _value(one, field)
            elif value is not None and (field.label or field.message or not _is_usual(value, field)):
                out += _value(value, field)
        return bytes(out)

    @classmethod
    def from_bytes(cls: Type[M], data: bytes) -> M:
        known = {field.number: field for field in cls.wire_fields()}
        found: Dict[str, Any] = {}
        lists: Dict[str, List[Any]] = {}
        for number, shape, value in _entries(data):
            field = known.get(number)
            if field is None:  # of a newer scheduler
                continue
            if field.label != "repeated":
                found[field.name] = _read(value, shape, field)
            elif shape == BYTES and (field.kind in WHOLE):
                lists.setdefault(field.name, []).extend(
                    _read(one, VARINT, field) for one in _varints(value))
            else:
                lists.setdefault(field.name, []).append(_read(value, shape, field))
        found.update((name, tuple(values)) for name, values in lists.items())
        return cls(**found)

    def to_json(self) -> Dict[str, Any]:
        out: Dict[str, Any] = {}
        for field in self.wire_fields():
            value = getattr(self, field.name)
            if field.label == "repeated":
                if value:
                    out[field.key] = [_json(one, field) for one in value]
            elif value is not None and (field.label or field.message or not _is_usual(value, field)):
                out[field.key] = _json(value, field)
        return out

    @classmethod
    def from_json(cls: Type[M], data: Any) -> M:
        if not isinstance(data, dict):
            raise DataLoss(f"{cls.__name__}: the answer is not an object", "the scheduler")
        found: Dict[str, Any] = {}
        for field in cls.wire_fields():
            value = data.get(field.key)
            if value is None:
                continue
            try:
                if field.label == "repeated":
                    found[field.name] = tuple(_unjson(one, field) for one in value)
                else:
                    found[field.name] = _unjson(value, field)
            except (TypeError, ValueError) as fault:
                raise DataLoss(f"{cls.__name__}.{field.name}: {fault}", "the scheduler") from fault
        return cls(**found)


def _is_usual(value: Any, field: Field) -> bool:
    return bool(value == (field.names[0] if field.names else type(value)()))


def _whole(value: Any, field: Field) -> int:
    bits = WHOLE.get(field.kind, 64)
    if not isinstance(value, int) or not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise InvalidArgument(f"{value!r} is no whole number of {bits} bits", field.name)
    return int(value)


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _key(number: int, shape: int) -> bytes:
    return _varint(number << 3 | shape)


def _value(value: Any, field: Field) -> bytes:
    if field.kind == "double":
        return _key(field.number, FIXED64) + struct.pack("<d", value)
    if field.kind in WHOLE or field.kind == "bool":
        return _key(field.number, VARINT) + _varint(_whole(value, field))
    if field.names:
        return _key(field.number, VARINT) + _varint(_enum_number(value, field))
    if field.message:
        body = bytes(value.to_bytes())
    elif field.kind == "bytes":
        body = bytes(value)
    elif isinstance(value, str):
        body = value.encode("utf-8", "surrogateescape")
    else:
        raise InvalidArgument(f"{value!r} is no text", field.name)
    return _key(field.number, BYTES) + _varint(len(body)) + body


def _enum_number(value: str, field: Field) -> int:
    if value not in field.names:
        raise InvalidArgument(f"there is no {value!r}; write {', '.join(field.names)}", field.name)
    return field.names.index(value)


def _enum_name(number: int, field: Field) -> str:
    return field.names[number] if 0 <= number < len(field.names) else str(number)


def _take_varint(data: bytes, at: int) -> Tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (1 << 64) - 1, at
        shift += 7
    raise DataLoss("a number in the answer is cut off", "the scheduler")


def _varints(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _take_varint(data, at)
        yield value


def _entries(data: bytes) -> Iterator[Tuple[int, int, Any]]:
    at = 0
    while at < len(data):
        key, at = _take_varint(data, at)
        shape = key & 7
        if shape == VARINT:
            value, at = _take_varint(data, at)
            yield key >> 3, shape, value
            continue
        size = {FIXED64: 8, FIXED32: 4}.get(shape)
        if shape == BYTES:
            size, at = _take_varint(data, at)
        if size is None or at + size > len(data):
            raise DataLoss("the answer is cut off", "the scheduler")
        yield key >> 3, shape, data[at:at + size]
        at += size


SHAPES = {"double": FIXED64, "int32": VARINT, "int64": VARINT, "bool": VARINT}


def _read(value: Any, shape: int, field: Field) -> Any:
    if shape != (VARINT if field.names else SHAPES.get(field.kind, BYTES)):
        raise DataLoss(f"{field.name} has another type than {field.kind}", "the scheduler")
    if field.kind == "double":
        return struct.unpack("<d", value)[0]
    if field.kind == "bool":
        return value != 0
    if field.kind in WHOLE:
        return value - (1 << 64) if value >> 63 else value
    if field.names:
        return _enum_name(value, field)
    if field.message:
        return field.message.from_bytes(value)
    return bytes(value) if field.kind == "bytes" else value.decode("utf-8", "replace")


def _json(value: Any, field: Field) -> Any:
    if field.message:
        return value.to_json()
    if field.kind == "int64":
        return str(_whole(value, field))
    if field.names:
        return field.names[_enum_number(value, field)]
    if field.kind == "bytes":
        return base64.b64encode(value).decode("ascii")
    return value


def _unjson(value: Any, field: Field) -> Any:
    if field.message:
        return field.message.from_json(value)
    if field.kind in WHOLE:
        return int(value)
    if field.kind == "double":
        return float(value)
    if field.kind == "bytes":
        return base64.b64decode(value, validate=True)
    if field.names:
        return _enum_name(value, field) if isinstance(value, int) else str(value)
    if not isinstance(value, bool if field.kind == "bool" else str):
        raise TypeError(f"{value!r} is no {field.kind}")
    return value


def query(message: Message) -> List[Tuple[str, str]]:
    """The fields of a message for the part of a URL behind the question mark."""
    pairs: List[Tuple[str, str]] = []
    for name, value in message.to_json().items():
        for one in value if isinstance(value, list) else [value]:
            pairs.append((name, str(one).lower() if isinstance(one, bool) else str(one)))
    return pairs


def as_mapping(message: Message) -> Mapping[str, Any]:
    """Its fields by name, as a row of a table."""
    return {field.name: getattr(message, field.name) for field in message.wire_fields()}
