"""What the documents promise is there: tests that invariants name, examples that run."""

import os
import re
import subprocess
import unittest

import corpora


class Documents(unittest.TestCase):
    def test_invariants_name_tests_that_exist(self) -> None:
        sources = [*corpora.REPOSITORY.glob("contracts/**/*.rs"), *corpora.REPOSITORY.glob("activities/**/*.rs")]
        sources += [*corpora.REPOSITORY.glob("workflows/**/*.rs"), *corpora.REPOSITORY.glob("tests/**/*.rs")]
        sources += corpora.REPOSITORY.glob("tests/readers/*.py")
        code = "\n".join(source.read_text(encoding="utf-8", errors="replace") for source in sources)
        page = (corpora.REPOSITORY / "contracts" / "INVARIANTS.md").read_text(encoding="utf-8")
        rows = [line for line in page.splitlines() if re.match(r"\| I\d+ ", line)]
        self.assertEqual([row.split()[1] for row in rows], [f"I{n}" for n in range(1, len(rows) + 1)])
        for row in rows:
            names = re.findall(r"`([^`]+)`", row.split("|")[3])
            self.assertTrue(names, row)
            for name in names:
                # A test is a function, or a line of a table of tests: `name = scenario;`.
                self.assertRegex(code, rf"(?m)(?:\b(?:fn|def) {name}\(|^\s*{name} = )", f"{row.split()[1]} names {name}")

    def test_the_flaky_example_runs(self) -> None:
        script = corpora.REPOSITORY / "examples" / "flaky" / "run.sh"
        environment = os.environ | {"CORPORA_BIN": corpora.BINARY}
        done = subprocess.run([script], env=environment, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("bytes=2000000-", done.stdout)
        self.assertIn("0 in the second; 5 ledger rows.", done.stdout)


if __name__ == "__main__":
    unittest.main()
