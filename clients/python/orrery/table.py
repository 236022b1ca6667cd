"""Results of a call as a table: a tuple of dataclasses that a notebook shows, and pandas takes."""
import datetime
import html
from typing import Any, List, Tuple, TypeVar

from .wire import Message, as_mapping

T = TypeVar("T", bound=Message)
ROWS_SHOWN = 200


class Table(Tuple[T, ...]):
    """A tuple; `to_pandas()` and a notebook's display show one row for each element."""

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a column for each field."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas() needs pandas, which is not installed here: install Debian's "
                              "python3-pandas, or `pip install pandas`") from None
        rows = [as_mapping(one) for one in self]
        return pandas.DataFrame(rows, columns=self._columns(all_of_them=True))

    def _columns(self, all_of_them: bool = False) -> List[str]:
        names = [field.name for field in self[0].wire_fields()] if self else []
        if all_of_them:
            return names
        return [name for name in names if any(getattr(one, name) not in (None, "", (), False) for one in self)]

    def _repr_html_(self) -> str:
        if not self:
            return "<p>none</p>"
        names = self._columns()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        rows = [
            "<tr>" + "".join(f"<td>{html.escape(_text(name, getattr(one, name)))}</td>" for name in names) + "</tr>"
            for one in self[:ROWS_SHOWN]
        ]
        more = f"<p>and {len(self) - ROWS_SHOWN} more</p>" if len(self) > ROWS_SHOWN else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}"


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and name.endswith("_s") and value > 1e9:  # seconds since 1970
        return datetime.datetime.fromtimestamp(value).isoformat(" ", "seconds")
    if isinstance(value, tuple):
        return ", ".join(str(one) for one in value)
    return str(value)
