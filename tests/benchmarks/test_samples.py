"""The samples of the finance benchmarks are frozen: what they hold was proved once, and is not proved in each run.

The proofs (statements add up, golds follow from the pages, every kind of question is there, pictures are small) are in
`tests/benchmarks/*/test_sample.py` at 0d50ad4. Who changes a sample runs them again before writing its new digest here.
"""

from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import pytest

DIGESTS = {
    "fcmbench": "8633351a56b63a3d00e54e91461eb4c534dc8ab3ac60d7814681c1e7ae71758e",
    "fincriticaled": "f70a72aba55bf10acc17df1db93fa411df5f3d63467cc52f5dd0c4bcf8cf8594",
    "finmmdocr": "c15250578d22d489163927a7cef366e68907ee247b2ee87088f128b1e45a788c",
    "finqa_tablequest": "df905a0b8bbe5f2d13b588751600d31e63f64f0bff1bb98386e79a31d9a7f4d3",
    "tablequest": "0be2799e5ca66d136428e2305b9ef7343ae215e963f8cbc8e46b5d5694cbda01",
}


@pytest.mark.parametrize(("benchmark", "digest"), DIGESTS.items())
def test_a_sample_has_the_files_that_were_proved(benchmark, digest):
    sample = Path(str(files(f"ohr.benchmarks.{benchmark}"))) / "sample"
    content = sha256()
    for path in sorted(path for path in sample.rglob("*") if path.is_file()):
        content.update(path.relative_to(sample).as_posix().encode() + sha256(path.read_bytes()).digest())
    assert content.hexdigest() == digest
