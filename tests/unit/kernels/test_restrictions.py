"""Logit bias, allowed ids and bad words against loops over lists."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the checks extra")

from analyzer.kernels.restrictions import PADDING, add_bias, allow_only, ban_words  # noqa: E402

VOCAB = 4
IDS = st.lists(st.integers(0, VOCAB - 1), max_size=5)
WORDS = st.lists(st.lists(st.integers(0, VOCAB - 1), min_size=1, max_size=3), max_size=4)


def left(row: list[int], length: int) -> list[int]:
    return [PADDING] * (length - len(row)) + row


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(IDS, WORDS), min_size=1, max_size=3))
def test_bad_words(rows):
    """A token is banned exactly where some word is the end of the history and that token."""
    longest, most = max(len(ids) for ids, _ in rows), max(len(words) for _, words in rows)
    length = max([len(word) for _, words in rows for word in words], default=1)
    history = torch.tensor([left(ids, longest) for ids, _ in rows], dtype=torch.int32).reshape(len(rows), longest)
    lists = [[left(word, length) for word in words] + [left([], length)] * (most - len(words)) for _, words in rows]
    words = torch.tensor(lists, dtype=torch.int32).reshape(len(rows), most, length)
    found = ban_words(torch.zeros(len(rows), VOCAB), history, words)
    for row, (ids, own) in enumerate(rows):
        for token in range(VOCAB):
            banned = any([*ids, token][-len(word) :] == word for word in own)
            assert found[row, token].item() == (-math.inf if banned else 0.0)


def test_a_bad_word_longer_than_the_history():
    """A word of three tokens cannot end after one."""
    found = ban_words(torch.zeros(1, VOCAB), torch.tensor([[1]]), torch.tensor([[[2, 1, 3], [PADDING, 1, 0]]]))
    assert found.tolist() == [[-math.inf, 0.0, 0.0, 0.0]]


def test_bias():
    """Each bias goes to its token, padding to none, one id twice gets both, and a masked token stays masked."""
    logits = torch.tensor([[1.0, 2.0, 3.0], [-math.inf, 0.0, 0.5]])
    found = add_bias(
        logits, torch.tensor([[2, 0, 2], [0, PADDING, PADDING]]), torch.tensor([[0.5, -1.0, 0.25], [9.0, 7.0, 7.0]])
    )
    assert found.tolist() == [[0.0, 2.0, 3.75], [-math.inf, 0.0, 0.5]]


@pytest.mark.parametrize("token", [3, -2])
def test_an_id_outside_the_vocabulary_is_refused(token):
    """The vocabulary ends before 3, and −2 is no padding."""
    with pytest.raises(ValueError, match="outside the vocabulary of 3"):
        add_bias(torch.zeros(1, 3), torch.tensor([[token]]), torch.ones(1, 1))


def test_allowed():
    """Only allowed tokens keep their logit, the others are masked; a row of true is as it was."""
    logits = torch.tensor([[1.0, 2.0], [3.0, -math.inf]])
    found = allow_only(logits, torch.tensor([[False, True], [True, True]]))
    assert found.tolist() == [[-math.inf, 2.0], [3.0, -math.inf]]
