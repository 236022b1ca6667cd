"""report_page_test.py ORRERY: what readers can do with a report page, tried in a headless Chromium.

Skips (77) where no Chromium is installed.
"""
import csv
import html
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from browser import Browser, find_chromium

ORRERY = sys.argv.pop(1) if len(sys.argv) > 1 else "orrery"
MANY = ("fifo,sjf,srtf,srsf,las,gittins,gandiva,themis,antman,muri-s,muri-l,optimus,afs,pollux,elasticflow,edf,edf-admission,"
        "chronus,orrery-deadline,fifo+tune,srtf+tune,las+tune,fifo+proportional,srtf+proportional").split(",")
WAITING = "section[aria-label='Jobs waiting']"
HELD = "section[aria-label='GPUs in use']"
DATA = re.compile(r'(<script type="application/json" id="data">)(.*?)(</script>)', re.DOTALL)


def with_data(page, change):
    """The page with its data changed, escaped as the program escapes it."""
    match = DATA.search(page)
    runs = json.loads(match.group(2))
    change(runs)
    return page[:match.start(2)] + json.dumps(runs).replace("<", "\\u003c") + page[match.end(2):]


class ReportPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.browser = Browser(find_chromium())

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def report(self, policies="fifo,srtf,las", trace="philly-like:jobs=300,seed=1,gpus=16,load=0.9", cluster="2x8"):
        path = pathlib.Path(self.folder.name, "report.html")
        made = subprocess.run([ORRERY, "simulate", "--trace", trace, "--cluster", cluster, "--policy", policies, "--report", path, "--quiet"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        return path.read_text()

    def show(self, page, width=1400, suffix=""):
        path = pathlib.Path(self.folder.name, "shown.html")
        path.write_text(page)
        self.browser.size(width)
        self.browser.open(f"file://{path}{suffix}")
        self.assertEqual(self.browser.faults(), [])
        return self.browser

    def data(self, page):
        return json.loads(DATA.search(page).group(2))

    def place(self, selector):
        """Edges of the plot of a section after scrolling to it: left, right, middle height."""
        box = self.browser.run(f"""(() => {{ const p = document.querySelector("{selector} .plot"); p.scrollIntoView({{block: 'center'}});
            const b = p.getBoundingClientRect(); return [b.left, b.right, (b.top + b.bottom) / 2]; }})()""")
        return box

    def ticks(self, selector):
        return self.browser.run(f"""[...document.querySelectorAll("{selector} .plot text[text-anchor=middle]")].map((t) => t.textContent).join(' ')""")

    def shown_span(self):
        found = re.search(r"span=([\d.]+)-([\d.]+)", self.browser.run("location.hash"))
        return found and (float(found.group(1)), float(found.group(2)))

    def test_a_span_chosen_in_one_chart_is_the_span_of_all_and_in_the_address(self):
        page = self.report()
        browser = self.show(page)
        whole = self.ticks(HELD)
        left, right, y = self.place(WAITING)
        browser.drag(left + 150, left + 250, y)
        self.assertEqual(browser.faults(), [])
        first, last = self.shown_span()
        series = self.data(page)[0]["series"]
        length = series["bucket"] * len(series["waiting"])
        scale = length / (right - left - 62)
        self.assertAlmostEqual(first, series["start"] + 100 * scale, delta=3 * scale)
        self.assertAlmostEqual(last - first, 100 * scale, delta=3 * scale)
        zoomed = self.ticks(HELD)
        self.assertNotEqual(zoomed, whole)
        self.assertEqual(self.ticks(WAITING), zoomed)
        link = browser.run("location.hash")
        self.show(page, suffix=link)
        self.assertEqual(self.ticks(HELD), zoomed, "a link carries the span")
        left, _, y = self.place(HELD)
        for clicks in (1, 2):
            browser.mouse("mousePressed", left + 200, y, clicks)
            browser.mouse("mouseReleased", left + 200, y, clicks)
        self.assertIsNone(self.shown_span())
        self.assertEqual(self.ticks(WAITING), whole, "a double click shows the whole run")

    def test_the_keyboard_chooses_a_span_too(self):
        browser = self.show(self.report("fifo,srtf"))
        browser.run(f"""document.querySelector("{WAITING} .plot").focus()""")
        for _ in range(10):
            browser.press("ArrowRight", shift=True)
        self.assertFalse(browser.run(f"""document.querySelector("{WAITING} .brush").hidden"""))
        browser.press("Enter")
        first, last = self.shown_span()
        browser.press("+")
        closer = self.shown_span()
        self.assertAlmostEqual(closer[1] - closer[0], (last - first) / 2, delta=(last - first) / 100)
        browser.press("Escape")
        self.assertIsNone(self.shown_span())
        browser.press("ArrowLeft")
        self.assertFalse(browser.run("document.getElementById('tip').hidden"))
        browser.run("document.querySelector('canvas').focus()")
        browser.press("ArrowRight")
        self.assertFalse(browser.run("document.getElementById('tip').hidden"))
        browser.run("document.querySelector('.span-bar button[aria-label=\"Zoom in\"]').click()")
        self.assertIsNotNone(self.shown_span(), "the buttons zoom as well")
        self.assertEqual(browser.faults(), [])

    def test_a_span_that_is_none_shows_the_whole_run(self):
        page = self.report("fifo")
        whole = self.show(page) and self.ticks(WAITING)
        for suffix in ("#span=9-3", "#span=x", "#span=1e999-2", "#span=99999999999-999999999999", "#%%%"):
            self.show(page, suffix=suffix)
            self.assertEqual(self.ticks(WAITING), whole, suffix)

    def test_tables_sort_by_pointer_and_keyboard(self):
        page = self.report("fifo,srtf,las,sjf")
        browser = self.show(page)
        names = lambda: browser.run("[...document.querySelectorAll('.comparison tbody th .policy')].map((n) => n.textContent).join(',')")
        state = lambda: browser.run("document.querySelector('.comparison th:nth-child(2)').getAttribute('aria-sort')")
        head = "document.querySelector('.comparison th:nth-child(2) button')"
        means = {run["summary"]["policy"]: run["summary"]["avg_jct_s"] for run in self.data(page)}
        rising = sorted(means, key=means.get)
        self.assertEqual(state(), "none")
        browser.run(f"{head}.click()")
        self.assertEqual((names().split(","), state()), (rising, "ascending"))
        browser.run(f"{head}.focus()")
        browser.press("Enter")
        self.assertEqual((names().split(","), state()), (rising[::-1], "descending"))
        browser.press("Enter")
        self.assertEqual((names(), state()), ("fifo,srtf,las,sjf", "none"))

    def test_a_chart_is_saved_as_a_drawing_that_needs_no_page(self):
        browser = self.show(self.report())
        for section in ("Jobs waiting", "Completion times", "The cluster over time"):
            name, data = browser.download(f"[aria-label='Download {section} as SVG']")
            self.assertEqual(name, section.lower().replace(" ", "-") + ".svg")
            text = data.decode()
            for outside in ("var(", "class=", "style=", "href", "@import"):
                self.assertNotIn(outside, text)
            drawing = xml.etree.ElementTree.fromstring(text)
            space = "{http://www.w3.org/2000/svg}"
            self.assertEqual(drawing.find(f"{space}title").text, section)
            shapes = drawing.findall(f".//{space}path") + drawing.findall(f".//{space}rect")
            self.assertGreater(len(shapes), 3)
            for path in drawing.findall(f".//{space}path"):
                self.assertRegex(path.get("stroke") or path.get("fill"), r"^(rgb\(\d+, \d+, \d+\)|none)$")
            if section != "The cluster over time":
                texts = [node.text for node in drawing.iter(f"{space}text")]
                for policy in ("fifo", "srtf", "las"):
                    self.assertIn(policy, texts, "the drawing has its legend")
                marks = [line.get("stroke") for line in drawing.findall(f"{space}line")]
                self.assertEqual(len(set(marks) - {None, ""}), 3, "a stroke for each name")

    def test_the_data_of_a_chart_is_saved_as_csv(self):
        page = self.report("fifo,srtf")
        browser = self.show(page)
        _, text = browser.download("[aria-label='Download Jobs waiting as CSV']")
        rows = list(csv.DictReader(io.StringIO(text.decode())))
        for run in self.data(page):
            series = run["series"]
            of_run = [row for row in rows if row["policy"] == run["summary"]["policy"]]
            self.assertEqual([float(row["mean"]) for row in of_run], series["waiting"])
            self.assertEqual([float(row["lowest"]) for row in of_run], series["bounds"]["waiting"][0])
            self.assertEqual([float(row["highest"]) for row in of_run], series["bounds"]["waiting"][1])
            self.assertEqual(float(of_run[1]["from_s"]), round(series["start"] + series["bucket"], 6))
        _, text = browser.download("[aria-label='Download Side by side as CSV']")
        self.assertEqual(next(csv.DictReader(io.StringIO(text.decode())))["avg_jct_s"], repr(self.data(page)[0]["summary"]["avg_jct_s"]))

    def test_a_peak_of_one_bucket_is_drawn_or_named_however_narrow_the_chart_is(self):
        def peak(runs):
            for run in runs:
                run["series"]["waiting"] = [1] * len(run["series"]["waiting"])
                run["series"]["bounds"]["waiting"] = [[1] * len(run["series"]["waiting"]) for _ in range(2)]
            runs[1]["series"]["bounds"]["waiting"][1][123] = 777
        page = with_data(self.report("fifo,srtf"), peak)
        browser = self.show(page, width=390)
        top = browser.run(f"""(() => {{ const y = document.querySelector("{WAITING} .edge[data-run='1']").getBBox().y;
            const max = document.querySelector("{WAITING} .axis").getAttribute('y1'); return [y, Number(max)]; }})()""")
        self.assertLess(top[0], top[1] / 3, "the extent reaches to the peak")
        browser.run("document.querySelector('.extremes').click()")
        self.assertIsNone(browser.run(f"""document.querySelector("{WAITING} .edge")"""))
        self.assertIn("the highest value is 777 (srtf)", browser.run(f"""document.querySelector("{WAITING} .note").textContent"""))

    def test_twenty_four_runs_look_different_and_the_page_is_small(self):
        page = self.report(",".join(MANY), trace="philly-like:jobs=1000,seed=1,gpus=128,load=0.9", cluster="16x8")
        self.assertLess(len(page.encode()), 3_000_000)
        browser = self.show(page)
        looks = browser.run("""[...document.querySelectorAll("section[aria-label='Completion times'] .curve")].map((line) => {
            const style = getComputedStyle(line); return [style.stroke, style.strokeDasharray]; })""")
        self.assertEqual(len(looks), 24)
        self.assertEqual(len({colour for colour, _ in looks}), 24)
        self.assertEqual(len({dash for _, dash in looks[:8]}), 8)
        for width in (390, 1400):
            self.show(page, width)
            self.assertLessEqual(browser.run("document.scrollingElement.scrollWidth"), width)

    def test_nothing_to_draw_is_said(self):
        path = pathlib.Path(self.folder.name, "large.csv")
        path.write_text("job_id,submit_s,gpus,iterations,iteration_s\n1,0,64,10,1\n2,5,64,10,1\n")
        page = self.report("fifo,srtf", trace=str(path), cluster="1x8")
        for width in (390, 1400):
            browser = self.show(page, width)
            text = browser.run("document.body.innerText")
            self.assertIn("No job completed.", text)
            self.assertIn("no job has a deadline", text)
            self.assertIn("no node was lost", text)
            self.assertLessEqual(browser.run("document.scrollingElement.scrollWidth"), width)
        self.show(with_data(page, lambda runs: runs.clear()))
        self.assertIn("No runs.", self.browser.run("document.body.innerText"))

    def test_hostile_names_are_text(self):
        names = ["</script><img src=x onerror=alert(1)>", "=1+2,\"'`${alert(1)}", "x" * 300]

        def rename(runs):
            for run, name in zip(runs, names):
                run["summary"]["policy"] = name
                run["summary"]["trace"] = "<b>&amp;\u0001"
        for width in (390, 1400):
            browser = self.show(with_data(self.report(), rename), width)
            self.assertEqual(browser.run("document.querySelectorAll('main img, main b, main script').length"), 0)
            self.assertEqual(browser.run("[...document.querySelectorAll('.comparison .policy')].map((n) => n.textContent)"), names)
            self.assertLessEqual(browser.run("document.scrollingElement.scrollWidth"), width)
        _, text = browser.download("[aria-label='Download Jobs waiting as CSV']")
        saved = {row["policy"] for row in csv.DictReader(io.StringIO(text.decode()))}
        self.assertEqual(saved, {names[0], "'" + names[1], names[2]}, "no spreadsheet reads a name as a formula")
        _, text = browser.download("[aria-label='Download Jobs waiting as SVG']")
        xml.etree.ElementTree.fromstring(text.decode())
        self.assertEqual(browser.faults(), [])

    def test_a_figure_of_lines_is_zoomed_and_saved(self):
        values = {"columns": ["line", "hours", "share"], "rows": [["a", 0, 1], ["a", 5, 2], ["a", 10, 8], ["<b>", 0, 3], ["<b>", 10, 4]],
                  "lines": [["a", 0, False, True, 3], ["<b>", 9, True, False, 2]]}
        section = ('<section><div class="head"><div><h2>Figure 1</h2></div></div><div class="scroll"><svg class="plot" viewBox="0 0 1100 300">'
                   f"<metadata>{html.escape(json.dumps(values))}</metadata></svg></div></section>")
        page = with_data(self.report("fifo"), lambda runs: runs.clear()).replace('<div class="figures">', '<div class="figures">' + section)
        browser = self.show(page)
        left, right, y = self.place(".figures")
        browser.drag(left + 50 + (right - left - 62) / 2, right - 12, y)
        self.assertRegex(browser.run("location.hash"), r"^#figure-1=(5|4\.9|5\.0)\d*-10$")
        self.assertEqual(self.ticks(".figures")[:1], "5")
        self.assertFalse(browser.run("document.querySelector('.figures .span-bar').hidden"))
        _, text = browser.download(".figures [aria-label='Download Figure 1 as CSV']")
        self.assertEqual(list(csv.reader(io.StringIO(text.decode())))[1:3], [["a", "0", "1"], ["a", "5", "2"]])
        _, text = browser.download(".figures [aria-label='Download Figure 1 as SVG']")
        self.assertIn("<b>", [node.text for node in xml.etree.ElementTree.fromstring(text.decode()).iter("{http://www.w3.org/2000/svg}text")])
        self.assertEqual(browser.faults(), [])

    def test_the_theme_of_the_address_holds(self):
        page = self.report("fifo")
        colours = set()
        for theme in ("light", "dark"):
            browser = self.show(page, suffix=f"?theme={theme}")
            colours.add(browser.run("getComputedStyle(document.body).backgroundColor"))
        self.assertEqual(len(colours), 2)


if __name__ == "__main__":
    if find_chromium() is None:
        print("no Chromium is installed: what the report page does in a browser is not tested")
        sys.exit(77)
    unittest.main()
