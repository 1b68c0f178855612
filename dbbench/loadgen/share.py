"""The share that some clients have in what belongs to all of them."""


def share(total: int, number: int, of: int, clients: int = 1) -> range:
    """The places, of `total`, that some of `of` clients have: those from the one with this number on."""
    return range(total * number // of, total * (number + clients) // of)
