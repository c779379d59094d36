"""The examples of the README run one after the other, and do what they say."""

import re
from pathlib import Path

import pytest
from conftest import URL, new_key

README = Path(__file__).parent.parent / "README.md"


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOLLGATE_KEY", new_key())
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text(), flags=re.M | re.S)
    code = "\n".join(blocks).replace("http://127.0.0.1:8787", URL)
    assert URL in code
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    out = capsys.readouterr().out
    for told in (
        r"84.* for [\d.]+ credits\n",
        r"image/png for 10 credits\n",
        r"succeeded, 100 %\n1 s at http",
        r"job_\w+ succeeded\n",
        r"is open",
        r"40 of \d+(\.\d+)? credits\n",
        r"no/such-model.*req_\w+",
    ):
        assert re.search(told, out, flags=re.I), told
    assert Path("gate.png").read_bytes()[1:4] == b"PNG"
    assert len(Path("tune.mp3").read_bytes()) > 1000
    assert Path("picture-1.png").exists()
