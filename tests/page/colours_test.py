"""The colours of the report page: every reader distinguishes its series, on light and dark.

Series of one dash have colours that differ for readers with each kind of colour blindness. Colour
vision after Machado, Oliveira and Fernandes (2009), differences in CIELAB.
"""
import itertools
import pathlib
import re
import unittest

STYLE = pathlib.Path(__file__).resolve().parents[2] / "src/report/page/browser/report.css"
SERIES = 24
DASHES = 8  # series_style.js
SIGHTS = {
    "full": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((.152286, 1.052583, -.204868), (.114503, .786281, .099216), (-.003882, -.048116, 1.051998)),
    "deuteranopia": ((.367322, .860646, -.227968), (.280085, .672501, .047413), (-.011820, .042940, .968881)),
    "tritanopia": ((1.255528, -.076749, -.178779), (-.078411, .930809, .147602), (.004733, .691367, .303900)),
}


def linear(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= .04045 else ((c + .055) / 1.055) ** 2.4 for c in parts]


def luminance(colour):
    return sum(weight * part for weight, part in zip((.2126, .7152, .0722), linear(colour)))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + .05) / (low + .05)


def lab(colour, sight):
    seen = [min(1, max(0, sum(w * p for w, p in zip(row, linear(colour))))) for row in SIGHTS[sight]]
    white = (.95047, 1, 1.08883)
    rows = ((.4124, .3576, .1805), (.2126, .7152, .0722), (.0193, .1192, .9505))
    x, y, z = (sum(w * p for w, p in zip(row, seen)) / whole for row, whole in zip(rows, white))
    x, y, z = (t ** (1 / 3) if t > .008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(one, other, sight):
    return sum((a - b) ** 2 for a, b in zip(lab(one, sight), lab(other, sight))) ** .5


class Colours(unittest.TestCase):
    def setUp(self):
        blocks = re.findall(r":root[^{]*\{(.*?)\}", STYLE.read_text(), re.DOTALL)
        self.themes = [dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6})", block)) for block in blocks[:2]]

    def test_each_stands_out_from_the_card(self):
        for theme in self.themes:
            for i in range(SERIES):
                self.assertGreaterEqual(contrast(theme[f"s{i}"], theme["card"]), 3, (i, theme["card"]))

    def test_no_two_are_the_same(self):
        for theme in self.themes:
            for i, k in itertools.combinations(range(SERIES), 2):
                self.assertGreater(difference(theme[f"s{i}"], theme[f"s{k}"], "full"), 8, (i, k))

    def test_series_of_one_dash_differ_for_every_reader(self):
        for theme in self.themes:
            for i, k in itertools.combinations(range(SERIES), 2):
                if i % DASHES != k % DASHES:
                    continue
                for sight in SIGHTS:
                    self.assertGreater(difference(theme[f"s{i}"], theme[f"s{k}"], sight), 20, (i, k, sight))


if __name__ == "__main__":
    unittest.main()
