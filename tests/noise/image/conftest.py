import numpy as np
import pytest

from ohr.benchmarks.mini import Mini


@pytest.fixture(scope="session")
def page() -> np.ndarray:
    """A page of text as it is scanned at 100 dpi."""
    mini = Mini(languages=("en",), dpi=100)
    document = next(document for document in mini.documents() if document.name == "law/noise_bylaw")
    image = mini.page_image(document, 0)
    image.setflags(write=False)
    return image
